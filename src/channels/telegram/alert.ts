import { withoutDirections } from '#src/i18n/isolates.ts'
import { helpText } from '#src/i18n/signal-help.ts'
import { escapeHtml, translator } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import { type Rows, withoutLinks } from '#src/telegram/buttons.ts'
import { botLink } from '#src/telegram/links.ts'
import { type Card, cardOf } from '../card/card.ts'
import { type FactWriter, factsOf, itemFacts, linksInText } from '../card/facts.ts'
import type { CardItem } from '../card/items.ts'
import { helpRef } from '../card/transfer.ts'
import { hasEnded, isOpenLink, isolatedInArabic, lineStart, shownLabel } from '../card/wording.ts'
import { type Envelope, isOneAlert, type MessageState } from '../envelope.ts'
import { actionableIn, groupHelp } from '../groups/group.ts'
import { asShown, withoutNames, withoutPeople } from '../updates/shown.ts'
import { buttonsOf } from './buttons.ts'
import {
  type ChatParts,
  type ChatReader,
  type ChatText,
  chatLineWriter,
  chatLink,
  chatText,
  fieldLine,
} from './html.ts'

/** Appearance of a message in a chat. */
export interface AlertView extends ChatText {
  readonly rows: Rows
  readonly locale: Locale
}

export interface AlertViewOptions extends ChatReader {
  /** Whether links are shown as text instead of buttons. */
  readonly linksAsText?: boolean
  /** Whether nobody in the chat may change anything: buttons that would, and names of recipients, are left out. */
  readonly isReceiveOnly?: boolean
  /** Whether everybody may read the chat, which is a channel: nothing acts there, and no person is named. */
  readonly isPublic?: boolean
  /** The provider that the chat follows without a wallet. */
  readonly follows?: Address
  /**
   * Time of sending; set only for a first message. If the alert fired a minute ago or earlier, the text says how
   * long ago.
   */
  readonly now?: Date
}

/**
 * Text and buttons of a message in Telegram for the current state of its alerts, in the envelope's language. Used
 * to send and to edit it, and by the bot after a press.
 */
export function alertView(
  envelope: Envelope,
  current: MessageState = {},
  options: AlertViewOptions = {},
): AlertView {
  const { linksAsText = false, isReceiveOnly = false, isGroup = false, follows } = options
  const { isPublic = false } = options
  const named = isGroup || isReceiveOnly ? withoutNames(current) : current
  const state = isPublic ? withoutPeople(named) : named
  const shown = asShown(envelope, state)
  const rows = buttonsOf(shown, state, { isReceiveOnly, isPublic, follows })
  return {
    ...chatText(partsOf(shown, state, options)),
    rows: linksAsText ? withoutLinks(rows) : rows,
    locale: envelope.locale,
  }
}

const CHAT_FACTS: FactWriter = {
  text: escapeHtml,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
  link: chatLink,
  isHtml: true,
}

function partsOf(envelope: Envelope, state: MessageState, options: AlertViewOptions): ChatParts {
  const { now } = options
  const writer = chatLineWriter(envelope, options)
  const card = cardOf(envelope, { state, writer, ...(now && { now }) })
  return isOneAlert(envelope.kind)
    ? alertParts(envelope, card, state, options)
    : listParts(envelope, card, state, options)
}

function alertParts(
  envelope: Envelope,
  card: Card,
  state: MessageState,
  options: AlertViewOptions,
): ChatParts {
  const { message } = envelope
  const t = translator(envelope.locale)
  const topic = hasEnded(state) || state.open === 'mute' ? undefined : state.open
  const help = topic === undefined ? undefined : helpText(t, helpRef(envelope), topic)
  const facts = factsOf(envelope, CHAT_FACTS)
  return {
    headHtml: headOf(card, envelope, options),
    body: message.body,
    bodyLinks: linksInText(message),
    linesHtml: facts.shown,
    hidden: facts.hidden,
    moreHtml: t.html('messages:moreInDetails'),
    tailHtml: card.number === undefined ? [] : [card.number],
    oneLine: lineStart(envelope.locale),
    linksHtml: [...linkLines(card, options), ...takeLines(envelope, state, options)],
    quote: help ?? '',
  }
}

/** Groups, roll-ups, summaries and notices: heading and lines. */
function listParts(
  envelope: Envelope,
  card: Card,
  state: MessageState,
  options: AlertViewOptions,
): ChatParts {
  const { kind, locale } = envelope
  const t = translator(locale)
  const isTight = card.items.length > 0 && card.body === ''
  const items = card.items.map((item) => itemLine(item, envelope, options))
  const isCounted = kind === 'group' || kind === 'rollup'
  const isHelped = kind === 'group' && state.open === 'action'
  const help = isHelped ? groupHelp(envelope, state) : undefined
  return {
    headHtml: headOf(card, envelope, options),
    body: card.body,
    linesHtml: isCounted ? items : [...items, ...card.fields.map((field) => fieldLine(t, field))],
    hidden: card.more === undefined ? 0 : 1,
    moreHtml: card.more === undefined ? '…' : escapeHtml(card.more),
    tailHtml: isCounted
      ? [
          ...card.fields.map((field) => fieldLine(t, field)),
          ...(card.number === undefined ? [] : [lineStart(locale) + card.number]),
        ]
      : [],
    linksHtml: isCounted ? takeLines(envelope, state, options) : linkLines(card, options),
    quote: [help?.title, help?.text].filter((text) => text !== undefined).join('\n'),
    isTight,
  }
}

function headOf(
  { glyph, title, lines }: Card,
  envelope: Envelope,
  options: AlertViewOptions,
): readonly string[] {
  const heading = linkedTitle(escapeHtml(title), envelope, options)
  return [`${glyph === '' ? '' : `${glyph} `}<b>${heading}</b>`, ...lines]
}

/** The title of a message about one watch, with whose name it begins; the name leads to the watch's card. */
function linkedTitle(
  titleHtml: string,
  { kind, message: { watchId, watchLabel } }: Envelope,
  { botUsername }: AlertViewOptions,
): string {
  const isOfWatch = isOneAlert(kind) || kind === 'group'
  if (!isOfWatch || watchId === null || watchLabel === null || !botUsername) return titleHtml
  const name = escapeHtml(withoutDirections(shownLabel(watchLabel)))
  if (name.trim() === '') return titleHtml
  return titleHtml.replace(
    name,
    () => `<a href="${botLink(botUsername, `w${watchId}`)}">${name}</a>`,
  )
}

/**
 * `02:14 🟠 Node A: title` in a summary, `🟠 title` in a group, `🟠 title #31` in one about several incidents,
 * `02:14 🟠 title · To: 0x7099…79C8 · Transaction ↗` of transfers; the title is a link.
 */
function itemLine(
  { glyph, time, text, number, fields, message }: CardItem,
  { locale }: Envelope,
  { botUsername }: AlertViewOptions,
): string {
  const { alertId } = message
  const isLinked = alertId !== null && botUsername !== undefined
  const target = isLinked ? botLink(botUsername, `a${alertId}`) : undefined
  const page = isOpenLink(message.link) ? escapeHtml(message.link) : undefined
  const href = target ?? page
  const linked = (shown: string) => (href === undefined ? shown : `<a href="${href}">${shown}</a>`)
  const words = [
    ...(time === undefined ? [] : [escapeHtml(isolatedInArabic(locale, time))]),
    glyph,
    linked(escapeHtml(text)),
    ...(number === undefined ? [] : [isolatedInArabic(locale, number)]),
  ]
  const facts = itemFacts({ locale }, fields, CHAT_FACTS)
  return lineStart(locale) + [words.join(' '), ...facts].join(' · ')
}

/** In a chat that may change nothing: where its open alerts can be acknowledged and muted. */
function takeLines(
  envelope: Envelope,
  state: MessageState,
  { isReceiveOnly = false, isPublic = false, follows }: AlertViewOptions,
): readonly string[] {
  const { message, locale } = envelope
  if (
    !isReceiveOnly ||
    isPublic ||
    follows !== undefined ||
    message.test ||
    envelope.kind === 'rollup'
  )
    return []
  const isOpen = !hasEnded(state) && actionableIn(envelope, state).length > 0
  if (!isOpen || state.acknowledged !== undefined) return []
  return [escapeHtml(translator(locale)('messages:takeElsewhere'))]
}

/** A page that opens as a link; any other, which Telegram refuses as one, can be copied. */
function pageMarkup(url: string): string {
  return isOpenLink(url) ? chatLink(url, url) : `<code>${escapeHtml(url)}</code>`
}

/** One link per line, so that adjacent text does not become part of it. */
function linkLines({ links }: Card, { linksAsText = false }: AlertViewOptions): readonly string[] {
  return links
    .filter(({ url }) => url !== '' && (linksAsText || !isOpenLink(url)))
    .map(({ label, url }) => `${escapeHtml(label)}\n${pageMarkup(url)}`)
}
