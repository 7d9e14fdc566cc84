import type { SignalDefinition } from '../../signal.ts'

/** The events of a signal of this type, named after it. */
export function signalEvents(id: string): SignalDefinition['events'] {
  return { alerts: [`fsp.${id}`], recovery: `fsp.${id}.recovered` }
}
