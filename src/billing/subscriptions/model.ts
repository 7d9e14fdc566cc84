/**
 * Capacity is the number of slots that a wallet may fill now: the slot of a running trial, and the slots of
 * its subscriptions, also during their grace. Every watch that is not deleted takes one slot.
 *
 * A subscription is a number of slots paid for a term of periods. At the end of the term it is renewed for
 * the same slots and periods at the price of that day, or it ends. A renewal that fails is retried after 24
 * and 48 hours; the slots stay for 72 hours.
 */
import { z } from 'zod'
import { pageQueryFields, pageSchema, textInteger } from '#src/kernel/pagination.ts'
import { Credits, Id, Instant } from '#src/kernel/units.ts'
import { SLOTS_MAX } from '../price-list.ts'

/** Maximum number of periods bought at once: about ten years. */
export const PERIODS_MAX = 120

/** Response of `POST /subscriptions/trial`. */
export const Trial = z
  .object({ slots: z.int(), startedAt: Instant, endsAt: Instant })
  .meta({ id: 'Trial' })
export type Trial = z.output<typeof Trial>

/** Query of `GET /subscriptions/quote`. */
export const SlotQuoteQuery = z.strictObject({
  quantity: textInteger(1, SLOTS_MAX),
  periods: textInteger(1, PERIODS_MAX).meta({ description: 'operations:field.periods' }),
})
export type SlotQuoteQuery = z.output<typeof SlotQuoteQuery>

/** Price of slots now. Response of `GET /subscriptions/quote`. */
export const SlotQuote = z
  .object({
    quantity: z.int(),
    periods: z.int().meta({ description: 'operations:field.periods' }),
    slotPriceCredits: Credits,
    listCredits: Credits,
    durationDiscountBps: z.int().meta({ description: 'operations:field.discountBps' }),
    volumeDiscountBps: z.int().meta({ description: 'operations:field.discountBps' }),
    totalCredits: Credits,
    startsAt: Instant,
    endsAt: Instant,
    balanceCredits: Credits,
    shortfallCredits: Credits.meta({ description: 'operations:field.shortfall' }),
  })
  .meta({ id: 'SlotQuote' })
export type SlotQuote = z.output<typeof SlotQuote>

/** More than any purchase costs at any price. */
const EXPECTED_CREDITS_MAX = 1_000_000_000_000
/** The price at which something is bought, and at no other. */
const ExpectedCredits = Credits.min(0)
  .max(EXPECTED_CREDITS_MAX)
  .optional()
  .meta({ description: 'operations:field.expectedCredits' })

/** Body of `POST /subscriptions`. */
export const NewSubscription = z
  .strictObject({
    quantity: z.int().min(1).max(SLOTS_MAX),
    periods: z.int().min(1).max(PERIODS_MAX).meta({ description: 'operations:field.periods' }),
    autoRenew: z.boolean().default(false).meta({ description: 'operations:field.autoRenew' }),
    expectedCredits: ExpectedCredits,
  })
  .meta({ id: 'SubscriptionRequest' })
export type NewSubscription = z.output<typeof NewSubscription>

export const SUBSCRIPTION_STATUSES = ['active', 'grace', 'expired'] as const
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number]

/**
 * A subscription as callers see it. `startsAt`, `endsAt` and `totalCredits` describe its last paid term.
 */
export const Subscription = z
  .object({
    id: Id,
    quantity: z.int(),
    periods: z.int().meta({ description: 'operations:field.periods' }),
    status: z.enum(SUBSCRIPTION_STATUSES),
    startsAt: Instant,
    endsAt: Instant,
    autoRenew: z.boolean().meta({ description: 'operations:field.autoRenew' }),
    totalCredits: Credits,
    nextRenewalAt: Instant.nullable(),
    lastRenewalError: z.string().nullable().meta({ description: 'operations:field.renewalError' }),
  })
  .meta({ id: 'Subscription' })
export type Subscription = z.output<typeof Subscription>

/** Slots of a wallet. */
export const Capacity = z
  .object({
    purchased: z.int(),
    trial: z.int(),
    used: z.int(),
    available: z.int(),
    max: z.int(),
  })
  .meta({ id: 'Capacity' })
export type Capacity = z.output<typeof Capacity>

/** Query of `GET /subscriptions`. */
export const SubscriptionQuery = z.strictObject(pageQueryFields)
export type SubscriptionQuery = z.output<typeof SubscriptionQuery>

/** Response of `GET /subscriptions`. */
export const SubscriptionList = pageSchema(Subscription)
  .extend({
    capacity: Capacity,
    trial: z.object({
      available: z.boolean().meta({ description: 'operations:field.trialAvailable' }),
      startedAt: Instant.nullable(),
      endsAt: Instant.nullable(),
    }),
  })
  .meta({ id: 'SubscriptionList' })
export type SubscriptionList = z.output<typeof SubscriptionList>

/** More terms than any subscription has. */
const TERM_MAX = 1_000_000

/** The next term of a subscription at today's price. Response of `GET /subscriptions/{id}/renewal`. */
export const RenewalQuote = z
  .object({
    subscription: Subscription,
    term: z.int().min(1).max(TERM_MAX).meta({ description: 'operations:field.term' }),
    quote: SlotQuote,
  })
  .meta({ id: 'RenewalQuote' })
export type RenewalQuote = z.output<typeof RenewalQuote>

/** Body of `POST /subscriptions/{id}/renewal`. */
export const Renewal = z
  .strictObject({
    term: z.int().min(1).max(TERM_MAX).meta({ description: 'operations:field.term' }),
    expectedCredits: ExpectedCredits,
  })
  .meta({ id: 'Renewal' })
export type Renewal = z.output<typeof Renewal>

/** Body of `PATCH /subscriptions`: changes one subscription, or all that have not ended. */
export const SubscriptionChanges = z
  .strictObject({ autoRenew: z.boolean(), id: Id.optional() })
  .meta({ id: 'SubscriptionChanges' })
export type SubscriptionChanges = z.output<typeof SubscriptionChanges>
