import { and, desc, eq, gt, gte, inArray, lt, lte, max, min, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { BlockRef } from '#src/chain/chain.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { RewardClaim } from '../reader/round-events.ts'
import { fspProgress, fspRewards, fspRounds, validatorPolls } from '../tables.ts'
import { CarriedState } from './carried-state.ts'

/** Key of the only row of progress. */
const ONLY = 1

export type RoundRow = typeof fspRounds.$inferSelect
export type IndexingProgress = Omit<typeof fspProgress.$inferSelect, 'id'>

/** Progress of reading; undefined before the first block. */
export async function findIndexingProgress(db: Db): Promise<IndexingProgress | undefined> {
  const [row] = await db.select().from(fspProgress)
  return row
}

/**
 * Current and former addresses of the protocol's contracts, by registry name, as stored with the last
 * round.
 */
export async function listContracts(db: Db): Promise<Readonly<Record<string, readonly Address[]>>> {
  const contracts = sql<unknown>`${fspProgress.state} -> 'contracts'`
  const [row] = await db.select({ contracts }).from(fspProgress)
  return row === undefined ? {} : CarriedState.shape.contracts.parse(row.contracts)
}

/** Block up to which everything has been counted; undefined before the first round. */
export async function findIndexedBlock(db: Db): Promise<BlockRef | undefined> {
  const { blockNumber: number, blockHash: hash, blockAt: at } = fspProgress
  const [block] = await db.select({ number, hash, at }).from(fspProgress)
  return block
}

/**
 * Writes the progress of reading, which never decreases.
 *
 * @throws Error when the stored progress is further, because another process reads, too
 */
export async function saveIndexingProgress(db: Db, progress: IndexingProgress): Promise<void> {
  const row = { id: ONLY, ...progress }
  const written = await db
    .insert(fspProgress)
    .values(row)
    .onConflictDoUpdate({
      target: fspProgress.id,
      set: row,
      // After a stop, the last block is read again.
      setWhere: lte(fspProgress.blockNumber, progress.blockNumber),
    })
    .returning({ id: fspProgress.id })
  if (written.length === 0) throw new Error('rounds have been read further by another process')
}

/** A round with the records of the requested providers. */
export interface RoundWithProviders extends Omit<RoundRow, 'providers' | 'blockHash'> {
  readonly providers: Readonly<Record<string, unknown>>
}

/** Rounds completed after one block and up to another, oldest first, with these providers' records. */
export async function listRounds(
  db: Db,
  voters: readonly Address[],
  { after, upTo }: { readonly after: number; readonly upTo: number },
): Promise<RoundWithProviders[]> {
  return db
    .select({ ...ROUND, providers: recordsOf(voters) })
    .from(fspRounds)
    .where(sql`${fspRounds.blockNumber} > ${after} and ${fspRounds.blockNumber} <= ${upTo}`)
    .orderBy(fspRounds.round)
}

/**
 * Rounds after a number that were completed between two times, oldest first, with one provider's record.
 */
export async function listRoundsBetween(
  db: Db,
  voter: Address,
  { after, from, to }: { readonly after: number; readonly from: Date; readonly to: Date },
  limit: number,
): Promise<RoundWithProviders[]> {
  const { round, blockAt } = fspRounds
  return db
    .select({ ...ROUND, providers: recordsOf([voter]) })
    .from(fspRounds)
    .where(and(gt(round, after), gte(blockAt, from), lte(blockAt, to)))
    .orderBy(round)
    .limit(limit)
}

/** The first and the last time in each hour of a span at which a round was stored. */
export async function listStoredHours(
  db: Db,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<{ first: Date | null; last: Date | null }[]> {
  const { blockAt } = fspRounds
  return db
    .select({ first: min(blockAt), last: max(blockAt) })
    .from(fspRounds)
    .where(and(gte(blockAt, from), lte(blockAt, to)))
    .groupBy(sql`date_trunc('hour', ${blockAt})`)
}

/** The first stored round of each reward epoch up to a time, and whether its policy has a provider. */
export async function listFirstRounds(
  db: Db,
  voter: Address,
  to: Date,
): Promise<{ rewardEpoch: number; blockAt: Date; isMember: boolean }[]> {
  const { round, rewardEpoch, blockAt, providers } = fspRounds
  const first = db
    .select({ round: min(round) })
    .from(fspRounds)
    .groupBy(rewardEpoch)
  return db
    .select({
      rewardEpoch,
      blockAt,
      isMember: sql<boolean>`(${providers} -> ${voter}::text ->> 'c') is not null`,
    })
    .from(fspRounds)
    .where(and(inArray(round, first), lte(blockAt, to)))
    .orderBy(round)
}

/**
 * The newest rounds, newest first, with these providers' records: of those that were complete at the block `upTo`, or
 * that had begun at the time, or up to the round `until`, if given.
 */
export async function listNewestRounds(
  db: Db,
  voters: readonly Address[],
  limit: number,
  { upTo, until }: { readonly upTo?: number; readonly until?: Date | number | undefined } = {},
): Promise<RoundWithProviders[]> {
  const { blockNumber, startsAt } = fspRounds
  return db
    .select({ ...ROUND, providers: recordsOf(voters) })
    .from(fspRounds)
    .where(
      and(
        upTo === undefined ? undefined : sql`${blockNumber} <= ${upTo}`,
        until === undefined
          ? undefined
          : typeof until === 'number'
            ? lte(fspRounds.round, until)
            : lte(startsAt, until),
      ),
    )
    .orderBy(desc(fspRounds.round))
    .limit(limit)
}

/** The start of each round that began in a span, and the letters of a provider's checks; null outside of the policy. */
export function listLettersBetween(
  db: Db,
  voter: Address,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<{ startsAt: Date; letters: string | null }[]> {
  const { startsAt, providers, round } = fspRounds
  const letters = sql<string | null>`${providers} -> ${voter}::text ->> 'c'`
  return db
    .select({ startsAt, letters })
    .from(fspRounds)
    .where(and(gte(startsAt, from), lt(startsAt, to)))
    .orderBy(round)
}

/** The stored reward epochs, oldest first: their first and last stored rounds. */
export function listStoredEpochs(
  db: Db,
): Promise<{ rewardEpoch: number; firstAt: Date | null; lastRound: number | null }[]> {
  const { rewardEpoch, round, startsAt } = fspRounds
  return db
    .select({ rewardEpoch, firstAt: min(startsAt), lastRound: max(round) })
    .from(fspRounds)
    .groupBy(rewardEpoch)
    .orderBy(rewardEpoch)
}

/** The margins of a provider in the stored rounds of a reward epoch, oldest first; null where none are stored. */
export function listMargins(
  db: Db,
  voter: Address,
  epoch: number,
): Promise<{ margins: unknown }[]> {
  const { providers, rewardEpoch, round } = fspRounds
  return db
    .select({ margins: sql<unknown>`${providers} -> ${voter}::text -> 'm'` })
    .from(fspRounds)
    .where(eq(rewardEpoch, epoch))
    .orderBy(round)
}

/** Verdicts of every provider in the newest `range` round ids, as stored in a record, newest round first. */
export function listVerdictLetters(
  db: Db,
  range: number,
): Promise<{ readonly voter: Address; readonly letters: string }[]> {
  return db.execute<{ readonly voter: Address; readonly letters: string }>(sql`
    select p.key as voter, p.value ->> 'c' as letters
    from (
      select round, providers from fsp_rounds
      where round > (select max(round) from fsp_rounds) - ${range}::int
    ) as newest,
      jsonb_each(newest.providers) as p
    where jsonb_typeof(p.value -> 'c') = 'string'
    order by newest.round desc`)
}

/**
 * What of all providers of these rounds is compared: `c`, the letters of the checks, `f`, the silence in fast updates, and
 * `l`, whether an update was too long. Providers without letters were not in the signing policy.
 */
export function listComparedRecords(
  db: Db,
  rounds: readonly number[],
): Promise<{ readonly round: number; readonly providers: Readonly<Record<string, unknown>> }[]> {
  return db.execute<{ round: number; providers: Record<string, unknown> }>(sql`
    select round, coalesce((
      select jsonb_object_agg(p.key, jsonb_build_object(
        'c', p.value -> 'c',
        'f', p.value -> 'fastUpdates',
        'l', p.value -> 'fastUpdates' ? 'tooLong'
      ))
      from jsonb_each(providers) as p
      where jsonb_typeof(p.value -> 'c') = 'string'
    ), '{}'::jsonb) as providers
    from fsp_rounds
    where round = any(${sql.param([...rounds])}::int[])
    order by round`)
}

const ROUND = {
  round: fspRounds.round,
  rewardEpoch: fspRounds.rewardEpoch,
  startsAt: fspRounds.startsAt,
  blockNumber: fspRounds.blockNumber,
  blockAt: fspRounds.blockAt,
}

/**
 * The records of these providers. PostgreSQL decompresses the whole column each time that one key is looked up in it, so
 * for several providers all keys are read at once.
 */
function recordsOf(voters: readonly Address[]) {
  const { providers } = fspRounds
  const asked = sql`${sql.param([...voters])}::text[]`
  const providersQuery =
    voters.length === 1
      ? sql`select jsonb_object_agg(v, ${providers} -> v) from unnest(${asked}) as v where ${providers} ? v`
      : sql`select jsonb_object_agg(key, value) from jsonb_each(${providers}) where key = any(${asked})`
  return sql<Record<string, unknown>>`coalesce((${providersQuery}), '{}'::jsonb)`
}

/** Validators of watched providers, as of the last round. */
export async function listPolledNodes(db: Db): Promise<string[]> {
  const rows = await db.execute<{ node: string }>(sql`
    select jsonb_object_keys(state -> 'polls') as node from fsp_progress order by 1`)
  return rows.map(({ node }) => node)
}

/** Stores a poll of the P-chain. */
export async function insertPoll(db: Db, poll: typeof validatorPolls.$inferInsert): Promise<void> {
  await db.insert(validatorPolls).values(poll).onConflictDoNothing()
}

const Polled = z.record(
  z.string(),
  z.object({ connected: z.boolean().nullable(), endsAt: z.int().nullable() }).nullable(),
)

/** Polls after a time, oldest first; without a time only the newest poll. */
export async function listPolls(db: Db, after: Date | undefined) {
  const { polledAt } = validatorPolls
  const rows =
    after === undefined
      ? await db.select().from(validatorPolls).orderBy(desc(polledAt)).limit(1)
      : await db.select().from(validatorPolls).where(gt(polledAt, after)).orderBy(polledAt)
  return rows.map((row) => ({ ...row, validators: Polled.parse(row.validators) }))
}

/** Deletes polls before a time. */
export async function deletePolls(db: Db, before: Date): Promise<void> {
  await db.delete(validatorPolls).where(lt(validatorPolls.polledAt, before))
}

/** Deletes rounds before `before`. */
export async function deleteRounds(db: Db, before: number): Promise<void> {
  await db.delete(fspRounds).where(lt(fspRounds.round, before))
}

/** Marks rewards as claimed, including those whose amount is not known yet. */
export async function saveRewardClaims(db: Db, claims: readonly RewardClaim[]): Promise<void> {
  if (claims.length === 0) return
  const rows = claims.map((claim) => ({ ...claim, voter: null, amountWei: null, claimed: true }))
  const distinct = new Map(rows.map((row) => [keyOf(row), row]))
  const { rewardEpoch, beneficiary, claimType } = fspRewards
  await db
    .insert(fspRewards)
    .values([...distinct.values()])
    .onConflictDoUpdate({ target: [rewardEpoch, beneficiary, claimType], set: { claimed: true } })
}

function keyOf({ rewardEpoch, beneficiary, claimType }: RewardClaim): string {
  return `${rewardEpoch} ${beneficiary} ${claimType}`
}

/** A published reward. */
export interface PublishedReward extends RewardClaim {
  readonly voter: Address
  readonly amountWei: bigint
}

/** Stores published rewards, the first of equal claims; claimed rewards stay claimed. */
export async function saveRewards(db: Db, rewards: readonly PublishedReward[]): Promise<void> {
  if (rewards.length === 0) return
  const distinct = new Map(rewards.toReversed().map((reward) => [keyOf(reward), reward]))
  const rows = [...distinct.values()].map((publishedReward) => ({
    ...publishedReward,
    amountWei: publishedReward.amountWei.toString(),
    claimed: false,
  }))
  const { rewardEpoch, beneficiary, claimType } = fspRewards
  await db
    .insert(fspRewards)
    .values(rows)
    .onConflictDoUpdate({
      target: [rewardEpoch, beneficiary, claimType],
      set: { voter: sql`excluded.voter`, amountWei: sql`excluded.amount_wei` },
    })
}

/** Unclaimed rewards of these reward epochs, by provider and epoch, oldest first. */
export async function listUnclaimedRewards(
  db: Db,
  voters: readonly Address[],
  epochs: readonly number[],
): Promise<
  { readonly voter: Address; readonly rewardEpoch: number; readonly amountWei: bigint }[]
> {
  if (voters.length === 0 || epochs.length === 0) return []
  const rows = await db
    .select({
      voter: sql<Address>`${fspRewards.voter}`,
      rewardEpoch: fspRewards.rewardEpoch,
      amountWei: sql<string>`sum(${fspRewards.amountWei})`,
    })
    .from(fspRewards)
    .where(
      and(
        inArray(fspRewards.voter, [...voters]),
        inArray(fspRewards.rewardEpoch, [...epochs]),
        eq(fspRewards.claimed, false),
      ),
    )
    .groupBy(fspRewards.voter, fspRewards.rewardEpoch)
    .orderBy(fspRewards.rewardEpoch)
  return rows.map((row) => ({ ...row, amountWei: BigInt(row.amountWei) }))
}

/** A provider's published rewards of the newest reward epochs that have any, newest first. */
export async function listPublishedRewards(
  db: Db,
  voter: Address,
  limit: number,
): Promise<
  { readonly rewardEpoch: number; readonly amountWei: bigint; readonly waitingWei: bigint }[]
> {
  const { amountWei, claimed, rewardEpoch } = fspRewards
  const rows = await db
    .select({
      rewardEpoch,
      amountWei: sql<string>`sum(${amountWei})`,
      waitingWei: sql<string>`coalesce(sum(${amountWei}) filter (where not ${claimed}), 0)`,
    })
    .from(fspRewards)
    .where(and(eq(fspRewards.voter, voter), sql`${amountWei} is not null`))
    .groupBy(rewardEpoch)
    .orderBy(desc(rewardEpoch))
    .limit(limit)
  return rows.map((row) => ({
    rewardEpoch: row.rewardEpoch,
    amountWei: BigInt(row.amountWei),
    waitingWei: BigInt(row.waitingWei),
  }))
}

/** A provider's published rewards of a reward epoch; undefined if none are known. */
export async function findRewardOf(
  db: Db,
  voter: Address,
  epoch: number,
): Promise<bigint | undefined> {
  const [row] = await db
    .select({ amountWei: sql<string | null>`sum(${fspRewards.amountWei})` })
    .from(fspRewards)
    .where(and(eq(fspRewards.voter, voter), eq(fspRewards.rewardEpoch, epoch)))
  return row?.amountWei == null ? undefined : BigInt(row.amountWei)
}

/** The newest published rewards of each of these providers, of a reward epoch from `fromEpoch` on and before `beforeEpoch`. */
export async function listNewestRewards(
  db: Db,
  voters: readonly Address[],
  { fromEpoch, beforeEpoch }: { readonly fromEpoch: number; readonly beforeEpoch: number },
): Promise<ReadonlyMap<Address, { readonly rewardEpoch: number; readonly amountWei: bigint }>> {
  const { amountWei, rewardEpoch, voter } = fspRewards
  const rows = await db
    .select({
      voter: sql<Address>`${voter}`,
      rewardEpoch,
      amountWei: sql<string>`sum(${amountWei})`,
    })
    .from(fspRewards)
    .where(
      and(
        inArray(voter, [...voters]),
        gte(rewardEpoch, fromEpoch),
        lt(rewardEpoch, beforeEpoch),
        sql`${amountWei} is not null`,
      ),
    )
    .groupBy(voter, rewardEpoch)
    .orderBy(rewardEpoch)
  return new Map(
    rows.map((row) => [
      row.voter,
      { rewardEpoch: row.rewardEpoch, amountWei: BigInt(row.amountWei) },
    ]),
  )
}

/** Deletes rewards of reward epochs before `before`. */
export async function deleteRewards(db: Db, before: number): Promise<void> {
  await db.delete(fspRewards).where(lt(fspRewards.rewardEpoch, before))
}
