/** Lines about a purchase of slots that several screens share: HTML. */
import { renewalText } from '#src/billing/price-text.ts'
import { firstLabels } from '#src/i18n/name-list.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { textHtml } from './markup.ts'

/** Says whether the slots are renewed, and at what price. */
export function renewalLine(t: Translate, bought: Parameters<typeof renewalText>[1]): string {
  return textHtml(renewalText(t, bought))
}

/**
 * Line about the watches that get the slots; watches that wait for a slot come first.
 *
 * @param waiting labels of the waiting watches, oldest first @returns undefined if no watch waits
 */
export function waitingLine(
  t: Translate,
  waiting: readonly string[],
  quantity: number,
): string | undefined {
  const watches = firstLabels(t, waiting)
  if (watches === undefined) return undefined
  const left = Math.max(0, quantity - waiting.length)
  return t.html('bot:slots.waitingFirst', { watches, slots: t('units:slots', { count: left }) })
}
