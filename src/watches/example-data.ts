import { z } from 'zod'
import type { JsonObject } from '#src/kernel/units.ts'
import type { WatchType } from './define.ts'
import type { Observed, Signal } from './signal.ts'

/** A watch as it is stored, with its last observation. */
interface StoredExample {
  readonly target: unknown
  readonly settings: unknown
  readonly observation: unknown
  /** Of the signal. */
  readonly parameters: Readonly<Record<string, number | boolean>>
}

/**
 * Data of an example alert of a watch. The signal takes what it can from the watch and its last observation; in
 * any case the target and the parameters are the watch's own, and the times are of now.
 *
 * @param at time of the example
 */
export function exampleData(
  type: WatchType,
  signal: Signal,
  event: string,
  watch: StoredExample,
  at: Date,
): JsonObject {
  const example = signal.examples[event] ?? {}
  const target = z.safeDecode(type.target, watch.target as never)
  const settings = z.safeDecode(type.settings, watch.settings as never)
  // A row that cannot be read gets the signal's own example.
  if (!target.success || !settings.success) return example
  const seen = z.safeDecode(type.observation, watch.observation as never)
  const observation: Observed | undefined = seen.success ? seen.data : undefined
  const { parameters } = watch
  const own = signal.ownExample?.({
    ...{ event, at, observation, parameters, target: target.data, settings: settings.data },
    example: shifted(example, at),
  })
  return own ?? replaced(shifted(example, at), { ...(watch.target as JsonObject), ...parameters })
}

/** The data with the values of its properties that are among the others. */
function replaced(data: JsonObject, others: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [name, others[name] ?? value]),
  )
}

const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** The data with its times moved, so that the newest is `at`. */
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
