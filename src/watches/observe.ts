import { z } from 'zod'
import type { BlockRef, Chain } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { raiseAlarms } from './alarm.ts'
import type { ChainWatchType, Look, Observed, Span } from './define.ts'
import { foldWatch, type Raised } from './evaluate.ts'
import type { Facts } from './facts.ts'
import { failingSince } from './monitoring.ts'
import { listEvaluated, saveStates } from './store.ts'
import * as store from './target-store.ts'
import { CHAIN_TYPES } from './types/index.ts'

/** Targets looked at in one request. */
const TARGETS_PER_LOOK = 500
/** Watches judged between two writes; bounds memory however many look at one target. */
const WATCHES_PER_WRITE = 1000
/** Looks of one type in one pass; what is left of a long span waits for the next. */
const LOOKS_PER_PASS = 50

export interface ObserveDeps {
  readonly db: Db
  readonly chain: Chain
  readonly facts: Facts
  readonly clock: Clock
  readonly log: Logger
  /** Blocks counted from the tip, itself included, before a block is believed. */
  readonly confirmations: number
  /** Records firings in the given transaction: `alerts.raise`, a higher room. */
  readonly raise: (tx: Db, raised: readonly Raised[]) => Promise<void>
}

/**
 * One observation pass: every distinct target of every type that reads the chain looked at once, its
 * watches judged only if something happened there or a watch joined.
 *
 * Each target's states, alerts and last observation are one transaction, so a stop anywhere loses and
 * repeats nothing. What cannot be read is not judged: the type's cursor stays where it was and says since
 * when, and after a while its watches' people are told.
 *
 * @throws AppError upstream when something could not be read; everything else has been looked at
 */
export async function observeWatches(deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  const failures: AppError[] = []
  const tip = await unlessAway(() => lookAtTip(deps, signal), failures)
  for (const type of CHAIN_TYPES) {
    if (tip === undefined || signal.aborted) break
    await unlessAway(() => observeType(deps, type, tip, signal), failures)
  }
  if (signal.aborted) return
  await raiseAlarms(deps, CHAIN_TYPES)
  const [failure] = failures
  if (failure !== undefined) throw failure
}

/** The newest block that is believed. Notes whether there is one, and whether it is a new one. */
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
      await store.saveCursor(db, {
        type: store.TIP,
        ...(isNew && { blockNumber: tip?.number, blockAt: tip?.at }),
        ...(tip !== undefined && { observedAt: now }),
        failingSince: isNew ? null : failingSince(before, now),
        checkedAt: now,
      })
    }
  }
}

async function observeType(
  deps: ObserveDeps,
  type: ChainWatchType,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = deps
  const cursor = await store.findCursor(db, type.name)
  try {
    const known = type.reach === undefined ? tip : await endOfReach(deps, type, tip, signal)
    if (known !== undefined) await observeSpans(deps, type, cursor, known, signal)
  } catch (error) {
    if (signal.aborted) return
    const now = clock.now()
    const since = cursor?.failingSince == null ? now : failingSince(cursor, now)
    await store.saveCursor(db, { type: type.name, failingSince: since, checkedAt: now })
    throw error
  }
}

/**
 * The last block whose facts are known, the tip or before it.
 *
 * @throws AppError upstream when they cannot be read on
 */
async function endOfReach(
  { chain, facts }: ObserveDeps,
  type: ChainWatchType,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  const reach = await type.reach?.({ chain, facts })
  if (reach === undefined) return undefined
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
  for (let looks = 0; looks < LOOKS_PER_PASS && !signal.aborted; looks++) {
    // An endpoint that lags behind says nothing new.
    if (after !== null && tip.number < after) return
    const isWaiting = after === tip.number || (looks === 0 && !isDue(type, cursor, tip))
    const upTo = isWaiting ? tip : await endOfLook(chain, type, after, tip, signal)
    if (upTo === undefined) return
    const span = { after, upTo }
    for (let page = 0; ; ) {
      // Between two looks only newly watched targets are looked at.
      const listed = { after: page, limit: TARGETS_PER_LOOK, staleOnly: isWaiting }
      const targets = await store.listTargets(db, type.name, listed)
      const last = targets.at(-1)
      if (last === undefined) break
      page = last.id
      await lookAt(deps, type, targets, span, signal)
    }
    if (isWaiting && cursor?.failingSince == null) return
    await store.saveCursor(db, {
      type: type.name,
      blockNumber: upTo.number,
      blockAt: upTo.at,
      observedAt: clock.now(),
      failingSince: null,
      checkedAt: null,
    })
    after = upTo.number
    if (after >= tip.number) return
  }
}

function isDue(type: ChainWatchType, cursor: store.Cursor | undefined, tip: BlockRef): boolean {
  if (cursor?.blockAt == null || cursor.failingSince !== null) return true
  return tip.at.getTime() - cursor.blockAt.getTime() >= type.everySeconds * 1000
}

/** The last block of the next look: the tip, or as far as one look may reach. */
async function endOfLook(
  chain: Chain,
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
  targets: readonly store.TargetRow[],
  span: Span,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, facts, clock } = deps
  const looks = targets.map((row) => toLook(type, row))
  const seen = await type.observe({ chain, facts }, looks, span, signal)
  const missing = targets.filter((row, i) => seen[i] === undefined && row.noDataSince === null)
  await store.markNoData(db, idsOf(missing), clock.now())
  const nothingNew = targets.filter((row, i) => seen[i]?.length === 0 && row.noDataSince !== null)
  await store.markData(db, idsOf(nothingNew))
  for (const [index, row] of targets.entries()) {
    const look = looks[index]
    const news = newsOf(type, row, seen[index] ?? [])
    if (look !== undefined && news.length > 0) await judge(deps, type, row.id, look, news)
  }
}

function idsOf(targets: readonly store.TargetRow[]): readonly number[] {
  return targets.map(({ id }) => id)
}

function toLook(type: ChainWatchType, row: store.TargetRow): Look {
  return {
    target: z.decode(type.target, row.target),
    lens: type.lens === undefined ? undefined : z.decode(type.lens.schema, row.lens),
    isNew: row.observation === null,
  }
}

/** Observations that must be judged: not those that concern nobody, nor any of a history twice. */
function newsOf(
  type: ChainWatchType,
  row: store.TargetRow,
  observations: readonly Observed[],
): readonly Observed[] {
  const newest = observations.at(-1)
  if (newest === undefined) return []
  const before = row.observation === null ? null : z.decode(type.observation, row.observation)
  if (type.tells === 'history') {
    return observations.filter(({ position }) => before === null || position > before.position)
  }
  if (row.stale || row.noDataSince !== null || before === null) return [newest]
  return isQuiet(type, row, before, newest) ? [] : [newest]
}

function isQuiet(
  type: ChainWatchType,
  row: store.TargetRow,
  before: Observed,
  observation: Observed,
): boolean {
  const { guard } = type
  if (guard === undefined) return type.isSame?.(before, observation) ?? false
  return row.summary !== null && guard.isQuiet(z.decode(guard.schema, row.summary), observation)
}

/** Judges every watch on one target and keeps the last observation, all in one transaction. */
async function judge(
  deps: ObserveDeps,
  type: ChainWatchType,
  targetId: number,
  { target }: Look,
  observations: readonly Observed[],
): Promise<void> {
  const newest = observations.at(-1)
  if (newest === undefined) return
  await deps.db.transaction(async (tx) => {
    if ((await store.lockTarget(tx, targetId)) === undefined) return
    const sum = summing(type, newest)
    for (let after = 0; ; ) {
      const watches = await listEvaluated(tx, targetId, after, WATCHES_PER_WRITE)
      const last = watches.at(-1)
      if (last === undefined) break
      after = last.id
      const outcomes = watches.map((watch) => {
        const outcome = foldWatch(type, target, watch, observations)
        sum.add(watch.settings, outcome.states)
        return { watchId: watch.id, ...outcome }
      })
      const states = outcomes.flatMap(({ watchId, states }) =>
        states.map((state) => ({ watchId, state })),
      )
      await saveStates(tx, states)
      await deps.raise(
        tx,
        outcomes.flatMap(({ raised }) => raised),
      )
    }
    await store.saveObservation(tx, targetId, {
      observation: z.encode(type.observation, newest),
      observedAt: newest.at,
      summary: sum.encoded(),
    })
  })
}

/** Sums up the watches of a target for the type's guard, if it has one. */
function summing({ guard, settings: schema }: ChainWatchType, observation: Observed) {
  let summary = guard?.empty
  return {
    add: (settings: unknown, states: readonly { signal: string; state: unknown }[]) => {
      if (guard === undefined) return
      const byId = new Map(states.map(({ signal, state }) => [signal, state]))
      const watch = { settings: z.decode(schema, settings), states: byId }
      summary = guard.add(summary, watch, observation)
    },
    encoded: () => (guard === undefined ? null : z.encode(guard.schema, summary)),
  }
}

/** Runs it and keeps the refusal of an endpoint for later. */
async function unlessAway<T>(run: () => Promise<T>, failures: AppError[]): Promise<T | undefined> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'upstream') throw error
    failures.push(error)
    return undefined
  }
}
