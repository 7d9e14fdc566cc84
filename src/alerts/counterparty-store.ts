import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'

/** The other account of a transfer that a watch reports. */
interface Counterparty {
  readonly wallet: Address
  readonly watchId: number
  readonly address: string
}

/** Number of the newest alerts of a watch that are searched for an account. */
const ALERTS_MAX = 50

/** Whether each of these accounts is in one of the newest alerts of its watch. */
export async function areInRecentAlerts(
  tx: Db,
  counterparties: readonly Counterparty[],
): Promise<readonly boolean[]> {
  // `between` with equal bounds instead of `=`, and the wallet only in the outer query: PostgreSQL then reads the
  // index on watch and time and stops at the limit. With `=` it reads and sorts all alerts of the watch or wallet.
  const rows = await tx.execute<{ readonly wasSeen: boolean }>(sql`
    select exists (
      select from (
        select a.wallet, a.data from alerts a
        where a.watch_id between asked.watch_id and asked.watch_id
        order by a.watch_id desc, a.fired_at desc limit ${ALERTS_MAX}
      ) newest
      where newest.wallet = asked.wallet and newest.data ->> 'counterparty' = asked.address
    ) as "wasSeen"
    from unnest(
      ${sql.param(counterparties.map(({ wallet }) => wallet))}::text[],
      ${sql.param(counterparties.map(({ watchId }) => watchId))}::int[],
      ${sql.param(counterparties.map(({ address }) => address))}::text[]
    ) with ordinality as asked (wallet, watch_id, address, place)
    order by asked.place`)
  return rows.map(({ wasSeen }) => wasSeen)
}
