/**
 * Actions of people on alerts: acknowledge, unacknowledge, mute. Every message about an alert is updated
 * afterwards, in every chat.
 */

import { type Db, transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import type { FspChain } from '#src/fsp/chain.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { getSettings } from '#src/recipients/settings.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { updateWatch } from '#src/watches/manage/service.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import * as acting from './acknowledge-store.ts'
import { escalateAgain, escalateUnmuted } from './escalation.ts'
import { endOf } from './message-state.ts'
import { planReminders } from './reminder-rules.ts'
import { episodeProperties, isMuted, isOpenEpisode } from './rules.ts'
import * as store from './store.ts'
import { logEach } from './trail.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/** State of an alert after an action. */
export interface ActedAlert {
  readonly id: number
  readonly watchId: number
  readonly watchLabel: string
  readonly event: string
  /** Whether the alert is open until its signal recovers. */
  readonly isOpen: boolean
  readonly recoveredAt: Date | null
  readonly acknowledged: { readonly at: Date; readonly by: string | null } | null
  /** End of the alert's mute in chats and mailboxes. */
  readonly muted: { readonly until: Date | 'recovered' } | null
}

/**
 * State after an action, and whether the state was the same before, for example because another person was
 * faster.
 */
export interface ActionResult extends ActedAlert {
  readonly already: boolean
}

/**
 * Acknowledges an alert and its open episode, which then gets no reminders until it recovers.
 *
 * @param by name of the person, from the chat or the link; `at`: now by default
 * @throws AppError not_found
 */
export async function acknowledgeAlert(
  deps: Deps,
  caller: Caller,
  { id, by, at }: { readonly id: number; readonly by: string | null; readonly at?: Date },
): Promise<ActionResult> {
  return await act(deps, caller, { id, what: 'alert acknowledged' }, (tx, chosen, now) =>
    acting.acknowledge(tx, caller.wallet, { ...chosen, at: at ?? now, by }),
  )
}

/**
 * Removes an acknowledgement; reminders continue.
 * @throws AppError not_found
 */
export async function unacknowledgeAlert(
  deps: Deps,
  caller: Caller,
  { id }: { readonly id: number },
): Promise<ActionResult> {
  const what = 'acknowledgement removed'
  return await act(deps, caller, { id, what }, async (tx, chosen) => {
    const ids = await acting.unacknowledge(tx, caller.wallet, chosen)
    await resumeReminders(deps, tx, caller, ids)
    await escalateAgain(tx, ids, deps.clock.now())
    return ids
  })
}

/**
 * Acknowledges every alert of one message of a chat.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function acknowledgeMessage(
  deps: Deps,
  caller: Caller,
  input: {
    readonly recipientId: number
    readonly messageId: string
    readonly by: string | null
  },
): Promise<readonly ActionResult[]> {
  return await acknowledgeEach(deps, caller, {
    by: input.by,
    find: (tx) => alertsOf(tx, caller, input),
  })
}

/**
 * Acknowledges several alerts in one transaction and at one time.
 *
 * @param find reads the alerts in the transaction
 * @throws AppError not_found when one is not of the wallet
 */
export async function acknowledgeEach(
  deps: Deps,
  caller: Caller,
  { find, by }: { readonly find: FindAlerts; readonly by: string | null },
): Promise<readonly ActionResult[]> {
  return await eachOf(deps, find, (inside, id, at) =>
    acknowledgeAlert(inside, caller, { id, by, at }),
  )
}

/**
 * Removes the acknowledgements of several alerts in one transaction.
 *
 * @param find reads the alerts in the transaction
 * @throws AppError not_found when one is not of the wallet
 */
export async function unacknowledgeEach(
  deps: Deps,
  caller: Caller,
  { find }: { readonly find: FindAlerts },
): Promise<readonly ActionResult[]> {
  return await eachOf(deps, find, (inside, id) => unacknowledgeAlert(inside, caller, { id }))
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
  deps: Deps,
  caller: Caller,
  input: { readonly recipientId: number; readonly messageId: string },
): Promise<readonly ActionResult[]> {
  return await unacknowledgeEach(deps, caller, {
    find: async (tx) => lastAcknowledged(await alertsOf(tx, caller, input)),
  })
}

/**
 * The alerts that were acknowledged together last and are not over. Empty unless the message shows an
 * acknowledgement: all open episodes must be acknowledged or, if there is no open episode, all alerts.
 */
function lastAcknowledged(rows: readonly store.AlertRow[]): readonly store.AlertRow[] {
  const alerts = rows.filter(({ event }) => !recoveryRoleOf(event).isRecovery)
  const open = alerts.filter((row) => recoveryRoleOf(row.event).canRecover && endOf(row) === null)
  const active = open.length === 0 ? alerts : open
  const times = active.map(({ acknowledgedAt }) => acknowledgedAt?.getTime())
  if (times.includes(undefined)) return []
  const lastAt = Math.max(...times.map((time) => time ?? 0))
  return active.filter((row, index) => times[index] === lastAt && endOf(row) === null)
}

type FindAlerts = (tx: Db) => Promise<readonly Pick<store.AlertRow, 'id'>[]>

/** Acts on several alerts, in one transaction and at one time. */
async function eachOf(
  deps: Deps,
  find: FindAlerts,
  run: (inside: Deps, id: number, at: Date) => Promise<ActionResult>,
): Promise<readonly ActionResult[]> {
  return await transact(deps.db, async (tx) => {
    const at = deps.clock.now()
    const acted: ActionResult[] = []
    for (const { id } of await find(tx)) {
      acted.push(await run({ ...deps, db: tx }, id, at))
    }
    return acted
  })
}

/**
 * Mutes an alert's episode in chats and mailboxes until it recovers, or unmutes it. The recovery is
 * notified. No effect on alerts that are over or have no recovery.
 *
 * @throws AppError not_found
 */
export async function muteEpisode(
  deps: Deps,
  caller: Caller,
  { id, muted }: { readonly id: number; readonly muted: boolean },
): Promise<ActionResult> {
  const what = muted ? 'alert muted' : 'alert unmuted'
  return await act(deps, caller, { id, what }, async (tx, chosen, at) => {
    const mutedAt = muted ? at : null
    const ids = await acting.muteEpisode(tx, caller.wallet, { ...chosen, mutedAt })
    if (!muted) {
      await resumeReminders(deps, tx, caller, ids)
      await escalateUnmuted(tx, ids, at)
      await sendUnsent(tx, ids, at)
    }
    return ids
  })
}

/** Schedules alerts that were never sent to a recipient because of a mute. */
async function sendUnsent(tx: Db, ids: readonly number[], at: Date): Promise<void> {
  const unsent = await delivery.listMutedOnly(tx, ids)
  const due = ids.filter((id) => (unsent.get(id)?.size ?? 0) > 0)
  await acting.remindAgain(
    tx,
    due.map((id) => ({ id, remindAt: at })),
  )
}

/**
 * Mutes the episode of every alert of one message of a chat until each recovers, or unmutes them.
 *
 * @param recipientId the chat, as the wallet's recipient
 * @param messageId id of the message in the chat
 * @throws AppError not_found when it contains no alert of the wallet
 */
export async function muteMessage(
  deps: Deps,
  caller: Caller,
  input: { readonly recipientId: number; readonly messageId: string; readonly muted: boolean },
): Promise<readonly ActionResult[]> {
  return await eachOf(
    deps,
    (tx) => alertsOf(tx, caller, input),
    (inside, id) => muteEpisode(inside, caller, { id, muted: input.muted }),
  )
}

/** The wallet's alerts in one message of a chat. @throws AppError not_found when there are none */
async function alertsOf(
  db: Db,
  caller: Caller,
  { recipientId, messageId }: { readonly recipientId: number; readonly messageId: string },
): Promise<readonly store.AlertRow[]> {
  const alertIds = await delivery.alertsOfMessage(db, [recipientId], messageId)
  const rows = await store.listByIds(db, alertIds)
  const own = rows.filter(({ wallet }) => wallet === caller.wallet)
  if (own.length === 0) throw new AppError('not_found', 'not_found')
  return own
}

/**
 * Mutes the watch of an alert in chats and mailboxes until an instant; null unmutes it.
 *
 * @throws AppError not_found, also when the watch was deleted
 */
export async function muteWatchOf(
  deps: Deps & { readonly chain: FspChain },
  caller: Caller,
  { id, until }: { readonly id: number; readonly until: Date | null },
): Promise<ActionResult> {
  const row = await requireAlert(deps.db, caller, id)
  return await transact(deps.db, async (tx) => {
    const inside = { ...deps, db: tx }
    await updateWatch(inside, caller, { id: row.watchId, changes: { mutedUntil: until } })
    const open = await store.listOpenOfWatches(tx, [row.watchId])
    await delivery.reviseMessages(tx, [...new Set([id, ...open.map((one) => one.id)])])
    logEach(deps, [id], until === null ? 'watch of the alert unmuted' : 'watch of the alert muted')
    return { ...(await alertStatus(inside, caller, id)), already: false }
  })
}

async function act(
  deps: Deps,
  caller: Caller,
  { id, what }: { readonly id: number; readonly what: string },
  change: (tx: Db, chosen: acting.ActionTarget, at: Date) => Promise<readonly number[]>,
): Promise<ActionResult> {
  return await transact(deps.db, async (tx) => {
    const { event } = await requireAlert(tx, caller, id)
    const changed = await change(tx, { id, keys: episodeProperties(event) }, deps.clock.now())
    await delivery.reviseMessages(tx, await withAnchors(tx, changed))
    logEach(deps, changed, what)
    const already = changed.length === 0
    return { ...(await alertStatus({ ...deps, db: tx }, caller, id)), already }
  })
}

/** The alerts, and the alerts whose messages show them. */
async function withAnchors(tx: Db, ids: readonly number[]): Promise<readonly number[]> {
  const rows = await store.listByIds(tx, ids)
  return [...new Set([...ids, ...rows.flatMap(({ flappingAlertId }) => flappingAlertId ?? [])])]
}

async function resumeReminders(
  deps: Deps,
  tx: Db,
  caller: Caller,
  ids: readonly number[],
): Promise<void> {
  const settings = await getSettings({ db: tx }, caller)
  const rows = await store.listByIds(tx, ids)
  const episodes = rows.filter(({ isEpisode }) => isEpisode)
  await acting.remindAgain(tx, planReminders(episodes, settings, deps.clock.now()))
}

async function requireAlert(db: Db, caller: Caller, id: number): Promise<store.AlertRow> {
  const row = await store.findAlert(db, id)
  if (row === undefined || row.wallet !== caller.wallet) {
    throw new AppError('not_found', 'not_found')
  }
  return row
}

/**
 * State of an alert of the wallet.
 * @throws AppError not_found
 */
export async function alertStatus(
  deps: Omit<Deps, 'log'>,
  caller: Caller,
  id: number,
): Promise<ActedAlert> {
  const row = await requireAlert(deps.db, caller, id)
  const watch = (await listForNotification(deps.db, [row.watchId])).get(row.watchId)
  const until = watch?.mutedUntil ?? null
  const isOpen = isOpenEpisode(row)
  const watchMuted = isMuted({ mutedUntil: until }, deps.clock.now()) ? until : null
  const mute = row.mutedAt !== null && isOpen ? 'recovered' : watchMuted
  return {
    id,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    event: row.event,
    isOpen,
    recoveredAt: row.recoveredAt,
    acknowledged:
      row.acknowledgedAt === null ? null : { at: row.acknowledgedAt, by: row.acknowledgedBy },
    muted: mute === null ? null : { until: mute },
  }
}
