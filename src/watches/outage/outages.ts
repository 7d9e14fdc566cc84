import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { isolateEach, isolateHalves } from '#src/db/isolate.ts'
import { type Fence, transactUnder } from '#src/db/leases.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { ChainWatchType } from '../define.ts'
import type { AlertCandidate } from '../evaluate/evaluate.ts'
import { saveOutcomes } from '../evaluate/judge-group.ts'
import type { StoredState } from '../model.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'
import { TIP_CURSOR } from '../tables.ts'
import * as store from '../target-store.ts'
import { OutageData, outageSeverityOf, STALE_CHAIN_MS } from './monitoring.ts'
import { standsStillSince, standstillMs, USUAL_MS } from './standstill.ts'
import * as outages from './store.ts'

/** Number of watches that are notified in one transaction. */
const WATCHES_PER_WRITE = 1000

export interface OutageDeps {
  readonly db: Db
  /** Fence of the only process that may write outages; omitted where there is a single process. */
  readonly fence?: Fence | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly quarantine: Quarantine
  /**
   * Records firings in the given transaction: `alerts.recordAlerts`, which belongs to a room above this
   * one.
   */
  readonly recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) => Promise<void>
}

/**
 * Records since when the watches of each type have had no current data, and raises alerts about it: for all watches of a
 * type that stands still for 90 seconds, and once more when that becomes critical; once for the watches of a single target
 * that could not be read, and for a single watch that could not be judged, for 90 seconds; and a recovery for each when it has data again.
 *
 * Watches are visited only on such a change, in batches. If the process stops, no alert is repeated or
 * lost. A watch or type that cannot be notified is put into quarantine and does not affect others.
 *
 * @throws FenceError when another process took over; database errors
 */
export async function fireOutages(
  deps: OutageDeps,
  types: readonly ChainWatchType[],
): Promise<void> {
  const now = deps.clock.now()
  const cursors = await store.listObservationCursors(deps.db)
  const findCursor = (name: string) => cursors.find(({ type }) => type === name)
  const tip = findCursor(TIP_CURSOR)
  const concerned = await outages.listConcernedTypes(deps.db)
  const options = { quarantine: deps.quarantine, kind: 'watch_type', idOf: nameOf }
  await isolateEach(types, options, async (type) => {
    const cursor = findCursor(type.name)
    const isOut = await fireForType(deps, type, { cursor, tip }, now)
    if (!isOut && concerned.has(type.name)) await fireForTargets(deps, type.name, cursor, now)
  })
}

const nameOf = ({ name }: ChainWatchType) => name

/** @returns whether the type has had no current data for so long that its watches are notified */
async function fireForType(
  deps: OutageDeps,
  type: ChainWatchType,
  {
    cursor,
    tip,
  }: {
    readonly cursor: store.ObservationCursor | undefined
    readonly tip: store.ObservationCursor | undefined
  },
  now: Date,
): Promise<boolean> {
  const stillMs = standstillMs(type, cursor, tip?.blockAt ?? null, now)
  const since = standsStillSince(cursor, stillMs, cursor, now)
  const severity = outageSeverityOf(since, now)
  if (since !== null || cursor?.failingSince != null) {
    await save(deps, {
      ...{ type: type.name, failingSince: since, checkedAt: since && now },
      ...(severity === null && { outageNotified: null }),
    })
  }
  if (since === null || severity === null) return false
  if (cursor?.outageNotified === severity) return true
  const outage: OutageData = {
    since,
    lastBlock:
      tip?.blockNumber == null || tip.blockAt === null
        ? null
        : { number: tip.blockNumber, at: tip.blockAt },
    reason: reasonOf(tip),
    until: null,
  }
  const list = (page: BatchPage) =>
    outages.listUnnotifiedWatches(deps.db, severity, { ...page, type: type.name })
  const notified = await raise(deps, type.name, list, () => ({ severity, outage }), now)
  if (notified > 0)
    deps.log.error(
      { type: type.name, severity, since, reason: outage.reason, watches: notified },
      'watch type has no data: alerts are sent to its watches',
    )
  await save(deps, { type: type.name, outageNotified: severity })
  return true
}

/** Why a type has no current data: because of the chain as a whole, or of the type alone. */
function reasonOf(tip: store.ObservationCursor | undefined): OutageData['reason'] {
  if (tip?.checkedAt == null || tip.failingSince === null) return 'behind'
  if (tip.checkedAt.getTime() - tip.failingSince.getTime() <= USUAL_MS) return 'behind'
  return tip.observedAt?.getTime() === tip.checkedAt.getTime() ? 'no_block' : 'no_answer'
}

/** Notifies watches that have no data while their type has, and those that have data again. */
async function fireForTargets(
  deps: OutageDeps,
  type: string,
  cursor: store.ObservationCursor | undefined,
  now: Date,
): Promise<void> {
  await endOutages(deps, type, now)
  if (cursor?.observedAt == null) return
  // A target counts as unreadable only while its type is observed, so not while the service did not run.
  // A time of observation that is still to come says no more than now.
  const observedMs = Math.min(cursor.observedAt.getTime(), now.getTime())
  const before = new Date(observedMs - STALE_CHAIN_MS)
  const list = (page: BatchPage) =>
    outages.listWatchesWithoutData(deps.db, before, { ...page, type })
  const outageOf = ({ noDataSince, state }: outages.OutageWatch) => ({
    severity: 'warning' as const,
    outage: {
      since: noDataSince ?? state?.since ?? now,
      lastBlock: null,
      reason: noDataSince === null ? ('watch_unreadable' as const) : ('target_unreadable' as const),
      until: null,
    },
  })
  const notified = await raise(deps, type, list, outageOf, now)
  if (notified > 0)
    deps.log.warn(
      { type, watches: notified },
      'targets or watches cannot be read: alerts are sent to these watches',
    )
}

function save(
  { db, fence }: OutageDeps,
  cursor: Parameters<typeof store.saveObservationCursor>[1],
) {
  return transactUnder(fence, db, (tx) => store.saveObservationCursor(tx, cursor))
}

/** Raises an alert for each listed watch. @returns their number */
function raise(
  deps: OutageDeps,
  type: string,
  list: ListBatch,
  outageOf: (watch: outages.OutageWatch) => {
    readonly severity: Severity
    readonly outage: OutageData
  },
  now: Date,
): Promise<number> {
  return inBatches(deps, list, async (tx, watches) => {
    const raised = watches.map((watch) => {
      const { severity, outage } = outageOf(watch)
      const data = z.encode(OutageData, outage)
      const firing = { event: 'fsp.monitoring', severity, data, isRecovery: false } as const
      return {
        id: watch.id,
        states: [openState(watch.state, severity, outage, now)],
        candidates: [{ ...common(watch, type, now), ...firing }],
      }
    })
    await saveOutcomes(deps, tx, raised)
  })
}

/** Ends the outages of watches of a type that has data, except of those that have none themselves. */
async function endOutages(deps: OutageDeps, type: string, now: Date): Promise<void> {
  const list = (page: BatchPage) => outages.listWatchesWithDataAgain(deps.db, { ...page, type })
  const notified = await inBatches(deps, list, async (tx, watches) => {
    const ids = watches.map(({ id }) => id)
    await outages.deleteStates(tx, ids)
    await deps.recordAlerts(
      tx,
      watches.flatMap((watch) => {
        if (watch.state?.severity === null) return []
        const known = OutageData.safeParse(watch.state?.state)
        if (!known.success) {
          deps.quarantine.add('watch', watch.id, known.error)
          return []
        }
        const data = z.encode(OutageData, { ...known.data, until: now })
        const event = 'fsp.monitoring.recovered'
        const severity = 'info'
        const episodeSeverity = watch.state?.severity ?? null
        const recovery = { event, severity, data, isRecovery: true, episodeSeverity } as const
        return [{ ...common(watch, type, now), ...recovery }]
      }),
    )
  })
  if (notified > 0) deps.log.info({ type, watches: notified }, 'watches have data again')
}

/** Common fields of every firing. A recovery is ordered after its alert, even at the same instant. */
function common(watch: outages.OutageWatch, type: string, now: Date) {
  const { id, wallet, label, recipientIds, minSeverity, mutedUntil, state } = watch
  const before = state?.lastFiredAt?.getTime() ?? 0
  return {
    watch: { id, wallet, label, recipientIds, minSeverity, mutedUntil },
    type,
    signal: null,
    group: null,
    isNotified: true,
    position: Math.max(now.getTime(), before + 1),
    firedAt: now,
  } as const
}

function openState(
  before: StoredState | undefined,
  severity: Severity,
  outage: OutageData,
  now: Date,
): StoredState {
  return {
    signal: OUTAGE_STATE_KEY,
    state: z.encode(OutageData, outage),
    phase: before?.phase === 'unknown' ? 'unknown' : 'firing',
    since: before?.since ?? now,
    streak: null,
    severity,
    lastEvidenceAt: outage.lastBlock?.at ?? outage.since,
    lastFiredAt: now,
    changes: [],
    cooldownUntil: null,
  }
}

type BatchPage = Pick<
  Parameters<typeof outages.listWatchesWithDataAgain>[1],
  'after' | 'limit' | 'onUnreadable'
>
type ListBatch = (page: BatchPage) => Promise<outages.OutageWatchPage>
type WriteWatches = (tx: Db, watches: readonly outages.OutageWatch[]) => Promise<void>

/**
 * Lists batches and writes each in a transaction, until one is empty. A watch that cannot be written is put into
 * quarantine.
 *
 * @returns the number of watches that were written
 */
async function inBatches(deps: OutageDeps, list: ListBatch, write: WriteWatches): Promise<number> {
  const onUnreadable = (id: number, error: unknown) => deps.quarantine.add('watch', id, error)
  let count = 0
  for (let after = 0; ; ) {
    const { watches, lastId } = await list({ after, limit: WATCHES_PER_WRITE, onUnreadable })
    if (lastId === undefined) return count
    await isolateHalves(
      watches,
      async (half) => {
        await transactUnder(deps.fence, deps.db, (tx) => write(tx, half))
        count += half.length
      },
      ({ id }, error) => onUnreadable(id, error),
    )
    after = lastId
  }
}
