import type { Envelope, EnvelopeMessage } from '#src/channels/envelope.ts'
import { translate } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import { hasRecovery } from '../rules.ts'
import { type Reader, renderMessage } from './render.ts'

/** Reader of an example: an operator of a data provider, or a holder of FLR. */
export type ExampleKind = 'provider' | 'wallet'

/** Name of the fictional provider of examples. */
export const EXAMPLE_PROVIDER = 'Node A'
/** The events that are shown to new people, by kind of reader. */
const EVENT = 'fsp.ftso-commit'
const WALLET_EVENT = 'wallet-balance.moved'
/** Fictional ids of the example. */
const IDS = { alertId: 4711, incidentId: 31, watchId: 42 }
/** Age of an example when it is opened: two voting rounds, and the time until both can be judged. */
const AGE_MS = 5 * MINUTE_MS
/** Length of a voting round. */
const ROUND_MS = 90_000

/** Label of the watch in an example. */
export function exampleLabel(kind: ExampleKind, locale: Locale): string {
  return kind === 'wallet' ? translate(locale, 'messages:example.wallet') : EXAMPLE_PROVIDER
}

/** Whether the event of the example for new people has a recovery, so that the example counts as open. */
export function isFirstExampleOpen(kind: ExampleKind): boolean {
  return hasRecovery(kind === 'wallet' ? WALLET_EVENT : EVENT)
}

/**
 * An example of an event as people receive it, with the texts of real alerts and the data of its signal's
 * example.
 *
 * @param options `firedAt`: time of the example; `data`: replaces the example's data
 */
export function exampleEnvelope(
  event: string,
  { locale, timezone }: Reader,
  options: {
    readonly severity: Severity
    readonly firedAt: Date
    readonly publicUrl: string
    readonly ids?: typeof IDS
    readonly label?: string
    readonly data?: (example: JsonObject) => JsonObject
  },
): Envelope {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const { type, signal } = source
  const { severity, firedAt, publicUrl, ids, data: change = (example) => example } = options
  const data = change(signal.examples[event] ?? {})
  const reader = { locale, timezone }
  const message = exampleMessage(
    {
      ...(ids ?? { alertId: null, incidentId: null, watchId: null }),
      watchLabel: options.label ?? EXAMPLE_PROVIDER,
      event,
      severity,
      data,
      firedAt,
      link: signalPageUrl(publicUrl, type, signal.id),
      test: false,
    },
    reader,
  )
  return {
    deliveryId: event,
    type,
    signal: signal.id,
    group: signal.group,
    data,
    ...reader,
    message,
  }
}

/**
 * Message of an alert that did not happen. Its fields link to no transaction or block, because the explorer knows none
 * of them.
 */
export function exampleMessage(...about: Parameters<typeof renderMessage>): EnvelopeMessage {
  const message = renderMessage(...about)
  const { url } = servedChain().explorer
  const isInvented = (href: string) =>
    ['tx', 'block'].some((kind) => href.startsWith(`${url}/${kind}/`))
  const fields = message.fields.map(({ href, ...field }) =>
    href === undefined || isInvented(href) ? field : { ...field, href },
  )
  return { ...message, fields }
}

/** Page of a signal in the docs. An event without a signal has none, and leads to the home page. */
export function signalPageUrl(
  publicUrl: string,
  type: string | null,
  signal: string | null,
): string {
  return signal === null ? `${publicUrl}/` : `${publicUrl}/docs/watches/${type}/${signal}`
}

/** The example for new people, which seems to have happened a few minutes before `openedAt`. */
export function recentExample(
  reader: Reader,
  options: { readonly openedAt: Date; readonly publicUrl: string; readonly kind?: ExampleKind },
): Envelope {
  const { openedAt, publicUrl, kind } = options
  if (kind === 'wallet') {
    const firedAt = new Date(openedAt.getTime() - MINUTE_MS)
    const label = exampleLabel(kind, reader.locale)
    const shown = { severity: 'warning', firedAt, publicUrl, ids: IDS, label } as const
    return exampleEnvelope(WALLET_EVENT, reader, shown)
  }
  const since = Date.parse(String(findEventSource(EVENT)?.signal.examples[EVENT]?.['since']))
  const rounds = Math.floor((openedAt.getTime() - AGE_MS - since) / ROUND_MS)
  return exampleEnvelope(EVENT, reader, {
    severity: 'warning',
    firedAt: new Date(since + rounds * ROUND_MS),
    publicUrl,
    ids: IDS,
    data: (example) => moved(example, rounds),
  })
}

/** Shifts the times and round numbers of the data. */
function moved(data: JsonObject, rounds: number): JsonObject {
  const entries = Object.entries(data).map(([name, value]) => {
    if (ROUND_NUMBERS.has(name)) return [name, Number(value) + rounds]
    const isInstant = typeof value === 'string' && INSTANT.test(value)
    return [name, isInstant ? later(value, rounds) : value]
  })
  return Object.fromEntries(entries)
}

function later(instant: string, rounds: number): string {
  return new Date(Date.parse(instant) + rounds * ROUND_MS).toISOString()
}

const ROUND_NUMBERS: ReadonlySet<string> = new Set(['votingRoundId', 'firstRoundId'])
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
