import { type Hex, parseEventLogs } from 'viem'
import { FSP_ABI, RELAY_ABI } from './abi.ts'
import type { SigningPolicy } from './encode.ts'
import type { MinedReceipt } from './writer.ts'

/** Events of the chain that the epoch daemon reacts to. */
export type ProtocolEvent =
  | { readonly what: 'acquisition'; readonly epoch: number; readonly at: number }
  | { readonly what: 'registration'; readonly epoch: number; readonly at: number }
  | { readonly what: 'policy'; readonly policy: SigningPolicy; readonly at: number }
  | { readonly what: 'started'; readonly epoch: number; readonly at: number }
  | { readonly what: 'uptime'; readonly epoch: number; readonly at: number }
  | {
      readonly what: 'vote'
      readonly kind: 'uptime' | 'rewards'
      readonly epoch: number
      readonly isOver: boolean
    }

const EVENTS = [...FSP_ABI, ...RELAY_ABI]

/** Decodes the events of these transactions, in order. */
export function decodeProtocolEvents(receipts: readonly MinedReceipt[]): readonly ProtocolEvent[] {
  const logs = receipts.flatMap((receipt) => receipt.logs.map(asLog))
  return parseEventLogs({ abi: EVENTS, logs }).flatMap((log): readonly ProtocolEvent[] => {
    switch (log.eventName) {
      case 'RandomAcquisitionStarted':
        return [{ what: 'acquisition', epoch: log.args.rewardEpochId, at: seconds(log.args) }]
      case 'VotePowerBlockSelected':
        return [{ what: 'registration', epoch: log.args.rewardEpochId, at: seconds(log.args) }]
      case 'RewardEpochStarted':
        return [{ what: 'started', epoch: log.args.rewardEpochId, at: seconds(log.args) }]
      case 'SignUptimeVoteEnabled':
        return [{ what: 'uptime', epoch: log.args.rewardEpochId, at: seconds(log.args) }]
      case 'SigningPolicyInitialized': {
        const { rewardEpochId, startVotingRoundId, threshold, seed, voters, weights } = log.args
        const policy = {
          epoch: rewardEpochId,
          startRound: startVotingRoundId,
          threshold,
          seed,
          voters: voters.map((address, i) => ({ address, weight: weights[i] ?? 0 })),
        }
        return [{ what: 'policy', policy, at: seconds(log.args) }]
      }
      case 'UptimeVoteSigned':
      case 'RewardsSigned': {
        const { rewardEpochId: epoch, thresholdReached: isOver } = log.args
        const kind = log.eventName === 'RewardsSigned' ? 'rewards' : 'uptime'
        return [{ what: 'vote', kind, epoch, isOver }]
      }
      default:
        return []
    }
  })
}

function seconds({ timestamp }: { readonly timestamp: bigint }): number {
  return Number(timestamp)
}

/** A log of a receipt in the form of the decoder, which uses only topics and data. */
function asLog({ address, topics, data }: MinedReceipt['logs'][number]) {
  const [first, ...rest] = topics
  const none: Hex = '0x'
  return {
    address,
    data,
    topics:
      first === undefined ? ([] as const satisfies []) : ([first, ...rest] as [Hex, ...Hex[]]),
    blockHash: none,
    blockNumber: 0n,
    blockTimestamp: 0n,
    logIndex: 0,
    transactionHash: none,
    transactionIndex: 0,
    removed: false,
  }
}
