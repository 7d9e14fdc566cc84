/**
 * Reads the chain for evidence. Anybody with a link can cause this, so a few readings run at a time, and
 * results are cached.
 */
import { firstBlockAt } from '#src/chain/blocks/block-search.ts'
import type { BlockRef } from '#src/chain/chain.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { decodeSubmission } from '#src/fsp/protocol/framing.ts'
import { readTransactionProof } from '#src/fsp/reader/transaction-proofs.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { Hash, JsonObject } from '#src/kernel/units.ts'
import { createWorkLimiter } from '#src/kernel/work-limiter.ts'
import type { EvidenceClaim } from '#src/watches/evidence-model.ts'
import type { AlertEvidence, EvidenceSources, EvidenceTransaction } from './model.ts'
import {
  accountsOf,
  claimBeginning,
  claimSources,
  selectorsOf,
  transactionHashesIn,
} from './sources.ts'

/** The fields of evidence that are read from the chain. */
export type EvidenceOnChain = Pick<AlertEvidence, 'blocks' | 'sources' | 'transactions'>

/** An alert with its claim. */
interface Asked {
  readonly id: number
  readonly position: number
  readonly claim: EvidenceClaim
  readonly data: JsonObject
}

/** Reads what the chain says about claims. */
export interface EvidenceChain {
  /**
   * @throws AppError upstream when the chain does not answer or takes too long, or too many callers are
   * waiting
   */
  read(asked: Asked): Promise<EvidenceOnChain>
}

/** Maximum time of one reading, including the wait for a turn. A reading makes about thirty requests. */
const READ_MS = 20_000
/** Limits of concurrent and of waiting readings. */
const TURNS = { runningMax: 4, waitingMax: 40 } as const
/** Time for which a reading is cached. */
const FRESH_MS = 10 * MINUTE_MS
/** Time for which a reading without its last block is cached; an endpoint may have that block soon. */
const RETRY_MS = 5000
/** Maximum number of cached readings; a few of them have some hundred KB of calldata. */
const CACHED_MAX = 100
const RETRY_AFTER_SECONDS = 10

/** Creates the reader of one process. */
export function createEvidenceChain({
  chain,
  clock,
}: {
  readonly chain: FspChain
  readonly clock: Clock
}): EvidenceChain {
  const turns = createWorkLimiter(TURNS)
  const readings = createSharedCache<number, EvidenceOnChain>(clock, {
    max: CACHED_MAX,
    freshMs: ({ blocks }) => (blocks === null ? RETRY_MS : FRESH_MS),
  })
  return {
    read: (asked) =>
      readings.get(asked.id, async () => {
        const signal = AbortSignal.timeout(READ_MS)
        try {
          return await turns.take(() => readAll(chain, asked, signal), signal)
        } catch (error) {
          if (!signal.aborted || error instanceof AppError) throw error
          const details = { retryAfterSeconds: RETRY_AFTER_SECONDS }
          throw new AppError('upstream', 'dependency_unavailable', details, { cause: error })
        }
      }),
  }
}

async function readAll(
  chain: FspChain,
  asked: Asked,
  signal: AbortSignal,
): Promise<EvidenceOnChain> {
  return {
    blocks: await readBlocks(chain, asked, signal),
    sources: await readSources(chain, asked, signal),
    transactions: await readTransactions(chain, transactionHashesIn(asked.data), signal),
  }
}

/** The first and the last block that were read for a claim; null where endpoints lack the last block. */
async function readBlocks(
  chain: FspChain,
  { position, claim, data }: Asked,
  signal: AbortSignal,
): Promise<AlertEvidence['blocks']> {
  const to = await chain.blockAt(claim.kind === 'failed-call' ? claim.block : position, signal)
  if (to === undefined) return null
  const beginning = claimBeginning(claim, data)
  if (beginning === undefined) return { first: null, last: to }
  const from: BlockRef | undefined =
    'block' in beginning
      ? await chain.blockAt(Math.min(beginning.block, to.number), signal)
      : await firstBlockAt(chain, beginning.seconds, to, signal)
  return { first: from ?? null, last: to }
}

async function readSources(
  { access }: FspChain,
  { claim, data }: Asked,
  signal: AbortSignal,
): Promise<EvidenceSources> {
  const { contracts, functions, events } = claimSources(claim)
  return {
    contracts: await access.endpoints.ask(
      (client) =>
        Promise.all(
          contracts.map(async (name) => ({
            name,
            addresses: [...(await access.contracts.all(client, name))],
          })),
        ),
      signal,
    ),
    accounts: [...accountsOf(data)],
    functions: selectorsOf(functions),
    events: [...events],
  }
}

/** The transactions that an endpoint still has. */
async function readTransactions(
  { access }: FspChain,
  hashes: readonly Hash[],
  signal: AbortSignal,
): Promise<EvidenceTransaction[]> {
  const proofs = await Promise.all(hashes.map((hash) => readTransactionProof(access, hash, signal)))
  return proofs.flatMap((proof) => {
    if (proof === undefined) return []
    const submission = decodeSubmission(proof.input)
    const frames = (submission?.frames ?? []).map(({ protocol, round, payload }) => ({
      protocol,
      round,
      bytes: payload.length,
      payload: `0x${Buffer.from(payload).toString('hex')}`,
    }))
    const { from, to, ...place } = proof
    return [
      { ...place, sender: from, receiver: to, function: submission?.function ?? null, frames },
    ]
  })
}
