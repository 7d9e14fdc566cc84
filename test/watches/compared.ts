import { expect } from 'vitest'
import type { App } from '#src/operations/define.ts'
import { createLimits } from '#src/operations/gate/limits.ts'
import type { Client } from '../support/people.ts'

/** Comparison of the alerts of watches that ran with those of backtests over what was stored meanwhile. */

/** What an alert of a live watch and one of a backtest have in common. */
export interface Compared {
  readonly signal: string | null
  readonly event: string
  readonly severity: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
}

/** A watch, and the body that it was created from: its backtest has the same. */
export interface TriedWatch {
  readonly id: number
  readonly body: object
}

interface Owned {
  readonly alice: Client
}

/** Values of an alert's data that a backtest does not know. */
type Unknown = readonly string[]

/** Lets a test ask for as many backtests as its histories need: limits of requests go by real time. */
export function liftLimits(app: App): void {
  Object.assign(app, { limits: createLimits(app, 1000) })
}

export async function createWatch({ alice }: Owned, body: object): Promise<TriedWatch> {
  const { status, body: made, text } = await alice.request('POST', '/watches', body)
  if (status !== 201) throw new Error(`no watch: ${text}`)
  return { id: made.id, body }
}

/** Alerts of a watch, oldest first, as they are in the history of the service. */
async function notifiedLive({ alice }: Owned, { id }: TriedWatch): Promise<Compared[]> {
  const { body } = await alice.request('GET', `/alerts?limit=250&watchId=${id}`)
  return inOrder(
    body.data.map((alert: Omit<Compared, 'at'> & { readonly firedAt: string }) => ({
      ...alert,
      at: alert.firedAt,
    })),
  )
}

/** Alerts of a backtest, oldest first; it has counted as many. */
async function notifiedLater(
  { alice }: Owned,
  { body }: TriedWatch,
  days = 7,
): Promise<Compared[]> {
  const path = `/watches/backtest?days=${days}`
  const { body: found, status, text } = await alice.request('POST', path, body)
  if (status !== 200) throw new Error(`no backtest: ${text}`)
  const { critical, warning, info, recovery } = found.counts
  expect(critical + warning + info + recovery).toBe(found.alerts.length)
  return inOrder(found.alerts)
}

/** Compares both for each watch. @returns the number of alerts */
export async function compareAll(
  of: Owned,
  watches: readonly TriedWatch[],
  { days, unknown = [] }: { readonly days?: number; readonly unknown?: Unknown } = {},
): Promise<number> {
  let count = 0
  for (const watch of watches) {
    const live = await notifiedLive(of, watch)
    const later = await notifiedLater(of, watch, days)
    const shown = (all: readonly Compared[]) => all.map((alert) => without(unknown, alert))
    expect(shown(later), JSON.stringify(watch.body)).toEqual(shown(live))
    count += live.length
  }
  return count
}

function without(unknown: Unknown, { data, ...rest }: Compared) {
  const known = Object.entries(data).filter(([key]) => !unknown.includes(key))
  return { ...rest, data: Object.fromEntries(known) }
}

/** By time; alerts of one observation by signal and event. */
function inOrder(all: readonly Compared[]): Compared[] {
  return all
    .map(({ signal, event, severity, at, data }) => ({ signal, event, severity, at, data }))
    .toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)))
}

function keyOf({ at, signal, event }: Compared): string {
  return `${at} ${signal} ${event}`
}
