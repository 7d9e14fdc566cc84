import type { KnownPolicy, PolicyMember } from './policy.ts'
import type { Timing } from './timing.ts'
import { claimRewards, offerRewards } from './votes.ts'
import type { Tx } from './writer.ts'

/** The publication of rewards after the end of an epoch, and their claims after the vote on them. */
export interface Payouts {
  /** Epochs whose rewards are published. */
  readonly published: ReadonlySet<number>
  /** An epoch has ended; rewards are published some time after that. */
  end(policy: KnownPolicy, at: number): void
  /** Its rewards are published already. */
  addPublished(epoch: number): void
  /** The vote on its rewards is over: they can be claimed. */
  allowClaims(epoch: number): void
  /** When rewards are published next; infinity without any to come. */
  nextPublication(): number
  /** Publishes what is due. */
  publish(
    at: number,
  ): readonly { readonly policy: KnownPolicy; readonly transactions: readonly Tx[] }[]
  /** Whether somebody would claim now. */
  isWaiting(): boolean
  /** The claims of everybody who has not claimed yet and does not leave it. */
  claim(): readonly Tx[]
}

/** Rewards can be claimed for so many epochs. */
const CLAIMABLE_EPOCHS = 25

/** Payouts before any epoch has ended. */
export function createPayouts(timing: Timing): Payouts {
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
        .filter((one) => isNew(one) && one.due <= at)
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
