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
  const rows = await tx.execute<{ readonly wasSeen: boolean }>(sql`
    select exists (
      select from (
        select a.data from alerts a
        where a.watch_id = asked.watch_id and a.wallet = asked.wallet
        order by a.fired_at desc limit ${ALERTS_MAX}
      ) newest where newest.data ->> 'counterparty' = asked.address
    ) as "wasSeen"
    from unnest(
      ${sql.param(counterparties.map(({ wallet }) => wallet))}::text[],
      ${sql.param(counterparties.map(({ watchId }) => watchId))}::int[],
      ${sql.param(counterparties.map(({ address }) => address))}::text[]
    ) with ordinality as asked (wallet, watch_id, address, place)
    order by asked.place`)
  return rows.map(({ wasSeen }) => wasSeen)
}
