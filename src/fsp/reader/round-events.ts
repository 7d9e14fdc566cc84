import { type Abi, decodeEventLog, type Hex, toEventSelector } from 'viem'
import { z } from 'zod'
import type { Log } from '#src/chain/endpoints/schemas.ts'
import { Address, Hash } from '#src/kernel/units.ts'
import { decodeUpdate, feedsCovered, type SignedUpdate } from '../protocol/fast-update.ts'
import type { RoundBlock } from '../protocol/round-collector.ts'
import { PROTOCOL_EVENTS_ABI } from './abi.ts'

/** A claimed reward of a provider itself. */
export interface RewardClaim {
  readonly rewardEpoch: number
  readonly beneficiary: Address
  readonly claimType: number
}

/** A fast update of feeds. */
export interface FastUpdate {
  readonly signingPolicy: Address
  readonly tx: Hash
  /**
   * Account that sent the update; null if it was not sent directly to the Submission contract, because then
   * the account proves nothing.
   */
  readonly sender: Address | null
  /** Number of feeds that it covers; null if it was passed on by a contract of somebody else. */
  readonly feedsSent: number | null
}

/** A transaction with a fast update. */
export interface UpdateCall {
  readonly from: string
  readonly input: string
  /** Whether it was sent to the Submission contract, where the sender is an account of the provider. */
  readonly isSubmission: boolean
}

/** A fast update that the FastUpdater did not accept. */
export interface RefusedUpdate {
  readonly tx: Hash
  /** Account that sent the transaction, which may be anybody's. */
  readonly sender: string
  readonly update: SignedUpdate
}

/** Registration or removal of a provider for a reward epoch. */
export interface VoterRegistration {
  readonly voter: Address
  readonly epoch: number
  readonly isRegistered: boolean
}

/** Events of the protocol's contracts in a block. */
export interface ProtocolEvents extends Pick<RoundBlock, 'finalised' | 'requests'> {
  /** Updates of feeds by any sender. */
  readonly fastUpdates: readonly FastUpdate[]
  readonly refusedUpdates: readonly RefusedUpdate[]
  readonly registrations: readonly VoterRegistration[]
  readonly claims: readonly RewardClaim[]
}

/** The events of a block without events. */
export const NO_EVENTS: ProtocolEvents = {
  finalised: [],
  requests: [],
  fastUpdates: [],
  refusedUpdates: [],
  registrations: [],
  claims: [],
}

/** First topics of the events, by their meaning. */
export const ROUND_TOPICS = {
  relayed: toEventSelector('ProtocolMessageRelayed(uint8,uint32,bool,bytes32)'),
  requested: toEventSelector('AttestationRequest(bytes,uint256)'),
  updated: toEventSelector('FastUpdateFeedsSubmitted(uint32,address)'),
  registered: toEventSelector(
    'VoterRegistered(address,uint32,address,address,address,(bytes32,bytes32),uint256,(uint8,bytes32,bytes32))',
  ),
  formerlyRegistered: toEventSelector(
    'VoterRegistered(address,uint24,address,address,address,bytes32,bytes32,uint256)',
  ),
  removed: toEventSelector('VoterRemoved(address,uint32)'),
  formerlyRemoved: toEventSelector('VoterRemoved(address,uint256)'),
  claimed: toEventSelector('RewardClaimed(address,address,address,uint24,uint8,uint120)'),
}

/**
 * Events whose absence in a block must be confirmed by a second endpoint, because they decide for all
 * providers.
 */
export const RARE_TOPICS: readonly Hex[] = [ROUND_TOPICS.relayed, ROUND_TOPICS.requested]

/** Types of claims of a provider itself: direct rewards and fee. Other claims belong to delegators. */
export const OWN_CLAIM_TYPES: readonly number[] = [0, 1]

/**
 * Decodes the events of one block.
 *
 * @param updates transactions of the block that are fast updates, by hash
 */
export function protocolEventsIn(
  logs: readonly Log[],
  updates: ReadonlyMap<string, UpdateCall>,
): ProtocolEvents {
  const decoded = logs.flatMap((log) => {
    const [topic, ...rest] = log.topics
    if (topic === undefined) return []
    const abi: Abi = PROTOCOL_EVENTS_ABI
    return [{ log, event: decodeEventLog({ abi, topics: [topic, ...rest], data: log.data }) }]
  })
  return {
    finalised: decoded.flatMap(({ event }) => {
      if (event.eventName !== 'ProtocolMessageRelayed') return []
      const { protocolId, votingRoundId, isSecureRandom, merkleRoot } = Relayed.parse(event.args)
      return [{ protocol: protocolId, round: votingRoundId, isSecureRandom, merkleRoot }]
    }),
    requests: decoded.flatMap(({ event }) =>
      event.eventName === 'AttestationRequest' ? [Requested.parse(event.args).data] : [],
    ),
    claims: decoded.flatMap(({ event }) => {
      if (event.eventName !== 'RewardClaimed') return []
      const { beneficiary, rewardEpochId: rewardEpoch, claimType } = Claimed.parse(event.args)
      return OWN_CLAIM_TYPES.includes(claimType) ? [{ rewardEpoch, beneficiary, claimType }] : []
    }),
    fastUpdates: decoded.flatMap(({ log, event }) => {
      if (event.eventName !== 'FastUpdateFeedsSubmitted') return []
      const { signingPolicyAddress } = Updated.parse(event.args)
      const call = updates.get(log.transactionHash)
      const update = call && decodeUpdate(call.input)
      return [
        {
          signingPolicy: signingPolicyAddress,
          tx: log.transactionHash,
          sender: call?.isSubmission === true ? z.decode(Address, call.from) : null,
          feedsSent: update === undefined ? null : feedsCovered(update),
        },
      ]
    }),
    refusedUpdates: refusedOf(decoded, updates),
    registrations: decoded.flatMap(({ event: { eventName, args } }) => {
      if (eventName !== 'VoterRegistered' && eventName !== 'VoterRemoved') return []
      const { voter, rewardEpochId } = Registered.parse(args)
      return [{ voter, epoch: rewardEpochId, isRegistered: eventName === 'VoterRegistered' }]
    }),
  }
}

/** Fast updates without an event of the FastUpdater. */
function refusedOf(
  decoded: readonly { readonly log: Log; readonly event: { readonly eventName: unknown } }[],
  updates: ReadonlyMap<string, UpdateCall>,
): readonly RefusedUpdate[] {
  const accepted = new Set<string>(
    decoded.flatMap(({ log, event }) =>
      event.eventName === 'FastUpdateFeedsSubmitted' ? [log.transactionHash] : [],
    ),
  )
  return [...updates].flatMap(([hash, { from, input }]) => {
    if (accepted.has(hash)) return []
    const [tx, update] = [Hash.safeParse(hash).data, decodeUpdate(input)]
    return tx === undefined || update === undefined ? [] : [{ tx, sender: from, update }]
  })
}

const Relayed = z.object({
  protocolId: z.int(),
  votingRoundId: z.int(),
  isSecureRandom: z.boolean(),
  merkleRoot: Hash,
})
const Registered = z.object({ voter: Address, rewardEpochId: z.coerce.number().int() })
const Requested = z.object({ data: z.string() })
const Updated = z.object({ signingPolicyAddress: Address })
const Claimed = z.object({ beneficiary: Address, rewardEpochId: z.int(), claimType: z.int() })
