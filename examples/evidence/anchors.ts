/** Prices close to the weighted median, which decide a minimal condition. */
import { revealOf } from './judge.ts'
import type { Member } from './protocol.ts'
import type { SettledRound as Round } from './rounds.ts'

/** Prices within this share of the median are hits. */
const BAND = 0.005

/** Prices of a provider close to the median, and all with a median; undefined if no reveal counts. */
export function anchorsOf(round: Round, place: number): readonly [number, number] | undefined {
  const reveals = new Map<number, readonly (number | null)[]>()
  for (const [other, sent] of round.sent) {
    const values = revealOf(round, round.policy.members[other] as Member, sent)?.values
    if (values !== undefined) reveals.set(other, values)
  }
  const feeds = Math.max(0, ...[...reveals.values()].map(({ length }) => length))
  let [hits, possible] = [0, 0]
  for (let feed = 0; feed < feeds; feed += 1) {
    const votes = [...reveals].flatMap(([other, values]) => {
      const value = values[feed] ?? null
      return value === null ? [] : [{ value, weight: round.policy.members[other]?.weight ?? 0 }]
    })
    const median = medianOf(votes)
    if (median === undefined) continue
    possible += 1
    const own = reveals.get(place)?.[feed] ?? null
    if (own !== null && Math.abs(own - median) <= Math.abs(median) * BAND) hits += 1
  }
  return possible === 0 ? undefined : [hits, possible]
}

function medianOf(votes: readonly { readonly value: number; readonly weight: number }[]) {
  const sorted = votes.toSorted((a, b) => a.value - b.value)
  const total = sorted.reduce((sum, { weight }) => sum + weight, 0)
  const half = Math.floor(total / 2) + (total % 2)
  let reached = 0
  for (const [at, { value, weight }] of sorted.entries()) {
    reached += weight
    if (reached < half) continue
    const next = sorted[at + 1]
    const isSplit = reached === half && total % 2 === 0 && next !== undefined
    return isSplit ? Math.floor((value + next.value) / 2) : value
  }
  return undefined
}
