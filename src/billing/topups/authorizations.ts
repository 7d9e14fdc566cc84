/** Authorized payments: looked for on the chain until they are used, or can be used no more. */
import type { Chain } from '#src/chain/chain.ts'
import { transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { storedAddress } from '#src/kernel/units.ts'
import * as authorizations from './authorization-store.ts'
import { listPaymentsInTransaction } from './payment-store.ts'
import { recordPayments, storedHash } from './payments.ts'
import { type FollowDeps, isChainUnavailable, startSettling } from './settle.ts'
import type { TopupRow } from './store.ts'
import * as store from './store.ts'

/** Where the payment of an authorization is. */
export interface AuthorizationOutcome {
  /** `over`: it was not used, and can be used no more. `refused`: it was paid and is unmatched. */
  readonly state: 'open' | 'confirming' | 'credited' | 'refused' | 'over'
  /** The transaction of the payment; null while none is known. */
  readonly txHash: string | null
}

/** Blocks that one look reads at most. */
const BLOCKS_MAX = 1000
/** Authorizations of a pass. */
const PER_PASS = 50
/** Time after which an authorization is taken over from the request that brought it. */
export const TAKEN_OVER_AFTER_MS = MINUTE_MS

/**
 * Looks on the chain for the payment of an authorization, and settles the payment once it is deep enough. The only proof is
 * the transfer itself: it does not matter who sent it.
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export async function lookForPayment(
  deps: FollowDeps,
  handle: string,
  signal?: AbortSignal,
): Promise<AuthorizationOutcome> {
  const { db, chain, clock, confirmations } = deps
  const topup = await store.findTopup(db, handle)
  const from = topup?.authorizationBlock ?? null
  if (topup === undefined || from === null) return await readOutcome(deps, handle)
  const tip = (await chain.confirmedBlock(1, signal)).number
  if (from > tip) return await readOutcome(deps, handle)
  const to = Math.min(tip, from + BLOCKS_MAX - 1)
  const { payment, upTo } = await chain.authorizedPayment(idOf(topup), { from, to }, signal)
  if (payment !== undefined) {
    await transact(db, (tx) => recordPayments(deps, tx, [payment], clock.now()))
    const settling = startSettling(deps)
    await settling.settle(await listPaymentsInTransaction(db, payment.txHash), signal)
    settling.end()
  } else {
    // Newer blocks may still be replaced.
    const next = Math.min(upTo, tip - confirmations + 1) + 1
    const isOver = next > from && (await isPast(chain, next - 1, topup.expiresAt, signal))
    if (isOver) await authorizations.moveAuthorization(db, topup, from, null)
    else if (next > from) await authorizations.moveAuthorization(db, topup, from, next)
  }
  const outcome = await readOutcome(deps, handle)
  const isDone = outcome.state === 'credited' || outcome.state === 'refused'
  if (isDone) await authorizations.moveAuthorization(db, topup, from, null)
  return outcome
}

/** Whether the block is too late for the authorization. */
async function isPast(
  chain: Chain,
  number: number,
  expiresAt: Date,
  signal?: AbortSignal,
): Promise<boolean> {
  const block = await chain.blockAt(number, signal)
  return block !== undefined && block.at >= expiresAt
}

function idOf({ token, wallet, payTo, authorizationNonce }: TopupRow) {
  if (token === null || authorizationNonce === null)
    throw new Error('a top-up without authorization')
  return {
    token: storedAddress(token),
    from: storedAddress(wallet),
    to: storedAddress(payTo),
    nonce: storedHash(authorizationNonce),
  }
}

async function readOutcome({ db }: FollowDeps, handle: string): Promise<AuthorizationOutcome> {
  const record = await store.findRecord(db, handle)
  const [first] = record?.payments ?? []
  if (record === undefined || first === undefined) {
    const isFollowed = record !== undefined && record.topup.authorizationBlock !== null
    return { state: isFollowed ? 'open' : 'over', txHash: null }
  }
  const { settledAt, credits, txHash } = first.payment
  if (settledAt === null) return { state: 'confirming', txHash }
  return { state: credits === null ? 'refused' : 'credited', txHash }
}

/**
 * Goes on with authorizations whose request has ended without an outcome, such as those of a process that was killed.
 *
 * @throws the first failure of the chain, after all others were looked for
 */
export async function followAuthorizations(deps: FollowDeps, signal: AbortSignal): Promise<void> {
  const before = new Date(deps.clock.now().getTime() - TAKEN_OVER_AFTER_MS)
  const open = await authorizations.listFollowedAuthorizations(deps.db, before, PER_PASS)
  const options = {
    quarantine: deps.quarantine,
    kind: 'authorization',
    idOf: ({ handle }: TopupRow) => handle,
  }
  let down: { readonly error: unknown } | undefined
  await isolateEach(open, options, async ({ handle }) => {
    if (signal.aborted || down !== undefined) return
    await lookForPayment(deps, handle, signal).catch((error: unknown) => {
      if (!isChainUnavailable(error)) throw error
      down = { error }
    })
  })
  if (down !== undefined) throw down.error
}
