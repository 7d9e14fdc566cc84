import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { cardOf } from '#src/channels/card/card.ts'
import { alertHeading } from '#src/channels/card/heading.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { currentContent } from '#src/delivery/messages/message-sync.ts'
import { checkedKey, translator } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Instant, JsonObject } from '#src/kernel/units.ts'
import {
  ALERTS_MAX,
  type BacktestOutcome,
  type PastIncident,
} from '#src/watches/backtest/backtest.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { HISTORY_GAPS } from '#src/watches/history.ts'
import { episodeKeyOf } from '../rules.ts'
import { type Reader, renderTitle } from './render.ts'

const Count = z.int().min(0)
const Counts = z
  .object({ critical: Count, warning: Count, info: Count, recovery: Count })
  .meta({ description: 'operations:field.backtestCounts' })

const IncidentCounts = z
  .object({ critical: Count, warning: Count, info: Count })
  .meta({ description: 'operations:field.backtestIncidentCounts' })

/** An alert or recovery of a backtest. */
const part = {
  signal: z.string().nullable(),
  event: z.string(),
  severity: z.enum(SEVERITIES),
  isRecovery: z.boolean(),
  at: Instant,
  title: z.string(),
}

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
    incidentCounts: IncidentCounts,
    perDay: z
      .array(
        z.object({
          from: Instant,
          counts: Counts,
          incidents: IncidentCounts,
          known: z.boolean(),
        }),
      )
      .meta({ description: 'operations:field.backtestPerDay' }),
    incidents: z
      .array(
        z.object({
          title: z.string(),
          severity: z.enum(SEVERITIES),
          startedAt: Instant,
          endedAt: Instant.nullable(),
          count: Count.meta({ description: 'operations:field.backtestIncidentCount' }),
          parts: z.array(z.object(part)),
        }),
      )
      .max(ALERTS_MAX)
      .meta({ description: 'operations:field.backtestIncidents' }),
    alerts: z
      .array(z.object({ ...part, data: JsonObject }))
      .max(ALERTS_MAX)
      .meta({ description: 'operations:field.backtestAlerts' }),
  })
  .meta({ id: 'Backtest' })
export type Backtest = z.output<typeof Backtest>

/** Writes a backtest for a reader: titles as those of real alerts, and a sentence for each gap. */
export function toBacktest(outcome: BacktestOutcome, days: number, reader: Reader): Backtest {
  const { covered, gaps, observations, counts, perDay, alerts, incidents } = outcome
  const t = translator(reader.locale)
  return {
    from: covered?.from ?? null,
    to: covered?.to ?? null,
    days,
    complete: gaps.length === 0,
    gaps: gaps.map((code) => ({ code, text: t(checkedKey(`messages:backtest.${code}`)) })),
    observations,
    counts: { ...counts },
    incidentCounts: { ...outcome.incidentCounts },
    perDay: perDay.map((day) => ({
      ...day,
      counts: { ...day.counts },
      incidents: { ...day.incidents },
    })),
    incidents: writeIncidents(incidents, reader),
    alerts: alerts.map((alert) => ({ ...toPart(alert, reader), data: alert.data })),
  }
}

/** Writes incidents for a reader. */
export function writeIncidents(
  incidents: readonly PastIncident[],
  reader: Reader,
): Backtest['incidents'] {
  return incidents.map(({ parts, ...incident }) => ({
    ...incident,
    title: titleOf(parts, reader),
    parts: parts.map((alert) => toPart(alert, reader)),
  }))
}

function toPart(alert: AlertCandidate, reader: Reader) {
  const { signal, event, severity, isRecovery, firedAt: at } = alert
  return { signal, event, severity, isRecovery, at, title: renderTitle(alert, reader) }
}

/** What the message about an incident would have said first: what its alerts have in common, else what the only one says. */
function titleOf(parts: PastIncident['parts'], reader: Reader): string {
  // A raised severity stands for its alert.
  const alerts = new Map(
    parts
      .filter(({ isRecovery }) => !isRecovery)
      .map((alert) => [`${alert.signal} ${episodeKeyOf(alert)}`, alert]),
  )
  const envelopes = [...alerts.values()].map((alert) => envelopeOf(alert, reader))
  const [first] = envelopes
  if (first === undefined) return ''
  if (envelopes.length === 1) return alertHeading(first)
  const sentAt = new Date(first.message.firedAt)
  const about = { id: first.deliveryId, kind: 'group', openPart: null, sentAt } as const
  const shown = envelopes.map((envelope) => ({ alertId: null, envelope }))
  const content = currentContent(about, shown, new Map())
  return content === undefined
    ? alertHeading(first)
    : cardOf(content.envelope, { state: content.state }).title
}

function envelopeOf(alert: AlertCandidate, reader: Reader): Envelope {
  const { type, signal, group, data, watch } = alert
  const watchLabel = watch.label === '' ? null : watch.label
  const ids = { alertId: null, incidentId: null, watchId: null, watchLabel }
  const { event, severity, firedAt } = alert
  // Of a time in which nobody watched the target, values are missing that only a body names.
  const texts = { title: renderTitle(alert, reader), body: '', fields: [], link: '', test: false }
  const message = {
    ...{ ...ids, event, severity, ...texts, firedAt: firedAt.toISOString() },
    ...recoveryRoleOf(event),
  }
  const { locale, timezone } = reader
  return { deliveryId: randomUUID(), type, signal, group, data, locale, timezone, message }
}
