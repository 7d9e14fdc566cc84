import type { Backtest } from '#src/alerts/backtest.ts'
import { formatList } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { bounded } from '#src/kernel/bounded.ts'
import { AppError } from '#src/kernel/errors.ts'
import { backtestWatch } from '#src/operations/watches.ts'
import type { BotContext, Membership } from '../../core/context.ts'

/** Longest wait for a line that a screen can do without. */
const LINE_MS = 1500

/**
 * What a watch would have told in the last week.
 *
 * @param body of a new watch
 * @returns undefined if it is refused or not ready in time
 */
export async function tryWatch(
  ctx: BotContext,
  body: object,
  link: Membership,
  ms: number = LINE_MS,
): Promise<Backtest | undefined> {
  let found: Backtest | undefined
  const work = ctx.call(backtestWatch, { body, query: {} }, link).then((backtest) => {
    found = backtest
  })
  try {
    await bounded(work, ms)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
  }
  return found
}

/** One line about a backtest: HTML; undefined without one. */
export function weekLine(t: Translate, backtest: Backtest | undefined): string | undefined {
  if (backtest === undefined) return undefined
  if (backtest.observations === 0) return `🕘 ${t.html('bot:backtest.unknown')}`
  const counts = countsText(t, backtest)
  const isShort = backtest.gaps.some(({ code }) => code !== 'coarse_prices')
  return `🕘 ${t.html(isShort ? 'bot:backtest.weekPartial' : 'bot:backtest.week', { counts })}`
}

/** The numbers of alerts, such as *3 warnings, 1 critical*. */
export function countsText(t: Translate, { counts }: Pick<Backtest, 'counts'>): string {
  const { warning, critical, info } = counts
  const parts = [
    ...(warning > 0 ? [t('messages:rollup.warning', { count: warning })] : []),
    ...(critical > 0 ? [t('messages:rollup.critical', { count: critical })] : []),
    ...(info > 0 ? [t('messages:rollup.info', { count: info })] : []),
  ]
  return parts.length === 0 ? t('bot:backtest.none') : formatList(parts, t.locale)
}
