/** SQL that records the results of attempts in the rows of recipients. */
import { type SQL, sql } from 'drizzle-orm'
import { valueArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import type { OutcomeSum } from './rules.ts'

/** SQL that reads and locks rows, always in the order of their ids, which prevents deadlocks. */
function locked(sums: readonly OutcomeSum[], where = sql`true`, skip = sql``): SQL {
  return sql`locked as materialized (
    select id, status, status_reason, switched_at, failing_since, last_success_at, last_failure_at
    from recipients where id = any(${idsOf(sums)}) and ${where} order by id for update ${skip})`
}

function idsOf(sums: readonly OutcomeSum[]): SQL {
  return valueArray(
    sums.map(({ recipientId }) => recipientId),
    'int',
  )
}

function records(sums: readonly OutcomeSum[]): SQL {
  const rows = sums.map((sum) => ({
    recipient_id: sum.recipientId,
    success_at: sum.successAt?.toISOString() ?? null,
    failure_at: sum.failureAt?.toISOString() ?? null,
    failing_since: sum.failingSince?.toISOString() ?? null,
    reason: sum.reason,
    disable: sum.disable,
  }))
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as s(recipient_id int,
    success_at timestamptz, failure_at timestamptz, failing_since timestamptz, reason text,
    disable text)`
}

/**
 * Records successes in one statement. A success ends a series of failures that began before it, and shows
 * that a chat has not blocked the bot since.
 *
 * @param which `failing`: only at recipients that a success changes in more than its time; `unchanged`: only at those
 * that were not edited since, because another destination may be theirs now
 */
export async function recordDeliverySuccesses(
  db: Db,
  sums: readonly OutcomeSum[],
  which: 'all' | 'failing' | 'unchanged',
): Promise<void> {
  if (sums.length === 0) return
  const where =
    which === 'failing' ? sql`(failing_since is not null or status = 'blocked')` : sql`true`
  const isUnchanged = which === 'unchanged'
  await db.execute(sql`with ${locked(sums, where)} ${successUpdate(sums, isUnchanged)}`)
}

/**
 * Records successes in one statement, as `recordDeliverySuccesses` does with `unchanged`, at the recipients whose rows
 * nobody else has locked. A statement that waited for one row would keep the others locked meanwhile.
 *
 * @returns ids of the recipients whose rows were locked
 */
export async function recordUnlockedSuccesses(
  db: Db,
  sums: readonly OutcomeSum[],
): Promise<ReadonlySet<number>> {
  const rows = await db.execute<{ id: number }>(sql`
    with ${locked(sums, sql`true`, sql`skip locked`)}, saved as (${successUpdate(sums, true)})
    select id from recipients
    where id = any(${idsOf(sums)}) and not exists (select from locked where locked.id = recipients.id)`)
  return new Set(rows.map(({ id }) => id))
}

/** SQL that updates locked rows. */
function successUpdate(sums: readonly OutcomeSum[], isUnchanged: boolean): SQL {
  return sql`
    update recipients r set
      last_success_at = greatest(r.last_success_at, s.success_at),
      last_failure_at = greatest(r.last_failure_at, s.failure_at),
      failing_since = case when r.failing_since > s.success_at then r.failing_since end,
      status = case when judged.is_unblocked then 'active' else r.status end,
      status_reason = case when judged.is_unblocked then null else r.status_reason end,
      switched_at = case when judged.is_unblocked then s.success_at else r.switched_at end
    from ${records(sums)} join locked l on l.id = s.recipient_id
    cross join lateral (select l.status = 'blocked' and l.switched_at <= s.success_at as is_unblocked) judged
    where r.id = s.recipient_id and (${!isUnchanged} or r.updated_at <= s.success_at)`
}

/**
 * Records failures in one statement, and switches off destinations that must be switched off, or that have
 * failed for `failingHoursMax`.
 *
 * @returns ids of the recipients that this call switched off
 */
export async function saveFailures(
  db: Db,
  sums: readonly OutcomeSum[],
  failingHoursMax: number,
): Promise<number[]> {
  if (sums.length === 0) return []
  const rows = await db.execute<{ id: number }>(sql`
    with ${locked(sums)},
    judged as (
      select l.*, s.failure_at, s.reason, failing.since,
        case when l.status <> 'active' then l.status
          when s.disable is not null then s.disable
          when failing.since <= s.failure_at - make_interval(hours => ${failingHoursMax}::int)
            then 'disabled'
          else l.status end as becomes
      from ${records(sums)} join locked l on l.id = s.recipient_id
      cross join lateral (select case when l.last_success_at >= s.failing_since
        then l.failing_since else least(l.failing_since, s.failing_since) end as since) failing
    ),
    saved as (
      update recipients r set
        last_failure_at = greatest(j.last_failure_at, j.failure_at),
        failing_since = j.since,
        status = j.becomes,
        switched_at = case when j.becomes <> j.status then j.failure_at else r.switched_at end,
        status_reason = case when j.becomes <> j.status then j.reason else j.status_reason end
      from judged j where r.id = j.id
      returning r.id, j.becomes <> j.status as stopped
    )
    select id from saved where stopped order by id`)
  return rows.map(({ id }) => id)
}
