/** Marks outgoing moves that pay the owner's own top-up. */
import { z } from 'zod'
import { areOwnPayments, type OutgoingMove } from '#src/billing/topups/own-payments.ts'
import type { Db } from '#src/db/connection.ts'
import { storedAddress } from '#src/kernel/units.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'

const MOVED = 'wallet-balance.moved'

/** What is needed of the data of an outgoing move. */
const Outgoing = z.object({
  asset: z.string(),
  direction: z.literal('outgoing'),
  changeAmount: z.string().regex(/^-\d+$/),
  counterparty: z.string().nullable(),
  transactionHash: z.string().nullable(),
})

/** Sets `isTopUp` on candidates whose move pays a top-up of the watch's owner, and makes them info. */
export async function markOwnTopups(
  tx: Db,
  candidates: readonly AlertCandidate[],
): Promise<readonly AlertCandidate[]> {
  const moves = candidates.flatMap((candidate) => {
    const move = moveOf(candidate)
    return move === undefined ? [] : [{ candidate, move }]
  })
  const areOwn = await areOwnPayments(
    tx,
    moves.map(({ move }) => move),
  )
  const ownCandidates = new Set(
    moves.filter((_, index) => areOwn[index]).map(({ candidate }) => candidate),
  )
  if (ownCandidates.size === 0) return candidates
  return candidates.map((candidate) =>
    ownCandidates.has(candidate)
      ? { ...candidate, severity: 'info', data: { ...candidate.data, isTopUp: true } }
      : candidate,
  )
}

function moveOf({ event, data, watch, firedAt }: AlertCandidate): OutgoingMove | undefined {
  const read = event === MOVED ? Outgoing.safeParse(data) : undefined
  if (read?.success !== true) return undefined
  const { asset, changeAmount, counterparty, transactionHash } = read.data
  return {
    wallet: storedAddress(watch.wallet),
    ...{ asset, counterparty, transactionHash },
    units: -BigInt(changeAmount),
    at: firedAt,
  }
}
