/** Adds to alerts about transfers how the other account is related to the watch and its wallet. */
import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import { storedAddress } from '#src/kernel/units.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { areTargetsOfOtherBalanceWatches } from '#src/watches/notification-view.ts'
import type { CounterpartyRole } from '#src/watches/types/balance-change.ts'
import { areInRecentAlerts } from './store.ts'

const MOVED = 'wallet-balance.moved'

/** The part of the data of a transfer that decides about the role of the other account. */
const Transfer = z.object({
  counterparty: z.string().nullable(),
  isTopUp: z.literal(true).optional(),
})

/**
 * Returns the candidates in the same order. Those of transfers have `counterpartyRole` in their data, except for
 * payments of top-ups and transfers with unreadable data.
 */
export async function addCounterpartyRoles(
  tx: Db,
  candidates: readonly AlertCandidate[],
): Promise<readonly AlertCandidate[]> {
  const transfers = candidates.flatMap((candidate) => {
    const read = candidate.event === MOVED ? Transfer.safeParse(candidate.data) : undefined
    if (read?.success !== true || read.data.isTopUp) return []
    const { watch } = candidate
    const wallet = storedAddress(watch.wallet)
    return [{ candidate, watchId: watch.id, wallet, address: read.data.counterparty }]
  })
  if (transfers.length === 0) return candidates
  const named = transfers.flatMap(({ address, ...transfer }) =>
    address === null || address === transfer.wallet ? [] : [{ ...transfer, address }],
  )
  const areWatched = named.length === 0 ? [] : await areTargetsOfOtherBalanceWatches(tx, named)
  const wereSeen = named.length === 0 ? [] : await areInRecentAlerts(tx, named)
  const others = new Map(
    named.map(({ candidate }, index): [AlertCandidate, CounterpartyRole] => [
      candidate,
      areWatched[index] ? 'watched' : wereSeen[index] ? 'seen' : 'new',
    ]),
  )
  const roles = new Map(
    transfers.map(({ candidate, address }): [AlertCandidate, CounterpartyRole] => [
      candidate,
      address === null ? 'unknown' : (others.get(candidate) ?? 'own-wallet'),
    ]),
  )
  return candidates.map((candidate) => {
    const counterpartyRole = roles.get(candidate)
    if (counterpartyRole === undefined) return candidate
    return { ...candidate, data: { ...candidate.data, counterpartyRole } }
  })
}
