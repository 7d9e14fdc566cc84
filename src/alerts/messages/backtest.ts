import { z } from 'zod'
import { checkedKey, translator } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Instant, JsonObject } from '#src/kernel/units.ts'
import { ALERTS_MAX, type BacktestOutcome } from '#src/watches/backtest/backtest.ts'
import { HISTORY_GAPS } from '#src/watches/history.ts'
import { type Reader, renderTitle } from './render.ts'

const Count = z.int().min(0)
const Counts = z
  .object({ critical: Count, warning: Count, info: Count, recovery: Count })
  .meta({ description: 'operations:field.backtestCounts' })

/** The alerts that a watch would have sent. */
export const Backtest = z
  .object({
    from: Instant.nullable().meta({ description: 'operations:field.backtestFrom' }),
    to: Instant.nullable().meta({ description: 'operations:field.backtestTo' }),
    days: z.int(),
    complete: z.boolean().meta({ description: 'operations:field.backtestComplete' }),
    gaps: z
      .array(z.object({ code: z.enum(HISTORY_GAPS), text: z.string() }))
      .meta({ description: 'operations:field.backtestGaps' }),
    observations: Count.meta({ description: 'operations:field.backtestObservations' }),
    counts: Counts,
    perDay: z
      .array(z.object({ from: Instant, counts: Counts, known: z.boolean() }))
      .meta({ description: 'operations:field.backtestPerDay' }),
    alerts: z
      .array(
        z.object({
          signal: z.string().nullable(),
          event: z.string(),
          severity: z.enum(SEVERITIES),
          isRecovery: z.boolean(),
          at: Instant,
          title: z.string(),
          data: JsonObject,
        }),
      )
      .max(ALERTS_MAX)
      .meta({ description: 'operations:field.backtestAlerts' }),
  })
  .meta({ id: 'Backtest' })
export type Backtest = z.output<typeof Backtest>

/** Writes a backtest for a reader: titles as those of real alerts, and a sentence for each gap. */
export function toBacktest(outcome: BacktestOutcome, days: number, reader: Reader): Backtest {
  const { covered, gaps, observations, counts, perDay, alerts } = outcome
  const t = translator(reader.locale)
  return {
    from: covered?.from ?? null,
    to: covered?.to ?? null,
    days,
    complete: gaps.length === 0,
    gaps: gaps.map((code) => ({ code, text: t(checkedKey(`messages:backtest.${code}`)) })),
    observations,
    counts: { ...counts },
    perDay: perDay.map((day) => ({ ...day, counts: { ...day.counts } })),
    alerts: alerts.map((alert) => ({
      signal: alert.signal,
      event: alert.event,
      severity: alert.severity,
      isRecovery: alert.isRecovery,
      at: alert.firedAt,
      title: renderTitle(alert, reader),
      data: alert.data,
    })),
  }
}
