import type { InlineKeyboardMarkup } from 'grammy/types'
import { directionOf, type Locale } from '#src/kernel/locale.ts'

const RIGHT_TO_LEFT_MARK = '\u200f'

/** One button below a message. */
export type Button = {
  readonly label: string
  /** Of a choice: whether it is chosen. `layout` gives the chosen one a tick, and all of them room for it. */
  readonly isTicked?: boolean
  readonly style?: 'primary' | 'danger'
} & (
  | {
      /** Data that a press sends, at most 64 bytes. */
      readonly data: string
    }
  | {
      /** URL of the page that the button opens. Its host must contain a dot. */
      readonly url: string
    }
  | {
      /** Text to copy, at most 256 characters. */
      readonly copy: string
    }
  | {
      /** Inline query to share into a chat that the person chooses. */
      readonly share: string
    }
)

/** Mark before the label of a choice that is chosen. */
const TICK = '✓ '

/** Rows of buttons. */
export type Rows = readonly (readonly Button[])[]

/** Maximum width of a label by the number of buttons in its row, from one on; measured by `labelWidth`. */
export const LABEL_BUDGETS = [24, 16, 10] as const

/**
 * Arranges rows: three, two or one button each, in the given order. A label that is too long for its row
 * moves its buttons to wider ones. Every choice has room for a tick, so that no button moves when the tick does.
 */
export function layout(drawn: Rows): Rows {
  return drawn.flatMap((row) => {
    const rows: Button[][] = []
    let rest = row.map(measured)
    while (rest.length > 0) {
      const count = [3, 2].find((size) => fits(rest.slice(0, size), size)) ?? 1
      rows.push(rest.slice(0, count).map(({ button }) => button))
      rest = rest.slice(count)
    }
    return rows
  })
}

/** A button as it is drawn, with the width for which its row must have room. */
function measured({ isTicked, ...button }: Button) {
  const widest = shortened(isTicked === undefined ? button.label : `${TICK}${button.label}`)
  const label = isTicked === false ? widest.slice(TICK.length) : widest
  return { button: { ...button, label }, width: labelWidth(widest) }
}

/** Width of a label: the number of its code points that have a width. */
export function labelWidth(label: string): number {
  return [...label.replace(/[\u061c\u200e\u200f\u2066-\u2069\p{Mn}]/gu, '')].length
}

/** Shortens a label to the width of a whole row. */
function shortened(label: string): string {
  const [most] = LABEL_BUDGETS
  if (labelWidth(label) <= most) return label
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en').segment(label)) {
    if (labelWidth(kept + segment) >= most) break
    kept += segment
  }
  return `${kept.replace(/[\s…]+$/u, '')}…`
}

function fits(buttons: readonly { readonly width: number }[], size: number): boolean {
  const budget = LABEL_BUDGETS[size - 1] ?? 0
  return buttons.length === size && buttons.every(({ width }) => width <= budget)
}

/** Rows without the buttons that open a page. */
export function withoutLinks(rows: Rows): Rows {
  return rows
    .map((row) => row.filter((button) => !('url' in button)))
    .filter((row) => row.length > 0)
}

/**
 * Rows of buttons as the Bot API takes them; empty rows are left out.
 *
 * @param rows in reading order; only this function mirrors them for languages from right to left
 */
export function markupOf(rows: Rows, locale: Locale): InlineKeyboardMarkup {
  return {
    inline_keyboard: inReadingOrder(rows, locale)
      .filter((row) => row.length > 0)
      .map((row) =>
        row.map((button) => ({
          text: button.label,
          ...(button.style !== undefined && { style: button.style }),
          ...actionOf(button),
        })),
      ),
  }
}

function actionOf(button: Button) {
  if ('data' in button) return { callback_data: button.data }
  if ('url' in button) return { url: button.url }
  if ('copy' in button) return { copy_text: { text: button.copy } }
  return { switch_inline_query: button.share }
}

/**
 * Reverses buttons for right-to-left languages, because Telegram draws each row from the left. Labels that
 * are only an arrow are mirrored, too; arrows next to words follow the direction of the text.
 */
function inReadingOrder(rows: Rows, locale: Locale): Rows {
  if (directionOf(locale) === 'ltr') return rows
  return rows.map((row) => row.map(turned).toReversed())
}

function turned(button: Button): Button {
  const isArrow = /^[‹›]$/.test(button.label)
  return isArrow ? { ...button, label: `${RIGHT_TO_LEFT_MARK}${button.label}` } : button
}
