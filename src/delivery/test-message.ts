import { DeliveryError, type Receipt } from '#src/channels/define.ts'
import type { Envelope, EnvelopeMessage } from '#src/channels/envelope.ts'
import type { Channels, ServiceChannel } from '#src/channels/index.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { id as bare, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import {
  type DecryptedDestination,
  decryptDestinations,
  recordOutcomes,
  type SwitchedOffListener,
} from '#src/recipients/destinations.ts'
import { lockRecipient } from '#src/recipients/service.ts'
import { newDeliveryId } from './delivery-id.ts'
import { findLastTest } from './log/delivery-log-store.ts'
import {
  LEASE_SECONDS,
  type NewDelivery,
  type RecentTest,
  TEST_PAUSE_SECONDS,
  type TestResult,
} from './model.ts'
import { retainUnsentAndNotify } from './results/record-results.ts'
import { wakeRetries } from './results/retry-store.ts'
import { canBeSentTo, destinationOutcomesOf } from './rules.ts'
import * as store from './store.ts'

/** Dependencies of tests. */
export interface TestDeps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly channels: Channels
  readonly publicUrl: string
  readonly notices: SwitchedOffListener
}

/** Example alert of a test. */
export interface TestExample extends Pick<Envelope, 'type' | 'signal' | 'group' | 'data'> {
  /** The example message in the reader's language. */
  readonly message: EnvelopeMessage
}

interface TestOptions {
  /** A webhook that is switched off gets the test anyway, and stays off. */
  readonly evenIfOff?: boolean
  /** The alert that the test shows. */
  readonly example: (destination: DecryptedDestination) => Promise<TestExample>
}

/**
 * Sends a real message, which is marked as a test and never retried, to a destination of the wallet. A
 * webhook responds immediately; for others the message goes into the outbox.
 *
 * @param options `isOnce`: a person gets no second test of the same watch within `TEST_PAUSE_SECONDS`
 * @throws AppError not_found; upstream `channel_unavailable`; conflict `recipient_not_active`
 */
export async function sendTest(
  deps: TestDeps,
  caller: Caller,
  recipientId: number,
  options: TestOptions & { readonly isOnce: true },
): Promise<TestResult | RecentTest>
export async function sendTest(
  deps: TestDeps,
  caller: Caller,
  recipientId: number,
  options: TestOptions,
): Promise<TestResult>
export async function sendTest(
  deps: TestDeps,
  caller: Caller,
  recipientId: number,
  options: TestOptions & { readonly isOnce?: boolean },
): Promise<TestResult | RecentTest> {
  const destination = (await decryptDestinations(deps, [recipientId])).get(recipientId)
  if (destination === undefined || destination.wallet !== caller.wallet) {
    throw new AppError('not_found', 'not_found')
  }
  const channel = deps.channels[destination.channel]
  if (!channel.available()) throw new AppError('upstream', 'channel_unavailable')
  const { isProgrammatic } = CHANNELS[destination.channel]
  const isTried = options.evenIfOff === true && isProgrammatic
  if (!isTried && !canBeSentTo(destination.status, true)) {
    throw new AppError('conflict', 'recipient_not_active')
  }
  const example = await options.example(destination)
  const test = testDelivery(deps, destination, channel, example)
  if (isProgrammatic) return await sendNow(deps, destination, test)
  return await transact(deps.db, async (tx) => {
    const lastAt = options.isOnce === true ? await lastTestAt(tx, test) : undefined
    if (lastAt !== undefined) {
      return { status: 'recent', nextAt: new Date(lastAt.getTime() + TEST_PAUSE_SECONDS * 1000) }
    }
    await store.insertDeliveries(tx, [test])
    return { deliveryId: test.id, status: 'queued' }
  })
}

/** Time of the newest test like this one, within the pause. Several chats of a wallet may ask at once. */
async function lastTestAt(tx: Db, test: NewDelivery): Promise<Date | undefined> {
  const { wallet, recipientId, createdAt } = test
  await lockRecipient(tx, recipientId)
  const { watchId } = test.envelope.message
  const since = new Date(createdAt.getTime() - TEST_PAUSE_SECONDS * 1000)
  return await findLastTest(tx, { wallet, recipientId, watchId }, since)
}

function testDelivery(
  { clock }: TestDeps,
  destination: DecryptedDestination,
  channel: ServiceChannel,
  { message: shown, data, ...about }: TestExample,
): NewDelivery {
  const { id: recipientId, wallet, locale, timezone } = destination
  const now = clock.now()
  const id = newDeliveryId(now)
  const message = {
    ...shown,
    ...markedTexts(destination, shown),
    firedAt: now.toISOString(),
    test: true,
  }
  return {
    id,
    wallet,
    alertId: null,
    recipientId,
    channel: channel.key,
    partitionKey: channel.partitionKey(destination.destination),
    orderKey: `${recipientId} test ${id}`,
    firedAt: now,
    position: 0,
    envelope: {
      deliveryId: id,
      ...about,
      data: { ...data, test: true },
      locale,
      timezone,
      message,
    },
    createdAt: now,
    status: 'pending',
  }
}

/**
 * Title and body of a test. People get the texts of the alert; the channel marks the test. Programs may ignore the
 * flag, so their texts say it. A channel with consent (mail) may belong to somebody else, so its body begins with the
 * wallet that sent the test.
 */
function markedTexts(
  { channel, wallet, locale }: DecryptedDestination,
  { title, body }: EnvelopeMessage,
): Pick<EnvelopeMessage, 'title' | 'body'> {
  const t = translator(locale)
  const { isProgrammatic, needsConsent } = CHANNELS[channel]
  const note = t('messages:test.note', { wallet: bare(shortAddress(wallet)) })
  const parts = isProgrammatic ? [body, note] : needsConsent ? [note, body] : [body]
  return {
    title: isProgrammatic ? t('messages:test.heading', { title }) : title,
    body: parts.filter((part) => part !== '').join('\n\n'),
  }
}

async function sendNow(
  deps: TestDeps,
  { id: recipientId, wallet, destination }: DecryptedDestination,
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
  const lastError = error?.reason ?? null
  const status = error === undefined ? 'delivered' : 'failed'
  await transact(deps.db, async (tx) => {
    await store.insertFinishedDelivery(tx, {
      ...test,
      status,
      statusCode,
      error: lastError,
      deliveredAt: error === undefined ? at : null,
    })
    const isWoken = error === undefined && (await wakeRetries(tx, [recipientId], at))
    if (isWoken) await store.notifyWorkers(tx, [test.channel])
    const outcomes = destinationOutcomesOf(recipientId, at, result)
    await retainUnsentAndNotify(deps, tx, await recordOutcomes({ ...deps, db: tx }, outcomes))
  })
  return { deliveryId: test.id, status, statusCode, latencyMs, lastError }
}

/** Waits for a send, and returns its receipt or its DeliveryError. */
async function settled(send: Promise<Receipt>): Promise<Receipt | DeliveryError> {
  try {
    return await send
  } catch (error) {
    if (error instanceof DeliveryError) return error
    throw error
  }
}
