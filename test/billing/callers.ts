import { randomBytes } from 'node:crypto'
import { getAddress } from 'viem/utils'
import { expect } from 'vitest'
import { createTokenLookup } from '#src/auth/service.ts'
import { tokens } from '#src/auth/tables.ts'
import { createToken, displayPrefixOf, hashToken } from '#src/auth/token.ts'
import { credit } from '#src/billing/account/service.ts'
import { listLedger } from '#src/billing/account/store.ts'
import type { Charge, ChargeOutcome, Payer } from '#src/billing/metering/model.ts'
import { utcDay } from '#src/billing/metering/rules.ts'
import { createMetering, getPayerFunds, type Metering } from '#src/billing/metering/service.ts'
import { takeFreeCalls } from '#src/billing/metering/store.ts'
import type { ResourceId } from '#src/billing/price-list.ts'
import type { Db } from '#src/db/connection.ts'
import { type Logger, silentLogger } from '#src/kernel/logger.ts'
import type { Address } from '#src/kernel/units.ts'
import type { TestClock } from '../support/clock.ts'

/** A payer of metered calls. */
export interface Caller {
  readonly wallet: Address
  readonly payer: TokenPayer
}

/** A token, as sent and in the form of the gate. */
type TokenPayer = Payer & { readonly kind: 'token'; readonly token: string }

/** The metering of one process. */
export function meteringOn(db: Db, clock: TestClock, log: Logger = silentLogger): Metering {
  return createMetering({ db, clock, log, tokens: createTokenLookup({ db, log }) })
}

/** Creates a wallet with a token, a number of credits, and a number of used free calls. */
export async function newCaller(
  db: Db,
  clock: TestClock,
  has: { readonly credits?: number; readonly freeUsed?: number } = {},
): Promise<Caller> {
  const wallet: Address = getAddress(`0x${randomBytes(20).toString('hex')}`)
  const payer = await newToken(db, clock, wallet)
  const { credits = 0, freeUsed = 0 } = has
  const at = clock.now()
  if (credits > 0) {
    const reference = `seed:${wallet}`
    await credit(db, { wallet, type: 'topup', amountCredits: credits, reference, at })
  }
  if (freeUsed > 0) await takeFreeCalls(db, wallet, utcDay(at), freeUsed)
  return { wallet, payer }
}

/** Lifetime of the tokens in these tests. */
export const TOKEN_SECONDS = 3 * 86_400

/** Another token of a wallet. */
export async function newToken(db: Db, clock: TestClock, wallet: Address): Promise<TokenPayer> {
  const token = createToken()
  const hash = hashToken(token)
  const createdAt = clock.now()
  const expiresAt = new Date(createdAt.getTime() + TOKEN_SECONDS * 1000)
  const known = { prefix: displayPrefixOf(token), hash, createdAt, expiresAt }
  await db.insert(tokens).values({ wallet, scopes: ['read'], ...known })
  return { kind: 'token', hash, token }
}

/** Calls at the same time. */
export function callMany(
  metering: Metering,
  payer: Payer,
  calls: number,
  resource: ResourceId = 'ftso-analytics',
): Promise<readonly ChargeOutcome[]> {
  return Promise.all(Array.from({ length: calls }, () => metering.charge({ resource, payer })))
}

/** Number of free, paid and refused outcomes. */
export function count(outcomes: readonly ChargeOutcome[]) {
  const kinds = outcomes.map((outcome) => (outcome.ok ? outcome.charge.kind : outcome.reason))
  const of = (kind: string) => kinds.filter((found) => found === kind).length
  return {
    free: of('free'),
    paid: of('paid'),
    refused: of('payment_required'),
    unknown: of('invalid_token'),
  }
}

/** The charges of the outcomes. */
export function chargesOf(outcomes: readonly ChargeOutcome[]): readonly Charge[] {
  return outcomes.flatMap((outcome) => (outcome.ok ? outcome.charge : []))
}

/** The wallet's entries, oldest first, proved to follow from each other and to make the balance. */
export async function provedLedger(db: Db, clock: TestClock, wallet: Address) {
  const rows = (await listLedger(db, wallet, {}, undefined, 10_000)).toReversed()
  let balance = 0
  for (const [index, row] of rows.entries()) {
    balance += row.deltaCredits
    expect(row.position).toBe(index + 1)
    expect(row.balanceAfterCredits).toBe(balance)
    expect(balance).toBeGreaterThanOrEqual(0)
  }
  expect(new Set(rows.map(({ reference }) => reference)).size).toBe(rows.length)
  const { balanceCredits } = await getPayerFunds({ db, clock }, { wallet })
  expect(balanceCredits).toBe(balance)
  return rows
}
