import { Envelope, type MessageState, type OpenPart } from '#src/channels/envelope.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import { decryptDestinations } from '#src/recipients/destinations.ts'
import { readCurrentContent as readSent } from './chats/chat-claims.ts'
import type { StateReader } from './chats/chat-situation.ts'
import * as counts from './log/count-store.ts'
import * as messages from './messages/message-store.ts'
import type { DeliveryEntry, NewDelivery, RetainedDelivery } from './model.ts'
import * as store from './store.ts'
import type { TestDeps } from './test-message.ts'
import * as deferred from './unsent/deferred-store.ts'
import * as retained from './unsent/retained-store.ts'

export { newDeliveryId } from './delivery-id.ts'
export { forgetMessageIds } from './messages/message-store.ts'
export type { NewDelivery } from './model.ts'
export { type DeliverDeps, deliverDue } from './sending/deliver-due.ts'
export { sendTest, type TestDeps, type TestExample } from './test-message.ts'
export type { DeferredDelivery } from './unsent/deferred-store.ts'
export {
  listDeferredNotices,
  markDeferredFailed,
} from './unsent/deferred-store.ts'

/** Inserts deliveries into the outbox, in the transaction of their cause. */
export async function enqueue(tx: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length > 0) await store.insertDeliveries(tx, deliveries)
}

/** Deliveries of alerts, by alert. */
export async function listForAlerts(
  db: Db,
  alertIds: readonly number[],
): Promise<Map<number, DeliveryEntry[]>> {
  const rows = alertIds.length === 0 ? [] : await store.listDeliveriesOfAlerts(db, alertIds)
  const entries = new Map<number, DeliveryEntry[]>(alertIds.map((id) => [id, []]))
  for (const { alertId, ...entry } of rows) entries.get(alertId)?.push(entry)
  return entries
}

/** Those of these alerts that were meant for a recipient. */
export async function listMeantFor(
  db: Db,
  recipientId: number,
  alertIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (alertIds.length === 0) return new Set()
  const rows = await store.listAlertsMeantFor(db, recipientId, alertIds)
  return new Set(rows.map(({ alertId }) => alertId))
}

/** Recipients that got an alert itself, and not only a reminder of it, with the time of their first message. */
export function listReachedRecipients(
  db: Db,
  alertId: number,
): Promise<readonly { readonly recipientId: number; readonly at: Date }[]> {
  return store.listReachedRecipients(db, alertId)
}

/** Recipients that got no separate message about an alert that was meant for them, by alert. */
export async function listUnnotifiedRecipients(
  db: Db,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = alertIds.length === 0 ? [] : await store.listUnnotifiedRecipients(db, alertIds)
  return recipientsByAlert(rows, alertIds)
}

/**
 * Reads whether and until when the deliveries of these wallets' alerts are deferred, by alert and
 * recipient.
 */
export async function listDeferred(
  db: Db,
  wallets: readonly string[],
  alertIds: readonly number[],
): Promise<readonly deferred.DeferredDeliveries[]> {
  return alertIds.length === 0 ? [] : await deferred.listDeferred(db, wallets, alertIds)
}

/** Recipients that got no message about these alerts because of a mute, by alert. */
export async function listOnlyMutedRecipients(
  db: Db,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = alertIds.length === 0 ? [] : await store.listOnlyMutedRecipients(db, alertIds)
  return recipientsByAlert(rows, alertIds)
}

function recipientsByAlert(
  rows: readonly { readonly alertId: number; readonly recipientId: number }[],
  alertIds: readonly number[],
): ReadonlyMap<number, ReadonlySet<number>> {
  const byAlert = new Map<number, Set<number>>(alertIds.map((id) => [id, new Set()]))
  for (const { alertId, recipientId } of rows) byAlert.get(alertId)?.add(recipientId)
  return byAlert
}

/**
 * Marks all chat messages about these alerts as outdated, and wakes the workers that edit them to show the new states. The
 * edit follows the transaction at once and is repeated until it works; the latest state is shown.
 *
 * @param options `isAwaited`: whether a person in a chat has pressed a button and waits for the edit, which then comes
 * before all others; `ofIncidents`: all alerts of their incidents, where messages follow these (`followsIncident`)
 */
export async function reviseMessages(
  tx: Db,
  alertIds: readonly number[],
  {
    isAwaited = false,
    ofIncidents = [],
  }: { readonly isAwaited?: boolean; readonly ofIncidents?: readonly number[] } = {},
): Promise<void> {
  if (alertIds.length + ofIncidents.length === 0) return
  const ids = await messages.lockMessagesOfAlerts(tx, alertIds, ofIncidents)
  await store.notifyWorkers(tx, await messages.markMessagesStale(tx, ids, { isAwaited }))
}

/**
 * Alerts in a chat message, without recoveries.
 *
 * @param recipientIds recipients of the chat, one per wallet
 * @param messageId id of the message in the chat
 */
export function alertsOfMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<number[]> {
  return messages.listAlertsInMessage(db, recipientIds, messageId)
}

/** Whether a message with this id in a chat is an alert message, not a screen of the bot. */
export async function isAlertMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<boolean> {
  return (await messages.findByMessageId(db, recipientIds, messageId)) !== undefined
}

/**
 * Whether an alert or notice was sent to one of these recipients after the message with this number, in a chat whose
 * messages are numbered as they are sent.
 */
export async function isFollowedByMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: number,
): Promise<boolean> {
  if (recipientIds.length === 0) return false
  return Number((await messages.findNewestMessageId(db, recipientIds)) ?? 0) > messageId
}

/**
 * Stores what a person has opened below a message, so that later changes keep it; null: nothing.
 * The caller changes the message.
 */
export function setOpenPart(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
  part: OpenPart | null,
): Promise<void> {
  return messages.saveOpenPart(db, recipientIds, messageId, part)
}

/** A message in a chat: its recipient, and its current content. */
export interface ChatMessageState {
  readonly wallet: string
  readonly envelope: Envelope
  readonly state: MessageState
}

/**
 * The message with this id in a chat; undefined if this service did not send it or it was deleted.
 *
 * @param recipientIds recipients of the chat, one per wallet
 */
export async function findMessage(
  deps: { readonly db: Db; readonly stateOf: StateReader },
  recipientIds: readonly number[],
  messageId: string,
): Promise<ChatMessageState | undefined> {
  const sent = await messages.findByMessageId(deps.db, recipientIds, messageId)
  const shown = sent && (await readSent(deps, sent))
  return sent && shown && { wallet: sent.wallet, ...shown }
}

/** Recipients, by id, above `after`, with deferred messages that may be summarized by an instant. */
export function listRecipientsWithDeferred(
  db: Db,
  until: Date,
  page: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  return retained.listRecipientsWithDeferred(db, until, page)
}

/** Records the summary of each of these deferred deliveries; they share its result from now on. */
export function recordSummarized(
  tx: Db,
  summarized: readonly { readonly id: string; readonly summaryDeliveryId: string }[],
): Promise<void> {
  return retained.recordSummarized(tx, summarized)
}

/** Times until which another delivery can join the latest messages of these order keys. */
export function listJoinWindows(
  ...input: Parameters<typeof retained.listJoinWindows>
): Promise<readonly retained.JoinWindow[]> {
  return retained.listJoinWindows(...input)
}

/** Cancels deferred deliveries of a deleted recipient. */
export function cancelDeferred(tx: Db, recipientId: number): Promise<void> {
  return retained.cancelDeferred(tx, recipientId)
}

/**
 * Deliveries that a recipient of the wallet missed while it was off, newest first: at most 100 of 7 days. One whose
 * content cannot be read is put into quarantine and left out.
 */
export async function listRetained(
  deps: { readonly db: Db; readonly clock: Clock; readonly quarantine: Quarantine },
  caller: Caller,
  recipientId: number,
): Promise<readonly RetainedDelivery[]> {
  const rows = await retained.listRetained(deps.db, caller.wallet, recipientId, deps.clock.now())
  return rows.flatMap(({ id, alertId, envelope, retainedUntil }) => {
    const read = Envelope.safeParse(envelope)
    if (!read.success) {
      deps.quarantine.add('delivery', id, read.error, { alertId })
      return []
    }
    const { message, answers = null } = read.data
    const recoveryOf = message.isRecovery ? answers : null
    return [{ deliveryId: id, alertId, recoveryOf, message, retainedUntil }]
  })
}

/**
 * Sends what `listRetained` returns, oldest first and after all new ones.
 *
 * @param without ids of deliveries that are not sent, because another message is about them
 * @returns the number of those that are sent
 * @throws AppError not_found; conflict `recipient_not_active` while the recipient is off
 */
export async function sendRetained(
  deps: Pick<TestDeps, 'db' | 'clock' | 'box' | 'channels'>,
  caller: Caller,
  recipientId: number,
  without: readonly string[] = [],
): Promise<number> {
  const opened = (await decryptDestinations(deps, [recipientId])).get(recipientId)
  if (opened?.wallet !== caller.wallet) throw new AppError('not_found', 'not_found')
  if (opened.status !== 'active') throw new AppError('conflict', 'recipient_not_active')
  const partitionKey = deps.channels[opened.channel].partitionKey(opened.destination)
  const now = deps.clock.now()
  return await transact(deps.db, (tx) =>
    retained.reviveRetained(tx, caller.wallet, { recipientId, partitionKey, without, now }),
  )
}

/**
 * Drops what `listRetained` returns.
 * @returns their number
 */
export function dropRetained(db: Db, caller: Caller, recipientId: number): Promise<number> {
  return retained.dropRetained(db, caller.wallet, recipientId)
}

/** Number of messages of each recipient that are unsent or retained. */
export function countWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  return counts.countWaiting(db, recipientIds, now)
}

/** Number of due deliveries by channel, and the oldest due time; for the operator. */
export function countDueByChannel(db: Db, now: Date) {
  return counts.countDue(db, now)
}

/**
 * Number of deliveries of all wallets in a period, for the public figures. A period without an end lasts
 * until now.
 */
export function countDeliveries(
  db: Db,
  { since, until }: { readonly since: Date; readonly until: Date | undefined },
) {
  return counts.countDeliveriesInSpan(db, since, until)
}
