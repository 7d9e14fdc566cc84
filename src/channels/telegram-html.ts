import { withoutDirections } from '#src/i18n/isolates.ts'
import { escapeHtml, html, type Translate, translator, typed } from '#src/i18n/translate.ts'
import type { Envelope, MessageField } from './define.ts'
import { cut, glyphOf, isCode, isForeign, isOpenLink, severityLine, TEST_GLYPH } from './wording.ts'

/** A chat message as Telegram's HTML, and the same without any markup. */
export interface ChatText {
  readonly html: string
  readonly plain: string
}

/** Longest text of a message, in UTF-16 units after the markup is taken out. */
export const TEXT_MAX = 4096
const FIELDS_MAX = 6
const TITLE_MAX = 300

/**
 * An alert as a chat message, in the language of the envelope.
 *
 * Over the limit fields go from the end, then the body is cut; title and link stay.
 *
 * @param linkAsText for links that cannot be put on a button
 */
export function chatText(envelope: Envelope, options: { readonly linkAsText: boolean }): ChatText {
  const t = translator(envelope.locale)
  const all = envelope.message.fields
  for (let shown = Math.min(all.length, FIELDS_MAX); shown >= 0; shown -= 1) {
    const text = written(t, envelope, { ...options, shown, body: envelope.message.body })
    if (text.plain.length <= TEXT_MAX) return text
  }
  const bare = written(t, envelope, { ...options, shown: 0, body: '' })
  const room = TEXT_MAX - bare.plain.length - '\n\n'.length
  return written(t, envelope, { ...options, shown: 0, body: cut(envelope.message.body, room) })
}

/** The text a reader sees of HTML that was written here. */
export function plainOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
}

function written(
  t: Translate,
  envelope: Envelope,
  parts: { readonly shown: number; readonly body: string; readonly linkAsText: boolean },
): ChatText {
  const { message } = envelope
  const title = escapeHtml(cut(message.title, TITLE_MAX))
  const head = [
    ...(message.test ? [`${TEST_GLYPH} ${t.html('messages:test.label')}`] : []),
    `${glyphOf(message)} <b>${title}</b>`,
    t.html(...severityLine(t, envelope)),
  ]
  const fields = message.fields.slice(0, parts.shown).map((field) => fieldLine(t, field))
  const isCut = parts.shown < message.fields.length
  const tail = [
    ...(message.alertId === null ? [] : [`#${message.alertId}`]),
    ...(isCut ? [t.html('messages:moreInDetails')] : []),
    ...(parts.linkAsText ? [linkLine(t, message.link)] : []),
  ]
  const markup = [head.join('\n'), escapeHtml(parts.body), [...fields, ...tail].join('\n')]
    .filter((block) => block !== '')
    .join('\n\n')
    .toWellFormed()
  return { html: markup, plain: plainOf(markup) }
}

function fieldLine(t: Translate, field: MessageField): string {
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

/** A hash with a page of its own is followed rather than copied. */
function isLong(field: MessageField): boolean {
  return field.href !== undefined && field.value.length > 42
}

/** On a line of its own, so that nothing beside it becomes a part of it. */
function linkLine(t: Translate, link: string): string {
  return `${t.html('messages:details')}\n${escapeHtml(link)}`
}
