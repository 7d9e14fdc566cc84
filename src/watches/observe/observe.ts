import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import { isolateEach, isSharedFailure } from '#src/db/isolate.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { traceOf } from '#src/kernel/trace.ts'
import type { ChainWatchType, ObservationRequest, Span } from '../define.ts'
import { type JudgeDeps, judgeAlone, lastOf, newObservations, write } from '../evaluate/judge.ts'
import type { Facts } from '../facts.ts'
import { fireChainOutages } from '../outage/chain-outage.ts'
import { failingSince } from '../outage/monitoring.ts'
import * as store from '../target-store.ts'
import { CHAIN_TYPES } from '../types/index.ts'

/** Targets observed in one request. */
const TARGETS_PER_LOOK = 500
/** Observations of one type in one pass; the rest of a long span waits for the next. */
const LOOKS_PER_PASS = 50
export interface ObserveDeps extends JudgeDeps {
  readonly chain: FspChain
  readonly facts: Facts
  readonly clock: Clock
  readonly log: Logger
  /** Confirmations that a block needs before it is observed; 1 is the tip itself. */
  readonly confirmations: number
}

/**
 * Runs one pass: observes every distinct target of every chain type once, and judges its watches only if
 * the observation changed or a watch joined.
 *
 * Each target's states, alerts and last observation are one transaction, so a stop at any point loses and
 * repeats nothing. Targets that cannot be read are not judged: the type's cursor stays and records since
 * when, and after a while the outage is notified. A type that fails, for any reason, fails alone; a target
 * or watch that cannot be judged is put into quarantine alone.
 *
 * @throws AppError upstream when no block or no target could be read; FenceError when another process took
 * over; database errors
 */
export async function observeWatches(deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  const tip = await undefinedIfUnavailable(() => lookAtTip(deps, signal), failures)
  let observed = 0
  for (const type of CHAIN_TYPES) {
    if (tip === undefined || signal.aborted) break
    try {
      await observeType(deps, type, tip, signal)
      observed += 1
    } catch (error) {
      if (!isOfType(error)) throw error
      failures.push(error)
    }
  }
  if (signal.aborted) return
  await fireChainOutages(deps, CHAIN_TYPES)
  const [failure] = failures
  if (failure !== undefined && observed === 0) throw failure
}

/** Whether only a type failed, and not a dependency of all types: the database, or the fence. */
function isOfType(error: unknown): boolean {
  return error instanceof AppError || !isSharedFailure(error)
}

/** Reads the newest confirmed block. Records whether there is one, and whether it is new. */
async function lookAtTip(deps: ObserveDeps, signal: AbortSignal): Promise<BlockRef> {
  const { db, chain, clock } = deps
  const before = await store.findCursor(db, store.TIP)
  let tip: BlockRef | undefined
  try {
    tip = await chain.confirmedBlock(deps.confirmations, signal)
    return tip
  } finally {
    const now = clock.now()
    const isNew = tip !== undefined && tip.number > (before?.blockNumber ?? -1)
    if (!signal.aborted) {
      const cursor = {
        type: store.TIP,
        ...(isNew && { blockNumber: tip?.number, blockAt: tip?.at }),
        ...(tip !== undefined && { observedAt: now }),
        failingSince: isNew ? null : failingSince(before, now),
        checkedAt: now,
      }
      await write(deps, (tx) => store.saveCursor(tx, cursor))
    }
  }
}

async function observeType(
  deps: ObserveDeps,
  type: ChainWatchType,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, log } = deps
  const cursor = await store.findCursor(db, type.name)
  try {
    const known =
      type.watermark === undefined ? tip : await endOfReach(deps, type, cursor, tip, signal)
    if (known !== undefined) await observeSpans(deps, type, cursor, known, signal)
    if (cursor?.failingSince != null)
      log.info({ type: type.name }, 'watch type can be judged again')
  } catch (error) {
    if (signal.aborted) return
    if (!isOfType(error)) throw error
    const now = clock.now()
    const isFirst = cursor?.failingSince == null
    const since = isFirst ? now : failingSince(cursor, now)
    if (isFirst) recordFailure(deps, type, error)
    const failing = { type: type.name, failingSince: since, checkedAt: now }
    await write(deps, (tx) => store.saveCursor(tx, failing))
    throw error
  }
}

function recordFailure({ log }: ObserveDeps, type: ChainWatchType, error: unknown): void {
  const isUpstream = error instanceof AppError && error.kind === 'upstream'
  const fields = { type: type.name, error: traceOf(isUpstream ? (error.cause ?? error) : error) }
  if (isUpstream)
    log.warn(
      fields,
      'watch type not observed: a dependency is unavailable; the next run tries again',
    )
  else log.error(fields, 'watch type cannot be judged')
}

/**
 * The last block whose data is stored, at most the tip.
 *
 * @throws AppError upstream when reading fails
 */
async function endOfReach(
  { chain, facts }: ObserveDeps,
  type: ChainWatchType,
  cursor: store.Cursor | undefined,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  const reach = await type.watermark?.({ chain, facts })
  const judgedTo = cursor?.blockNumber ?? -1
  if (reach === undefined && judgedTo < 0) return undefined
  if (reach === undefined || reach.block < judgedTo) {
    const cause = new Error(`facts are known up to block ${reach?.block}, judged is ${judgedTo}`)
    throw new AppError('upstream', 'dependency_unavailable', {}, { cause })
  }
  if (reach.failingSince !== null) throw new AppError('upstream', 'dependency_unavailable')
  return reach.block >= tip.number ? tip : chain.blockAt(reach.block, signal)
}

async function observeSpans(
  deps: ObserveDeps,
  type: ChainWatchType,
  cursor: store.Cursor | undefined,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, clock } = deps
  let after = cursor?.blockNumber ?? null
  for (let requests = 0; requests < LOOKS_PER_PASS && !signal.aborted; requests++) {
    // An endpoint that lags behind has no new data.
    if (after !== null && tip.number < after) return
    const isWaiting = after === tip.number || (requests === 0 && !isDue(type, cursor, tip))
    const upTo = isWaiting ? tip : await endOfLook(chain, type, after, tip, signal)
    if (upTo === undefined) return
    const span = { after, upTo }
    for (let page = 0; ; ) {
      // Between two intervals only newly watched targets are observed.
      const listed = { after: page, limit: TARGETS_PER_LOOK, staleOnly: isWaiting }
      const targets = await store.listTargets(db, type.name, listed)
      const last = targets.at(-1)
      if (last === undefined) break
      page = last.id
      await lookAt(deps, type, targets, span, signal)
    }
    if (isWaiting && cursor?.failingSince == null) return
    signal.throwIfAborted()
    const seen = {
      type: type.name,
      blockNumber: upTo.number,
      blockAt: upTo.at,
      observedAt: clock.now(),
      failingSince: null,
      checkedAt: null,
    }
    await write(deps, (tx) => store.saveCursor(tx, seen))
    after = upTo.number
    if (after >= tip.number) return
  }
}

function isDue(type: ChainWatchType, cursor: store.Cursor | undefined, tip: BlockRef): boolean {
  if (cursor?.blockAt == null || cursor.failingSince !== null) return true
  return tip.at.getTime() - cursor.blockAt.getTime() >= type.everySeconds * 1000
}

/** The last block of the next observation: the tip, or the end of the largest span. */
async function endOfLook(
  chain: FspChain,
  { blocksPerLook = Number.POSITIVE_INFINITY }: ChainWatchType,
  after: number | null,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  if (after === null || tip.number - after <= blocksPerLook) return tip
  return chain.blockAt(after + blocksPerLook, signal)
}

async function lookAt(
  deps: ObserveDeps,
  type: ChainWatchType,
  rows: readonly store.TargetRow[],
  span: Span,
  signal: AbortSignal,
): Promise<void> {
  const { chain, facts, clock, quarantine, fence } = deps
  const options = { quarantine, kind: 'target', idOf: ({ id }: store.TargetRow) => id }
  const targets = await isolateEach(rows, options, (row) => ({
    row,
    request: toLook(deps, type, row),
  }))
  const requests = targets.map(({ request }) => request)
  const seen = await type.observe({ chain, facts, fence }, requests, span, signal)
  const missing = targets.flatMap(({ row }, i) =>
    seen[i] === undefined && row.noDataSince === null ? [row.id] : [],
  )
  const nothingNew = targets.flatMap(({ row }, i) =>
    seen[i]?.length === 0 && row.noDataSince !== null ? [row.id] : [],
  )
  if (missing.length > 0 || nothingNew.length > 0) {
    await write(deps, async (tx) => {
      await store.markNoData(tx, missing, clock.now())
      await store.markData(tx, nothingNew)
    })
  }
  for (const [index, { row, request }] of targets.entries()) {
    signal.throwIfAborted()
    const observations = seen[index] ?? []
    if (newObservations(type, row, observations, request.last).length === 0) continue
    await judgeAlone(deps, type, row.id, request, observations)
  }
}

function toLook(deps: ObserveDeps, type: ChainWatchType, row: store.TargetRow): ObservationRequest {
  return {
    target: z.decode(type.target, row.target),
    keySettings:
      type.keySettings === undefined
        ? undefined
        : z.decode(type.keySettings.schema, row.keySettings),
    isNew: row.observation === null,
    last: lastOf(deps, type, row),
  }
}

/** Runs a call and records an endpoint's refusal for later. */
async function undefinedIfUnavailable<T>(
  run: () => Promise<T>,
  failures: unknown[],
): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'upstream') throw error
    failures.push(error)
    return undefined
  }
}
