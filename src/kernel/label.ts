import { z } from 'zod'

/** Most code points of a name that somebody types. */
export const LABEL_LENGTH_MAX = 40

/** Control characters, line and paragraph separators, and marks that change the reading direction. */
const UNWANTED = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u

/** A name that somebody types: 1 to 40 code points, no control or direction characters. */
export const Label = z.string().check((context) => {
  const length = [...context.value].length
  const issue = (code: string, values: Record<string, number> = {}) =>
    context.issues.push({ code: 'custom', input: context.value, params: { code, ...values } })
  if (length < 1) issue('too_short', { minimum: 1 })
  if (length > LABEL_LENGTH_MAX) issue('too_long', { maximum: LABEL_LENGTH_MAX })
  if (UNWANTED.test(context.value)) issue('control_characters')
})
export type Label = z.output<typeof Label>
