import { encodeFunctionData } from 'viem'
import { SIMULATED_REWARDS_ABI } from './abi.ts'
import { CONTRACTS } from './contract-addresses.ts'
import { setUpCall } from './install.ts'
import type { KnownPolicy, PolicyMember } from './policy.ts'
import type { ProviderAccounts } from './provider.ts'
import { ownRewardClaims } from './reward-tree.ts'
import type { ProtocolTiming } from './timing.ts'
import type { UnsignedTx } from './writer.ts'

/** Publication of rewards after the end of an epoch, and their claims after the vote on them. */
export interface Payouts {
  /** Epochs with published rewards. */
  readonly published: ReadonlySet<number>
  /** Ends an epoch; its rewards are published some time later. */
  end(policy: KnownPolicy, at: number): void
  /** Marks its rewards as published. */
  addPublished(epoch: number): void
  /** Enables claims after the vote on its rewards. */
  allowClaims(epoch: number): void
  /** Time of the next publication; infinity without any. */
  nextPublication(): number
  /** Publishes due rewards. */
  publish(
    at: number,
  ): readonly { readonly policy: KnownPolicy; readonly transactions: readonly UnsignedTx[] }[]
  /** Whether a provider would claim now. */
  isWaiting(): boolean
  /** Claims of all providers that have not claimed yet and do not skip it. */
  claim(): readonly UnsignedTx[]
}

/** Number of epochs in which rewards can be claimed. */
const CLAIMABLE_EPOCHS = 25
const CLAIM_GAS = 600_000

/** Creates payouts before the end of any epoch. */
export function createPayouts(timing: ProtocolTiming): Payouts {
  const published = new Set<number>()
  const ended: { readonly policy: KnownPolicy; readonly due: number }[] = []
  const claimable = new Set<number>()
  const claimed = new Set<string>()
  const isNew = ({ policy }: { readonly policy: KnownPolicy }) => !published.has(policy.epoch)
  const keyOf = (epoch: number, { provider }: PolicyMember) => `${epoch} ${provider.name}`
  const claiming = () =>
    ended
      .filter(({ policy }) => claimable.has(policy.epoch))
      .flatMap(({ policy: { epoch, members } }) =>
        members
          .filter((member) => !claimed.has(keyOf(epoch, member)))
          .filter(({ provider }) => !provider.behaviours.has('unclaimed-rewards'))
          .map((member) => ({ epoch, member })),
      )
  return {
    published,
    end: (policy, at) => {
      ended.push({ policy, due: at + timing.publicationSeconds })
    },
    addPublished: (epoch) => {
      published.add(epoch)
    },
    allowClaims: (epoch) => {
      claimable.add(epoch)
    },
    nextPublication: () => Math.min(...ended.filter(isNew).map(({ due }) => due)),
    publish: (at) =>
      ended
        .filter((payout) => isNew(payout) && payout.due <= at)
        .map(({ policy }) => {
          const { epoch, members } = policy
          published.add(epoch)
          const oldest = Math.max(0, epoch - CLAIMABLE_EPOCHS)
          const accounts = members.map((member) => member.accounts)
          return { policy, transactions: offerRewards(epoch, oldest, accounts) }
        }),
    isWaiting: () => claiming().length > 0,
    claim: () =>
      claiming().flatMap(({ epoch, member }) => {
        claimed.add(keyOf(epoch, member))
        return claimRewards(member.accounts, epoch)
      }),
  }
}

/** Transactions that create the rewards of an epoch for the given providers. */
function offerRewards(
  epoch: number,
  oldest: number,
  providers: readonly ProviderAccounts[],
): readonly UnsignedTx[] {
  const range = encodeFunctionData({
    abi: SIMULATED_REWARDS_ABI,
    functionName: 'setRange',
    args: [oldest, epoch],
  })
  return [
    setUpCall(CONTRACTS.rewardManager, range),
    ...providers.flatMap((accounts) =>
      ownRewardClaims(accounts).map(({ owner, claimType, amount }) =>
        setUpCall(
          CONTRACTS.rewardManager,
          encodeFunctionData({
            abi: SIMULATED_REWARDS_ABI,
            functionName: 'addReward',
            args: [
              owner,
              { rewardEpochId: epoch, beneficiary: owner, amount, claimType, initialised: false },
            ],
          }),
        ),
      ),
    ),
  ]
}

/** Transactions with which a provider claims all its rewards of an epoch. */
function claimRewards(accounts: ProviderAccounts, epoch: number): readonly UnsignedTx[] {
  return ownRewardClaims(accounts).map(({ owner, claimType }) => ({
    from: owner,
    to: CONTRACTS.rewardManager,
    data: encodeFunctionData({
      abi: SIMULATED_REWARDS_ABI,
      functionName: 'claim',
      args: [owner, owner, epoch, claimType],
    }),
    gas: CLAIM_GAS,
  }))
}
