/** Daily counts of every provider: written with the rounds, in the same statement, so that each round counts once. */
import { and, desc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { ROUND_CHECKS, type RoundCheck } from '../protocol/verdict.ts'
import { fspDaily, fspRounds } from '../tables.ts'
import type { DailyCounts, EpochCounts } from './daily-counts.ts'

/** Checks that say whether a duty was fulfilled. A round in which one of them is known counts. */
const DUTY_CHECKS: readonly RoundCheck[] = [
  'commit',
  'reveal',
  'signature',
  'bitVote',
  'fdcSignature',
]
/** Checks of how a duty was fulfilled. A round in which one of them is bad counts as bad. */
const QUALITY_CHECKS: readonly RoundCheck[] = [
  'revealOffence',
  'mismatch',
  'grace',
  'consensus',
  'bitVoteLength',
  'fdcOffence',
  'fdcMismatch',
  'fdcGrace',
]

/** Days for which daily counts are kept: five years. */
const DAYS_KEPT = 5 * 365

type RoundRow = typeof fspRounds.$inferSelect

/**
 * Stores a judged round and adds it to the daily counts of its providers; a known round stays unchanged and is not
 * counted again.
 */
export async function insertRound(db: Db, row: RoundRow): Promise<void> {
  const { rewardEpoch, startsAt, providers } = fspRounds
  const inserted = db
    .insert(fspRounds)
    .values(row)
    .onConflictDoNothing()
    .returning({ rewardEpoch, startsAt, providers })
  await db.execute(sql`
    with inserted as ${inserted}
    insert into ${fspDaily}
      (voter, day, reward_epoch, rounds, bad_rounds, known, bad, anchor_hits, anchor_possible)
    ${countsOf(sql`inserted`)}
    order by 1
    on conflict (voter, day, reward_epoch) do update set ${changedBy(sql`excluded`, sql`+`)}`)
}

/** A statement that deletes rounds, takes them out of the daily counts, and returns a row for each. */
export function deleteCountedRounds(condition: SQL): SQL {
  return sql`
    with gone as (
      delete from ${fspRounds} where ${condition} returning reward_epoch, starts_at, providers
    ),
    counts as (${countsOf(sql`gone`)}),
    reduced as (
      update ${fspDaily} set ${changedBy(sql`counts`, sql`-`)}
      from counts
      where fsp_daily.voter = counts.voter and fsp_daily.day = counts.day
        and fsp_daily.reward_epoch = counts.reward_epoch
    )
    select 1 from gone`
}

/** Counts of rounds by provider, day and reward epoch. Providers without letters were not in the signing policy. */
function countsOf(rounds: SQL): SQL {
  const letters = (checks: readonly RoundCheck[]) =>
    sql.join(
      checks.map((name) => letterOf(name)),
      sql` || `,
    )
  const isBad = sql`(${letters([...DUTY_CHECKS, ...QUALITY_CHECKS])}) ~ 'b'`
  const isKnown = sql`(${isBad} or (${letters(DUTY_CHECKS)}) ~ 'g')`
  const each = (test: SQL) =>
    sql`array[${sql.join(
      ROUND_CHECKS.map((name) => sql`count(*) filter (where ${letterOf(name)} ~ ${test})::int`),
      sql`, `,
    )}]`
  return sql`
    select p.key as voter, (starts_at at time zone 'UTC')::date as day, reward_epoch,
      count(*) filter (where ${isKnown})::int as rounds,
      count(*) filter (where ${isBad})::int as bad_rounds,
      ${each(sql`'[gb]'`)} as known, ${each(sql`'b'`)} as bad,
      coalesce(sum((p.value -> 'a' ->> 0)::int), 0)::int as anchor_hits,
      coalesce(sum((p.value -> 'a' ->> 1)::int), 0)::int as anchor_possible
    from ${rounds}, jsonb_each(providers) as p
    where jsonb_typeof(p.value -> 'c') = 'string'
    group by 1, 2, 3`
}

/** The letter of a check in a record; none where the record is from before the check. */
function letterOf(name: RoundCheck): SQL {
  return sql`substr(p.value ->> 'c', ${sql.raw(String(ROUND_CHECKS.indexOf(name) + 1))}, 1)`
}

/** Adds counts to those of a row, or takes them off. Counts of checks may be fewer in one of them. */
function changedBy(counts: SQL, sign: SQL): SQL {
  const plain = ['rounds', 'bad_rounds', 'anchor_hits', 'anchor_possible'].map((name) => {
    const column = sql.identifier(name)
    return sql`${column} = fsp_daily.${column} ${sign} ${counts}.${column}`
  })
  const each = ['known', 'bad'].map((name) => {
    const column = sql.identifier(name)
    return sql`${column} = (
      select array_agg(coalesce(before, 0) ${sign} coalesce(change, 0) order by place)
      from unnest(fsp_daily.${column}, ${counts}.${column}) with ordinality as u (before, change, place)
    )`
  })
  return sql.join([...plain, ...each], sql`, `)
}

/**
 * Counts over the last `days` days up to the newest stored one, by provider. Providers without a known round are left
 * out.
 *
 * @param voters only these providers, if given
 */
export async function listDailyCounts(
  db: Db,
  days: number,
  voters?: readonly Address[],
): Promise<ReadonlyMap<Address, DailyCounts>> {
  const rows = await db.execute<Record<keyof DailyCounts, number> & { voter: Address }>(sql`
    select voter, count(distinct day)::int as days, sum(rounds)::int as rounds,
      sum(bad_rounds)::int as "badRounds"
    from fsp_daily
    where day > (select max(day) from fsp_daily) - ${days}::int
      ${voters === undefined ? sql`` : sql`and voter = any(${sql.param([...voters])}::text[])`}
    group by voter
    having sum(rounds) > 0`)
  return new Map(rows.map(({ voter, ...counts }) => [voter, counts]))
}

/**
 * Counts of every provider in a reward epoch, by provider; empty if nothing is known of `provider` in it.
 *
 * @param voter the provider whose days of the epoch are read
 */
export async function listEpochCounts(
  db: Db,
  voter: Address,
  rewardEpoch: number,
): Promise<ReadonlyMap<Address, EpochCounts>> {
  const rows = await db
    .select()
    .from(fspDaily)
    .where(
      and(
        eq(fspDaily.rewardEpoch, rewardEpoch),
        inArray(
          fspDaily.day,
          db
            .select({ day: fspDaily.day })
            .from(fspDaily)
            .where(and(eq(fspDaily.voter, voter), eq(fspDaily.rewardEpoch, rewardEpoch))),
        ),
      ),
    )
    .orderBy(fspDaily.day)
  const counts = new Map<Address, EpochCounts>()
  for (const row of rows) {
    const before = counts.get(row.voter)
    counts.set(row.voter, before === undefined ? countsIn(row) : addedTo(before, countsIn(row)))
  }
  return counts
}

function countsIn(row: typeof fspDaily.$inferSelect): EpochCounts {
  const checks = ROUND_CHECKS.map((name, place) => {
    const [known, bad] = [row.known[place] ?? 0, row.bad[place] ?? 0]
    return [name, { known, bad }] as const
  })
  return {
    ...{ firstDay: row.day, lastDay: row.day, rounds: row.rounds, badRounds: row.badRounds },
    checks: Object.fromEntries(checks) as EpochCounts['checks'],
  }
}

/** @param next counts of later days */
function addedTo(before: EpochCounts, next: EpochCounts): EpochCounts {
  const checks = ROUND_CHECKS.map((name) => {
    const [a, b] = [before.checks[name], next.checks[name]]
    return [name, { known: a.known + b.known, bad: a.bad + b.bad }] as const
  })
  return {
    ...{ firstDay: before.firstDay, lastDay: next.lastDay },
    ...{ rounds: before.rounds + next.rounds, badRounds: before.badRounds + next.badRounds },
    checks: Object.fromEntries(checks) as EpochCounts['checks'],
  }
}

/** The newest reward epochs in which rounds of a provider were counted, newest first. */
export async function listCountedEpochs(
  db: Db,
  voter: Address,
  limit: number,
): Promise<readonly number[]> {
  const rows = await db
    .selectDistinct({ rewardEpoch: fspDaily.rewardEpoch })
    .from(fspDaily)
    .where(eq(fspDaily.voter, voter))
    .orderBy(desc(fspDaily.rewardEpoch))
    .limit(limit)
  return rows.map(({ rewardEpoch }) => rewardEpoch)
}

/** Deletes counts of days long past, by the newest stored day. */
export async function deleteOldCounts(db: Db): Promise<void> {
  await db
    .delete(fspDaily)
    .where(gt(sql`(select max(day) from fsp_daily) - ${DAYS_KEPT}::int`, fspDaily.day))
}
