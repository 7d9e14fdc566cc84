/**
 * An account is the row of a wallet: the terms it accepted, its credits, and the number of slots that its watches take.
 * The first write for the wallet creates the row. A balance is never negative.
 */
import { z } from 'zod'
import { oneLine } from '#src/kernel/label.ts'
import { pageQueryFields, pageSchema } from '#src/kernel/pagination.ts'
import { Address, Instant } from '#src/kernel/units.ts'
import { Capacity } from '../subscriptions/model.ts'

/** The terms in force and the version the wallet accepted. */
export const TermsAcceptance = z
  .object({
    currentVersion: z.string(),
    url: z.string(),
    accepted: z.boolean().meta({ description: 'operations:field.termsAccepted' }),
    acceptedVersion: z.string().nullable(),
    acceptedAt: Instant.nullable(),
  })
  .meta({ id: 'TermsAcceptance' })
export type TermsAcceptance = z.output<typeof TermsAcceptance>

/** Body of `POST /account/terms`. */
export const AcceptTerms = z.strictObject({ version: oneLine(100) }).meta({
  id: 'AcceptTerms',
})
export type AcceptTerms = z.output<typeof AcceptTerms>

export const LEDGER_TYPES = [
  'topup',
  'bonus',
  'usage',
  'subscription',
  'refund',
  'adjustment',
] as const
export type LedgerType = (typeof LEDGER_TYPES)[number]

/** Input of one change of a balance. */
export interface LedgerInput {
  readonly wallet: Address
  readonly type: LedgerType
  /** A whole number above 0. `credit` adds it, `debit` subtracts it. */
  readonly amountCredits: number
  /** Unique cause of the change: a second change with the same reference has no effect. */
  readonly reference: string
  readonly note?: string
  readonly at: Date
}

/** One change of the balance. */
export const LedgerEntry = z
  .object({
    id: z.int().meta({ description: 'operations:field.entryNumber' }),
    type: z.enum(LEDGER_TYPES),
    deltaCredits: z.int().meta({ description: 'operations:field.deltaCredits' }),
    balanceAfterCredits: z.int(),
    reference: z.string(),
    note: z.string().optional(),
    createdAt: Instant,
  })
  .meta({ id: 'LedgerEntry' })
export type LedgerEntry = z.output<typeof LedgerEntry>

/** Response of `GET /account`. The ledger is newest first. */
export const CreditAccount = z
  .object({
    wallet: Address,
    balanceCredits: z.int(),
    freeTier: z.object({ limit: z.int(), used: z.int(), resetsAt: Instant }),
    slots: Capacity,
    ledger: pageSchema(LedgerEntry),
  })
  .meta({ id: 'Account' })
export type CreditAccount = z.output<typeof CreditAccount>

/** Query of `GET /account`: filter of the ledger entries. `from` is inclusive, `to` exclusive. */
export const AccountQuery = z.strictObject({
  ...pageQueryFields,
  type: z.enum(LEDGER_TYPES).optional(),
  from: Instant.optional(),
  to: Instant.optional(),
})
export type AccountQuery = z.output<typeof AccountQuery>
