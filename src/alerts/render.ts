import type { Message, MessageField } from '#src/channels/define.ts'
import { formatFact, sentenceValues } from '#src/i18n/format.ts'
import { builtKey, translator, typed } from '#src/i18n/translate.ts'
import type { Fact, Severity } from '#src/kernel/facts.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'

/** Who reads: language and clock. */
export interface Reader {
  readonly locale: Locale
  /** IANA name. */
  readonly timezone: string
}

/** What a message is made of: an alert as it was recorded, or an example of one. */
export interface Renderable {
  readonly alertId: number | null
  readonly watchId: number | null
  readonly watchLabel: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly firedAt: Date
  readonly link: string
  readonly test: boolean
}

/** Where a person can look a public fact up. */
const EXPLORER_URL = 'https://flare-explorer.flare.network'

/**
 * The complete message of an alert in one language: texts by event, values by what they are.
 *
 * Pure: the same alert and reader give the same message.
 */
export function renderMessage(alert: Renderable, reader: Reader): Message {
  const source = findEventSource(alert.event)
  if (source === undefined) throw new Error(`no signal emits ${alert.event}`)
  const { facts, fields, count } = source.signal.present(alert.event, alert.data)
  const t = translator(reader.locale)
  const clock = { locale: reader.locale, timeZone: reader.timezone }
  const values = {
    wallet: typed(alert.watchLabel ?? ''),
    ...sentenceValues(facts, clock),
    ...(count !== undefined && { count }),
    context: alert.severity,
  }
  return {
    alertId: alert.alertId,
    watchId: alert.watchId,
    watchLabel: alert.watchLabel,
    event: alert.event,
    severity: alert.severity,
    title: t(builtKey(`messages:${alert.event}.title`), values),
    body: t(builtKey(`messages:${alert.event}.body`), values),
    fields: fields.flatMap((key): MessageField[] => {
      const fact = facts[key]
      if (fact === undefined) return []
      const href = linkOf(fact)
      const label = t(builtKey(`messages:field.${key}`))
      return [{ key, label, value: formatFact(fact, clock), ...(href !== undefined && { href }) }]
    }),
    link: alert.link,
    firedAt: alert.firedAt.toISOString(),
    test: alert.test,
  }
}

function linkOf(fact: Fact): string | undefined {
  if (fact.kind === 'address') return `${EXPLORER_URL}/address/${fact.address}`
  if (fact.kind === 'transaction') return `${EXPLORER_URL}/tx/${fact.hash}`
  if (fact.kind === 'block') return `${EXPLORER_URL}/block/${fact.number}`
  return undefined
}
