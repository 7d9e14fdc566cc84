/** Values of an alert on one line below its text, without values that the text states. Pure. */

import { shortAddress } from '#src/i18n/format.ts'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { html, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { type Envelope, type EnvelopeMessage, isOneAlert, type MessageField } from '../envelope.ts'
import { isCode, isForeign, isOpenLink } from './wording.ts'

/** Maximum number of values on the line; the alert's page has all. */
const FACTS_MAX = 8
/** Length of an address, the longest code that is shown. */
const ADDRESS_LENGTH = 42
const LABEL_MAX = 80
const VALUE_MAX = 1000

/** Writes values in the markup of a channel. Arguments are plain text, results are markup. */
export interface FactWriter {
  text(text: string): string
  code(text: string): string
  /** Writes a link; undefined where words cannot be links, as in plain text. */
  readonly link: ((text: string, page: string) => string) | undefined
  /** Whether the markup is HTML, in which a text is escaped by being inserted. */
  readonly isHtml?: boolean
}

/** Values of an alert that neither its text nor the name of its watch states; public data is a link. */
export interface Facts {
  /** The values as markup, each once. */
  readonly shown: readonly string[]
  readonly hidden: number
}

/** Finds the values of an alert; empty for a message about several alerts. */
export function factsOf({ kind, locale, message }: Envelope, writer: FactWriter): Facts {
  if (!isOneAlert(kind)) return { shown: [], hidden: 0 }
  const { fields, stated = [], watchLabel } = message
  const t = translator(locale)
  const facts = fields
    .filter(({ key }) => !stated.includes(key))
    .filter(({ value }) => !(watchLabel ?? '').includes(shortAddress(value)))
    .filter((field) => !isHash(field) || (writer.link && pageOf(field) !== undefined))
    .map((field) => factMarkup(t, field, writer))
  return { shown: facts.slice(0, FACTS_MAX), hidden: Math.max(0, facts.length - FACTS_MAX) }
}

/** Values of an item of a list as markup, such as the transaction of a transfer. */
export function itemFacts(
  { locale }: Pick<Envelope, 'locale'>,
  fields: readonly MessageField[],
  writer: FactWriter,
): readonly string[] {
  const t = translator(locale)
  return fields
    .filter((field) => !isHash(field) || (writer.link && pageOf(field) !== undefined))
    .map((field) => factMarkup(t, field, writer))
}

/** Pages of the hashes that the text does not state, for a text in which words cannot be links. */
export function pagesOfHashes({ kind, message }: Envelope) {
  if (!isOneAlert(kind)) return []
  const { fields, stated = [] } = message
  return hashPages(fields.slice(0, FACTS_MAX).filter(({ key }) => !stated.includes(key)))
}

/** Pages of the hashes among these values. */
export function hashPages(fields: readonly MessageField[]) {
  return fields.flatMap((field) => {
    const url = pageOf(field)
    return url === undefined || !isHash(field)
      ? []
      : [{ label: cutText(field.label, LABEL_MAX), url }]
  })
}

/** The values on one line. Values beyond the maximum are left out; the alert's page shows them. */
export function factLine({ locale }: Envelope, { shown, hidden }: Facts, max: number): string {
  const more = translator(locale)('messages:moreInDetails')
  for (let count = shown.length; count >= 0; count -= 1) {
    const isCut = hidden > 0 || count < shown.length
    const line = [...shown.slice(0, count), ...(isCut ? [more] : [])].join(' · ')
    if (line.length <= max) return line
  }
  return ''
}

/** Pages of the shortened addresses in the text. */
export function linksInText({ fields, stated = [] }: EnvelopeMessage): ReadonlyMap<string, string> {
  return new Map(
    fields.flatMap((field): [string, string][] => {
      const page = pageOf(field)
      const isShort = stated.includes(field.key) && isCode(field)
      return isShort && page !== undefined ? [[shortAddress(field.value), page]] : []
    }),
  )
}

/** Turns words of a text into links. The text is already markup. */
export function linkWords(
  markup: string,
  links: ReadonlyMap<string, string>,
  write: (word: string, page: string) => string,
): string {
  return [...links].reduce(
    (text, [word, page]) => text.replaceAll(word, () => write(word, page)),
    markup,
  )
}

function factMarkup(t: Translate, field: MessageField, writer: FactWriter): string {
  const page = pageOf(field)
  const { link, isHtml = false } = writer
  const label = cutText(field.label, LABEL_MAX)
  if (link !== undefined && page !== undefined && isHash(field)) {
    return link(t('messages:factLink', { label }), page)
  }
  const value = valueMarkup(field, page, writer)
  // A shortened address is a word in a sentence, with its own direction.
  const isOther =
    isForeign(field, t.locale) || (isCode(field) && page !== undefined && link !== undefined)
  if (!isHtml) {
    const values = { label: writer.text(label), value: isOther ? typed(value) : value }
    return t('messages:fieldLine', values)
  }
  const inserted = html(value)
  return t.html('messages:fieldLine', { label, value: isOther ? typed(inserted) : inserted })
}

function valueMarkup(field: MessageField, page: string | undefined, writer: FactWriter): string {
  const { link } = writer
  const value = isCode(field)
    ? shortAddress(field.value)
    : cutText(withoutDirections(field.value), VALUE_MAX)
  if (page !== undefined && link !== undefined) return link(value, page)
  return isCode(field) ? writer.code(value) : writer.text(value)
}

/** Whether a value is a hash, which is too long for a message. */
function isHash(field: MessageField): boolean {
  return isCode(field) && field.value.length > ADDRESS_LENGTH
}

function pageOf({ href }: MessageField): string | undefined {
  return href !== undefined && isOpenLink(href) ? href : undefined
}
