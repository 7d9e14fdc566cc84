import { z } from 'zod'
import type { JsonObject } from '#src/kernel/units.ts'
import type { WatchType } from './define.ts'
import type { Observed, Signal } from './signal.ts'

/** What an example needs of a stored watch, with its last observation. */
interface WatchForExample {
  readonly target: unknown
  readonly settings: unknown
  readonly observation: unknown
  /** Parameters of the signal. */
  readonly parameters: Readonly<Record<string, number | boolean>>
}

/**
 * Data of an example alert of a watch. If `ownExample` of the signal returns data, made from the watch and its last
 * observation, it is that. Otherwise it is the general example of the signal, with target and parameters of the watch
 * and with current times.
 *
 * @param at time of the example
 */
export function exampleData(
  type: WatchType,
  signal: Signal,
  event: string,
  watch: WatchForExample,
  at: Date,
): JsonObject {
  const example = signal.examples[event] ?? {}
  const target = z.safeDecode(type.target, watch.target as never)
  const settings = z.safeDecode(type.settings, watch.settings as never)
  // A row that cannot be parsed gets the general example of the signal.
  if (!target.success || !settings.success) return example
  const seen = z.safeDecode(type.observation, watch.observation as never)
  const observation: Observed | undefined = seen.success ? seen.data : undefined
  const { parameters } = watch
  const ownData = signal.ownExample?.({
    ...{ event, at, observation, parameters, target: target.data, settings: settings.data },
    example: shifted(example, at),
  })
  return (
    ownData ?? replaced(shifted(example, at), { ...(watch.target as JsonObject), ...parameters })
  )
}

/** Replaces properties of the data by the others' values, where the others have the same properties. */
function replaced(data: JsonObject, others: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, others[name] ?? value]),
  )
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** Moves the times of the data, so that the newest time is `at`. */
function shifted(data: JsonObject, at: Date): JsonObject {
  const isInstant = (value: unknown): value is string =>
    typeof value === 'string' && INSTANT.test(value)
  const times = Object.values(data).filter(isInstant).map(Date.parse)
  const byMs = at.getTime() - Math.max(...times)
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      isInstant(value) ? new Date(Date.parse(value) + byMs).toISOString() : value,
    ]),
  )
}
