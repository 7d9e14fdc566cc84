import { packed } from '#src/actions/codec.ts'
import { shortAddress } from '#src/i18n/format.ts'
import { withoutDirections } from '#src/i18n/isolates.ts'
import type { Html, Translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { type Button, LABEL_BUDGETS, labelWidth, layout, type Rows } from '#src/telegram/buttons.ts'
import { botLink } from '#src/telegram/links.ts'
import { codeHtml } from './markup.ts'

/** One screen: text in Telegram's HTML, and rows of buttons. */
export interface View {
  readonly html: string
  readonly rows: Rows
  /** Language of the view, if it may differ from the reader's. */
  readonly locale?: Locale
  /** Plain text for a press on a message that already shows this screen; by default, that it is up to date. */
  readonly toast?: string
  /** URL of the picture below the text; absent for none. */
  readonly preview?: string | undefined
}

/** Language, time zone and context of a screen's reader. */
export interface Reader {
  readonly t: Translate
  /** IANA name of a time zone. */
  readonly timezone: string
  /** Whether the chat is a group, whose members have different time zones. */
  readonly isGroup: boolean
  /** The bot's username, without `@`. */
  readonly bot: string
  /** Whether billing is disabled: screens then show neither credits nor slots. */
  readonly isBillingOff?: boolean
}

/** A button handled by the bot. */
export function act(label: string, data: string, style?: 'primary' | 'danger'): Button {
  return { label, data, ...(style !== undefined && { style }) }
}

/** A button of a choice; the chosen one has a tick. */
export function choiceButton(
  label: string,
  isChosen: boolean,
  data: string,
  style?: 'primary' | 'danger',
): Button {
  return { ...act(label, data, style), isTicked: isChosen }
}

/** A screen of lines; undefined lines and empty rows are omitted. */
export function screen(lines: readonly (string | undefined)[], rows: Rows = []): View {
  const text = lines.filter((line) => line !== undefined).join('\n')
  return { html: text.toWellFormed(), rows: layout(rows) }
}

/** Maximum number of graphemes of a name in a label: the length of `WFLR · 0x3f12…A91c`. */
const NAME_GRAPHEMES_MAX = 18
/** A name is not cut to save this many characters or fewer, if its label fits a row of its own. */
const SLACK = 2

/**
 * A link into the private chat with the bot.
 * @param payload start parameter
 */
export function deepLink({ bot }: Pick<Reader, 'bot'>, payload: string): string {
  return botLink(bot, payload)
}

/** Buttons in rows of at most `size`. */
export function inRows(buttons: readonly Button[], size: number): Rows {
  const count = Math.ceil(buttons.length / size)
  return Array.from({ length: count }, (_, at) => buttons.slice(at * size, (at + 1) * size))
}

/**
 * Buttons for the next and previous page, cyclic; empty for a single page.
 * @param to returns the button data of a page
 */
export function pageRow(page: number, pages: number, to: (page: number) => string): Button[] {
  if (pages <= 1) return []
  const before = page <= 1 ? pages : page - 1
  const after = page >= pages ? 1 : page + 1
  return [act('‹', to(before)), act(`${page} / ${pages}`, packed('none')), act('›', to(after))]
}

/** Button back, always the left one of the last row. */
export function back(label: string, data: string): Button {
  return { label: `‹ ${label}`, data }
}

/** Button to the home screen. */
export function menuButton(t: Translate): Button {
  return back(t('bot:button.menu'), packed('home'))
}

/**
 * A label with a user's name, cut to 18 graphemes, and further to the width of the row.
 *
 * @param write inserts the cut name into the label
 * @param inRow number of such labels in a row
 */
export function labelWithName(
  name: string,
  write: (name: string) => string,
  inRow: 1 | 2 = 1,
): string {
  const clean = withoutDirections(name)
  const characters = [...new Intl.Segmenter('en').segment(clean)].map(({ segment }) => segment)
  const budget = LABEL_BUDGETS[inRow - 1] ?? 0
  const whole = write(clean)
  const isShort = characters.length <= NAME_GRAPHEMES_MAX + SLACK
  if (isShort && labelWidth(whole) <= Math.min(budget + SLACK, LABEL_BUDGETS[0])) return whole
  for (let kept = Math.min(characters.length, NAME_GRAPHEMES_MAX) - 1; kept > 0; kept -= 1) {
    const start = characters.slice(0, kept).join('')
    const label = write(`${start.replace(/[\s…]+$/u, '')}…`)
    if (labelWidth(label) <= budget) return label
  }
  return write('…')
}

/** An address that can be copied in full. */
export function wholeAddress(address: string): Html {
  return codeHtml(address)
}

/** An address as the name of a wallet. */
export function walletName(address: string): string {
  return shortAddress(address)
}
