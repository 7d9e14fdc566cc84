/** Marks outgoing moves that pay the owner's own top-up. */
import { z } from 'zod'
import {
  findPaidTopups,
  type OutgoingMove,
  type PaidTopup,
} from '#src/billing/topups/own-payments.ts'
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

/**
 * Sets `isTopUp` on candidates whose move pays a top-up of the watch's owner, and `topupHandle` if it is known which one;
 * makes them info.
 */
export async function markOwnTopups(
  tx: Db,
  candidates: readonly AlertCandidate[],
): Promise<readonly AlertCandidate[]> {
  const moves = candidates.flatMap((candidate) => {
    const move = moveOf(candidate)
    return move === undefined ? [] : [{ candidate, move }]
  })
  const paid = await findPaidTopups(
    tx,
    moves.map(({ move }) => move),
  )
  const paidBy = new Map(moves.map(({ candidate }, index) => [candidate, paid[index]]))
  return candidates.map((candidate) => marked(candidate, paidBy.get(candidate)))
}

function marked(candidate: AlertCandidate, topup: PaidTopup | undefined): AlertCandidate {
  if (topup === undefined) return candidate
  const { handle } = topup
  const which = { isTopUp: true, ...(handle !== undefined && { topupHandle: handle }) }
  return { ...candidate, severity: 'info', data: { ...candidate.data, ...which } }
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
