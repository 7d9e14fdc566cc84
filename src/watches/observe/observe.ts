import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import { isolateEach, isSharedFailure } from '#src/db/isolate.ts'
import { FenceError } from '#src/db/leases.ts'
import type { Slices } from '#src/db/slices.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import { AppError } from '#src/kernel/errors.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { BlockSpan, ChainWatchType, ObservationRequest } from '../define.ts'
import { dueByChain, lastObservationOf } from '../evaluate/judge-chain.ts'
import { groupDueTargets, type JudgeDeps, judgeGroup } from '../evaluate/judge-group.ts'
import type { WatchTypeFacts } from '../facts.ts'
import { readPagesToJudge, readTargetPages } from '../slice-pages.ts'
import * as store from '../target-store.ts'
import { CHAIN_WATCH_TYPES } from '../types/index.ts'
import {
  createPassProgress,
  type GroupProgress,
  type PassProgress,
  readSliceGroups,
  type SliceGroup,
} from './slice-progress.ts'
import type { TypePauses } from './type-pauses.ts'

/** Number of targets that one request observes. */
const TARGETS_PER_REQUEST = 500
/** Maximum number of batches of one type in one pass; the rest waits for the next pass. */
const BATCHES_PER_PASS = 50
interface ObserveDeps extends JudgeDeps {
  readonly chain: FspChain
  readonly facts: WatchTypeFacts
  readonly log: Logger
  readonly progress: PassProgress
  /** Pauses of types that fail; the caller keeps them between passes. */
  readonly typePauses: TypePauses
}

/** What a pass needs from its caller. */
export interface ObservePassDeps extends Omit<ObserveDeps, 'progress'> {
  /** The slices of this process. */
  readonly slices: Slices
}

/**
 * Runs one pass over the slices of this process, up to the published block: observes every distinct target
 * of every chain type once, and judges its watches only if the observation changed, or a watch joined or changed.
 *
 * Each target's states, alerts and last observation are written in one transaction, so nothing is lost or repeated if
 * the process stops at any point, or another process takes over a slice meanwhile. If the targets of a type cannot be
 * read, they are not judged, and the cursors of the slices keep their block: `fireOutages` sees that it stands still.
 * Each further failure is followed by a longer pause. A type that fails does not affect other types; a target or watch
 * that cannot be judged is put into quarantine and does not affect others.
 *
 * @throws AppError upstream when no target could be read; database errors
 */
export async function observeSlices(passDeps: ObservePassDeps, signal: AbortSignal): Promise<void> {
  const slices = passDeps.slices.hold()
  const progress = createPassProgress({ db: passDeps.db, slices })
  const tip = await store.findPublishedBlock(passDeps.db)
  if (tip === undefined) return
  try {
    await observeTypes({ ...passDeps, slices, progress }, tip, signal)
  } finally {
    await progress.write()
  }
}

/**
 * Types that read the state of each block are observed together, so that they share a request; then the others, one
 * after another.
 */
async function observeTypes(deps: ObserveDeps, tip: BlockRef, signal: AbortSignal): Promise<void> {
  const failures: unknown[] = []
  let observed = 0
  const groupsOf = await readSliceGroups(deps.db, deps.slices.held())
  const observeGroups = async (type: ChainWatchType) => {
    for (const group of groupsOf(type.name)) {
      if (signal.aborted) return
      const paused = { type: type.name, slices: group.slices }
      const last = deps.typePauses.errorOf(paused)
      if (last !== undefined) {
        failures.push(last.error)
        continue
      }
      try {
        await observeType(deps, type, group, tip, signal)
        observed += 1
        if (deps.typePauses.worked(paused))
          deps.log.info({ type: type.name }, 'watch type can be judged again')
      } catch (error) {
        if (!isOfType(error)) throw error
        failures.push(error)
        if (deps.typePauses.failed(paused, error)) logFailure(deps, type, error)
      }
    }
  }
  const together = CHAIN_WATCH_TYPES.filter(readsEveryBlock)
  for (const outcome of await Promise.allSettled(together.map(observeGroups))) {
    if (outcome.status === 'rejected') throw outcome.reason
  }
  for (const type of CHAIN_WATCH_TYPES) if (!readsEveryBlock(type)) await observeGroups(type)
  if (failures.length > 0 && observed === 0) throw failures[0]
}

function readsEveryBlock({ everySeconds, watermark }: ChainWatchType): boolean {
  return everySeconds === 0 && watermark === undefined
}

/** Whether an error concerns only one type. Errors of the database or the fence concern all types. */
function isOfType(error: unknown): boolean {
  return error instanceof AppError || !isSharedFailure(error)
}

async function observeType(
  deps: ObserveDeps,
  type: ChainWatchType,
  { slices, cursor }: SliceGroup,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  try {
    const known = type.watermark === undefined ? tip : await lastKnownBlock(deps, type, cursor, tip)
    if (known === undefined) return
    await observeSpans(deps, type, { slices, cursor }, known, signal)
  } catch (error) {
    // Another process has taken a slice; the next pass continues with the other slices.
    if (signal.aborted || error instanceof FenceError) return
    throw error
  }
}

function logFailure({ log }: ObserveDeps, type: ChainWatchType, error: unknown): void {
  const isUpstream = error instanceof AppError && error.kind === 'upstream'
  const fields = {
    type: type.name,
    error: loggableError(isUpstream ? (error.cause ?? error) : error),
  }
  if (isUpstream)
    log.warn(
      fields,
      'watch type was not observed: a dependency is unavailable; the next run tries again',
    )
  else log.error(fields, 'watch type cannot be judged')
}

/**
 * The last block whose data is stored, at most the tip; undefined before the first.
 *
 * @throws AppError upstream when targets were judged further than the data reaches
 */
async function lastKnownBlock(
  { chain, facts }: ObserveDeps,
  type: ChainWatchType,
  cursor: GroupProgress,
  tip: BlockRef,
): Promise<BlockRef | undefined> {
  const block = await type.watermark?.block({ chain, facts })
  const judgedTo = cursor.blockNumber ?? -1
  if (block === undefined && judgedTo < 0) return undefined
  if (block === undefined || block.number < judgedTo) {
    const cause = new Error(
      `data is known up to block ${block?.number}, but targets were judged up to ${judgedTo}`,
    )
    throw new AppError('upstream', 'dependency_unavailable', {}, { cause })
  }
  return block.number >= tip.number ? tip : block
}

async function observeSpans(
  deps: ObserveDeps,
  type: ChainWatchType,
  { slices, cursor }: SliceGroup,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, clock, progress } = deps
  let after = cursor.blockNumber
  for (let batches = 0; batches < BATCHES_PER_PASS && !signal.aborted; batches++) {
    // The published block can be older than the observed one if another endpoint or process has read it.
    if (after !== null && tip.number < after) return
    const isWaiting = after === tip.number || (batches === 0 && !isDue(type, cursor, tip))
    const upTo = isWaiting ? tip : await endOfBatch(chain, type, after, tip, signal)
    if (upTo === undefined) return
    // Between two intervals only targets with new or changed watches are observed.
    const list = isWaiting ? readPagesToJudge : readTargetPages
    for await (const targets of list(db, type.name, slices, TARGETS_PER_REQUEST)) {
      await progress.writeSoon()
      await observeTargets(deps, type, targets, { after, upTo }, signal)
    }
    if (isWaiting) return
    signal.throwIfAborted()
    progress.add({
      type: type.name,
      slices,
      ...{ blockNumber: upTo.number, blockAt: upTo.at, observedAt: clock.now() },
    })
    after = upTo.number
    if (after >= tip.number) return
  }
}

function isDue(type: ChainWatchType, cursor: GroupProgress, tip: BlockRef): boolean {
  if (cursor.blockAt === null) return true
  return tip.at.getTime() - cursor.blockAt.getTime() >= type.everySeconds * 1000
}

/** The last block of the next batch: the tip, or the end of the largest span. */
async function endOfBatch(
  chain: FspChain,
  { blocksPerBatch = Number.POSITIVE_INFINITY }: ChainWatchType,
  after: number | null,
  tip: BlockRef,
  signal: AbortSignal,
): Promise<BlockRef | undefined> {
  if (after === null || tip.number - after <= blocksPerBatch) return tip
  return chain.blockAt(after + blocksPerBatch, signal)
}

async function observeTargets(
  deps: ObserveDeps,
  type: ChainWatchType,
  all: readonly store.TargetRow[],
  span: BlockSpan,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, facts, clock, quarantine, slices } = deps
  const options = { quarantine, kind: 'target', idOf: ({ id }: store.TargetRow) => id }
  const rows = all.filter(({ slice }) => slices.isHeld(slice))
  const targets = await isolateEach(rows, options, (row) => ({
    row,
    request: toRequest(deps, type, row),
  }))
  const requests = targets.map(({ request }) => request)
  const readable = new Set(targets.map(({ row }) => row))
  const unreadable = rows.filter((row) => !readable.has(row))
  const fence = slices.fenceOf([...new Set(rows.map(({ slice }) => slice))])
  const seen = await type.observe({ chain, facts, fence }, requests, span, signal)
  const withoutData = [
    ...unreadable,
    ...targets.flatMap(({ row }, i) => (seen[i] === undefined ? [row] : [])),
  ]
  const missing = withoutData.flatMap((row) => (row.noDataSince === null ? [row.id] : []))
  const nothingNew = targets.flatMap(({ row }, i) =>
    seen[i]?.length === 0 && row.noDataSince !== null ? [row.id] : [],
  )
  if (missing.length > 0 || nothingNew.length > 0) {
    await fence.transact(db, async (tx) => {
      await store.markNoData(tx, missing, clock.now())
      await store.clearNoData(tx, nothingNew)
    })
  }
  const due = targets.flatMap(
    ({ row, request }, index) =>
      dueByChain(deps, type, { row, request, observations: seen[index] ?? [] }) ?? [],
  )
  for (const group of groupDueTargets(due)) {
    signal.throwIfAborted()
    await judgeGroup(deps, group)
  }
}

function toRequest(
  deps: ObserveDeps,
  type: ChainWatchType,
  row: store.TargetRow,
): ObservationRequest {
  return {
    target: z.decode(type.target, row.target),
    keySettings:
      type.keySettings === undefined
        ? undefined
        : z.decode(type.keySettings.schema, row.keySettings),
    isNew: row.observation === null,
    last: lastObservationOf(deps, type, row),
  }
}
