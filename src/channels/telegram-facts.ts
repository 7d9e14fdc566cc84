/** Values of an alert in a chat: on one line, without those that its text states. Pure. */
import { shortAddress } from '#src/i18n/format.ts'
import { escapeHtml, html, type Translate, typed } from '#src/i18n/translate.ts'
import type { EnvelopeMessage, MessageField } from './envelope.ts'
import { fieldLine } from './telegram-html.ts'
import { isCode, isOpenLink } from './wording.ts'

/** Most values on the line; the alert's page has all. */
export const FACTS_MAX = 8
/** Length of an address, the longest code that is shown in a chat. */
const ADDRESS_LENGTH = 42

/** Values that neither the text nor the name of the watch states, as markup; public data is a link. */
export function factsOf(t: Translate, message: EnvelopeMessage): readonly string[] {
  const { fields, stated = [], watchLabel } = message
  return fields
    .filter(({ key }) => !stated.includes(key))
    .filter(({ value }) => !(watchLabel ?? '').includes(shortAddress(value)))
    .filter((field) => !isHash(field) || pageOf(field) !== undefined)
    .map((field) => factMarkup(t, field))
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

function factMarkup(t: Translate, field: MessageField): string {
  const page = pageOf(field)
  if (page === undefined || !isCode(field)) return fieldLine(t, field)
  const link = (text: string) => `<a href="${escapeHtml(page)}">${escapeHtml(text)}</a>`
  if (isHash(field)) return link(t('messages:factLink', { label: field.label }))
  const value = typed(html(link(shortAddress(field.value))))
  return t.html('messages:fieldLine', { label: field.label, value })
}

/** A hash is too long for a chat. */
function isHash(field: MessageField): boolean {
  return isCode(field) && field.value.length > ADDRESS_LENGTH
}

function pageOf({ href }: MessageField): string | undefined {
  return href !== undefined && isOpenLink(href) ? href : undefined
}
