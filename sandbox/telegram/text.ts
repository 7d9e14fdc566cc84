import type { FormattedText } from './model.ts'
import { badRequest } from './refusal.ts'

/** Longest message text in UTF-16 units, without markup. */
const TEXT_UNITS_MAX = 4096

/** Longest caption of a photo or document in UTF-16 units. */
const CAPTION_UNITS_MAX = 1024

/** Longest text of a request in UTF-8 bytes, including markup. */
export const SOURCE_BYTES_MAX = 32_768

/**
 * A text as Telegram stores it. Spaces replace control characters except line feeds; CR, U+2028 to U+202E, U+0333,
 * U+033F and U+030A are removed; in a run of U+200E and U+200F all but the last become U+200C. Then outer space is
 * trimmed. Entities are shifted.
 *
 * @see TDLib, `clean_input_string` and `fix_formatted_text`
 */
export function storedText(source: FormattedText): FormattedText {
  const cleaned = clean(source)
  const end = cleaned.text.replace(/[ \n]+$/, '').length
  const firstEntity = Math.min(cleaned.text.length, ...cleaned.entities.map((e) => e.offset))
  const leading = /^[ \n]*/.exec(cleaned.text.slice(0, Math.min(firstEntity, end)))
  const start = leading?.[0].length ?? 0
  const entities = cleaned.entities.flatMap((entity) => {
    const length = Math.min(entity.offset + entity.length, end) - entity.offset
    return length > 0 ? [{ ...entity, offset: entity.offset - start, length }] : []
  })
  return { text: cleaned.text.slice(start, end), entities }
}

/** Whether a text has no visible character. */
export function isBlank(text: string): boolean {
  return !/[^\s\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u206f\u2800\u3164\ufeff\ufffc]/u.test(
    text,
  )
}

/**
 * Checks a message text.
 *
 * @throws BotApiRefusal 400 empty or too long
 */
export function checkText(formatted: FormattedText): FormattedText {
  if (isBlank(formatted.text)) throw badRequest('text must be non-empty')
  if (formatted.text.length > TEXT_UNITS_MAX) throw badRequest('message is too long')
  return formatted
}

/**
 * Checks a caption, which may be empty.
 *
 * @throws BotApiRefusal 400 too long
 */
export function checkCaption(formatted: FormattedText): FormattedText {
  if (isBlank(formatted.text)) return { text: '', entities: [] }
  if (formatted.text.length > CAPTION_UNITS_MAX) throw badRequest('message caption is too long')
  return formatted
}

/** Cleans character by character, because every removed one shifts the entities after it. */
function clean(source: FormattedText): FormattedText {
  const moved: number[] = []
  let text = ''
  for (let index = 0; index < source.text.length; index++) {
    moved.push(text.length)
    const unit = source.text.charCodeAt(index)
    if (unit === 0x0d || (unit >= 0x2028 && unit <= 0x202e)) continue
    if (unit === 0x0333 || unit === 0x033f || unit === 0x030a) continue
    const isMark = unit === 0x200e || unit === 0x200f
    const next = source.text.charCodeAt(index + 1)
    if (isMark && (next === 0x200e || next === 0x200f)) text += '\u200c'
    else if (unit <= 0x20 && unit !== 0x0a) text += ' '
    else text += source.text.charAt(index)
  }
  moved.push(text.length)
  const at = (offset: number): number => moved[Math.min(offset, source.text.length)] ?? text.length
  const entities = source.entities.map((entity) => ({
    ...entity,
    offset: at(entity.offset),
    length: at(entity.offset + entity.length) - at(entity.offset),
  }))
  return { text, entities }
}
