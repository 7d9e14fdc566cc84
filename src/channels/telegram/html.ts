import { formatTimeOn } from '#src/i18n/format.ts'
import { withoutDirections } from '#src/i18n/isolates.ts'
import {
  escapeHtml,
  type HtmlValue,
  html,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { inertMarkup } from '#src/kernel/inert-text.ts'
import { TEXT_MAX } from '#src/telegram/limits.ts'
import { plainOf } from '#src/telegram/text.ts'
import { linkWords } from '../card/facts.ts'
import { isCode, isForeign, isOpenLink, type LineWriter } from '../card/wording.ts'
import type { Envelope, MessageField } from '../envelope.ts'

/** A chat message as Telegram HTML, and as plain text. */
export interface ChatText {
  readonly html: string
  readonly plain: string
}

/** Parts of a message in reading order. Names that end in `Html` are markup with escaped values. */
export interface ChatParts {
  readonly headHtml: readonly string[]
  /** Body as plain text; cut last. */
  readonly body: string
  /** Pages of words in the body, such as a shortened address. */
  readonly bodyLinks?: ReadonlyMap<string, string>
  /** Fields or messages, one per line; removed from the end if there is no room. */
  readonly linesHtml: readonly string[]
  /** Note that some lines are not shown. */
  readonly moreHtml: string
  /** Number of lines that are never shown. */
  readonly hidden: number
  readonly tailHtml: readonly string[]
  /** Links at the end of the message. */
  readonly linksHtml: readonly string[]
  /** Plain text shown as a quote; cut before the body. */
  readonly quote: string
  /** Whether there are no blank lines after the heading. */
  readonly isTight?: boolean
  /**
   * If set, `linesHtml` and `tailHtml` are joined to one line that begins with this text; otherwise they
   * are separate lines.
   */
  readonly oneLine?: string
}

/**
 * Builds a message within the limit: removes lines from the end, then cuts quote and body. Heading and
 * links are kept. Nothing but its links can be pressed.
 */
export function chatText(parts: ChatParts): ChatText {
  const { linesHtml, body, quote } = parts
  for (let shown = linesHtml.length; shown >= 0; shown -= 1) {
    const text = compose(parts, { shown, body, quote })
    if (text.plain.length <= TEXT_MAX) return text
  }
  const withBody = compose(parts, { shown: 0, body, quote: '' })
  const quoteRoom = TEXT_MAX - withBody.plain.length - BREAK.length
  if (quote !== '' && quoteRoom > QUOTE_LEAST) {
    return compose(parts, { shown: 0, body, quote: cutText(quote, quoteRoom) })
  }
  if (withBody.plain.length <= TEXT_MAX) return withBody
  const bare = compose(parts, { shown: 0, body: '', quote: '' })
  const bodyRoom = TEXT_MAX - bare.plain.length - BREAK.length
  return compose(parts, { shown: 0, body: cutText(body, bodyRoom), quote: '' })
}

const BREAK = '\n\n'
/** Shorter quotes are omitted. */
const QUOTE_LEAST = 80

function compose(
  parts: ChatParts,
  chosen: { readonly shown: number; readonly body: string; readonly quote: string },
): ChatText {
  const {
    headHtml,
    linesHtml,
    tailHtml,
    linksHtml,
    moreHtml,
    hidden,
    isTight = false,
    oneLine,
  } = parts
  const isCut = hidden > 0 || chosen.shown < linesHtml.length
  const lines = linesHtml.slice(0, chosen.shown)
  const more = isCut ? [moreHtml] : []
  const together = [...lines, ...tailHtml]
  const shown =
    oneLine === undefined || together.length === 0 ? together : [oneLine + together.join(' · ')]
  const quote = escapeHtml(chosen.quote)
  const blocks = [
    [...headHtml, ...(isTight ? [...lines, ...more, ...tailHtml] : [])].join('\n'),
    linkWords(escapeHtml(chosen.body), parts.bodyLinks ?? new Map(), chatLink),
    [...(isTight ? [] : [...shown, ...more]), ...linksHtml].join('\n'),
    quote === '' ? '' : `<blockquote>${quote}</blockquote>`,
  ]
  const markup = inertMarkup(
    blocks
      .filter((block) => block !== '')
      .join(BREAK)
      .toWellFormed(),
  )
  return { html: markup, plain: plainOf(markup) }
}

/** Link with a word as its text. */
export function chatLink(text: string, page: string): string {
  return `<a href="${escapeHtml(page)}">${escapeHtml(text)}</a>`
}

/** Reader of a message. */
export interface ChatReader {
  /** Whether the chat is a group, whose members have different time zones. */
  readonly isGroup?: boolean
  /** Without `@`; names of watches and titles of alerts in a list link to the bot. */
  readonly botUsername?: string | undefined
}

/** Formats lines of markup, with times in the reader's time zone. */
export function chatLineWriter(
  { locale, timezone }: Pick<Envelope, 'locale' | 'timezone'>,
  { isGroup = false }: ChatReader,
): LineWriter<HtmlValue> {
  const t = translator(locale)
  return {
    write: t.html,
    text: escapeHtml,
    // In a group, times have their offset unless the line has it, like those in the texts: members have different
    // time zones.
    time: (at, options) =>
      formatTimeOn(at, locale, timezone, isGroup ? { offset: true, ...options } : options),
  }
}

/** A field as a separate line; addresses can be copied, public data is a link. */
export function fieldLine(t: Translate, field: MessageField): string {
  const value = html(valueMarkup(field))
  return t.html('messages:fieldLine', {
    label: field.label,
    value: isForeign(field, t.locale) ? typed(value) : value,
  })
}

function valueMarkup(field: MessageField): string {
  const value = escapeHtml(withoutDirections(field.value))
  if (isCode(field) && !isLong(field)) return `<code>${value}</code>`
  if (field.href === undefined || !isOpenLink(field.href)) return value
  return `<a href="${escapeHtml(field.href)}">${value}</a>`
}

/** A hash with a page is a link instead of copyable text. */
function isLong(field: MessageField): boolean {
  return field.href !== undefined && field.value.length > 42
}
