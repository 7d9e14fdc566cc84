import { type Abi, decodeEventLog, type Hex, toEventSelector } from 'viem'
import { z } from 'zod'
import type { Log } from '#src/chain/logs.ts'
import { Address, Hash } from '#src/kernel/units.ts'
import type { RoundBlock } from '../protocol/rounds.ts'
import { ROUND_EVENTS_ABI } from './fsp-abi.ts'

/** A claimed reward of a provider itself. */
export interface RewardClaim {
  readonly rewardEpoch: number
  readonly beneficiary: Address
  readonly claimType: number
}

/** A fast update of feeds. */
export interface FastUpdate {
  readonly signingPolicy: Address
  /**
   * Account that sent the update; null if it was not sent directly to the Submission contract, because then
   * the account proves nothing.
   */
  readonly sender: Address | null
}

/** Registration or removal of a provider for a reward epoch. */
export interface Registration {
  readonly voter: Address
  readonly epoch: number
  readonly isRegistered: boolean
}

/** Events of the protocol's contracts in a block. */
export interface ProtocolEvents extends Pick<RoundBlock, 'finalised' | 'requests'> {
  /** Updates of feeds by any sender. */
  readonly fastUpdates: readonly FastUpdate[]
  readonly registrations: readonly Registration[]
  readonly claims: readonly RewardClaim[]
}

/** The events of a block without events. */
export const NO_EVENTS: ProtocolEvents = {
  finalised: [],
  requests: [],
  fastUpdates: [],
  registrations: [],
  claims: [],
}

/** First topics of the events, by their meaning. */
export const TOPICS = {
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
export const RARE_TOPICS: readonly Hex[] = [TOPICS.relayed, TOPICS.requested]

/** Types of claims of a provider itself: direct rewards and fee. Other claims belong to delegators. */
export const OWN_CLAIM_TYPES: readonly number[] = [0, 1]

/**
 * Decodes the events of one block.
 *
 * @param senders account of each transaction that was sent directly to the Submission contract
 */
export function eventsOf(
  logs: readonly Log[],
  senders: ReadonlyMap<string, string>,
): ProtocolEvents {
  const decoded = logs.flatMap((log) => {
    const [topic, ...rest] = log.topics
    if (topic === undefined) return []
    const abi: Abi = ROUND_EVENTS_ABI
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
      const sender = senders.get(log.transactionHash)
      return [
        {
          signingPolicy: signingPolicyAddress,
          sender: sender === undefined ? null : z.decode(Address, sender),
        },
      ]
    }),
    registrations: decoded.flatMap(({ event: { eventName, args } }) => {
      if (eventName !== 'VoterRegistered' && eventName !== 'VoterRemoved') return []
      const { voter, rewardEpochId } = Registered.parse(args)
      return [{ voter, epoch: rewardEpochId, isRegistered: eventName === 'VoterRegistered' }]
    }),
  }
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
