/** Values and options that several commands take, as they are typed. */
import { z } from 'zod'
import { Address, ID_MAX } from '#src/kernel/units.ts'

/** A wallet in any notation; decoded it has its one form. */
export const wallet = Address

/** A whole number from 1 on. */
export const number = z
  .string()
  .regex(/^[1-9]\d{0,9}$/, 'a whole number from 1 on')
  .transform(Number)
  .refine((value) => value <= ID_MAX, `at most ${ID_MAX}`)

/** Credits, which may be taken: `-500`. */
export const signedCredits = z
  .string()
  .regex(/^-?[1-9]\d{0,11}$/, 'a whole number of credits, such as 500 or -500')
  .transform(Number)

/** Credits that are given. */
export const credits = z
  .string()
  .regex(/^[1-9]\d{0,11}$/, 'a whole number of credits')
  .transform(Number)

/** Why something is done, for the ledger or the audit. */
export const note = z
  .string()
  .trim()
  .min(3, 'at least 3 characters')
  .max(200, 'at most 200 characters')

/** Unique name of the cause, such as the number of a support request. */
export const reference = z
  .string()
  .regex(/^[\w.:#-]{1,100}$/, '1 to 100 letters, digits or . : # _ -')
