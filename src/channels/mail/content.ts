import { shortAddress } from '#src/i18n/format.ts'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { helpText } from '#src/i18n/signal-help.ts'
import {
  escapeHtml,
  type Html,
  html,
  id,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { type Card, cardOf } from '../card/card.ts'
import {
  type Facts,
  type FactWriter,
  factLine,
  factsOf,
  hashPages,
  itemFacts,
  linksInText,
  linkWords,
  pagesOfHashes,
} from '../card/facts.ts'
import { type CardItem, itemLine } from '../card/items.ts'
import { helpRef } from '../card/transfer.ts'
import { isCode, isForeign, isolatedInArabic, lineStart, shownLabel } from '../card/wording.ts'
import { type Envelope, isOneAlert, type MessageField } from '../envelope.ts'
import { groupHelp } from '../groups/group.ts'
import { type MailWriter, mailWriter } from './page.ts'
import { subjectOf } from './subject.ts'
import { type MailContent, type MailLine, mailText } from './text.ts'

/** Maximum length of a body, so that an e-mail stays under 60 kB. The service's texts are much shorter. */
const BODY_MAX = 4000
const TITLE_MAX = 300
const LABEL_MAX = 300
const VALUE_MAX = 300
const FIELDS_MAX = 20
/** Number of lines of help in the e-mail; the rest is on the alert's page. */
const HELP_LINES = 2
const HELP_MAX = 600
/** Id of the list of the watch's other alerts on an alert's page. */
export const ALERTS_ANCHOR = 'alerts'

/** Recipient of an e-mail. */
interface MailReader {
  readonly address: string
  /** Owner of the watch. */
  readonly wallet: string
  readonly unsubscribeUrl: string | undefined
}

/**
 * The e-mail for a message of any kind, in the envelope's language.
 *
 * @param now time of the first message
 */
export function alertMail(envelope: Envelope, reader: MailReader, now?: Date): MailContent {
  const t = translator(envelope.locale)
  const whole = cardOf(envelope, { ...(now && { now }) })
  const card: Card = {
    ...whole,
    body: cutText(whole.body, BODY_MAX),
    fields: whole.fields
      .slice(0, FIELDS_MAX)
      .map((field) => ({ ...field, label: cutText(field.label, LABEL_MAX) })),
  }
  const action = actionOf(envelope)
  return {
    subject: subjectOf(t, envelope, card),
    html: htmlOf(t, envelope, { card, action, reader }),
    text: textOf(t, envelope, { card, action, reader }),
  }
}

interface Parts {
  readonly card: Card
  /** First lines of the help. */
  readonly action: readonly string[]
  readonly reader: MailReader
}

function htmlOf(t: Translate, envelope: Envelope, { card, action, reader }: Parts): string {
  const { message } = envelope
  const writer = mailWriter(t.locale)
  const { title, first, others } = linesOf(card)
  const facts = lineOf(envelope, card, htmlFacts(writer))
  const stop = reader.unsubscribeUrl
  return writer.page({
    title: card.title,
    preheader: preheaderOf(card),
    asideHtml:
      message.watchLabel === null ? '' : `<bdi>${escapeHtml(shownLabel(message.watchLabel))}</bdi>`,
    contentHtml: [
      writer.heading(title),
      first === undefined ? '' : writer.severityBar(card.tone, escapeHtml(first)),
      ...others.map((line) => writer.muted(escapeHtml(line))),
      card.body.trim() === '' ? '' : writer.paragraph(bodyHtml(writer, envelope, card)),
      facts === '' ? '' : writer.muted(facts),
      writer.list(card.items.map((item) => itemHtml(envelope, writer, item))),
      card.more === undefined ? '' : writer.muted(escapeHtml(card.more)),
      writer.table(
        card.fields.map((field) => ({ label: field.label, valueHtml: valueHtml(writer, field) })),
      ),
      ...buttonsOf(t, envelope, card).map(({ label, url }) => writer.button(label, url)),
      ...actionHtml(t, writer, action, message.link),
    ],
    footerHtml: [
      writer.muted(
        t.html('mail:footer', { ...ownerOf(reader), wallet: wholeHtml(reader.wallet) }) +
          (stop === undefined ? '' : ` ${writer.link(escapeHtml(t('mail:stop')), stop)}`),
      ),
    ],
  })
}

/** First lines of the help as HTML; numbered lines become a list. */
function actionHtml(
  t: Translate,
  writer: MailWriter,
  action: readonly string[],
  link: string,
): readonly string[] {
  if (action.length === 0) return []
  const steps = action.map((line) => /^(\p{Nd}+\.) +(.+)$/u.exec(line) ?? [line])
  const isStep = ([, number]: readonly string[]) => number !== undefined
  return [
    writer.lines([
      `<b>${escapeHtml(t('messages:button.action'))}</b>`,
      ...steps.filter((step) => !isStep(step)).map(([line = '']) => escapeHtml(line)),
    ]),
    writer.list(
      steps.filter(isStep).map(([, number = '', text = '']) => ({
        startHtml: number,
        textHtml: escapeHtml(text),
      })),
    ),
    writer.lines([writer.link(escapeHtml(t('mail:more')), link)]),
  ]
}

function textOf(t: Translate, envelope: Envelope, { card, action, reader }: Parts): string {
  const { title, first, others } = linesOf(card)
  const stop = reader.unsubscribeUrl
  return mailText([
    title,
    ...(first === undefined ? [] : [first]),
    ...others,
    '',
    card.body,
    '',
    lineOf(envelope, card, TEXT_FACTS),
    '',
    ...pagesOfHashes(envelope).flatMap(({ label, url }) => [label, { url }, '']),
    ...card.items.flatMap((item) => itemText(envelope, item)),
    ...(card.more === undefined ? [] : [card.more]),
    '',
    ...card.fields.map((field) => fieldText(t, field)),
    '',
    ...buttonsOf(t, envelope, card).flatMap(({ label, url }) => [label, { url }, '']),
    ...(action.length === 0 ? [] : [t('messages:button.action'), ...action, '']),
    '---',
    t('mail:footer', ownerOf(reader)),
    ...(stop === undefined ? [] : [t('mail:stop'), { url: stop }]),
  ])
}

/** Lines of a card: the title with its glyph, the severity, other lines. */
function linesOf({ glyph, title, lines }: Card) {
  const [first, ...others] = lines
  return { title: `${glyph === '' ? '' : `${glyph} `}${title}`, first, others }
}

/** Writes values as plain text, in which words cannot be links. */
const TEXT_FACTS: FactWriter = { text: (text) => text, code: (text) => text, link: undefined }

function htmlFacts(writer: MailWriter): FactWriter {
  return {
    text: (text) => `<bdi>${escapeHtml(text)}</bdi>`,
    code: (text) => `<span dir="ltr">${escapeHtml(text)}</span>`,
    link: (text, page) => writer.link(`<bdi>${escapeHtml(text)}</bdi>`, page),
    isHtml: true,
  }
}

/** Values of an alert and its number. */
function lineOf(envelope: Envelope, card: Card, writer: FactWriter): string {
  const facts: Facts = factsOf(envelope, writer)
  const line = factLine(envelope, facts, BODY_MAX)
  const parts = [line, card.number ?? ''].filter((part) => part !== '')
  return parts.length === 0 ? '' : lineStart(envelope.locale) + parts.join(' · ')
}

function bodyHtml(writer: MailWriter, { message }: Envelope, { body }: Card): string {
  const write = (word: string, page: string) => writer.link(escapeHtml(word), page)
  return linkWords(escapeHtml(body), linksInText(message), write).replaceAll('\n', '<br>')
}

/** Preview text that mail clients show beside the subject: severity and times. */
function preheaderOf({ body, lines }: Card): string {
  return lines[0] ?? cutText(body, 120)
}

/** Links to pages; actions of the bot are omitted. */
function buttonsOf(t: Translate, envelope: Envelope, card: Card) {
  const { links } = card
  const { kind = 'alert', message } = envelope
  // The test of a destination has no alert, so it has no page.
  if (message.test && message.alertId === null) return []
  if (kind === 'notice' || (kind === 'summary' && links.length > 0)) return links
  // Each item of a summary links to its own page.
  const isLinked = card.items.some((item) => pageOf(item).length > 0)
  if (kind === 'summary' && isLinked) return []
  return isOneAlert(kind)
    ? [{ label: t('mail:seeAlert'), url: message.link }]
    : [{ label: t('mail:seeAlerts'), url: `${message.link}#${ALERTS_ANCHOR}` }]
}

/** Page of one message in a list. */
function pageOf({ message }: CardItem): readonly string[] {
  return /^https?:\/\//i.test(message.link) ? [message.link] : []
}

/**
 * First lines of the help of an active alert. For a group it is the help of the common cause, or the title and the help
 * of the most severe alert.
 */
function actionOf(envelope: Envelope): readonly string[] {
  const { kind, message } = envelope
  if (message.test || message.isRecovery) return []
  if (kind === 'group') {
    const help = groupHelp(envelope, {})
    if (help === undefined) return []
    const title = help.title === undefined ? [] : [cutText(help.title, TITLE_MAX)]
    return [...title, ...helpLines(help.text)]
  }
  const help = helpText(translator(envelope.locale), helpRef(envelope), 'action') ?? ''
  return isOneAlert(kind) ? helpLines(help) : []
}

function helpLines(help: string): readonly string[] {
  if (help === '') return []
  return help
    .split('\n')
    .slice(0, HELP_LINES)
    .map((line) => cutText(line, HELP_MAX))
}

/** An item in the text part: its line, the pages of its transaction and of its alert. */
function itemText(envelope: Envelope, item: CardItem): readonly MailLine[] {
  const line = [itemLine(item, envelope.locale), ...itemFacts(envelope, item.fields, TEXT_FACTS)]
  const pages = hashPages(item.fields).flatMap(({ label, url }) => [label, { url }])
  return [line.join(' · '), ...pages, ...pageOf(item).map((url) => ({ url }))]
}

function itemHtml({ locale }: Envelope, writer: MailWriter, item: CardItem) {
  const { glyph, time, text, number, fields } = item
  const title = `<bdi>${escapeHtml(text)}</bdi>`
  const [page] = pageOf(item)
  const shown = page === undefined ? title : writer.link(title, page)
  const at = time === undefined ? [] : [escapeHtml(isolatedInArabic(locale, time))]
  const facts = itemFacts({ locale }, fields, htmlFacts(writer))
  const named = number === undefined ? shown : `${shown} ${isolatedInArabic(locale, number)}`
  return { startHtml: [...at, glyph].join(' '), textHtml: [named, ...facts].join(' · ') }
}

function ownerOf({ address, wallet }: MailReader) {
  return { address: typed(address), wallet: id(shortAddress(wallet)) }
}

/** A shortened address, on one line. */
function wholeHtml(wallet: string): Html {
  return html(`<span style="white-space:nowrap">${escapeHtml(shortAddress(wallet))}</span>`)
}

function valueHtml(writer: MailWriter, field: MessageField): string {
  const value = escapeHtml(cutText(withoutDirections(field.value), VALUE_MAX))
  const shown = isCode(field) ? `<span dir="ltr">${value}</span>` : `<bdi>${value}</bdi>`
  const { href = '' } = field
  return /^https?:\/\//i.test(href) ? writer.link(shown, href) : shown
}

function fieldText(t: Translate, field: MessageField): string {
  const value = cutText(withoutDirections(field.value), VALUE_MAX)
  return t('messages:fieldLine', {
    label: field.label,
    value: isForeign(field, t.locale) ? typed(value) : value,
  })
}
