import type { Signal } from './define.ts'
import { REGISTRY } from './types/index.ts'

/** Where an event comes from. */
export interface EventSource {
  readonly event: string
  readonly type: string
  readonly signal: Signal
  readonly isRecovery: boolean
}

const SOURCES: ReadonlyMap<string, EventSource> = new Map(
  REGISTRY.flatMap((type) =>
    type.signals.flatMap((signal) => {
      const { alerts, recovery } = signal.events
      const names = recovery === undefined ? alerts : [...alerts, recovery]
      return names.map((event): [string, EventSource] => [
        event,
        { event, type: type.name, signal, isRecovery: event === recovery },
      ])
    }),
  ),
)

/** Every event name, in registry order. */
export const EVENTS: readonly string[] = [...SOURCES.keys()]

/** @returns undefined for a name that no signal emits */
export function findEventSource(event: string): EventSource | undefined {
  return SOURCES.get(event)
}
