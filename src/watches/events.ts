import type { Signal, SignalDefinition } from './define.ts'
import { CATALOGUE, REGISTRY } from './types/index.ts'

/** Where an event comes from. */
export interface EventSource {
  readonly event: string
  readonly type: string
  readonly signal: Signal
  readonly isRecovery: boolean
}

/** What no signal emits: that the chain cannot be seen, and that it can be seen again. */
const MONITORING_EVENTS = ['fsp.monitoring', 'fsp.monitoring.recovered'] as const

/** Every event name, in the order of the catalogue, those of announced watch types too. */
export const EVENTS: readonly string[] = [
  ...CATALOGUE.flatMap(({ signals }) => signals.flatMap(eventsOf)),
  ...MONITORING_EVENTS,
]

const SOURCES: ReadonlyMap<string, EventSource> = new Map(
  REGISTRY.flatMap((type) =>
    type.signals.flatMap((signal) =>
      eventsOf(signal).map((event): [string, EventSource] => [
        event,
        { event, type: type.name, signal, isRecovery: event === signal.events.recovery },
      ]),
    ),
  ),
)

/** @returns undefined for a name that no signal emits, or none yet */
export function findEventSource(event: string): EventSource | undefined {
  return SOURCES.get(event)
}

function eventsOf({ events }: SignalDefinition): readonly string[] {
  return events.recovery === undefined ? events.alerts : [...events.alerts, events.recovery]
}
