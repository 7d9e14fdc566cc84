import { z } from 'zod'
import { countGraphemes, hasVisible, UNITS_PER_GRAPHEME } from './outside-text.ts'

/** Maximum number of graphemes of a typed name. */
export const LABEL_LENGTH_MAX = 40

/**
 * Controls, line and paragraph separators, and characters that change the reading direction. Ranges instead of names of
 * properties, because the published schema has them too and few languages' expressions know properties.
 */
const UNWANTED = '\\u0000-\\u001f\\u007f-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069'
const HAS_UNWANTED = new RegExp(`[${UNWANTED}]`)

/** A typed name: 1 to 40 graphemes, one of them visible, no control or direction characters. */
export const Label = z
  .string()
  .check((context) => {
    // The length in UTF-16 units is limited, too, because one grapheme can have any number of combining marks.
    const isLong = context.value.length > LABEL_LENGTH_MAX * UNITS_PER_GRAPHEME
    const issue = (code: string, values: Record<string, number | string> = {}) =>
      context.issues.push({ code: 'custom', input: context.value, params: { code, ...values } })
    const number = isLong ? context.value.length : countGraphemes(context.value)
    if (number === 0) issue('too_short', { detail: 'too_short_text', minimum: 1, number })
    if (number > LABEL_LENGTH_MAX) {
      issue('too_long', { detail: 'too_long_text', maximum: LABEL_LENGTH_MAX, number })
    }
    if (!context.value.isWellFormed() || HAS_UNWANTED.test(context.value))
      issue('control_characters')
    else if (context.value !== '' && !hasVisible(context.value)) issue('blank')
  })
  // A schema counts code points. A name of 40 graphemes can have more, and no schema can say so.
  .meta({ minLength: 1, maxLength: LABEL_LENGTH_MAX, pattern: `^[^${UNWANTED}]*$` })
export type Label = z.output<typeof Label>

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f'
const HAS_CONTROLS = new RegExp(`[${CONTROLS}]`)

/** A text of one line that programs send: 1 to `max` UTF-16 units, no control characters. */
export function oneLine(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((text) => !HAS_CONTROLS.test(text), { params: { code: 'control_characters' } })
    .meta({ pattern: `^[^${CONTROLS}]*$` })
}
