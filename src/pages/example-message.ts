import { renderMessage } from '#src/alerts/render.ts'
import type { Message } from '#src/channels/define.ts'
import type { Severity } from '#src/kernel/facts.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { findEventSource } from '#src/watches/events.ts'

const WATCH_LABEL = 'Node A'

/** How an event reads, by the renderer of real alerts, with the data of an example. */
export function exampleMessage(
  app: Pick<App, 'publicUrl' | 'clock'>,
  event: string,
  { locale, severity }: { readonly locale: Locale; readonly severity: Severity },
): Message {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const about = {
    alertId: null,
    watchId: null,
    watchLabel: WATCH_LABEL,
    event,
    severity,
    data: source.signal.examples[event] ?? {},
    firedAt: app.clock.now(),
    link: `${app.publicUrl}/`,
    test: false,
  }
  return renderMessage(about, { locale, timezone: 'UTC' })
}
