/** One line about what a watch would have sent in the last week, with a glyph for each day. */
import type { Backtest } from '#src/alerts/messages/backtest.ts'
import type { Translate } from '#src/i18n/translate.ts'

/** A backtest, or `failed` where it was refused or not ready in time. */
export type TriedWatch = Backtest | 'failed'

/** One glyph a day, in the colours of alerts. */
const GLYPHS = { critical: '🔴', warning: '🟠', info: '🔵', none: '🟢', unknown: '⚪' } as const

/** A line of HTML. */
export function weekLine(t: Translate, tried: TriedWatch): string {
  if (tried === 'failed') return `🕘 ${t.html('bot:backtest.failed')}`
  if (!isKnown(tried)) {
    const isAway = tried.gaps.some(({ code }) => code === 'chain_unavailable')
    return `🕘 ${t.html(isAway ? 'bot:backtest.failed' : 'bot:backtest.unknown')}`
  }
  const counts = countsText(t, tried)
  const known = tried.perDay.filter((day) => day.known).length
  const text =
    known < tried.perDay.length
      ? t.html('bot:backtest.weekDays', { known, counts })
      : t.html(isPartial(tried) ? 'bot:backtest.weekPartial' : 'bot:backtest.week', { counts })
  return `${daysPicture(tried)} ${text}`
}

/** A line of HTML about one of several values. */
export function valueLine(t: Translate, value: string, tried: TriedWatch): string {
  if (tried === 'failed' || !isKnown(tried)) {
    return `🕘 ${t.html('bot:backtest.value', { value, counts: t('bot:backtest.notKnown') })}`
  }
  const line = t.html('bot:backtest.value', { value, counts: countsText(t, tried) })
  return `${daysPicture(tried)} ${line}`
}

/** Whether the line of a backtest has a glyph for each day. */
export function hasDays(tried: TriedWatch): boolean {
  return tried !== 'failed' && isKnown(tried)
}

/** Whether the backtest covers any time. A single observation covers none: it is the baseline. */
function isKnown({ from, to }: Backtest): boolean {
  return from !== null && to !== null && from < to
}

/** A glyph for the highest severity of each day, the oldest day first; a day without data is unknown. */
function daysPicture({ perDay }: Backtest): string {
  return perDay
    .map(({ known, counts: { critical, warning, info } }) => {
      if (critical > 0) return GLYPHS.critical
      if (warning > 0) return GLYPHS.warning
      if (info > 0) return GLYPHS.info
      return known ? GLYPHS.none : GLYPHS.unknown
    })
    .join('')
}

/** Whether alerts may be missing. Coarse prices are a gap, too, but they cover all days. */
function isPartial({ gaps }: Backtest): boolean {
  return gaps.some(({ code }) => code !== 'coarse_prices')
}

/** The number of incidents by severity, such as *4 incidents (3 warnings · 1 critical)*. */
function countsText(t: Translate, { incidentCounts }: Backtest): string {
  const { warning, critical, info } = incidentCounts
  const parts = [
    ...(warning > 0 ? [t('messages:rollup.warning', { count: warning })] : []),
    ...(critical > 0 ? [t('messages:rollup.critical', { count: critical })] : []),
    ...(info > 0 ? [t('messages:rollup.info', { count: info })] : []),
  ]
  return parts.length === 0
    ? t('bot:backtest.none')
    : t('bot:backtest.incidents', {
        count: warning + critical + info,
        counts: parts.join(' · '),
      })
}
