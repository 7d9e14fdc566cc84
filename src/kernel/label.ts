import { z } from 'zod'
import { countGraphemes, hasVisible, UNITS_PER_GRAPHEME } from './outside-text.ts'

/** Maximum number of graphemes of a typed name. */
export const LABEL_LENGTH_MAX = 40

/**
 * Controls, lone surrogates, line and paragraph separators, and characters that change the reading
 * direction.
 */
const UNWANTED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/** A typed name: 1 to 40 graphemes, one of them visible, no control or direction characters. */
export const Label = z.string().check((context) => {
  // The length in UTF-16 units is limited, too, because one grapheme can have any number of combining marks.
  const isLong = context.value.length > LABEL_LENGTH_MAX * UNITS_PER_GRAPHEME
  const issue = (code: string, values: Record<string, number> = {}) =>
    context.issues.push({ code: 'custom', input: context.value, params: { code, ...values } })
  if (context.value === '') issue('too_short', { minimum: 1 })
  if (isLong || countGraphemes(context.value) > LABEL_LENGTH_MAX) {
    issue('too_long', { maximum: LABEL_LENGTH_MAX })
  }
  if (UNWANTED.test(context.value)) issue('control_characters')
  else if (context.value !== '' && !hasVisible(context.value)) issue('blank')
})
export type Label = z.output<typeof Label>
