import type { Envelope } from '#src/channels/envelope.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import { type Reader, renderMessage } from './render.ts'

/** Label of the watch in examples. */
export const EXAMPLE_LABEL = 'Node A'

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
    readonly ids?: { readonly alertId: number; readonly watchId: number }
    readonly data?: (example: JsonObject) => JsonObject
  },
): Envelope {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const { type, signal } = source
  const { severity, firedAt, publicUrl, ids, data: change = (example) => example } = options
  const data = change(signal.examples[event] ?? {})
  const reader = { locale, timezone }
  const message = renderMessage(
    {
      ...(ids ?? { alertId: null, watchId: null }),
      watchLabel: EXAMPLE_LABEL,
      event,
      severity,
      data,
      firedAt,
      // An event without a signal has no page of its own.
      link: signal.id === null ? `${publicUrl}/` : `${publicUrl}/docs/watches/${type}/${signal.id}`,
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
