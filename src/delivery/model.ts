/**
 * A delivery brings one envelope to one destination, however often it takes. It is written in the
 * transaction of what caused it and sent afterwards, at least once, under one id. Deliveries of one
 * order key (destination, watch, signal) go out one after another, so that a recovery never overtakes
 * its alert. A worker holds a delivery by a lease; when the worker dies, the lease ends and another
 * takes over.
 */
import { z } from 'zod'
import type { Envelope, Message } from '#src/channels/define.ts'
import { CHANNEL_KEYS, type ChannelKey } from '#src/channels/index.ts'
import { Id, Instant } from '#src/kernel/units.ts'

/**
 * pending: not tried yet. retrying: failed, to be tried again. held, muted: not to be sent now, or at
 * all. throttled: not sent, its watch had used up its alerts of the hour for this recipient. disabled: the
 * destination is off; the newest are kept for a week, for when it is back.
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

/** How long a worker may take for one attempt before another takes the delivery over. */
export const LEASE_SECONDS = 60

/** What could not be sent to a destination that is off is kept so long, and so many of the newest. */
export const RETENTION_DAYS = 7
export const KEPT_MAX = 100

/** A delivery to be written. */
export interface NewDelivery {
  /** UUID, also the envelope's `deliveryId`. */
  readonly id: string
  readonly wallet: string
  readonly alertId: number | null
  readonly recipientId: number
  readonly channel: ChannelKey
  /** Who serves the destination, as the channel's `partitionKey` says. */
  readonly partitionKey: string
  /** Deliveries with the same key are sent in the order they fired in. */
  readonly orderKey: string
  /** When it happened, by its source's time. */
  readonly firedAt: Date
  /** Orders what happened at one moment. */
  readonly position: number
  readonly envelope: Envelope
  readonly createdAt: Date
  /** `disabled`: its destination is off; it is kept for when that is back. */
  readonly status: Extract<DeliveryStatus, 'pending' | 'held' | 'muted' | 'throttled' | 'disabled'>
  /** Of a held one: when it is to be told in a summary. */
  readonly deferredUntil?: Date
}

/** A delivery that its destination missed while it was off. */
export interface RetainedDelivery {
  readonly deliveryId: string
  readonly alertId: number | null
  readonly message: Message
  readonly retainedUntil: Date
}

/** A delivery as an alert's record shows it. */
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

/** What came of a test: at once for a webhook, which answers by itself; else it is on its way. */
export const TestResult = z
  .discriminatedUnion('status', [
    z.object({
      deliveryId: z.uuid(),
      status: z.enum(['delivered', 'failed']),
      statusCode: z.int().nullable().meta({ description: 'operations:field.noAnswer' }),
      latencyMs: z.int(),
    }),
    z.object({ deliveryId: z.uuid(), status: z.literal('queued') }),
  ])
  .meta({ id: 'TestResult' })
export type TestResult = z.output<typeof TestResult>
