/** What an account has entrusted to data providers, and which rewards it may claim. */
import type { Hex } from 'viem'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { contractView, readViews } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { nodeIdOf } from '../protocol/node-id.ts'
import {
  DELEGATION_ABI,
  ENTITY_MANAGER_ABI,
  REWARD_MANAGER_ABI,
  STAKE_MIRROR_ABI,
  VALIDATOR_REWARDS_ABI,
} from './abi.ts'

/** A share of an account's vote power that a provider has. */
export interface Delegation {
  /** Identity of the provider; the address itself if it belongs to none. */
  readonly provider: Address
  /** Share, in hundredths of a percent. */
  readonly bips: number
  readonly amountWei: bigint
}

/** A stake with a validator. */
export interface Stake {
  /** `NodeID-…`. */
  readonly nodeId: string
  /** Identity of the provider that has the validator; null if none has it, undefined if that was not read. */
  readonly provider: Address | null | undefined
  readonly amountWei: bigint
}

/** Holdings of an account. A part that could not be read is null, never empty. */
export interface Holdings {
  readonly delegations: readonly Delegation[] | null
  /** Whether it delegates by amounts, which the chain does not list. */
  readonly delegatesByAmount: boolean
  /** The largest stakes, at most `STAKES_MAX`. */
  readonly stakes: readonly Stake[] | null
  /** Number of smaller stakes. */
  readonly moreStakes: number
  /** Rewards that can be claimed now, by reward epoch, oldest first. */
  readonly rewards: readonly { readonly rewardEpoch: number; readonly amountWei: bigint }[] | null
  /** Rewards for stakes that can be claimed now. */
  readonly stakingRewardsWei: bigint | null
}

/** Reads holdings. */
export interface HoldingsReader {
  /**
   * Reads the holdings of an account at the end of a block, in two requests.
   *
   * @throws AppError upstream `dependency_unavailable` when no endpoint answers in time
   */
  of(account: Address, block: BlockRef, signal?: AbortSignal): Promise<Holdings>
}

const BY_AMOUNT = 2n
const BIPS = 10_000n
/** An account delegates to two providers at most. */
const DELEGATIONS_MAX = 2
/** Number of stakes that are read further. */
const STAKES_MAX = 10

/** Creates the reader; contracts are found through the registry. */
export function createHoldingsReader(source: ChainAccess): HoldingsReader {
  return {
    of: (account, block, signal) =>
      source.endpoints.ask((client) => readHoldings(source, client, account, block.number), signal),
  }
}

async function readHoldings(
  source: ChainAccess,
  client: RpcClient,
  account: Address,
  block: number,
): Promise<Holdings> {
  const { contracts, multicallAddress } = source
  const [token, mirror, manager, validators] = await Promise.all(
    ['WNat', 'PChainStakeMirror', 'RewardManager', 'ValidatorRewardManager'].map((name) =>
      contracts.find(client, name),
    ),
  )
  const balance = contractView(DELEGATION_ABI, 'balanceOf', [account])
  const mode = contractView(DELEGATION_ABI, 'delegationModeOf', [account])
  const delegates = contractView(DELEGATION_ABI, 'delegatesOf', [account])
  const stakes = contractView(STAKE_MIRROR_ABI, 'stakesOf', [account])
  const rewards = contractView(REWARD_MANAGER_ABI, 'getStateOfRewards', [account])
  const staking = contractView(VALIDATOR_REWARDS_ABI, 'getStateOfRewards', [account])
  const answers = await readViews(
    client,
    multicallAddress,
    [
      [token, balance],
      [token, mode],
      [token, delegates],
      [mirror, stakes],
      [manager, rewards],
      [validators, staking],
    ],
    block,
  )
  const delegatesByAmount = mode.of(answers[1]) === BY_AMOUNT
  const delegated = delegatesByAmount
    ? []
    : delegationsIn(delegates.of(answers[2]), balance.of(answers[0]))
  // A chain without the contract has no stakes.
  const staked = mirror === undefined && token !== undefined ? [] : stakesIn(stakes.of(answers[3]))
  const largest = staked?.slice(0, STAKES_MAX) ?? null
  const owners = await readOwners(source, client, { delegated, staked: largest }, block)
  return {
    ...{ ...owners, delegatesByAmount },
    moreStakes: Math.max(0, (staked?.length ?? 0) - STAKES_MAX),
    rewards: rewardsIn(rewards.of(answers[4])),
    stakingRewardsWei:
      validators === undefined && token !== undefined ? 0n : leftOf(staking.of(answers[5])),
  }
}

type Delegated = readonly Delegation[] | null
type Staked = readonly { readonly node: Hex; readonly amountWei: bigint }[] | null

function delegationsIn(
  answer: readonly [readonly string[], readonly bigint[], bigint, bigint] | undefined,
  balanceWei: bigint | undefined,
): Delegated {
  if (answer === undefined || balanceWei === undefined) return null
  const [accounts, shares] = answer
  return accounts.slice(0, DELEGATIONS_MAX).flatMap((account, index) => {
    const bips = shares[index] ?? 0n
    if (bips === 0n) return []
    const amountWei = (balanceWei * bips) / BIPS
    return [{ provider: Address.parse(account), bips: Number(bips), amountWei }]
  })
}

function stakesIn(answer: readonly [readonly Hex[], readonly bigint[]] | undefined): Staked {
  if (answer === undefined) return null
  const [nodes, amounts] = answer
  return nodes
    .map((node, index) => ({ node, amountWei: amounts[index] ?? 0n }))
    .filter(({ amountWei }) => amountWei > 0n)
    .toSorted((a, b) => (a.amountWei < b.amountWei ? 1 : a.amountWei > b.amountWei ? -1 : 0))
}

function rewardsIn(
  answer:
    | readonly (readonly { readonly rewardEpochId: number; readonly amount: bigint }[])[]
    | undefined,
): Holdings['rewards'] {
  if (answer === undefined) return null
  const amounts = new Map<number, bigint>()
  for (const { rewardEpochId, amount } of answer.flat()) {
    amounts.set(rewardEpochId, (amounts.get(rewardEpochId) ?? 0n) + amount)
  }
  return [...amounts]
    .filter(([, amountWei]) => amountWei > 0n)
    .toSorted(([a], [b]) => a - b)
    .map(([rewardEpoch, amountWei]) => ({ rewardEpoch, amountWei }))
}

function leftOf(answer: readonly [bigint, bigint] | undefined): bigint | null {
  if (answer === undefined) return null
  const [total, claimed] = answer
  return total > claimed ? total - claimed : 0n
}

/** The providers to which addresses of delegations and validators belong. */
async function readOwners(
  { contracts, multicallAddress }: ChainAccess,
  client: RpcClient,
  { delegated, staked }: { readonly delegated: Delegated; readonly staked: Staked },
  block: number,
): Promise<Pick<Holdings, 'delegations' | 'stakes'>> {
  const entities = await contracts.find(client, 'EntityManager')
  const at = BigInt(block)
  const ofDelegation = (delegated ?? []).map(({ provider }) =>
    contractView(ENTITY_MANAGER_ABI, 'getVoterForDelegationAddress', [provider, at]),
  )
  const ofNode = (staked ?? []).map(({ node }) =>
    contractView(ENTITY_MANAGER_ABI, 'getVoterForNodeId', [node, at]),
  )
  const questions = [...ofDelegation, ...ofNode].map((view) => [entities, view] as const)
  const answers = await readViews(client, multicallAddress, questions, block)
  const delegations = delegated?.map((delegation, index) => {
    const owner = ofDelegation[index]?.of(answers[index])
    return {
      ...delegation,
      provider: owner === undefined ? delegation.provider : Address.parse(owner),
    }
  })
  const stakes = staked?.map(({ node, amountWei }, index) => {
    const owner = ofNode[index]?.of(answers[ofDelegation.length + index])
    const provider =
      owner === undefined ? undefined : owner === ZERO_ADDRESS ? null : Address.parse(owner)
    return { nodeId: nodeIdOf(node), provider, amountWei }
  })
  return { delegations: delegations ?? null, stakes: stakes ?? null }
}
