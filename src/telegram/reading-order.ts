import { directionOf, type Locale } from '#src/kernel/locale.ts'
import type { Button, Rows } from './buttons.ts'

const RIGHT_TO_LEFT_MARK = '\u200f'

/**
 * Reverses buttons for right-to-left languages, because Telegram draws each row from the left. Labels that
 * are only an arrow are mirrored too; arrows beside words mirror themselves.
 */
export function inReadingOrder(rows: Rows, locale: Locale): Rows {
  if (directionOf(locale) === 'ltr') return rows
  return rows.map((row) => row.map(turned).toReversed())
}

function turned(button: Button): Button {
  const isArrow = /^[‹›]$/.test(button.label)
  return isArrow ? { ...button, label: `${RIGHT_TO_LEFT_MARK}${button.label}` } : button
}
