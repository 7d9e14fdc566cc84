/** Sends alerts without a timely acknowledgement to further recipients. */
import { outageStart } from '#src/channels/card/outage.ts'
import type { Db } from '#src/db/connection.ts'
import { lockIfDue } from '#src/db/due-rows.ts'
import * as delivery from '#src/delivery/service.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { maintenanceAt } from '#src/recipients/maintenance.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { newestOfEach } from '../incidents/heading.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import type { NotifyDeps } from '../notify/deps.ts'
import { type Notification, notificationOf, notifyRecipients } from '../notify/notify.ts'
import { isMuted } from '../rules.ts'
import * as store from '../store.ts'
import * as escalationStore from './escalation-store.ts'
import { toIdRows } from './id-rows.ts'

/** Time after which an escalation that an inhibition, a mute or maintenance prevents is checked again. */
const PREVENTED_MS = 5 * MINUTE_MS

/** Result of a due escalation. */
type Step =
  | { readonly act: 'end' }
  | { readonly act: 'wait'; readonly until: Date }
  | { readonly act: 'escalate'; readonly watch: WatchForNotification }

/**
 * Sends due escalations: each incident once, with all of its open alerts, whichever of them is due first.
 *
 * @returns number of due alerts
 */
export async function sendDueEscalations(
  deps: NotifyDeps,
  tx: Db,
  ids: readonly number[],
): Promise<number> {
  const now = deps.clock.now()
  const rows = await lockIfDue(tx, escalationStore.DUE_ESCALATIONS, { now, among: toIdRows(ids) })
  const watchIds = [...new Set(rows.map(({ watchId }) => watchId))]
  const watches = await listForNotification(tx, watchIds)
  const steps = await stepsOf(tx, rows, watches, now)
  const of = (act: Step['act']) => steps.filter(({ step }) => step.act === act)
  const ended = of('end').map(({ row }) => row.id)
  await escalationStore.endEscalations(tx, ended)
  await escalationStore.scheduleEscalations(
    tx,
    steps.flatMap(({ row, step }) =>
      step.act === 'wait' ? [{ id: row.id, escalateAt: step.until }] : [],
    ),
  )
  const open = await withCurrentFigures(tx, await store.listOpenOfWatches(tx, watchIds))
  const keyOf = ({ wallet, incidentId }: store.AlertRow) => `${wallet} ${incidentId}`
  const due = new Map(
    steps.flatMap(({ row, step }) =>
      step.act === 'escalate' ? [[keyOf(row), { row, watch: step.watch }] as const] : [],
    ),
  )
  const together = open.filter((row) => due.has(keyOf(row)))
  const notified = await notifyRecipients(
    deps,
    tx,
    [...due].flatMap(([key, { row, watch }]) => {
      const open = together.filter((other) => keyOf(other) === key && isUntaken(other))
      // Of the alerts of one episode the newest is sent.
      const newest = open.length === 0 ? [row] : newestOfEach(open).toReversed()
      return newest.map((alert) => escalationOf(alert, watch, now))
    }),
  )
  const escalated = [
    ...new Map(
      [...of('escalate').map(({ row }) => row), ...together].map((row) => [row.id, row]),
    ).values(),
  ]
  const recipientsOf = (key: string) => {
    const ids = escalated.flatMap((row) => (keyOf(row) === key ? [row.id] : []))
    const escalatedNow = notified.filter(({ alertId }) => ids.includes(alertId))
    return [...new Set(escalatedNow.map(({ recipientId }) => recipientId))]
  }
  await escalationStore.markEscalated(
    tx,
    escalated.map((row) => ({ id: row.id, escalatedTo: recipientsOf(keyOf(row)) })),
    now,
  )
  // The messages about these alerts say that they were escalated.
  await delivery.reviseMessages(
    tx,
    escalated.map(({ id }) => id),
  )
  return rows.length
}

async function stepsOf(
  tx: Db,
  rows: readonly store.AlertRow[],
  watches: ReadonlyMap<number, WatchForNotification>,
  now: Date,
): Promise<readonly { readonly row: store.AlertRow; readonly step: Step }[]> {
  const wallets = new Set([...watches.values()].map(({ wallet }) => wallet))
  const settings = await listSettings(tx, [...wallets])
  return rows.map((row) => {
    const watch = watches.get(row.watchId)
    const walletSettings = (watch && settings.get(watch.wallet)) ?? DEFAULT_SETTINGS
    return { row, step: stepOf(row, watch, walletSettings, now) }
  })
}

/** Whether nobody has acknowledged or muted an alert. */
function isUntaken({ acknowledgedAt, mutedAt }: store.AlertRow): boolean {
  return acknowledgedAt === null && mutedAt === null
}

function escalationOf(row: store.AlertRow, watch: WatchForNotification, now: Date): Notification {
  const alert = notificationOf(row, watch)
  const from = outageStart(alert)
  return {
    ...alert,
    notes: [
      ...(alert.notes ?? []),
      { kind: 'escalated', seconds: (now.getTime() - from.getTime()) / 1000 },
    ],
    escalatedTo: watch.escalateTo,
    isEscalation: true,
  }
}

function stepOf(
  row: store.AlertRow,
  watch: WatchForNotification | undefined,
  settings: Settings,
  now: Date,
): Step {
  if (watch === undefined || !watch.isJudged || watch.escalateTo.length === 0) return { act: 'end' }
  if (row.acknowledgedAt !== null || row.recoveredAt !== null || row.mutedAt !== null) {
    return { act: 'end' }
  }
  if (row.escalatedAt !== null || watch.escalateAfterMinutes === null) return { act: 'end' }
  // Inhibitions, mutes and maintenance can end at any time.
  const later = new Date(now.getTime() + PREVENTED_MS)
  if (watch.mutedUntil !== null && isMuted(watch, now)) {
    return { act: 'wait', until: watch.mutedUntil < later ? watch.mutedUntil : later }
  }
  const maintenance = maintenanceAt(settings, row.watchId, now)
  if (maintenance !== undefined) {
    return { act: 'wait', until: maintenance.to < later ? maintenance.to : later }
  }
  if (row.notifiedAt === null) return { act: 'wait', until: later }
  const until = new Date(row.notifiedAt.getTime() + watch.escalateAfterMinutes * MINUTE_MS)
  // An alert that was inhibited was notified later than it fired.
  return until > now ? { act: 'wait', until } : { act: 'escalate', watch }
}

/**
 * Schedules the escalation of alerts again, counted from now, after their acknowledgement was
 * removed.
 */
export async function rescheduleEscalations(
  tx: Db,
  ids: readonly number[],
  now: Date,
): Promise<void> {
  await scheduleFrom(tx, await store.listAlertsByIds(tx, ids), now)
}

/** Schedules the escalations that a mute ended, counted from now. */
export async function scheduleEscalationsAfterMute(
  tx: Db,
  ids: readonly number[],
  now: Date,
): Promise<void> {
  const rows = await store.listAlertsByIds(tx, ids)
  const ended = rows.filter((row) => row.escalateAt === null && row.acknowledgedAt === null)
  await scheduleFrom(tx, ended, now)
}

async function scheduleFrom(tx: Db, rows: readonly store.AlertRow[], now: Date): Promise<void> {
  const watches = await listForNotification(
    tx,
    rows.map(({ watchId }) => watchId),
  )
  await escalationStore.scheduleEscalations(
    tx,
    rows.flatMap(({ id, watchId, severity }) => {
      const minutes = watches.get(watchId)?.escalateAfterMinutes ?? null
      if (minutes === null || severity === 'info') return []
      return [{ id, escalateAt: new Date(now.getTime() + minutes * MINUTE_MS) }]
    }),
  )
}
