/**
 * A delivery brings one envelope to one destination, however often it takes. It is written in the
 * transaction of what caused it and sent afterwards, at least once, under one id. Deliveries of one
 * order key (destination, watch, signal) go out one after another, so that a recovery never overtakes
 * its alert. A worker holds a delivery by a lease; when the worker dies, the lease ends and another
 * takes over.
 */
import { z } from 'zod'
import type { ChannelKey, Envelope } from '#src/channels/define.ts'
import { Id, Instant } from '#src/kernel/units.ts'

/**
 * pending: not tried yet. retrying: failed, to be tried again. held, muted: not to be sent now, or at
 * all. disabled: the destination was switched off before it could be sent.
 */
const DELIVERY_STATUSES = [
  'pending',
  'retrying',
  'delivered',
  'failed',
  'held',
  'muted',
  'disabled',
] as const
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number]

/** How long a worker may take for one attempt before another takes the delivery over. */
export const LEASE_SECONDS = 60

/** A delivery to be written. */
export interface NewDelivery {
  /** UUID, also the envelope's `deliveryId`. */
  readonly id: string
  readonly wallet: string
  readonly alertId: number | null
  readonly recipientId: number
  readonly channel: ChannelKey
  /** Who serves the destination, as the channel's `lane` says. */
  readonly lane: string
  /** Deliveries with the same key are sent in the order they fired in. */
  readonly orderKey: string
  /** When it happened, by its source's time. */
  readonly firedAt: Date
  /** Orders what happened at one moment. */
  readonly position: number
  readonly envelope: Envelope
  readonly createdAt: Date
  readonly status: Extract<DeliveryStatus, 'pending' | 'held' | 'muted'>
}

/** A delivery as an alert's record shows it. */
export const DeliveryEntry = z
  .object({
    deliveryId: z.uuid(),
    recipientId: Id,
    channel: z.enum(['telegram', 'email', 'webhook'] as const satisfies readonly ChannelKey[]),
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
      statusCode: z.int().nullable().meta({ description: 'Null when nobody answered.' }),
      latencyMs: z.int(),
    }),
    z.object({ deliveryId: z.uuid(), status: z.literal('queued') }),
  ])
  .meta({ id: 'TestResult' })
export type TestResult = z.output<typeof TestResult>
