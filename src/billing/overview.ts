import { z } from 'zod'
import type { Db } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { PAGE_LIMIT_DEFAULT, readCursor, toPage } from '#src/kernel/pagination.ts'
import { INSTANT_MS_MAX } from '#src/kernel/units.ts'
import {
  type AccountQuery,
  type CreditAccount,
  LEDGER_TYPES,
  type LedgerEntry,
} from './account/model.ts'
import * as accounts from './account/store.ts'
import { nextUtcDay, utcDay } from './metering/rules.ts'
import * as metering from './metering/store.ts'
import { FREE_TIER_DAILY_CALLS } from './price-list.ts'
import { type CapacityDeps, capacityOf } from './subscriptions/capacity.ts'
import { readWalletStatus } from './subscriptions/wallet-status-store.ts'

/** Balance, free calls, slots and ledger of the caller's wallet, from `account/`, `metering/` and `subscriptions/`. */
export async function getAccount(
  { db, clock, billing }: CapacityDeps & { readonly clock: Clock },
  { wallet }: Caller,
  query: AccountQuery,
): Promise<CreditAccount> {
  const now = clock.now()
  const walletStatus = await readWalletStatus(db, wallet)
  return {
    wallet,
    balanceCredits: walletStatus.account?.balanceCredits ?? 0,
    freeTier: {
      limit: FREE_TIER_DAILY_CALLS,
      used: await metering.countFreeCalls(db, wallet, utcDay(now)),
      resetsAt: nextUtcDay(now),
    },
    slots: capacityOf(walletStatus, billing, now),
    ledger: await listLedger({ db }, { wallet }, query),
  }
}

/** Ledger entries of the caller's wallet, newest first. */
export async function listLedger(
  { db }: { readonly db: Db },
  { wallet }: Pick<Caller, 'wallet'>,
  { limit = PAGE_LIMIT_DEFAULT, cursor, ...filter }: AccountQuery,
): Promise<CreditAccount['ledger']> {
  const [createdAtMs, position] =
    readCursor(cursor, [INSTANT_MS_MAX, Number.MAX_SAFE_INTEGER], filter) ?? []
  const after =
    createdAtMs === undefined || position === undefined
      ? undefined
      : { createdAt: new Date(createdAtMs), position }
  const rows = await accounts.listLedger(db, wallet, filter, after, limit + 1)
  const page = toPage(rows, limit, filter, (row) => [row.createdAt.getTime(), row.position])
  return { ...page, data: page.data.map(toEntry) }
}

function toEntry({ wallet, position, type, note, ...row }: accounts.LedgerRow): LedgerEntry {
  const entryType = z.enum(LEDGER_TYPES).parse(type)
  return { id: position, ...row, type: entryType, ...(note !== null && { note }) }
}
