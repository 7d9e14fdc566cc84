import type { Hex } from 'viem'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import { benchBlocks, benchPolicy } from './fsp-blocks.ts'

/** The chain of `catchup`, shared by the endpoint's process and the reader's. */

/** Latency of the endpoint's answers. */
export const LATENCY_MS = 100
/**
 * Interval between blocks. Flare's is about 1.2 seconds; this one is shorter, so that the reader has more work.
 */
export const BLOCK_SECONDS = 1
/** Rounds read before the measurement, because the first reading begins a little before the tip. */
export const WARM_ROUNDS = 6
/** Rounds of one hour. */
export const MEASURED_ROUNDS = 40
const FIRST_ROUND = 1_518_720
/** Number of blocks over which equal actions of the providers are spread. */
const SPREAD = 12

/** Addresses of the protocol's contracts. */
export const PROTOCOL_CONTRACTS = {
  Submission: '0x00000000000000000000000000000000000000a1',
  Relay: '0x00000000000000000000000000000000000000a2',
  FdcHub: '0x00000000000000000000000000000000000000a3',
  FastUpdater: '0x00000000000000000000000000000000000000a4',
} as const satisfies Readonly<Record<string, Hex>>

export const CATCHUP_POLICY = benchPolicy(FIRST_ROUND - 2)

/**
 * Creates the blocks of the chain. Actions that all providers take at once are spread over several blocks.
 */
export function catchupBlocks(): readonly ProtocolBlock[] {
  const last = FIRST_ROUND + WARM_ROUNDS + MEASURED_ROUNDS - 1
  const blocks = benchBlocks([CATCHUP_POLICY], { first: FIRST_ROUND, last }, BLOCK_SECONDS)
  const spread = blocks.map(({ submissions: _all, ...block }) => ({
    ...block,
    submissions: [] as ProtocolBlock['submissions'][number][],
  }))
  for (const [index, { submissions }] of blocks.entries()) {
    for (const [place, submission] of submissions.entries()) {
      spread[index + (place % SPREAD)]?.submissions.push(submission)
    }
  }
  return spread
}
