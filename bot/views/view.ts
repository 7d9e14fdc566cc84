import { packed } from '#src/actions/codec.ts'
import { formatList, shortAddress } from '#src/i18n/format.ts'
import { isolate, withoutDirections } from '#src/i18n/isolates.ts'
import { escapeHtml, type Html, html, type Translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'

/** One button below a message. */
export type Button = {
  readonly label: string
  readonly style?: 'primary' | 'danger'
} & (
  | {
      /** What its press carries, as `packed` wrote it. */
      readonly data: string
    }
  | {
      /** Opens a page. Only hosts with a dot: `isOpenLink` says which. */
      readonly url: string
    }
  | {
      /** Copied by the press, at most 256 characters. */
      readonly copy: string
    }
  | {
      /** Put behind the bot's name in a chat that the person chooses. */
      readonly share: string
    }
)

/** Rows of buttons. */
export type Rows = readonly (readonly Button[])[]

/** One screen: Telegram's HTML and what is below it. */
export interface View {
  readonly html: string
  readonly rows: Rows
}

/** Who looks at a screen. */
export interface Reader {
  readonly t: Translate
  /** IANA name. */
  readonly timezone: string
  /** In a group every member has a clock of their own. */
  readonly isGroup: boolean
  /** The bot's username, without `@`. */
  readonly bot: string
  /** Nothing is charged on this service: screens speak neither of credits nor of slots. */
  readonly isFree?: boolean
}

/** A button whose press the bot handles. */
export function act(label: string, data: string, style?: 'primary' | 'danger'): Button {
  return { label, data, ...(style !== undefined && { style }) }
}

/** A screen of lines; those that are undefined are left out, and with them empty rows. */
export function screen(lines: readonly (string | undefined)[], rows: Rows = []): View {
  const text = lines.filter((line) => line !== undefined).join('\n')
  return { html: text.toWellFormed(), rows: layout(rows) }
}

/** Widest label by how many buttons share its row, beginning with one; as `labelWidth` measures. */
const LABEL_BUDGETS = [24, 16, 10] as const
/** Most characters of a name in a label; more are cut. As many as `WFLR · 0x3f12…A91c` has. */
const NAME_GRAPHEMES_MAX = 18

/**
 * Rows as they fit: three, two or one button each, in the order drawn. A label that is too long for
 * its row moves its buttons to wider ones.
 */
export function layout(drawn: Rows): Rows {
  return drawn.flatMap((row) => {
    const rows: Button[][] = []
    let rest = row.map((button) => ({ ...button, label: shortened(button.label) }))
    while (rest.length > 0) {
      const count = [3, 2].find((size) => fits(rest.slice(0, size), size)) ?? 1
      rows.push(rest.slice(0, count))
      rest = rest.slice(count)
    }
    return rows
  })
}

/** How much room a label takes: its code points without those that have no width of their own. */
export function labelWidth(label: string): number {
  return [...label.replace(/[\u061c\u200e\u200f\u2066-\u2069\p{Mn}]/gu, '')].length
}

/** A label as it fits a row of its own. */
function shortened(label: string): string {
  const [most] = LABEL_BUDGETS
  if (labelWidth(label) <= most) return label
  let kept = ''
  for (const { segment } of new Intl.Segmenter('en').segment(label)) {
    if (labelWidth(kept + segment) >= most) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

function fits(buttons: readonly Button[], size: number): boolean {
  const budget = LABEL_BUDGETS[size - 1] ?? 0
  return buttons.length === size && buttons.every(({ label }) => labelWidth(label) <= budget)
}

/** A link into the private chat with the bot. @param payload as screens, section 3.2 */
export function deepLink({ bot }: Pick<Reader, 'bot'>, payload: string): string {
  return `https://t.me/${bot}?start=${payload}`
}

/** Buttons in rows of at most `size`. */
export function inRows(buttons: readonly Button[], size: number): Rows {
  const count = Math.ceil(buttons.length / size)
  return Array.from({ length: count }, (_, at) => buttons.slice(at * size, (at + 1) * size))
}

/** The way through pages, round and round; none where there is one page. @param to a page's payload */
export function pageRow(page: number, pages: number, to: (page: number) => string): Button[] {
  if (pages <= 1) return []
  const before = page <= 1 ? pages : page - 1
  const after = page >= pages ? 1 : page + 1
  return [act('‹', to(before)), act(`${page} / ${pages}`, packed('none')), act('›', to(after))]
}

/** The button that leads back, always the left one of the last row. */
export function back(label: string, data: string): Button {
  return { label: `‹ ${label}`, data }
}

/** Back to the start of everything. */
export function menuButton(t: Translate): Button {
  return back(t('bot:button.menu'), packed('home'))
}

/**
 * A label with a name that somebody typed: the name is cut to 18 characters as a reader counts them,
 * and further to what the row has room for.
 *
 * @param write puts the name, cut, into the label
 * @param inRow how many such labels share a row
 */
export function labelWithName(
  name: string,
  write: (name: string) => string,
  inRow: 1 | 2 = 1,
): string {
  const clean = withoutDirections(name)
  const characters = [...new Intl.Segmenter('en').segment(clean)].map(({ segment }) => segment)
  const most = Math.min(characters.length, NAME_GRAPHEMES_MAX)
  for (let kept = most; kept > 0; kept -= 1) {
    const isWhole = kept === characters.length
    const start = characters.slice(0, isWhole ? kept : kept - 1).join('')
    const label = write(isWhole ? clean : `${start.trimEnd()}…`)
    if (labelWidth(label) <= (LABEL_BUDGETS[inRow - 1] ?? 0)) return label
  }
  return write('…')
}

/** Names that people gave, listed as the locale does; each keeps a direction of its own. */
export function nameList(names: readonly string[], locale: Locale): string {
  return formatList(
    names.map((name) => isolate(withoutDirections(name))),
    locale,
  )
}

/** An address that can be copied whole. */
export function wholeAddress(address: string): Html {
  return html(`<code>${escapeHtml(address)}</code>`)
}

/** An address as a name of a wallet. */
export function walletName(address: string): string {
  return shortAddress(address)
}
