/**
 * An account is a wallet's own row: the terms it accepted, its credits and how many slots its watches
 * take. It exists from the first write on. A balance is never negative.
 */
import { z } from 'zod'
import { Instant } from '#src/kernel/units.ts'

/** What the wallet has accepted of the terms. */
export const TermsAcceptance = z
  .object({
    currentVersion: z.string(),
    url: z.string(),
    accepted: z.boolean().meta({ description: 'Whether the current version is accepted.' }),
    acceptedVersion: z.string().nullable(),
    acceptedAt: Instant.nullable(),
  })
  .meta({ id: 'TermsAcceptance' })
export type TermsAcceptance = z.output<typeof TermsAcceptance>

/** Body of `POST /account/terms`. */
export const AcceptTerms = z.strictObject({ version: z.string().min(1).max(100) }).meta({
  id: 'AcceptTerms',
})
export type AcceptTerms = z.output<typeof AcceptTerms>
