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

/**
 * Characters that show nothing by themselves: spaces, joiners, fillers, combining marks. Those of the basic plane that
 * people meet; the service knows all of them.
 */
const BLANK =
  ' \\u00a0\\u00ad\\u0300-\\u036f\\u115f\\u1160\\u1680\\u17b4\\u17b5\\u180b-\\u180f\\u2000-\\u200d\\u202f\\u205f-\\u2065' +
  '\\u206a-\\u206f\\u20d0-\\u20f0\\u2800\\u3000\\u3164\\ue000-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffc\\ufffe\\uffff'

/** A typed text of one line: 1 to `max` graphemes, one of them visible, no control or direction characters. */
function typedLine(max: number) {
  return (
    z
      .string()
      .check((context) => {
        // The length in UTF-16 units is limited, too, because one grapheme can have any number of combining marks.
        const isLong = context.value.length > max * UNITS_PER_GRAPHEME
        const issue = (code: string, values: Record<string, number | string> = {}) =>
          context.issues.push({ code: 'custom', input: context.value, params: { code, ...values } })
        const number = isLong ? context.value.length : countGraphemes(context.value)
        if (number === 0) issue('too_short', { detail: 'too_short_text', minimum: 1, number })
        if (number > max) issue('too_long', { detail: 'too_long_text', maximum: max, number })
        if (!context.value.isWellFormed() || HAS_UNWANTED.test(context.value))
          issue('control_characters')
        else if (context.value !== '' && !hasVisible(context.value)) issue('blank')
      })
      // A schema counts code points. A text of so many graphemes can have more, and no schema can say so.
      .meta({
        minLength: 1,
        maxLength: max,
        pattern: `^[^${UNWANTED}]*[^${UNWANTED}${BLANK}][^${UNWANTED}]*$`,
      })
  )
}

/** A typed name: 1 to 40 graphemes. */
export const Label = typedLine(LABEL_LENGTH_MAX)
export type Label = z.output<typeof Label>

/** Maximum number of graphemes of a note. */
export const NOTE_LENGTH_MAX = 200

/** A note about an alert: 1 to 200 graphemes. */
export const Note = typedLine(NOTE_LENGTH_MAX)
export type Note = z.output<typeof Note>

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f'
const HAS_CONTROLS = new RegExp(`[${CONTROLS}]`)

/** A text of `min` to `max` characters, counted as JSON Schema does: an emoji is one. */
export function textOf(min: number, max: number) {
  return z
    .string()
    .check(({ value, issues }) => {
      // Text that is far too long is not counted.
      const number = value.length > 2 * max ? value.length : [...value].length
      if (number >= min && number <= max) return
      const [code, detail] =
        number < min ? ['too_short', 'too_short_text'] : ['too_long', 'too_long_text']
      const params = {
        code,
        detail,
        number,
        ...(number < min ? { minimum: min } : { maximum: max }),
      }
      issues.push({ code: 'custom', input: value, params })
    })
    .meta({ ...(min > 0 && { minLength: min }), maxLength: max })
}

/** A text of one line that programs send: 1 to `max` characters, no control characters. */
export function oneLine(max: number) {
  return textOf(1, max)
    .refine((text) => !HAS_CONTROLS.test(text), { params: { code: 'control_characters' } })
    .meta({ pattern: `^[^${CONTROLS}]*$` })
}
