/**
 * Further messages about alerts: escalations, reminders of unacknowledged critical alerts, and alerts after the
 * end of a mute. Each message is written in the transaction that schedules the next one, so that a stop of the
 * process neither repeats nor skips a message.
 */
import { outageStart } from '#src/channels/card/outage.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { listDueIds, lockIfDue } from '#src/db/due-rows.ts'
import { isolateEach, isSharedFailure } from '#src/db/isolate.ts'
import * as delivery from '#src/delivery/service.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import { DEFAULT_SETTINGS, listSettings } from '#src/recipients/settings.ts'
import type { EndedMute, WatchForNotification } from '#src/watches/notification-model.ts'
import { ENDED_MUTES, endMutes, listForNotification } from '#src/watches/notification-view.ts'
import { endEpisodes } from '../episodes/store.ts'
import { uninhibitOrphanedAlerts } from '../episodes/uninhibit.ts'
import { logEnded } from '../log-lines.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import type { NotifyDeps } from '../notify/deps.ts'
import { type Notification, notificationOf, notifyRecipients } from '../notify/notify.ts'
import { notesOf, recordedFromRow } from '../recorded-alert.ts'
import { episodeKeyOf, isMuted, isSignalFiring } from '../rules.ts'
import * as store from '../store.ts'
import { sendDueEscalations } from './escalation.ts'
import { DUE_ESCALATIONS, endEscalations } from './escalation-store.ts'
import { idsOfRows, toIdRows } from './id-rows.ts'
import { isReminderForEscalated, reminderStepFor } from './rules.ts'
import * as reminderStore from './store.ts'
import { DUE_REMINDERS } from './store.ts'

/** Number of alerts or watches in one transaction. */
const AT_ONCE = 200
/**
 * Maximum number of alerts and recoveries without an episode that are sent after the mute of a watch; the newest are sent.
 */
const ONCE_MAX = 100

type Deps = NotifyDeps & { readonly db: Db }

/** Due work, processed in batches. */
interface Pass {
  /** Kind of the items for the quarantine. */
  readonly kind: string
  /** Name of an item's id in the log. */
  readonly key: 'alertId' | 'watchId'
  list(db: Db, now: Date, limit: number): Promise<readonly number[]>
  /**
   * Processes the items in one transaction.
   * @returns number of due items
   */
  run(deps: Deps, tx: Db, ids: readonly number[]): Promise<number>
  /** Removes a failed item from the due items. */
  giveUp(tx: Db, ids: readonly number[], now: Date): Promise<unknown>
}

const PASSES: readonly Pass[] = [
  {
    kind: 'escalation',
    key: 'alertId',
    list: async (db, now, limit) =>
      idsOfRows(await listDueIds(db, DUE_ESCALATIONS, { now, limit })),
    run: sendDueEscalations,
    giveUp: endEscalations,
  },
  {
    kind: 'mute',
    key: 'watchId',
    list: async (db, now, limit) => idsOfRows(await listDueIds(db, ENDED_MUTES, { now, limit })),
    run: afterMutes,
    giveUp: endMutes,
  },
  {
    kind: 'reminder',
    key: 'alertId',
    list: async (db, now, limit) => idsOfRows(await listDueIds(db, DUE_REMINDERS, { now, limit })),
    run: remindDue,
    giveUp: reminderStore.endReminders,
  },
]

/**
 * Sends due escalations, alerts after mutes, and reminders. First uninhibits alerts whose cause is gone.
 */
export async function escalateAndRemind(deps: Deps, signal: AbortSignal): Promise<void> {
  await uninhibitOrphanedAlerts(deps, signal)
  for (const pass of PASSES) {
    while (!signal.aborted) {
      const now = deps.clock.now()
      const ids = await pass.list(deps.db, now, AT_ONCE)
      if (ids.length === 0 || (await runPass(deps, pass, ids)) < AT_ONCE) break
    }
  }
}

/** Runs a batch; if it fails, runs each item alone, so that only the faulty item fails. */
async function runPass(deps: Deps, pass: Pass, ids: readonly number[]): Promise<number> {
  try {
    return await transact(deps.db, (tx) => pass.run(deps, tx, ids))
  } catch (error) {
    if (isSharedFailure(error)) throw error
  }
  const options = {
    quarantine: deps.quarantine,
    kind: pass.kind,
    idOf: (id: number) => id,
    about: (id: number) => ({ [pass.key]: id }),
  }
  const done = await isolateEach(ids, options, async (id) => {
    await transact(deps.db, (tx) => pass.run(deps, tx, [id]))
    return id
  })
  const failed = ids.filter((id) => !done.includes(id))
  await transact(deps.db, (tx) => pass.giveUp(tx, failed, deps.clock.now()))
  return ids.length
}

/**
 * Ends mutes, and sends what the mutes kept from a recipient: alerts that still fire, alerts without an
 * episode, and recoveries of alerts that were sent before. Alerts that were sent before and still fire get
 * a reminder.
 */
async function afterMutes(deps: Deps, tx: Db, watchIds: readonly number[]): Promise<number> {
  const now = deps.clock.now()
  const ended = await endMutes(tx, watchIds, now)
  const ids = ended.map(({ watchId }) => watchId)
  const open = await withCurrentFigures(tx, await store.listOpenOfWatches(tx, ids))
  const watches = await listForNotification(tx, ids)
  const once = await listOnce(tx, ended)
  const readableOnce = readable(deps, once)
  const answered = await listRepliedTo(tx, readableOnce)
  const firing = readable(deps, open).filter(
    (row) =>
      row.acknowledgedAt === null &&
      row.mutedAt === null &&
      isSignalFiring(watches.get(row.watchId), row.signal),
  )
  // Of the alerts of one episode the newest is sent.
  const newest = new Map(
    firing.map((row) => [
      `${row.watchId} ${row.signal} ${episodeKeyOf(recordedFromRow(row))}`,
      row,
    ]),
  )
  const rows = [...newest.values(), ...readableOnce, ...answered.values()]
  const unsent = await delivery.listOnlyMutedRecipients(tx, [...new Set(rows.map(({ id }) => id))])
  const unsentOf = (id: number) => unsent.get(id) ?? NOBODY
  await notifyRecipients(deps, tx, [
    ...readableOnce.toReversed().flatMap((row): readonly Notification[] => {
      const only = unsentOf(row.id)
      if (row.recoveryOf === null) return alertOf(row, watches, only)
      const unheard = unsentOf(row.recoveryOf)
      const heard = new Set([...only].filter((id) => !unheard.has(id)))
      if (heard.size === 0) return []
      return recoveryOf(row, watches, answered, now).map((notification) => ({
        ...notification,
        only: heard,
      }))
    }),
    ...[...newest.values()].flatMap((row) => [
      ...alertOf(row, watches, unsentOf(row.id)),
      ...reminderOf(row, watches, { number: undefined, nextAt: undefined }, now).map(
        (notification) => ({
          ...notification,
          except: unsentOf(row.id),
        }),
      ),
    ]),
  ])
  await delivery.reviseMessages(
    tx,
    open.map(({ id }) => id),
  )
  return ended.length
}

const NOBODY: ReadonlySet<number> = new Set()

async function listOnce(tx: Db, ended: readonly EndedMute[]): Promise<readonly store.AlertRow[]> {
  const rows: store.AlertRow[] = []
  for (const { watchId, since } of ended) {
    rows.push(...(await reminderStore.listAlertsWithoutEpisode(tx, { watchId, since }, ONCE_MAX)))
  }
  return rows
}

/** Selects the alerts that can be parsed; the others are put into quarantine. */
function readable(
  { quarantine }: Deps,
  rows: readonly store.AlertRow[],
): readonly store.AlertRow[] {
  return rows.filter((row) => {
    try {
      recordedFromRow(row)
      return true
    } catch (error) {
      quarantine.add('alert', row.id, error, { alertId: row.id })
      return false
    }
  })
}

/**
 * Sends due reminders.
 * @returns number of due alerts
 */
async function remindDue(deps: Deps, tx: Db, ids: readonly number[]): Promise<number> {
  const now = deps.clock.now()
  const all = await lockIfDue(tx, DUE_REMINDERS, { now, among: toIdRows(ids) })
  const rows = readable(deps, await withCurrentFigures(tx, all))
  const watches = await listForNotification(
    tx,
    rows.map(({ watchId }) => watchId),
  )
  const wallets = [...watches.values()].map(({ wallet }) => wallet)
  const settings = await listSettings(tx, [...new Set(wallets)])
  const rowIds = rows.map(({ id }) => id)
  const unsent = await delivery.listOnlyMutedRecipients(tx, rowIds)
  const decided = rows.map((row) => {
    const watch = watches.get(row.watchId)
    const walletSettings = (watch && settings.get(watch.wallet)) ?? DEFAULT_SETTINGS
    const isUnsent = (unsent.get(row.id) ?? NOBODY).size > 0
    return {
      row,
      step: reminderStepFor(row, { watch, settings: walletSettings, isUnsent, now }),
    }
  })
  await reminderStore.endReminders(
    tx,
    all.map(({ id }) => id).filter((id) => !rowIds.includes(id)),
  )
  const ends = decided.flatMap(({ row, step }) =>
    step.act === 'end' ? [{ alertIds: [row.id], at: now }] : [],
  )
  await endEpisodes(tx, ends)
  logEnded(deps, ends)
  await reminderStore.saveReminderResults(
    tx,
    decided.map(({ row, step }) => ({
      id: row.id,
      remindAt: 'nextAt' in step ? (step.nextAt ?? null) : null,
      remindersSent:
        step.act === 'remind' && step.counts ? row.remindersSent + 1 : row.remindersSent,
    })),
  )
  const notifications = decided.flatMap(({ row, step }): readonly Notification[] => {
    if (step.act !== 'remind') return []
    const number = step.counts ? row.remindersSent + 1 : undefined
    const except = unsent.get(row.id) ?? NOBODY
    return [
      ...alertOf(row, watches, except),
      ...reminderOf(row, watches, { number, nextAt: step.nextAt }, now).map((notification) => ({
        ...notification,
        except,
      })),
    ]
  })
  await notifyRecipients(deps, tx, notifications)
  return all.length
}

/** Notification of an alert for recipients that never got it. */
function alertOf(
  row: store.AlertRow,
  watches: ReadonlyMap<number, WatchForNotification>,
  only: ReadonlySet<number>,
): readonly Notification[] {
  const watch = watches.get(row.watchId)
  if (watch === undefined || only.size === 0) return []
  return [{ ...notificationOf(row, watch), only }]
}

function reminderOf(
  row: store.AlertRow,
  watches: ReadonlyMap<number, WatchForNotification>,
  reminder: { readonly number: number | undefined; readonly nextAt: Date | undefined },
  now: Date,
): readonly Notification[] {
  const watch = watches.get(row.watchId)
  if (watch === undefined) return []
  const alert = notificationOf(row, watch)
  const openSeconds = (now.getTime() - outageStart(alert).getTime()) / 1000
  return [
    {
      ...alert,
      kind: 'reminder',
      answers: recordedFromRow(row),
      reminder: { ...reminder, openSeconds, now },
      ...(row.escalatedAt &&
        isReminderForEscalated(row.escalatedAt, row.remindAt ?? now) && {
          escalatedTo: watch.escalateTo,
        }),
    },
  ]
}

function recoveryOf(
  row: store.AlertRow,
  watches: ReadonlyMap<number, WatchForNotification>,
  answered: ReadonlyMap<number, store.AlertRow>,
  now: Date,
): readonly Notification[] {
  const watch = watches.get(row.watchId)
  const alert = answered.get(row.recoveryOf ?? 0)
  if (watch === undefined || alert === undefined) return []
  const answers = recordedFromRow(alert)
  return [
    {
      ...recordedFromRow(row),
      watch,
      kind: 'alert',
      effectiveSeverity: effectiveSeverityOf(row, answers.severity),
      isRecovery: true,
      answers,
      startedAt: row.startedAt ?? alert.firedAt,
      ...(alert.acknowledgedBy !== null && { takenBy: alert.acknowledgedBy }),
      ...(alert.escalatedAt && { escalatedTo: watch.escalateTo }),
      notes: notesOf(row),
      isQuiet: isMuted(watch, now),
    },
  ]
}

/** Severity by which a recovery is filtered: the highest of its episode. */
function effectiveSeverityOf({ episodeSeverity }: store.AlertRow, fallback: Severity): Severity {
  return SEVERITIES.find((severity) => severity === episodeSeverity) ?? fallback
}

/** The first alerts of the episodes that recoveries among these rows ended. */
async function listRepliedTo(
  tx: Db,
  rows: readonly store.AlertRow[],
): Promise<ReadonlyMap<number, store.AlertRow>> {
  const ids = rows.flatMap(({ recoveryOf }) => recoveryOf ?? [])
  const alertRows = ids.length === 0 ? [] : await store.listAlertsByIds(tx, ids)
  return new Map(alertRows.map((row) => [row.id, row]))
}
