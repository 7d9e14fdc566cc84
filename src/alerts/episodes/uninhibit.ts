/** Notifies of alerts that were held back when their cause or the maintenance of their watch is over. */

import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import type { Address } from '#src/kernel/units.ts'
import { maintenanceAt } from '#src/recipients/maintenance.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import type { NotifyDeps } from '../notify/deps.ts'
import { type Notification, notifyRecipients } from '../notify/notify.ts'
import { cooldownNotes, maintenanceNotes, recordedFromOpen } from '../recorded-alert.ts'
import { isMuted, isSignalFiring, nextReminder } from '../rules.ts'
import type { OpenAlert } from './episodes.ts'
import { findCause, isCause } from './inhibition.ts'
import * as episodes from './store.ts'

/** Maximum number of wallets processed in one pass. */
const AT_ONCE = 200

/**
 * The open alerts that inhibit others. An alert whose watch is deleted, paused or suspended, or whose
 * signal no longer fires, inhibits nothing.
 *
 * @param fresh alerts that were raised in this transaction, whose signals are known to fire
 */
export async function findActiveCauses(
  tx: Db,
  open: readonly OpenAlert[],
  fresh: readonly number[] = [],
): Promise<readonly OpenAlert[]> {
  const causes = open.filter(({ event }) => isCause(event))
  const watches = await listForNotification(
    tx,
    causes.map(({ watchId }) => watchId),
  )
  return causes.filter(
    ({ id, watchId, signal }) => fresh.includes(id) || isSignalFiring(watches.get(watchId), signal),
  )
}

/** Marks alerts that nothing holds back any more as notified, and returns them for notification. */
export async function uninhibitAlerts(
  tx: Db,
  options: {
    readonly open: readonly OpenAlert[]
    readonly causes: readonly OpenAlert[]
    readonly settings: ReadonlyMap<string, Settings>
    readonly now: Date
  },
): Promise<readonly Notification[]> {
  const { open, causes, settings, now } = options
  const free = open.filter(
    (openAlert) =>
      openAlert.notifiedAt === null &&
      findCause(openAlert, causes) === undefined &&
      maintenanceAt(settingsOf(settings, openAlert.wallet), openAlert.watchId, now) === undefined,
  )
  const watches = await listForNotification(
    tx,
    free.map(({ watchId }) => watchId),
  )
  const notified = free.flatMap((alert) => {
    const watch = watches.get(alert.watchId)
    return watch === undefined ? [] : [{ alert, watch }]
  })
  const ids = await episodes.markUninhibited(
    tx,
    notified.map(({ alert, watch }) => {
      const { repeat } = settingsOf(settings, watch.wallet)
      const isReminded = alert.severity === 'critical' && alert.mutedAt === null
      const next = isReminded ? nextReminder(repeat.critical, now, now) : undefined
      return { id: alert.id, notifiedAt: now, remindAt: next }
    }),
  )
  const mine = notified.filter(({ alert }) => ids.includes(alert.id))
  return mine.map(({ alert, watch }) => ({
    ...recordedFromOpen(alert),
    watch,
    kind: 'alert',
    effectiveSeverity: alert.severity,
    isRecovery: false,
    ...(alert.startedAt && { startedAt: alert.startedAt }),
    notes: [...maintenanceNotes(alert.during), ...cooldownNotes(alert.cooldownUntil)],
    isQuiet: alert.mutedAt !== null || isMuted(watch, now),
  }))
}

function settingsOf(settings: ReadonlyMap<string, Settings>, wallet: string): Settings {
  return settings.get(wallet) ?? DEFAULT_SETTINGS
}

/**
 * Releases alerts whose maintenance is over, and those whose cause will not recover, because the watch of the cause was deleted or paused, or
 * the cause was deleted from the history.
 */
export async function uninhibitOrphanedAlerts(
  deps: NotifyDeps & { readonly db: Db },
  signal: AbortSignal,
): Promise<void> {
  for (let after = ''; ; ) {
    const wallets = await episodes.listWalletsWithInhibited(deps.db, after, AT_ONCE)
    const { quarantine } = deps
    const options = { quarantine, kind: 'held-back', idOf: (wallet: Address) => wallet }
    await isolateEach(wallets, options, async (wallet) => {
      if (!signal.aborted) await transact(deps.db, (tx) => releaseOf(deps, tx, wallet))
    })
    if (signal.aborted) return
    const last = wallets.at(-1)
    if (last === undefined || wallets.length < AT_ONCE) return
    after = last
  }
}

async function releaseOf(deps: NotifyDeps, tx: Db, wallet: Address): Promise<void> {
  const open = await episodes.listOpenAlerts(tx, [wallet])
  const causes = await findActiveCauses(tx, open)
  const settings = await listSettings(tx, [wallet])
  const now = deps.clock.now()
  await notifyRecipients(deps, tx, await uninhibitAlerts(tx, { open, causes, settings, now }))
}
