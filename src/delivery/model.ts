/**
 * A delivery sends one envelope to one destination, with as many attempts as needed. It is inserted in the
 * transaction that causes it and sent afterwards, at least once, with one id. Deliveries of one order key
 * (destination, watch, signal) are sent one after another, so that a recovery never overtakes its alert. A
 * worker leases a delivery; if the worker dies, the lease ends and another worker takes over. What is unfinished is in the
 * queue; the statement that records its end moves it to the log.
 */
import { z } from 'zod'
import type { Envelope, Message } from '#src/channels/envelope.ts'
import { CHANNEL_KEYS, type ChannelKey } from '#src/channels/index.ts'
import { Id, Instant } from '#src/kernel/units.ts'

/**
 * `pending`: not tried yet. `retrying`: failed, and will be tried again. `held`: deferred for a summary.
 * `muted`: not sent because of a mute. `throttled`: not sent, because the watch had used up its hourly
 * budget for this recipient. `disabled`: not sent, because the destination is off; the newest are retained
 * for a week.
 */
const DELIVERY_STATUSES = [
  'pending',
  'retrying',
  'delivered',
  'failed',
  'held',
  'muted',
  'throttled',
  'disabled',
] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** Seconds that a worker has for one attempt before another worker may take over. */
export const LEASE_SECONDS = 60

/**
 * Days for which unsent deliveries of a destination that is off are retained, and the maximum number of
 * retained deliveries.
 */
export const RETAINED_DAYS = 7
export const RETAINED_MAX = 100

/** A delivery to insert. */
export interface NewDelivery {
  /** A UUID, equal to the envelope's `deliveryId`. */
  readonly id: string
  readonly wallet: string
  readonly alertId: number | null
  readonly recipientId: number
  readonly channel: ChannelKey
  /** The channel's `partitionKey` of the destination. */
  readonly partitionKey: string
  /** Deliveries with the same key are sent in the order in which they fired. */
  readonly orderKey: string
  /** Time of the event, by the clock of its source. */
  readonly firedAt: Date
  /** Order of events at the same time. */
  readonly position: number
  readonly envelope: Envelope
  readonly createdAt: Date
  /** `disabled`: the destination is off; the delivery is retained for a week. */
  readonly status: Extract<DeliveryStatus, 'pending' | 'held' | 'muted' | 'throttled' | 'disabled'>
  /** For deferred deliveries: time of the summary. */
  readonly deferredUntil?: Date
}

/** A delivery that its destination missed while it was off. */
export interface RetainedDelivery {
  readonly deliveryId: string
  readonly alertId: number | null
  /** The alert that a recovery ends; null for other messages. */
  readonly recoveryOf: number | null
  readonly message: Message
  readonly retainedUntil: Date
}

/** A delivery in the list of an alert's deliveries. */
export const DeliveryEntry = z
  .object({
    deliveryId: z.uuid(),
    recipientId: Id,
    channel: z.enum(CHANNEL_KEYS),
    status: z.enum(DELIVERY_STATUSES),
    attempts: z.int(),
    lastStatusCode: z.int().nullable(),
    lastError: z.string().nullable(),
    nextAttemptAt: Instant.nullable(),
    deliveredAt: Instant.nullable(),
  })
  .meta({ id: 'Delivery' })
export type DeliveryEntry = z.output<typeof DeliveryEntry>

/** Result of a test: immediate for a webhook; otherwise the test is queued. */
export const TestResult = z
  .discriminatedUnion('status', [
    z
      .object({
        deliveryId: z.uuid(),
        status: z.enum(['delivered', 'failed']),
        statusCode: z.int().nullable().meta({ description: 'operations:field.noAnswer' }),
        latencyMs: z.int(),
        lastError: z.string().nullable(),
      })
      .meta({ id: 'AnsweredTest' }),
    z.object({ deliveryId: z.uuid(), status: z.literal('queued') }).meta({ id: 'QueuedTest' }),
  ])
  .meta({ id: 'TestResult' })
export type TestResult = z.output<typeof TestResult>

/** A test that is not sent, because the same one was sent a moment ago. */
export interface RecentTest {
  readonly status: 'recent'
  /** Time from which on another test is sent. */
  readonly nextAt: Date
}

/** Time in which people send one test of a watch to a person; programs have no such limit. */
export const TEST_PAUSE_SECONDS = 60
