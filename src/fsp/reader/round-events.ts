import { type Abi, decodeEventLog, type Hex, toEventSelector } from 'viem'
import { z } from 'zod'
import type { Log } from '#src/chain/logs.ts'
import { Address, Hash } from '#src/kernel/units.ts'
import type { RoundBlock } from '../protocol/rounds.ts'
import { ROUND_EVENTS_ABI } from './rounds-abi.ts'

/** A provider's own reward that was claimed. */
export interface RewardClaim {
  readonly rewardEpoch: number
  readonly beneficiary: Address
  readonly claimType: number
}

/** An update of feeds. */
export interface FastUpdate {
  readonly signingPolicy: Address
  /** Null: it did not come straight to the Submission contract, so that its account says nothing. */
  readonly sender: Address | null
}

/** A provider was registered for a reward epoch, or removed from it. */
export interface Registration {
  readonly voter: Address
  readonly epoch: number
  readonly isRegistered: boolean
}

/** What the protocol's contracts said in a block. */
export interface ProtocolEvents extends Pick<RoundBlock, 'finalised' | 'requests'> {
  /** Updates of feeds, whoever sent them. */
  readonly fastUpdates: readonly FastUpdate[]
  readonly registrations: readonly Registration[]
  readonly claims: readonly RewardClaim[]
}

/** A block in which none of these happened. */
export const NO_EVENTS: ProtocolEvents = {
  finalised: [],
  requests: [],
  fastUpdates: [],
  registrations: [],
  claims: [],
}

/** First topics of these events, by what they say. */
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

/** Events of which an endpoint alone is not believed that a block has no more of them: they decide for everybody. */
export const RARE: readonly Hex[] = [TOPICS.relayed, TOPICS.requested]

/** Claims of a provider itself: what it is paid directly, and its fee. Others are of who delegates. */
export const OWN_CLAIM_TYPES: readonly number[] = [0, 1]

/**
 * The events of one block.
 *
 * @param senders by transaction that came straight to the Submission contract, the account that sent it
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
