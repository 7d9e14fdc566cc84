/** Data of alerts with their figures as they are now, or as they were at the end. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from './events.ts'
import * as store from './state-store.ts'

/** An open alert of a watch. */
interface OpenAlert {
  readonly watchId: number
  readonly signal: string | null
  readonly event: string
  readonly data: JsonObject
}

/** The data of these open alerts, in the same order, with the figures of their signals' states. */
export async function listCurrentData(
  db: Db,
  alerts: readonly OpenAlert[],
): Promise<readonly JsonObject[]> {
  if (alerts.length === 0) return []
  const watchIds = [...new Set(alerts.map(({ watchId }) => watchId))]
  const firing = await store.listFiringStates(db, watchIds)
  const states = new Map(
    firing.map(({ watchId, signal, state }) => [`${watchId} ${signal}`, state]),
  )
  return alerts.map(({ watchId, signal, event, data }) =>
    currentData(event, data, states.get(`${watchId} ${signal}`)),
  )
}

/**
 * The data of an open alert, with the figures of its signal's state. Data stays as it was recorded where its signal
 * has no such figures, or where the state is missing or cannot be read. Pure.
 */
export function currentData(event: string, data: JsonObject, state: unknown): JsonObject {
  const { state: schema, current } = findEventSource(event)?.signal ?? {}
  if (schema === undefined || current === undefined || state === undefined) return data
  const known = z.safeDecode(schema, state)
  if (!known.success) return data
  try {
    return current(data, known.data)
  } catch {
    // A value that the schema accepts may be useless, such as a time that is no date.
    return data
  }
}

/** The data of an alert that is over with its last figures, by the data of its recovery. Pure. */
export function dataAtEnd(event: string, data: JsonObject, recovery: unknown): JsonObject {
  const known = JsonObject.safeParse(recovery)
  const { atEnd } = findEventSource(event)?.signal ?? {}
  return known.success && atEnd !== undefined ? atEnd(data, known.data) : data
}
