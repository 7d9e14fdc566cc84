/** Numbers and counts of incidents. */
import { and, countDistinct, eq, gte, isNull, lt, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import { alerts } from '../tables.ts'

/**
 * Takes the next numbers of these wallets, and locks the wallets until the transaction ends: alerts of one wallet are
 * then recorded one after another.
 *
 * @param counts how many numbers each wallet needs; 0 only locks
 * @returns the last number that each wallet has now
 */
export async function takeNumbers(
  tx: Db,
  counts: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  if (counts.size === 0) return new Map()
  // In one order, so that transactions do not wait for each other in a circle.
  const inOrder = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const rows = await tx.execute<{ wallet: string; last: number }>(sql`
    insert into incident_numbers as n (wallet, last)
    select r.wallet, r.count from unnest(
      ${sql.param(inOrder.map(([wallet]) => wallet))}::text[],
      ${sql.param(inOrder.map(([, count]) => count))}::int[]
    ) as r(wallet, count)
    on conflict (wallet) do update set last = n.last + excluded.last
    returning n.wallet, n.last`)
  return new Map(rows.map(({ wallet, last }) => [wallet, last]))
}

/** Number of incidents of a watch that have an alert in a span. */
export async function countIncidents(
  db: Db,
  { wallet, watchId }: { readonly wallet: string; readonly watchId: number },
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<number> {
  const [row] = await db
    .select({ count: countDistinct(alerts.incidentId) })
    .from(alerts)
    .where(
      and(
        eq(alerts.wallet, wallet),
        eq(alerts.watchId, watchId),
        gte(alerts.firedAt, from),
        lt(alerts.firedAt, to),
        isNull(alerts.recoveryOf),
      ),
    )
  return row?.count ?? 0
}
