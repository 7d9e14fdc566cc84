/** Lines about a purchase of slots that several screens share: HTML. */
import { renewalText } from '#src/billing/price-text.ts'
import { escapeHtml, type Translate } from '#src/i18n/translate.ts'
import { firstNames } from '#src/notices/words.ts'

/** Whether the slots are renewed, and for what. */
export function renewalLine(t: Translate, bought: Parameters<typeof renewalText>[1]): string {
  return escapeHtml(renewalText(t, bought))
}

/**
 * Who gets the slots: the watches that wait for one come first.
 *
 * @param waiting their labels, oldest first
 * @returns undefined if none waits
 */
export function waitingLine(
  t: Translate,
  waiting: readonly string[],
  quantity: number,
): string | undefined {
  const watches = firstNames(t, waiting)
  if (watches === undefined) return undefined
  const left = Math.max(0, quantity - waiting.length)
  return t.html('bot:slots.waitingFirst', { watches, slots: t('units:slots', { count: left }) })
}
