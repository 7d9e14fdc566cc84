import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { isolateEach, isSharedFailure } from '#src/db/isolate.ts'
import { type Fence, transactUnder } from '#src/db/lock.ts'
import { type Clock, earliest, latest } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { ChainWatchType } from '../define.ts'
import type { AlertCandidate } from '../evaluate/evaluate.ts'
import type { StoredState } from '../model.ts'
import { saveStates } from '../state-store.ts'
import { OUTAGE_STATE_KEY } from '../store.ts'
import * as store from '../target-store.ts'
import { OutageData, outageSeverityOf } from './monitoring.ts'
import * as outages from './store.ts'

/** Number of watches that are notified in one transaction. */
const WATCHES_PER_WRITE = 1000

export interface ChainOutageDeps {
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
 * Raises an alert for every watch of the chain when there was no answer of the chain, or no new block, for 90 seconds;
 * another alert when the outage becomes critical; and a recovery when it is over.
 *
 * Watches are visited only on such a change, in batches. If the process stops, no alert is repeated or
 * lost. A watch or type that cannot be notified is put into quarantine and does not affect others.
 *
 * @throws FenceError when another process took over; database errors
 */
export async function fireChainOutages(
  deps: ChainOutageDeps,
  types: readonly ChainWatchType[],
): Promise<void> {
  const now = deps.clock.now()
  const tip = await store.findObservationCursor(deps.db, store.TIP_CURSOR)
  const options = { quarantine: deps.quarantine, kind: 'watch_type', idOf: nameOf }
  await isolateEach(types, options, ({ name }) => fireForType(deps, name, tip, now))
}

const nameOf = ({ name }: ChainWatchType) => name

async function fireForType(
  deps: ChainOutageDeps,
  type: string,
  tip: store.ObservationCursor | undefined,
  now: Date,
): Promise<void> {
  const cursor = await store.findObservationCursor(deps.db, type)
  const since = earliest(cursor?.failingSince, tip?.failingSince)
  // The outage lasts until the last check, not until now, because the clock may have jumped since. While the tip
  // cannot be read no type is observed, so the check of the tip counts, too.
  const isBlind = tip?.failingSince != null
  const checkedAt = isBlind ? latest(cursor?.checkedAt, tip.checkedAt) : cursor?.checkedAt
  const severity = outageSeverityOf(since, checkedAt ?? now)
  const outageSeverity = cursor?.outageSeverity ?? null
  if (severity === null && outageSeverity === null) return
  if (severity === null || since === null) {
    await endChainOutage(deps, type, now)
    await save(deps, { type, outageSeverity: null, outageNotified: null })
    return
  }
  if (cursor?.outageNotified === severity) return
  // Stored before the first alert, so that a recovery always follows.
  await save(deps, { type, failingSince: since, outageSeverity: severity })
  const outage: OutageData = {
    since,
    lastBlock:
      tip?.blockNumber == null || tip.blockAt === null
        ? null
        : { number: tip.blockNumber, at: tip.blockAt },
    reason: tip?.observedAt?.getTime() === tip?.checkedAt?.getTime() ? 'no_block' : 'no_answer',
    until: null,
  }
  const reason = cursor?.failingSince == null ? outage.reason : 'no_answer'
  await fireChainOutage(deps, type, severity, { ...outage, reason }, now)
  await save(deps, { type, outageNotified: severity })
}

function save(
  { db, fence }: ChainOutageDeps,
  cursor: Parameters<typeof store.saveObservationCursor>[1],
) {
  return transactUnder(fence, db, (tx) => store.saveObservationCursor(tx, cursor))
}

async function fireChainOutage(
  deps: ChainOutageDeps,
  type: string,
  severity: Severity,
  outage: OutageData,
  now: Date,
): Promise<void> {
  const data = z.encode(OutageData, outage)
  const list = (page: BatchPage) =>
    outages.listUnnotifiedWatches(deps.db, severity, { ...page, type })
  const notified = await inBatches(deps, list, async (tx, watches) => {
    const states = watches.map(({ id, state }) => ({
      watchId: id,
      state: openState(state, severity, outage, now),
    }))
    await saveStates(tx, states)
    await deps.recordAlerts(
      tx,
      watches.map((watch) => ({
        ...common(watch, type, now),
        event: 'fsp.monitoring',
        severity,
        data,
        isRecovery: false,
      })),
    )
  })
  if (notified === 0) return
  deps.log.error(
    { type, severity, since: data.since, watches: notified },
    'chain outage: alerts are sent to the watches of this type',
  )
}

async function endChainOutage(deps: ChainOutageDeps, type: string, now: Date): Promise<void> {
  const list = (page: BatchPage) => outages.listNotifiedWatches(deps.db, { ...page, type })
  const notified = await inBatches(deps, list, async (tx, watches) => {
    const ids = watches.map(({ id }) => id)
    await outages.deleteNotified(tx, ids)
    await deps.recordAlerts(
      tx,
      watches.flatMap((watch) => {
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
  if (notified > 0) deps.log.info({ type, watches: notified }, 'chain outage is over')
}

/** Common fields of every firing. A recovery is ordered after its alert, even at the same instant. */
function common(watch: outages.ChainOutageWatch, type: string, now: Date) {
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
    phase: 'firing',
    since: before?.since ?? now,
    streak: null,
    severity,
    lastEvidenceAt: outage.lastBlock?.at ?? outage.since,
    lastFiredAt: now,
  }
}

type BatchPage = Pick<
  Parameters<typeof outages.listNotifiedWatches>[1],
  'after' | 'limit' | 'onUnreadable'
>
type WriteWatches = (tx: Db, watches: readonly outages.ChainOutageWatch[]) => Promise<void>

/**
 * Lists batches and writes each, until one is empty.
 * @returns the number of watches that were written
 */
async function inBatches(
  deps: ChainOutageDeps,
  list: (page: BatchPage) => Promise<outages.OutageWatchPage>,
  write: WriteWatches,
): Promise<number> {
  const onUnreadable = (id: number, error: unknown) => deps.quarantine.add('watch', id, error)
  let count = 0
  for (let after = 0; ; ) {
    const { watches, lastId } = await list({ after, limit: WATCHES_PER_WRITE, onUnreadable })
    if (lastId === undefined) return count
    count += await writeBatch(deps, watches, write)
    after = lastId
  }
}

/**
 * Writes watches in one transaction. If the transaction fails, each half is written in a separate
 * transaction, down to a single watch, which is put into quarantine.
 *
 * @returns the number of watches that were written
 */
async function writeBatch(
  deps: ChainOutageDeps,
  watches: readonly outages.ChainOutageWatch[],
  write: WriteWatches,
): Promise<number> {
  const [first, ...others] = watches
  if (first === undefined) return 0
  try {
    await transactUnder(deps.fence, deps.db, (tx) => write(tx, watches))
    return watches.length
  } catch (error) {
    if (isSharedFailure(error)) throw error
    if (others.length === 0) {
      deps.quarantine.add('watch', first.id, error)
      return 0
    }
    const middle = Math.ceil(watches.length / 2)
    const done = await writeBatch(deps, watches.slice(0, middle), write)
    return done + (await writeBatch(deps, watches.slice(middle), write))
  }
}
