import type { Envelope, HelpPart, MessageState } from '#src/channels/define.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { traceOf } from '#src/kernel/trace.ts'
import { openDestinations } from '#src/recipients/destinations.ts'
import { readMessage as readSent } from './chat-batches.ts'
import type { StateReader } from './chat-situation.ts'
import * as counts from './count-store.ts'
import { catchUp, catchUpRetries } from './due-store.ts'
import * as messages from './message-store.ts'
import type { DeliveryEntry, NewDelivery, RetainedDelivery } from './model.ts'
import * as retained from './retained-store.ts'
import { createSending, type Sending } from './sending.ts'
import * as store from './store.ts'
import { DecodedEnvelope } from './stored-envelope.ts'
import type { TestDeps } from './test-message.ts'
import { createWorker, type Worker, type WorkerDeps } from './worker.ts'

export { newDeliveryId } from './delivery-id.ts'
export type { NewDelivery } from './model.ts'
export { sendTest, type TestDeps, type TestExample } from './test-message.ts'

/** After claims that failed, the shares of time waited before the next, in milliseconds. */
const FAILED_MS = 50
const FAILED_MS_MAX = 2000

/** Puts deliveries into the outbox, in the transaction of what caused them. */
export async function enqueue(tx: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length > 0) await store.insertDeliveries(tx, deliveries)
}

/**
 * Sends what is due until nothing is, in as many processes at once as there are.
 *
 * One key's deliveries go out one after another; a slow destination only holds up itself, and a channel that
 * does not work only itself. After `stop` nothing more is taken; what is on its way has five seconds, then it
 * is given back.
 *
 * @throws the last failure of a look at what is due, when everything that could be sent is sent
 */
export async function deliverDue(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  const sending = deps.sending ?? createSending(deps.channels)
  await keepTime(deps, sending)
  await catchUp(deps.db, deps.clock.now())
  const workers = Object.values(deps.channels)
    .filter((channel) => channel.available())
    .map((channel) => createWorker(deps, channel, sending.of(channel.key), stop))
  const over = new AbortController()
  /** When each worker last found nothing to do: the recordings of all before that look. */
  const quietSince = new Map<Worker, number>()
  const failures: unknown[] = []
  const recordings = () => workers.reduce((sum, worker) => sum + worker.recordings(), 0)
  const isOver = () =>
    workers.every((worker) => worker.isIdle() && quietSince.get(worker) === recordings())

  async function work(worker: Worker): Promise<void> {
    let failed = 0
    while (!stop.aborted && !over.signal.aborted) {
      const before = recordings()
      const startedAt = performance.now()
      let found = false
      try {
        await keepTime(deps, sending)
        found = await worker.claim()
        failed = 0
      } catch (error) {
        failed += 1
        failures.push(error)
        if (failed === 1) deps.log.warn({ error: traceOf(error) }, 'deliveries not claimed')
      }
      if (!found && worker.isIdle()) quietSince.set(worker, before)
      else quietSince.delete(worker)
      if (isOver()) {
        over.abort()
        for (const other of workers) other.ring()
        return
      }
      const restMs = failed === 0 ? 0 : Math.min(FAILED_MS * 2 ** (failed - 1), FAILED_MS_MAX)
      await worker.pause(Math.max(performance.now() - startedAt, restMs))
    }
  }

  try {
    await Promise.all(workers.map(work))
  } finally {
    await Promise.all(workers.map((worker) => worker.finish()))
  }
  if (failures.length > 0 && !stop.aborted) throw failures.at(-1)
}

/** Least time between two looks at the clock. */
const TIME_MS = 10_000
/** A clock that lost more than this was put back. */
const BACK_MS = 120_000

/** Sets the clock. When it was put back, as at the start, makes due what would wait for the time it was. */
async function keepTime({ db, clock }: WorkerDeps, sending: Sending): Promise<void> {
  const before = sending.time
  const ms = performance.now()
  if (before !== undefined && ms - before.ms < TIME_MS) return
  await clock.sync?.()
  const now = clock.now()
  const lostMs = before === undefined ? 0 : ms - before.ms - (now.getTime() - before.now.getTime())
  if (before === undefined || lostMs > BACK_MS) await catchUpRetries(db, now)
  sending.time = { now, ms }
}

/** The deliveries of alerts, by alert. */
export async function listForAlerts(
  db: Db,
  alertIds: readonly number[],
): Promise<Map<number, DeliveryEntry[]>> {
  const rows = alertIds.length === 0 ? [] : await store.listOfAlerts(db, alertIds)
  const entries = new Map<number, DeliveryEntry[]>(alertIds.map((id) => [id, []]))
  for (const { alertId, ...entry } of rows) entries.get(alertId)?.push(entry)
  return entries
}

/** Recipients who have had no message about an alert by itself, though it was for them, by alert. */
export async function listUnnotified(
  db: Db,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = alertIds.length === 0 ? [] : await store.listUnnotified(db, alertIds)
  return recipientsByAlert(rows, alertIds)
}

/** Recipients that were never sent these alerts because of a mute, by alert. */
export async function listMutedOnly(
  db: Db,
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const rows = alertIds.length === 0 ? [] : await store.listMutedOnly(db, alertIds)
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
 * Marks every chat message that tells of these alerts to be changed, to show what became of them: soon
 * after the transaction, again and again until it works; the latest state wins.
 */
export async function reviseMessages(tx: Db, alertIds: readonly number[]): Promise<void> {
  if (alertIds.length === 0) return
  const ids = await messages.lockCarriers(tx, alertIds)
  await messages.markStale(tx, ids)
}

/**
 * The alerts that a chat message tells of, recoveries left out.
 *
 * @param recipientIds the chat's, one a wallet
 * @param messageId its name in the chat
 */
export function alertsOfMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<number[]> {
  return messages.listAlertsOf(db, recipientIds, messageId)
}

/** Whether a message with this name in a chat is one of ours, and not a screen of the bot. */
export async function hasMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<boolean> {
  return (await messages.findByName(db, recipientIds, messageId)) !== undefined
}

/**
 * Notes which part of the help is open below a message, so that it stays open whatever becomes of the
 * alert; null: none. Whoever asked for it shows it.
 */
export function openHelp(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
  help: HelpPart | null,
): Promise<void> {
  return messages.setHelp(db, recipientIds, messageId, help)
}

/** A message that stands in a chat: whose it is, and what it is to show now. */
export interface ActiveAlertRef {
  readonly wallet: string
  readonly envelope: Envelope
  readonly state: MessageState
}

/**
 * The message with this name in a chat; undefined when none of ours has it, or it is forgotten.
 *
 * @param recipientIds the chat's, one a wallet
 */
export async function findMessage(
  deps: { readonly db: Db; readonly stateOf: StateReader },
  recipientIds: readonly number[],
  messageId: string,
): Promise<ActiveAlertRef | undefined> {
  const sent = await messages.findByName(deps.db, recipientIds, messageId)
  const shown = sent && (await readSent(deps, sent))
  return sent && shown && { wallet: sent.wallet, ...shown }
}

/** Recipients, by id, above `after`, for whom held messages may be told by then. */
export function listHolding(
  db: Db,
  until: Date,
  page: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  return retained.listHolding(db, until, page)
}

/** Notes which delivery tells each of those that were held: its fate is theirs from now on. */
export function recordSummarized(
  tx: Db,
  summarized: readonly { readonly id: string; readonly summaryDeliveryId: string }[],
): Promise<void> {
  return retained.recordSummarized(tx, summarized)
}

/** What is held for a recipient that is gone will not be sent. */
export function cancelDeferred(tx: Db, recipientId: number): Promise<void> {
  return retained.cancelDeferred(tx, recipientId)
}

/** What a recipient of the wallet missed while it was off, newest first: at most 100 of 7 days. */
export async function listRetained(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
  recipientId: number,
): Promise<readonly RetainedDelivery[]> {
  const rows = await retained.listRetained(deps.db, caller.wallet, recipientId, deps.clock.now())
  return rows.map(({ id, alertId, envelope, retainedUntil }) => {
    const { message } = DecodedEnvelope.parse(envelope)
    return { deliveryId: id, alertId, message, retainedUntil }
  })
}

/**
 * Sends what `listRetained` shows, the oldest first and after everything new.
 *
 * @returns how many
 * @throws AppError not_found; conflict `recipient_not_active` while it is off
 */
export async function sendRetained(
  deps: Pick<TestDeps, 'db' | 'clock' | 'box' | 'channels'>,
  caller: Caller,
  recipientId: number,
): Promise<number> {
  const opened = (await openDestinations(deps, [recipientId])).get(recipientId)
  if (opened?.wallet !== caller.wallet) throw new AppError('not_found', 'not_found')
  if (opened.status !== 'active') throw new AppError('conflict', 'recipient_not_active')
  const partitionKey = deps.channels[opened.channel].partitionKey(opened.destination)
  const now = deps.clock.now()
  return await transact(deps.db, (tx) =>
    retained.reviveRetained(tx, caller.wallet, { recipientId, partitionKey, now }),
  )
}

/** Lets go of what `listRetained` shows. @returns how many there were */
export function dropRetained(db: Db, caller: Caller, recipientId: number): Promise<number> {
  return retained.dropRetained(db, caller.wallet, recipientId)
}

/** How many messages of each recipient wait for its destination: unsent, or kept while it is off. */
export function countWaiting(
  db: Db,
  recipientIds: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  return counts.countWaiting(db, recipientIds, now)
}

/** How much is due and not sent, by channel, and since when; for the operator. */
export function readBacklog(db: Db, now: Date) {
  return counts.countDue(db, now)
}

/** Deliveries of all wallets made in a span of time, up to now without an end, for the public figures. */
export function countDeliveries(
  db: Db,
  { since, until }: { readonly since: Date; readonly until: Date | undefined },
) {
  return counts.countSpan(db, since, until)
}
