import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { type Address, storedAddress } from '#src/kernel/units.ts'

/** What a wallet has and spends. */
export interface SpendingRow {
  readonly wallet: Address
  readonly balanceCredits: number
  /** Credits that metered calls took since `since`. */
  readonly usedCredits: number
  /** Terms that end before `until` and are renewed, the first one first. */
  readonly renewals: readonly {
    readonly at: Date
    readonly quantity: number
    readonly periods: number
  }[]
}

/** Wallets that spend: by metered calls since `since`, or by renewals before `until`. */
export async function listSpending(
  db: Db,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<SpendingRow[]> {
  const rows = await db.execute<{
    wallet: string
    balance: string
    used: string
    renewals: readonly { at: string; quantity: number; periods: number }[] | null
  }>(sql`
    with used as (
      select wallet, -sum(delta_credits) as credits from ledger_entries
      where created_at >= ${since} and (type = 'usage' or reference like 'refund:usage%')
      group by wallet
    ), renewed as (
      select wallet, json_agg(json_build_object('at', ends_at, 'quantity', quantity, 'periods', periods)
        order by ends_at, id) as terms
      from subscriptions where auto_renew and status in ('active', 'grace') and ends_at < ${until}
      group by wallet
    )
    select a.wallet, a.balance_credits as balance, coalesce(used.credits, 0) as used,
      renewed.terms as renewals
    from accounts a left join used using (wallet) left join renewed using (wallet)
    where used.credits > 0 or renewed.terms is not null`)
  return rows.map(({ wallet, balance, used, renewals }) => ({
    wallet: storedAddress(wallet),
    balanceCredits: Number(balance),
    usedCredits: Number(used),
    renewals: (renewals ?? []).map((term) => ({ ...term, at: new Date(term.at) })),
  }))
}
