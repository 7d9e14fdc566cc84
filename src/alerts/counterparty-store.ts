import { sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'

/** The other account of a transfer of a watch. */
interface Counterparty {
  readonly wallet: Address
  readonly watchId: number
  readonly address: string
}

/** Newest alerts of a watch in which an account is looked for. */
const ALERTS_MAX = 50

/** Whether each of these accounts is in one of the newest alerts of its watch. */
export async function whichWereSeen(
  tx: Db,
  counterparties: readonly Counterparty[],
): Promise<readonly boolean[]> {
  // The condition on the watch is a range, and the wallet is compared outside, so that PostgreSQL expects many rows and
  // stops at the limit in the order of the index. It would otherwise read and sort all alerts of the wallet or watch.
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
