/**
 * Actions of people on alerts: acknowledge, unacknowledge, mute. Every message about an alert is updated
 * afterwards, in every chat.
 */

import { type Db, transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { getSettings } from '#src/recipients/settings.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { updateWatch } from '#src/watches/manage/service.ts'
import { logEach } from '../log-lines.ts'
import { rescheduleEscalations, scheduleEscalationsAfterMute } from '../reminders/escalation.ts'
import { planReminders } from '../reminders/rules.ts'
import * as store from '../store.ts'
import {
  type ActionResult,
  type AlertAction,
  type AlertActionDeps,
  alertStatus,
  applyToAlert,
  applyToAlerts,
  requireAlert,
} from './alert-action.ts'
import * as acting from './store.ts'

/**
 * Acknowledges an alert and its incident: every open alert of that, which then gets no reminders until it recovers.
 *
 * @param by name of the person, from the chat or the link
 * @throws AppError not_found
 */
export async function acknowledgeAlert(
  deps: AlertActionDeps,
  caller: Caller,
  {
    id,
    by,
    note,
  }: { readonly id: number; readonly by: string | null; readonly note?: string | undefined },
): Promise<ActionResult> {
  return await applyToAlert(deps, caller, id, acknowledgement(caller, by, note))
}

/** @param note what the person writes with it; undefined for nothing, which keeps the note that there is */
function acknowledgement(
  { wallet, telegramUserId }: Caller,
  by: string | null,
  note?: string,
): AlertAction {
  const account = telegramUserId ?? null
  return {
    what: 'alert acknowledged',
    change: async (tx, chosen, at) => {
      const taken = await acting.acknowledge(tx, wallet, { ...chosen, at, by, account })
      if (note === undefined) return taken
      const written = { note: { text: note, by, account }, ofTakerOnly: false }
      return [...taken, ...(await acting.setNote(tx, wallet, { ...chosen, at, ...written }))]
    },
  }
}

/**
 * Writes a note to every alert of one message of a chat and its incident.
 *
 * @param input `recipientId`: the chat, as the wallet's recipient. `messageId`: id of the message in the chat.
 * `ofTakerOnly`: only to alerts that the person has acknowledged
 * @returns whether any alert got the note
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function annotateMessage(
  deps: AlertActionDeps,
  caller: Caller,
  input: {
    readonly recipientId: number
    readonly messageId: string
    readonly note: string
    readonly by: string | null
    readonly ofTakerOnly: boolean
  },
): Promise<boolean> {
  const { note: text, by, ofTakerOnly } = input
  const note = { text, by, account: caller.telegramUserId ?? null }
  const acted = await applyToAlerts(deps, caller, (tx) => alertsOf(tx, caller, input), {
    what: 'note written',
    change: (tx, chosen, at) =>
      acting.setNote(tx, caller.wallet, { ...chosen, at, note, ofTakerOnly }),
  })
  return acted.some(({ already }) => !already)
}

/**
 * Removes the acknowledgement of an alert and its incident; reminders continue.
 * @throws AppError not_found
 */
export async function unacknowledgeAlert(
  deps: AlertActionDeps,
  caller: Caller,
  { id }: { readonly id: number },
): Promise<ActionResult> {
  return await applyToAlert(deps, caller, id, removal(deps, caller))
}

function removal(deps: AlertActionDeps, caller: Caller): AlertAction {
  return {
    what: 'acknowledgement removed',
    change: (tx, chosen) => acting.unacknowledge(tx, caller.wallet, chosen),
    afterAll: async (tx, ids, at) => {
      await resumeReminders(deps, tx, caller, ids)
      await rescheduleEscalations(tx, ids, at)
    },
  }
}

/**
 * Acknowledges every alert of one message of a chat.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function acknowledgeMessage(
  deps: AlertActionDeps,
  caller: Caller,
  input: {
    readonly recipientId: number
    readonly messageId: string
    readonly by: string | null
  },
): Promise<readonly ActionResult[]> {
  const find = (tx: Db) => alertsOf(tx, caller, input)
  return await applyToAlerts(deps, caller, find, acknowledgement(caller, input.by))
}

/**
 * Removes the last acknowledgement of the alerts of one message of a chat, from all that were acknowledged
 * at that time and are not over. Without effect unless all alerts are acknowledged: then the press is late
 * or repeated, and the person saw an earlier acknowledgement.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function unacknowledgeMessage(
  deps: AlertActionDeps,
  caller: Caller,
  input: { readonly recipientId: number; readonly messageId: string },
): Promise<readonly ActionResult[]> {
  const find = async (tx: Db) => lastAcknowledged(await alertsOf(tx, caller, input))
  return await applyToAlerts(deps, caller, find, removal(deps, caller))
}

/**
 * The alerts that were acknowledged together last and are not over. Empty unless the message shows an
 * acknowledgement: all open episodes must be acknowledged or, if there is no open episode, all alerts.
 */
function lastAcknowledged(rows: readonly store.AlertRow[]): readonly store.AlertRow[] {
  const alerts = rows.filter(({ event }) => !recoveryRoleOf(event).isRecovery)
  const open = alerts.filter(
    (row) => recoveryRoleOf(row.event).canRecover && row.recoveredAt === null,
  )
  const active = open.length === 0 ? alerts : open
  const times = active.map(({ acknowledgedAt }) => acknowledgedAt?.getTime())
  if (times.includes(undefined)) return []
  const lastAt = Math.max(...times.map((time) => time ?? 0))
  return active.filter((row, index) => times[index] === lastAt && row.recoveredAt === null)
}

/**
 * Mutes an alert's incident in chats and mailboxes until it is over, or unmutes it. Alerts that join it are muted, too;
 * recoveries are notified. No effect on alerts that are over or have no recovery.
 *
 * @throws AppError not_found
 */
export async function muteIncident(
  deps: AlertActionDeps,
  caller: Caller,
  { id, muted }: { readonly id: number; readonly muted: boolean },
): Promise<ActionResult> {
  return await applyToAlert(deps, caller, id, muting(deps, caller, muted))
}

function muting(deps: AlertActionDeps, caller: Caller, muted: boolean): AlertAction {
  return {
    what: muted ? 'alert muted' : 'alert unmuted',
    change: (tx, chosen, at) =>
      acting.muteIncident(tx, caller.wallet, { ...chosen, mutedAt: muted ? at : null }),
    afterAll: async (tx, ids, at) => {
      if (muted) return
      await resumeReminders(deps, tx, caller, ids)
      await scheduleEscalationsAfterMute(tx, ids, at)
      await sendUnsent(tx, ids, at)
    },
  }
}

/** Schedules alerts that were never sent to a recipient because of a mute. */
async function sendUnsent(tx: Db, ids: readonly number[], at: Date): Promise<void> {
  const unsent = await delivery.listOnlyMutedRecipients(tx, ids)
  const due = ids.filter((id) => (unsent.get(id)?.size ?? 0) > 0)
  await acting.setNextReminders(
    tx,
    due.map((id) => ({ id, remindAt: at })),
  )
}

/**
 * Mutes the incident of every alert of one message of a chat until it is over, or unmutes them.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function muteMessage(
  deps: AlertActionDeps,
  caller: Caller,
  input: { readonly recipientId: number; readonly messageId: string; readonly muted: boolean },
): Promise<readonly ActionResult[]> {
  const find = (tx: Db) => alertsOf(tx, caller, input)
  return await applyToAlerts(deps, caller, find, muting(deps, caller, input.muted))
}

/** The wallet's alerts in one message of a chat. @throws AppError not_found when there are none */
async function alertsOf(
  db: Db,
  caller: Caller,
  { recipientId, messageId }: { readonly recipientId: number; readonly messageId: string },
): Promise<readonly store.AlertRow[]> {
  const alertIds = await delivery.alertsOfMessage(db, [recipientId], messageId)
  const rows = await store.listAlertsByIds(db, alertIds)
  const ownRows = rows.filter(({ wallet }) => wallet === caller.wallet)
  if (ownRows.length === 0) throw new AppError('not_found', 'not_found')
  return ownRows
}

/**
 * Mutes the watch of an alert in chats and mailboxes until an instant; null unmutes it.
 *
 * @throws AppError not_found, also when the watch was deleted
 */
export async function muteWatchOf(
  deps: AlertActionDeps & { readonly chain: FspChain },
  caller: Caller,
  { id, until }: { readonly id: number; readonly until: Date | null },
): Promise<ActionResult> {
  const row = await requireAlert(deps.db, caller, id)
  return await transact(deps.db, async (tx) => {
    const inside = { ...deps, db: tx }
    await updateWatch(inside, caller, { id: row.watchId, changes: { mutedUntil: until } })
    const open = await store.listOpenOfWatches(tx, [row.watchId])
    const shown = [...new Set([id, ...open.map((row) => row.id)])]
    await delivery.reviseMessages(tx, shown, { isAwaited: caller.via === 'telegram' })
    logEach(deps, [id], until === null ? 'watch of the alert unmuted' : 'watch of the alert muted')
    return { ...(await alertStatus(inside, caller, id)), already: false }
  })
}

async function resumeReminders(
  deps: AlertActionDeps,
  tx: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<void> {
  const settings = await getSettings({ db: tx }, caller)
  const rows = await store.listAlertsByIds(tx, ids)
  const episodes = rows.filter(({ isEpisode }) => isEpisode)
  await acting.setNextReminders(tx, planReminders(episodes, settings, deps.clock.now()))
}
