import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { html, id } from '#src/i18n/translate.ts'
import { act, back, type Reader, screen, type View } from '../../views/view.ts'

/** The terms in force that are shown before a purchase. */
export interface ShownTerms {
  readonly version: string
  readonly url: string
  /** Short code of the version in button data. */
  readonly code: string
}

/** What continues after the terms are accepted. */
export type AfterTerms = 'topup' | 'slots' | ArgumentsOf<'slots.quote'>

/**
 * The terms, to be accepted before a purchase.
 *
 * @param next what continues: a short name, or the shown quote
 * @param options `isFromWizard`: whether the wizard, which waits for a slot, led here
 */
export function termsCard(
  { t }: Reader,
  terms: ShownTerms,
  next: AfterTerms,
  options: { readonly isFromWizard: boolean },
): View {
  const read = html(`<a href="${terms.url}">${t.html('bot:terms.read')}</a>`)
  const lines = [
    `📄 ${t.html('bot:terms.title', { version: id(terms.version) })}`,
    t.html('bot:terms.needed', { terms: read }),
  ]
  const accept =
    typeof next === 'string'
      ? packed('terms.yes', { next, terms: terms.code })
      : packed('slots.agree', { ...next, terms: terms.code })
  const before = options.isFromWizard ? 'new.start' : next === 'topup' ? 'home' : 'slots'
  return screen(lines, [
    [act(t('bot:button.acceptTerms'), accept, 'primary')],
    [back(t('bot:button.back'), packed(before))],
  ])
}
