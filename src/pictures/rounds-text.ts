/** A provider's voting rounds in words, beside its picture: the same in chats and on pages. */
import { formatNumber, formatPercent } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import {
  countRounds,
  type RoundCounts,
  roundsWithin,
  toneOfRounds,
} from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'

/** The newest `range` rounds in words. */
export function roundsText(
  t: Translate,
  { rounds }: Pick<ProviderView, 'rounds'>,
  range: number,
): string {
  return countsText(t, countRounds(roundsWithin(rounds, range)), range)
}

/** The counts of the newest `range` rounds in words. */
export function countsText(t: Translate, { known, bad }: RoundCounts, range: number): string {
  if (known === 0) return t('bot:provider.unseen')
  if (known === range && bad === 0) return t('bot:provider.allFine', { count: range })
  const text = t('bot:provider.rounds', { count: range, fine: known - bad, bad })
  if (known === range) return text
  return `${text} · ${t('pages:provider.noData', { rounds: formatNumber(range - known, t.locale) })}`
}

/** The share of good rounds over the last days; undefined without a known round. */
export function daysText(
  t: Translate,
  { last30Days }: Pick<ProviderView, 'last30Days'>,
): string | undefined {
  if (last30Days === null) return undefined
  const { days, rate } = last30Days
  return t('pages:provider.days', { count: days, rate: formatPercent(rate, t.locale) })
}

/** Mark of the state of the newest `range` rounds. */
export function roundsGlyph({ rounds }: Pick<ProviderView, 'rounds'>, range: number): string {
  const tone = toneOfRounds(countRounds(roundsWithin(rounds, range)), range)
  return { '': '⚪', fine: '🟢', critical: '🔴' }[tone]
}
