/** Prices close to the weighted median, which decide a minimal condition. */
import { revealOf, type Verdict } from './judge.ts'
import type { Member } from './protocol.ts'
import type { SettledRound as Round } from './submissions.ts'

/** Prices within this share of the median are hits. */
const BAND = 0.005

/** Prices of each provider whose reveal matches its commit. */
function revealsOf(round: Round) {
  const reveals = new Map<number, readonly (number | null)[]>()
  for (const [other, sent] of round.sent) {
    const values = revealOf(round, round.policy.members[other] as Member, sent)?.values
    if (values !== undefined) reveals.set(other, values)
  }
  return reveals
}

/** The number of values that the most weight revealed. */
function countFeeds(round: Round, reveals: ReturnType<typeof revealsOf>): number {
  const weights = new Map<number, number>()
  for (const [other, { length }] of reveals) {
    const weight = round.policy.members[other]?.weight ?? 0
    weights.set(length, (weights.get(length) ?? 0) + weight)
  }
  const [most] = [...weights].sort((a, b) => b[1] - a[1] || b[0] - a[0])
  return most?.[0] ?? 0
}

/** Share of the feeds with a median that may lack a value. */
const MISSING_MAX = 0.2

/** Whether the values of a reveal fit the feeds, which are as many as those of the most weight. */
export function feedVerdict(round: Round, place: number): Verdict {
  const reveals = revealsOf(round)
  const own = reveals.get(place)
  const feedCount = countFeeds(round, reveals)
  if (own === undefined) return undefined
  const tx = round.sent.get(place)?.reveal.inTime?.tx ?? null
  if (own.length > feedCount) {
    return { reason: 'too-many-values', tx, valuesSent: own.length, feedCount }
  }
  const all = Array.from({ length: feedCount }, (_, feed) => feed)
  const priced = all.filter((feed) =>
    [...reveals.values()].some((values) => (values[feed] ?? null) !== null),
  )
  const feeds = priced.filter((feed) => (own[feed] ?? null) === null)
  if (feeds.length <= priced.length * MISSING_MAX) return null
  const valuesSent = own.filter((value) => value !== null).length
  return { reason: 'values-missing', tx, valuesSent, feedCount, feeds }
}

/** Prices of a provider close to the median, and all with a median; undefined if no reveal counts. */
export function anchorsOf(round: Round, place: number): readonly [number, number] | undefined {
  const reveals = revealsOf(round)
  const feeds = countFeeds(round, reveals)
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
