import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { Button, Rows } from './buttons.ts'

const RIGHT_TO_LEFT_MARK = '\u200f'

/**
 * Puts buttons into the order of reading. Telegram draws each row from the left, in every language. A label
 * of an arrow alone is turned too; beside words it turns by itself.
 */
export function inReadingOrder(rows: Rows, locale: Locale): Rows {
  if (directionOf(locale) === 'ltr') return rows
  return rows.map((row) => row.map(turned).toReversed())
}

function turned(button: Button): Button {
  const isArrow = /^[‹›]$/.test(button.label)
  return isArrow ? { ...button, label: `${RIGHT_TO_LEFT_MARK}${button.label}` } : button
}
