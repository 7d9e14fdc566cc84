import { randomUUID } from 'node:crypto'
import { type Channel, DeliveryError, type Receipt } from '#src/channels/define.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { id as bare, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import {
  type OpenDestination,
  openDestinations,
  recordOutcomes,
} from '#src/recipients/destinations.ts'
import { type DeliveryEntry, LEASE_SECONDS, type NewDelivery, type TestResult } from './model.ts'
import { canBeSentTo, outcomesOf } from './rules.ts'
import * as store from './store.ts'
import { createWorker, type DeliveryDeps } from './worker.ts'

export type { NewDelivery } from './model.ts'

/**
 * What a test pretends to be about: the payload names one of the published events, also in a test.
 */
const TEST_EVENT = 'wallet-balance.moved'

/** Puts deliveries into the outbox, in the transaction of what caused them. */
export async function enqueue(tx: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length > 0) await store.insertDeliveries(tx, deliveries)
}

/**
 * Sends what is due until nothing is, in as many processes at once as there are.
 *
 * One key's deliveries go out one after another; a slow destination only holds up itself. After `stop`
 * nothing more is taken; what is on its way has five seconds, then it is given back.
 */
export async function deliverDue(deps: DeliveryDeps, stop: AbortSignal): Promise<void> {
  const worker = createWorker(deps, stop)
  try {
    while (!stop.aborted) {
      const before = worker.recordings()
      const startedAt = performance.now()
      const found = await worker.claim()
      const isOver = !found && worker.isIdle() && worker.recordings() === before
      if (isOver) return
      await worker.pause(performance.now() - startedAt)
    }
  } finally {
    await worker.finish()
  }
}

/** The deliveries of alerts, by alert. */
export async function listForAlerts(
  db: Db,
  alertIds: readonly number[],
): Promise<Map<number, DeliveryEntry[]>> {
  const rows = alertIds.length === 0 ? [] : await store.listOfAlerts(db, alertIds)
  const entries = new Map<number, DeliveryEntry[]>(alertIds.map((id) => [id, []]))
  for (const { alertId, ...entry } of rows) {
    if (alertId !== null) entries.get(alertId)?.push(entry)
  }
  return entries
}

/**
 * Sends a real message, marked as a test and never repeated, to a destination of the wallet. A webhook
 * answers at once; elsewhere the message is put into the outbox.
 *
 * @throws AppError not_found; upstream `channel_unavailable`; conflict `recipient_not_active`
 */
export async function sendTest(
  deps: DeliveryDeps,
  caller: Caller,
  recipientId: number,
): Promise<TestResult> {
  const destination = (await openDestinations(deps, [recipientId])).get(recipientId)
  if (destination === undefined || destination.wallet !== caller.wallet) {
    throw new AppError('not_found', 'not_found')
  }
  const channel = deps.channels[destination.channel]
  if (!channel.available()) throw new AppError('upstream', 'channel_unavailable')
  if (!canBeSentTo(destination.status, true)) {
    throw new AppError('conflict', 'recipient_not_active')
  }
  const test = testDelivery(deps, destination, channel)
  if (destination.channel === 'webhook') return await sendNow(deps, destination, test)
  await transact(deps.db, (tx) => enqueue(tx, [test]))
  return { deliveryId: test.id, status: 'queued' }
}

function testDelivery(
  { clock, publicUrl }: DeliveryDeps,
  destination: OpenDestination,
  channel: Channel<unknown>,
): NewDelivery {
  const { id: recipientId, wallet, locale, timezone } = destination
  const id = randomUUID()
  const now = clock.now()
  const t = translator(locale)
  const message = {
    alertId: null,
    watchId: null,
    watchLabel: null,
    event: TEST_EVENT,
    severity: 'info',
    title: t('messages:test.title'),
    body: t('messages:test.body', { wallet: bare(shortAddress(wallet)) }),
    fields: [],
    link: `${publicUrl}/`,
    firedAt: now.toISOString(),
    test: true,
  } as const
  const about = { type: null, signal: null, group: null, data: {} }
  return {
    id,
    wallet,
    alertId: null,
    recipientId,
    channel: channel.key,
    lane: channel.lane(destination.destination),
    orderKey: `${recipientId} test ${id}`,
    firedAt: now,
    position: 0,
    envelope: { deliveryId: id, ...about, locale, timezone, message },
    createdAt: now,
    status: 'pending',
  }
}

async function sendNow(
  deps: DeliveryDeps,
  { id: recipientId, wallet, destination }: OpenDestination,
  test: NewDelivery,
): Promise<TestResult> {
  const startedAt = performance.now()
  const now = deps.clock.now()
  const signal = AbortSignal.timeout(LEASE_SECONDS * 1000)
  const context = { attempt: 1, now, signal, wallet }
  const result = await settled(
    deps.channels[test.channel].send(destination, test.envelope, context),
  )
  const latencyMs = Math.round(performance.now() - startedAt)
  const at = deps.clock.now()
  const error = result instanceof DeliveryError ? result : undefined
  const statusCode = result.statusCode ?? null
  const status = error === undefined ? 'delivered' : 'failed'
  await transact(deps.db, async (tx) => {
    await store.insertFinished(tx, {
      ...test,
      status,
      statusCode,
      error: error?.reason ?? null,
      deliveredAt: error === undefined ? at : null,
    })
    await recordOutcomes({ ...deps, db: tx }, outcomesOf(recipientId, at, result))
  })
  return { deliveryId: test.id, status, statusCode, latencyMs }
}

/** What a send gave, its refusal as a value. */
async function settled(send: Promise<Receipt>): Promise<Receipt | DeliveryError> {
  try {
    return await send
  } catch (error) {
    if (error instanceof DeliveryError) return error
    throw error
  }
}

/** Deliveries of all wallets since then, for the public figures. */
export function countRecent(db: Db, since: Date) {
  return store.countSince(db, since)
}
