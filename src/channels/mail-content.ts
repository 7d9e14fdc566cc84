import { formatDateTime, shortAddress } from '#src/i18n/format.ts'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { escapeHtml, id, type Translate, translator, typed } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Envelope, Message, MessageField } from './define.ts'
import { type MailPieces, mailPieces, type Tone } from './mail-page.ts'
import {
  cut,
  glyphOf,
  isCode,
  isForeign,
  isRecovery,
  severityLine,
  severityWord,
  shownLabel,
  sinceTime,
  TEST_GLYPH,
} from './wording.ts'

/** What a mail says, twice: for programs that show HTML and for those that do not. */
export interface MailContent {
  readonly subject: string
  readonly html: string
  readonly text: string
}

const SUBJECT_MAX = 78
const COLUMNS = 72
/** Far above what a text of ours holds, so that a mail stays under 60 kB whatever is put into it. */
const BODY_MAX = 4000
const TITLE_MAX = 300
const VALUE_MAX = 300
const FIELDS_MAX = 20

/** The mail of an alert, in the language of the envelope. */
export function alertMail(
  envelope: Envelope,
  reader: {
    readonly address: string
    readonly wallet: string
    readonly unsubscribeUrl: string | undefined
  },
): MailContent {
  const t = translator(envelope.locale)
  const { message } = envelope
  const title = cut(message.title, TITLE_MAX)
  const body = cut(message.body, BODY_MAX)
  const fields = message.fields
    .slice(0, FIELDS_MAX)
    .map((field) => ({ ...field, label: cut(field.label, VALUE_MAX) }))
  const test = message.test ? [`${TEST_GLYPH} ${t('messages:test.label')}`] : []
  const owner = { address: typed(reader.address), wallet: id(shortAddress(reader.wallet)) }
  const stop = reader.unsubscribeUrl
  const pieces = mailPieces(envelope.locale)
  const html = pieces.page({
    title,
    preheader: preheaderOf(t, envelope),
    aside:
      message.watchLabel === null ? '' : `<bdi>${escapeHtml(shownLabel(message.watchLabel))}</bdi>`,
    content: [
      ...test.map((line) => pieces.muted(escapeHtml(line))),
      pieces.toned(toneOf(message), `${glyphOf(message)} ${t.html(...severityLine(t, envelope))}`),
      pieces.heading(title),
      pieces.paragraph(body),
      pieces.table(
        fields.map((field) => ({ label: field.label, valueHtml: valueHtml(pieces, field) })),
      ),
      pieces.button(t('mail:seeAlert'), message.link),
    ],
    footer: [
      pieces.muted(
        t.html('mail:footer', owner) +
          (stop === undefined ? '' : ` ${pieces.link(escapeHtml(t('mail:stop')), stop)}`),
      ),
    ],
  })
  const text = textOf([
    ...test,
    `${glyphOf(message)} ${t(...severityLine(t, envelope))}`,
    title,
    '',
    body,
    '',
    ...fields.map((field) => fieldText(t, field)),
    '',
    t('mail:seeAlert'),
    message.link,
    '',
    '---',
    t('mail:footer', owner),
    ...(stop === undefined ? [] : [t('mail:stop'), stop]),
  ])
  const severity = message.test ? t('messages:test.label') : severityWord(t, message)
  return { subject: subjectOf(t('messages:email.subject', { severity, title })), html, text }
}

/** What is asked of an address before anything else goes there. */
export interface ConfirmationRequest {
  readonly address: string
  /** Who asked. */
  readonly wallet: string
  /** The page that takes the answer. */
  readonly url: string
  readonly askedAt: Date
  readonly expiresAt: Date
  readonly locale: Locale
  /** IANA name of the zone times are written in. */
  readonly timezone: string
}

/** The mail that asks for consent: the question, the button, until when, who asked, and no more. */
export function confirmationMail(mail: ConfirmationRequest): MailContent {
  const { locale, timezone } = mail
  const t = translator(locale)
  const pieces = mailPieces(locale)
  const values = {
    question: { address: typed(mail.address) },
    askedBy: {
      wallet: id(shortAddress(mail.wallet)),
      time: formatDateTime(mail.askedAt, locale, timezone),
    },
    until: { time: formatDateTime(mail.expiresAt, locale, timezone) },
  }
  const subject = t('mail:confirm.subject')
  const askedBy = t('mail:confirm.askedBy', values.askedBy)
  const html = pieces.page({
    title: subject,
    preheader: askedBy,
    aside: '',
    content: [
      pieces.heading(t('mail:confirm.question', values.question)),
      pieces.paragraph(askedBy),
      pieces.button(t('mail:confirm.button'), mail.url),
      pieces.muted(t.html('mail:confirm.until', values.until)),
    ],
    footer: [pieces.muted(t.html('mail:confirm.footer'))],
  })
  const text = textOf([
    t('mail:confirm.question', values.question),
    '',
    askedBy,
    '',
    t('mail:confirm.button'),
    mail.url,
    '',
    t('mail:confirm.until', values.until),
    '',
    '---',
    t('mail:confirm.footer'),
  ])
  return { subject: subjectOf(subject), html, text }
}

function toneOf(message: Message): Tone {
  return isRecovery(message.event) ? 'fine' : message.severity
}

function preheaderOf(t: Translate, envelope: Envelope): string {
  const { watchLabel } = envelope.message
  const time = sinceTime(envelope)
  return watchLabel === null
    ? t('mail:preheaderNoWatch', { time })
    : t('mail:preheader', { time, watch: typed(shownLabel(watchLabel)) })
}

function valueHtml(pieces: MailPieces, field: MessageField): string {
  const value = escapeHtml(cut(withoutDirections(field.value), VALUE_MAX))
  const shown = isCode(field) ? `<span dir="ltr">${value}</span>` : `<bdi>${value}</bdi>`
  const { href = '' } = field
  return /^https?:\/\//i.test(href) ? pieces.link(shown, href) : shown
}

function fieldText(t: Translate, field: MessageField): string {
  const value = cut(withoutDirections(field.value), VALUE_MAX)
  return t('messages:fieldLine', {
    label: field.label,
    value: isForeign(field, t.locale) ? typed(value) : value,
  })
}

/** One line without control characters, at most 78 characters long. */
function subjectOf(text: string): string {
  const line = text
    .replace(/\p{Cc}+/gu, ' ')
    .toWellFormed()
    .trim()
  const characters = [...line]
  return characters.length <= SUBJECT_MAX
    ? line
    : `${characters.slice(0, SUBJECT_MAX - 1).join('')}…`
}

/** Lines of at most 72 columns; words longer than that, such as links, stay whole. */
function textOf(lines: readonly string[]): string {
  const text = lines.join('\n').replace(/\n{3,}/g, '\n\n')
  return `Watchdog\n\n${text.split('\n').map(wrapped).join('\n')}\n`.toWellFormed()
}

function wrapped(line: string): string {
  const rows = ['']
  for (const word of line.split(' ')) {
    const last = rows.at(-1) ?? ''
    const longer = last === '' ? word : `${last} ${word}`
    if (longer.length <= COLUMNS || last === '') rows[rows.length - 1] = longer
    else rows.push(word)
  }
  return rows.join('\n')
}
