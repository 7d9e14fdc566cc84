/** Finds or opens the incident of each alert that is recorded. */
import type { Db } from '#src/db/connection.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { listOpenAlerts } from '../episodes/store.ts'
import { assignIncidents, type IncidentRef } from './assign.ts'
import { canLast, causeOf } from './cause.ts'
import { takeNumbers } from './store.ts'

/** An alert candidate as a part of its incident. */
export interface PlacedCandidate extends AlertCandidate {
  readonly incidentId: number
  /** Whether it is the first part of its incident. */
  readonly opensIncident: boolean
}

/**
 * The candidates that become alerts, each in its incident, in the order given.
 *
 * @param tx must be the transaction that records them: until it ends, no other records alerts of the same wallets
 */
export async function placeInIncidents(
  tx: Db,
  candidates: readonly AlertCandidate[],
): Promise<readonly PlacedCandidate[]> {
  const parts = candidates.map((candidate) => ({ ...candidate, watchId: candidate.watch.id }))
  const lasting = parts.filter((part) => canLast(causeOf(part)))
  const wallets = [...new Set(lasting.map(({ watch }) => watch.wallet))]
  const locked = parts.filter((part) => part.isNotified || canLast(causeOf(part)))
  // Locked before the open alerts are read, so that two transactions do not both open an incident, and all at once,
  // so that two of them do not wait for each other.
  await takeNumbers(tx, new Map(locked.map(({ watch }) => [watch.wallet, 0])))
  const open = wallets.length === 0 ? [] : await listOpenAlerts(tx, wallets)
  const watchIds = new Set(lasting.map(({ watchId }) => watchId))
  const places = assignIncidents(
    parts,
    open.filter(({ watchId }) => watchIds.has(watchId)),
  )
  const recorded = parts.flatMap((part) => {
    const place = places.get(part)
    return place === undefined || !part.isNotified ? [] : [{ part, place }]
  })
  const fresh = new Map<IncidentRef, string>()
  for (const { part, place } of recorded) {
    if (place.incident.id === undefined) fresh.set(place.incident, part.watch.wallet)
  }
  const numberOf = numbersOf(fresh, await takeNumbers(tx, countEach(fresh.values())))
  const opened = new Set<IncidentRef>()
  return recorded.map(({ part: { watchId: _, ...candidate }, place: { incident } }) => {
    const opensIncident = fresh.has(incident) && !opened.has(incident)
    opened.add(incident)
    return { ...candidate, incidentId: incident.id ?? numberOf(incident), opensIncident }
  })
}

function countEach(wallets: Iterable<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const wallet of wallets) counts.set(wallet, (counts.get(wallet) ?? 0) + 1)
  return counts
}

/** Numbers new incidents in their order, up to the last number of each wallet. */
function numbersOf(
  fresh: ReadonlyMap<IncidentRef, string>,
  last: ReadonlyMap<string, number>,
): (incident: IncidentRef) => number {
  const left = new Map(countEach(fresh.values()))
  const numbers = new Map<IncidentRef, number>()
  for (const [incident, wallet] of fresh) {
    const remaining = left.get(wallet) ?? 0
    left.set(wallet, remaining - 1)
    numbers.set(incident, (last.get(wallet) ?? 0) - remaining + 1)
  }
  return (incident) => {
    const number = numbers.get(incident)
    if (number === undefined) throw new Error('an incident without a number')
    return number
  }
}
