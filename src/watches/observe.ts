import { z } from 'zod'
import type { BlockRef, Chain } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { ChainWatchType, Observed } from './define.ts'
import { evaluateWatch, type Raised } from './evaluate.ts'
import { listEvaluated, saveStates } from './store.ts'
import * as store from './target-store.ts'
import { CHAIN_TYPES } from './types/index.ts'

/** Targets looked at in one request. */
const TARGETS_PER_LOOK = 500
/** Watches judged between two writes; bounds memory however many look at one target. */
const WATCHES_PER_WRITE = 1000

export interface ObserveDeps {
  readonly db: Db
  readonly chain: Chain
  readonly clock: Clock
  readonly log: Logger
  /** Blocks counted from the tip, itself included, before a block is believed. */
  readonly confirmations: number
  /** Records firings in the given transaction: `alerts.raise`, a higher room. */
  readonly raise: (tx: Db, raised: readonly Raised[]) => Promise<void>
}

/**
 * One observation pass: every distinct target of every type that reads the chain looked at once, its
 * watches judged only if it moved or a watch joined.
 *
 * Each target's states, alerts and last observation are one transaction, so a stop anywhere loses and
 * repeats nothing. When the chain does not answer nothing is judged, and the type's cursor says so.
 */
export async function observeWatches(deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  for (const type of CHAIN_TYPES) await observeType(deps, type, signal)
}

async function observeType(
  deps: ObserveDeps,
  type: ChainWatchType,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, clock } = deps
  const cursor = await store.findCursor(db, type.name)
  try {
    const upTo = await chain.confirmedBlock(deps.confirmations, signal)
    const seen = cursor?.blockNumber ?? -1
    // An endpoint that lags behind says nothing new; at the same block only newly watched targets do.
    if (upTo.number < seen) return
    const staleOnly = upTo.number === seen
    for (let after = 0; ; ) {
      const page = { after, limit: TARGETS_PER_LOOK, staleOnly }
      const targets = await store.listTargets(db, type.name, page)
      const last = targets.at(-1)
      if (last === undefined) break
      after = last.id
      await lookAt(deps, type, targets, upTo, signal)
    }
    if (staleOnly && cursor?.failingSince === null) return
    await store.saveCursor(db, {
      type: type.name,
      blockNumber: upTo.number,
      blockAt: upTo.at,
      observedAt: clock.now(),
      failingSince: null,
    })
  } catch (error) {
    if (signal.aborted) return
    await store.saveCursor(db, {
      type: type.name,
      blockNumber: cursor?.blockNumber ?? null,
      blockAt: cursor?.blockAt ?? null,
      observedAt: cursor?.observedAt ?? null,
      failingSince: cursor?.failingSince ?? clock.now(),
    })
    throw error
  }
}

async function lookAt(
  deps: ObserveDeps,
  type: ChainWatchType,
  targets: readonly store.TargetRow[],
  upTo: BlockRef,
  signal: AbortSignal,
): Promise<void> {
  const { db, chain, clock } = deps
  const decoded = targets.map(({ target }) => z.decode(type.target, target))
  const observations = await type.observe({ chain }, decoded, upTo, signal)
  const missing = targets.filter((row, i) => observations[i] === undefined && !row.noDataSince)
  await store.markNoData(
    db,
    missing.map(({ id }) => id),
    clock.now(),
  )
  for (const [index, row] of targets.entries()) {
    const observation = observations[index]
    if (observation === undefined) continue
    const before = row.observation === null ? null : z.decode(type.observation, row.observation)
    const isQuiet = before !== null && type.isSame(before, observation)
    if (isQuiet && !row.stale && row.noDataSince === null) continue
    await judge(deps, type, { ...row, decoded: decoded[index] }, observation)
  }
}

/** Judges every watch on one target and keeps the observation, all in one transaction. */
async function judge(
  deps: ObserveDeps,
  type: ChainWatchType,
  row: { readonly id: number; readonly decoded: unknown },
  observation: Observed,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    if ((await store.lockTarget(tx, row.id)) === undefined) return
    for (let after = 0; ; ) {
      const watches = await listEvaluated(tx, row.id, after, WATCHES_PER_WRITE)
      const last = watches.at(-1)
      if (last === undefined) break
      after = last.id
      const outcomes = watches.map((watch) => ({
        watchId: watch.id,
        ...evaluateWatch(type, row.decoded, watch, observation),
      }))
      const states = outcomes.flatMap(({ watchId, states }) =>
        states.map((state) => ({ watchId, state })),
      )
      await saveStates(tx, states)
      await deps.raise(
        tx,
        outcomes.flatMap(({ raised }) => raised),
      )
    }
    const encoded = z.encode(type.observation, observation)
    await store.saveObservation(tx, row.id, encoded, observation.at)
  })
}
