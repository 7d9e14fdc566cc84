import type { z } from 'zod'
import type { SignalGroup } from '#src/kernel/signal-group.ts'
import {
  MONITORING_EVENTS,
  MONITORING_EXAMPLES,
  OutageData,
  presentMonitoring,
} from './outage/monitoring.ts'
import type { Signal, SignalDefinition } from './signal.ts'
import { REGISTRY } from './types/index.ts'

/** Source of an event: its watch type and signal. */
export interface EventSource {
  readonly event: string
  /** null if every type that observes the chain emits the event. */
  readonly type: string | null
  readonly signal: EventDefinition
  readonly isRecovery: boolean
  /** Whether a recovery can follow the event. */
  readonly canRecover: boolean
}

/** The properties of an event's signal that notifications need. */
export interface EventDefinition
  extends Pick<
    Signal,
    'data' | 'current' | 'atEnd' | 'present' | 'examples' | 'episodes' | 'claim'
  > {
  /** Schema of the stored state; omitted if no signal emits the event. */
  readonly state?: Signal['state']
  /** null if no signal emits the event. */
  readonly id: string | null
  readonly group: SignalGroup | null
}

/** Chain outages belong to no signal. */
const monitoring: EventDefinition = {
  id: null,
  group: null,
  data: OutageData.meta({ id: 'ChainOutageData' }),
  present: presentMonitoring,
  examples: MONITORING_EXAMPLES,
}

/** The name of every event: those of signals in the order of the watch types, then those of chain outages. */
export const EVENTS: readonly string[] = [
  ...REGISTRY.flatMap(({ signals }) => signals.flatMap(eventsOf)),
  ...MONITORING_EVENTS,
]

const SOURCES: ReadonlyMap<string, EventSource> = new Map([
  ...MONITORING_EVENTS.map((event): [string, EventSource] => [
    event,
    {
      event,
      type: null,
      signal: monitoring,
      isRecovery: event === 'fsp.monitoring.recovered',
      canRecover: event !== 'fsp.monitoring.recovered',
    },
  ]),
  ...REGISTRY.flatMap((type) =>
    type.signals.flatMap((signal) =>
      eventsOf(signal).map((event): [string, EventSource] => [
        event,
        { event, type: type.name, signal, ...roleIn(signal, event) },
      ]),
    ),
  ),
])

/** Finds the source of an event; undefined for an unknown event. */
export function findEventSource(event: string): EventSource | undefined {
  return SOURCES.get(event)
}

/** Whether an event is a recovery, and whether a recovery can follow it. Both are false for an unknown event. */
export function recoveryRoleOf(event: string): Pick<EventSource, 'isRecovery' | 'canRecover'> {
  const { isRecovery = false, canRecover = false } = SOURCES.get(event) ?? {}
  return { isRecovery, canRecover }
}

/** Whether alerts of this event have a page of evidence: those about a data provider, except recoveries. */
export function canBeProven(event: string): boolean {
  const source = SOURCES.get(event)
  return source?.signal.claim !== undefined && !source.isRecovery
}

function roleIn({ events: { recovery } }: SignalDefinition, event: string) {
  const isRecovery = event === recovery
  return { isRecovery, canRecover: !isRecovery && recovery !== undefined }
}

function eventsOf({ events }: SignalDefinition): readonly string[] {
  return events.recovery === undefined ? events.alerts : [...events.alerts, events.recovery]
}

/** The sources of all events, in the order of the catalogue. */
export function listEventSources(): readonly EventSource[] {
  return [...SOURCES.values()]
}

/** The named schemas of `data`, each with the events that use it, in the order of the catalogue. */
export function eventsByDataSchema(): ReadonlyMap<z.ZodType, readonly string[]> {
  const events = new Map<z.ZodType, string[]>()
  for (const { event, signal } of SOURCES.values()) {
    events.set(signal.data, [...(events.get(signal.data) ?? []), event])
  }
  return events
}
