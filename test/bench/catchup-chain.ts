import type { Hex } from 'viem'
import type { ProtocolBlock } from '#src/fsp/reader/round-blocks.ts'
import { benchBlocks, benchPolicy } from './fsp-blocks.ts'

/** The chain of `catchup`: the same for the endpoint's process and the reader's. */

/** How long the endpoint takes for an answer. */
export const LATENCY_MS = 100
/** Flare's blocks come every 1.2 seconds or so; more of them cost more. */
export const BLOCK_SECONDS = 1
/** Read before anything is measured: the first look ever begins a little before the tip. */
export const WARM_ROUNDS = 6
/** An hour. */
export const MEASURED_ROUNDS = 40
const FIRST_ROUND = 1_518_720
/** Those that do the same thing do it within so many blocks. */
const SPREAD = 12

/** Where the protocol's contracts are. */
export const PLACES = {
  Submission: '0x00000000000000000000000000000000000000a1',
  Relay: '0x00000000000000000000000000000000000000a2',
  FdcHub: '0x00000000000000000000000000000000000000a3',
  FastUpdater: '0x00000000000000000000000000000000000000a4',
} as const satisfies Readonly<Record<string, Hex>>

export const CATCHUP_POLICY = benchPolicy(FIRST_ROUND - 2)

/** Every block, what providers send spread over several of them. */
export function catchupBlocks(): readonly ProtocolBlock[] {
  const last = FIRST_ROUND + WARM_ROUNDS + MEASURED_ROUNDS - 1
  const blocks = benchBlocks([CATCHUP_POLICY], { first: FIRST_ROUND, last }, BLOCK_SECONDS)
  const spread = blocks.map(({ submissions: _all, ...block }) => ({
    ...block,
    submissions: [] as ProtocolBlock['submissions'][number][],
  }))
  for (const [index, { submissions }] of blocks.entries()) {
    for (const [place, one] of submissions.entries()) {
      spread[index + (place % SPREAD)]?.submissions.push(one)
    }
  }
  return spread
}
