import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { type Fence, transactUnder } from '#src/db/lock.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { ChainWatchType } from '../define.ts'
import type { AlertCandidate } from '../evaluate/evaluate.ts'
import type { StoredState } from '../model.ts'
import { saveStates } from '../state-store.ts'
import { NO_SIGNAL } from '../store.ts'
import * as store from '../target-store.ts'
import { OutageData, severityOf } from './monitoring.ts'
import * as outages from './store.ts'

/** Watches notified in one transaction. */
const WATCHES_PER_WRITE = 1000

export interface ChainOutageDeps {
  readonly db: Db
  /** The right to write as the only process that observes; omitted where there is a single process. */
  readonly fence?: Fence | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Records firings in the given transaction: `alerts.recordAlerts` of a higher room. */
  readonly recordAlerts: (tx: Db, candidates: readonly AlertCandidate[]) => Promise<void>
}

/**
 * Raises an alert for every watch of the chain when the chain was unreachable for 90 seconds, another when
 * that becomes critical, and a recovery when it is reachable again.
 *
 * Watches are visited only on such a change, in batches. A stop of the process repeats and loses no alert.
 *
 * @throws FenceError when another process took over
 */
export async function fireChainOutages(
  deps: ChainOutageDeps,
  types: readonly ChainWatchType[],
): Promise<void> {
  const now = deps.clock.now()
  const tip = await store.findCursor(deps.db, store.TIP)
  for (const type of types) {
    const cursor = await store.findCursor(deps.db, type.name)
    const since = earliest(cursor?.failingSince, tip?.failingSince)
    // By the time of the last observation: a clock that jumped since proves nothing. Without a tip no type is observed.
    const isBlind = tip?.failingSince != null
    const checkedAt = isBlind ? latest(cursor?.checkedAt, tip.checkedAt) : cursor?.checkedAt
    const severity = severityOf(since, checkedAt ?? now)
    const outageSeverity = cursor?.outageSeverity ?? null
    if (severity === null && outageSeverity === null) continue
    if (severity === null || since === null) {
      await endChainOutage(deps, type.name, now)
      await save(deps, { type: type.name, outageSeverity: null, outageNotified: null })
      continue
    }
    if (cursor?.outageNotified === severity) continue
    // Stored before the first alert, so that a recovery always follows.
    await save(deps, { type: type.name, failingSince: since, outageSeverity: severity })
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
    await fireChainOutage(deps, type.name, severity, { ...outage, reason }, now)
    await save(deps, { type: type.name, outageNotified: severity })
  }
}

function save({ db, fence }: ChainOutageDeps, cursor: Parameters<typeof store.saveCursor>[1]) {
  return transactUnder(fence, db, (tx) => store.saveCursor(tx, cursor))
}

async function fireChainOutage(
  deps: ChainOutageDeps,
  type: string,
  severity: Severity,
  outage: OutageData,
  now: Date,
): Promise<void> {
  const data = z.encode(OutageData, outage)
  const notified = await inBatches(deps, async (tx, after) => {
    const watches = await outages.listUnnotified(tx, type, severity, after, WATCHES_PER_WRITE)
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
    return watches
  })
  if (notified === 0) return
  deps.log.error(
    { type, severity, since: data.since, watches: notified },
    'chain outage: alerts are sent to the watches of this type',
  )
}

async function endChainOutage(deps: ChainOutageDeps, type: string, now: Date): Promise<void> {
  const notified = await inBatches(deps, async (tx, after) => {
    const watches = await outages.listNotified(tx, type, after, WATCHES_PER_WRITE)
    await outages.deleteNotified(
      tx,
      watches.map(({ id }) => id),
    )
    await deps.recordAlerts(
      tx,
      watches.flatMap((watch) => {
        const outage = OutageData.parse(watch.state?.state)
        const data = z.encode(OutageData, { ...outage, until: now })
        const event = 'fsp.monitoring.recovered'
        const severity = 'info'
        const episodeSeverity = watch.state?.severity ?? null
        const recovery = { event, severity, data, isRecovery: true, episodeSeverity } as const
        return [{ ...common(watch, type, now), ...recovery }]
      }),
    )
    return watches
  })
  if (notified > 0) deps.log.info({ type, watches: notified }, 'chain outage is over')
}

/** Common parts of every firing. A recovery is ordered after its alert, also within one instant. */
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
    signal: NO_SIGNAL,
    state: z.encode(OutageData, outage),
    phase: 'firing',
    since: before?.since ?? now,
    streak: null,
    severity,
    lastEvidenceAt: outage.lastBlock?.at ?? outage.since,
    lastFiredAt: now,
  }
}

/**
 * Runs batches, each a transaction, until one is empty.
 * @returns the total number of rows
 */
async function inBatches(
  { db, fence }: ChainOutageDeps,
  run: (tx: Db, after: number) => Promise<readonly { readonly id: number }[]>,
): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const done = await transactUnder(fence, db, (tx) => run(tx, after))
    const last = done.at(-1)
    if (last === undefined) return count
    after = last.id
    count += done.length
  }
}

type Instants = readonly (Date | null | undefined)[]

function earliest(...instants: Instants): Date | null {
  const times = timesOf(instants)
  return times.length === 0 ? null : new Date(Math.min(...times))
}

function latest(...instants: Instants): Date | null {
  const times = timesOf(instants)
  return times.length === 0 ? null : new Date(Math.max(...times))
}

function timesOf(instants: Instants): number[] {
  return instants.flatMap((one) => one?.getTime() ?? [])
}
