import { and, count, desc, eq, isNull, ne, notInArray, notLike, or, sql } from 'drizzle-orm'
import { batchedRead } from '#src/db/batched-read.ts'
import type { Db } from '#src/db/connection.ts'
import { FOLLOWERS_PREFIX } from '#src/kernel/followers.ts'
import type { Address } from '#src/kernel/units.ts'
import { isJudged } from './state-store.ts'
import { signalStates, TIP_CURSOR, targets, watches } from './tables.ts'

/** Value of the column `signal` of a state that belongs to no signal: that of a chain outage. */
export const OUTAGE_STATE_KEY = ''

/** A stored watch, with the data of its target, states and cursor that callers see. */
export interface WatchRow extends Record<string, unknown> {
  readonly id: number
  readonly type: string
  readonly label: string
  readonly target: unknown
  readonly targetId: number
  readonly settings: unknown
  readonly signals: unknown
  readonly recipientIds: number[] | null
  readonly minSeverity: string
  readonly cooldownSeconds: number
  readonly escalateAfterMinutes: number | null
  readonly escalateTo: number[]
  /** Requested status: active or paused. */
  readonly wanted: string
  /** Effective status: the requested status, or suspended. */
  readonly status: string
  readonly mutedUntil: Date | null
  readonly version: number
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Time of the last evaluation of the target. Later observations that changed no watch do not move it. */
  readonly observedAt: Date | null
  /** Block time of the newest observation of this type. */
  readonly lookedAt: Date | null
  /**
   * The earliest of the times since which its target could not be read, its type has had no current data, and nobody has
   * read the chain; the last is a moment ago while all is well.
   */
  readonly noDataSince: Date
  /** The last observation, encoded. */
  readonly observation: unknown
  readonly states: unknown
}

// Plain SQL, because every read of a watch runs this query, and building it with Drizzle takes longer than
// running it.
const selectWatch = sql`
  select w.wallet, w.id, w.type, w.label, t.target, w.target_id as "targetId", w.settings, w.signals,
    w.recipient_ids as "recipientIds", w.min_severity as "minSeverity",
    w.cooldown_seconds as "cooldownSeconds", w.escalate_after_minutes as "escalateAfterMinutes",
    w.escalate_to as "escalateTo", w.status as wanted,
    case when w.suspended_at is null then w.status else 'suspended' end as status, w.muted_until as "mutedUntil", w.version,
    w.created_at as "createdAt", w.updated_at as "updatedAt", t.observed_at as "observedAt", t.observation,
    c.block_at as "lookedAt",
    least(t.no_data_since, c.failing_since, coalesce(tip.checked_at, w.created_at)) as "noDataSince",
    coalesce((select jsonb_agg(jsonb_build_object('id', s.signal, 'state', s.phase,
      'since', s.since, 'streak', s.streak, 'severity', s.severity,
      'lastEvidenceAt', s.last_evidence_at))
      from signal_states s where s.watch_id = w.id), '[]'::jsonb) as states
  from watches w join targets t on t.id = w.target_id
    left join observation_cursors c on c.type = w.type
    left join observation_cursors tip on tip.type = ${sql.raw(`'${TIP_CURSOR}'`)}`

/** A watch by its wallet and id. */
type WatchKey = Pick<typeof watches.$inferSelect, 'wallet' | 'id'>

const nameOfKey = ({ wallet, id }: WatchKey) => `${wallet} ${id}`

async function findByKeys(
  db: Db,
  keys: readonly WatchKey[],
): Promise<ReadonlyMap<string, WatchRow>> {
  // The limit makes the plan look up each watch by its id, however small the table is.
  const rows = await db.execute<WatchRow & { wallet: string }>(sql`
    select watch.* from unnest(
        ${sql.param(keys.map(({ wallet }) => wallet))}::text[],
        ${sql.param(keys.map(({ id }) => id))}::int[]) as asked (wallet, id)
      cross join lateral (
        ${selectWatch} where w.wallet = asked.wallet and w.id = asked.id limit 1) as watch`)
  return new Map(rows.map((row) => [nameOfKey(row), row]))
}

/** A watch of a wallet. Concurrent calls share a statement. */
const findByKey = batchedRead(nameOfKey, findByKeys)

/** One watch of the wallet. */
export async function findWatch(
  db: Db,
  wallet: Address,
  id: number,
): Promise<WatchRow | undefined> {
  return await findByKey(db, { wallet, id })
}

/** Watches of the wallet with an id above `after`, ordered by id. */
export async function listWatches(
  db: Db,
  wallet: Address,
  after: number,
  limit: number,
): Promise<WatchRow[]> {
  return await db.execute<WatchRow>(
    sql`${selectWatch} where w.wallet = ${wallet} and w.id > ${after} order by w.id limit ${limit}`,
  )
}

/**
 * Locks the wallet's watch until the transaction ends, so that two changes merge one after another.
 *
 * @returns whether the wallet has such a watch
 */
export async function lockWatch(db: Db, wallet: Address, id: number): Promise<boolean> {
  const rows = await db
    .select({ id: watches.id })
    .from(watches)
    .where(and(eq(watches.wallet, wallet), eq(watches.id, id)))
    .for('update')
  return rows.length > 0
}

/** Finds or creates the row of a target, adds a watch to its count, and requests an observation. */
export async function joinTarget(
  db: Db,
  input: {
    readonly type: string
    readonly key: string
    readonly target: unknown
    readonly keySettings?: unknown
  },
): Promise<number> {
  const [target] = await db
    .insert(targets)
    .values({ ...input, watchCount: 1, mustJudge: true })
    .onConflictDoUpdate({
      target: [targets.type, targets.key],
      set: { watchCount: sql`${targets.watchCount} + 1`, mustJudge: true },
    })
    .returning({ id: targets.id })
  if (target === undefined) throw new Error('a target was neither found nor created')
  return target.id
}

/** Subtracts a watch from the count of the target; without watches the target's observation is deleted. */
export async function leaveTarget(db: Db, targetId: number): Promise<void> {
  await db
    .update(targets)
    .set({
      watchCount: sql`${targets.watchCount} - 1`,
      observation: sql`case when ${targets.watchCount} > 1 then ${targets.observation} end`,
      summary: sql`case when ${targets.watchCount} > 1 then ${targets.summary} end`,
      noDataSince: sql`case when ${targets.watchCount} > 1 then ${targets.noDataSince} end`,
    })
    .where(eq(targets.id, targetId))
}

export type NewWatchRow = typeof watches.$inferInsert

/**
 * Stores a watch.
 * @returns its id
 */
export async function insertWatch(db: Db, values: NewWatchRow): Promise<number> {
  const [inserted] = await db.insert(watches).values(values).returning({ id: watches.id })
  if (inserted === undefined) throw new Error('a watch was not inserted')
  return inserted.id
}

/** Updates the given columns, and increments the version. */
export async function updateWatch(
  db: Db,
  { wallet, id }: WatchKey,
  changes: Partial<Omit<NewWatchRow, 'id' | 'version'>>,
): Promise<void> {
  await db
    .update(watches)
    .set({ ...changes, version: sql`${watches.version} + 1` })
    .where(and(eq(watches.wallet, wallet), eq(watches.id, id)))
}

/** Moves the watch to another target. */
export async function updateTarget(
  db: Db,
  { wallet, id }: WatchKey,
  targetId: number,
): Promise<void> {
  await db
    .update(watches)
    .set({ targetId })
    .where(and(eq(watches.wallet, wallet), eq(watches.id, id)))
}

/** Marks the watch's target so that it is judged at the next observation even without a change. */
export async function markTargetToJudge(db: Db, targetId: number): Promise<void> {
  await db.update(targets).set({ mustJudge: true }).where(eq(targets.id, targetId))
}

/** Wakes the job that judges the wallet's ledger, as new ledger entries do. */
export async function notifyLedgerJudge(db: Db, wallet: Address): Promise<void> {
  await db.execute(sql`select pg_notify('ledger', ${wallet})`)
}

/**
 * Deletes the states of a watch's signals without an open episode: their next observation is a baseline.
 * The state of an open episode stays unchanged, so that the next observation ends or continues the episode.
 * The state of the chain outage belongs to no signal and stays.
 */
export async function deleteStatesWithoutEpisode(
  db: Db,
  watchId: number,
  signals?: readonly string[],
) {
  const ofWatch = and(
    eq(signalStates.watchId, watchId),
    ne(signalStates.signal, OUTAGE_STATE_KEY),
    ne(signalStates.phase, 'firing'),
  )
  const named = signals && sql`${signalStates.signal} = any(${sql.param([...signals])}::text[])`
  await db.delete(signalStates).where(named === undefined ? ofWatch : and(ofWatch, named))
}

/** Id of the target of a watch; undefined when the wallet has no such watch. */
export async function findTargetId(
  db: Db,
  wallet: Address,
  id: number,
): Promise<number | undefined> {
  const [row] = await db
    .select({ targetId: watches.targetId })
    .from(watches)
    .where(and(eq(watches.wallet, wallet), eq(watches.id, id)))
  return row?.targetId
}

/** Deletes a watch. */
export async function deleteWatch(db: Db, wallet: Address, id: number): Promise<void> {
  await db.delete(watches).where(and(eq(watches.wallet, wallet), eq(watches.id, id)))
}

/** The targets of the wallet's watches, once for each watch. */
export async function listTargetIds(db: Db, wallet: Address): Promise<number[]> {
  const rows = await db
    .select({ targetId: watches.targetId })
    .from(watches)
    .where(eq(watches.wallet, wallet))
    .orderBy(watches.targetId)
  return rows.map(({ targetId }) => targetId)
}

/** Deletes every watch of the wallet. */
export async function deleteWatches(db: Db, wallet: Address): Promise<void> {
  await db.delete(watches).where(eq(watches.wallet, wallet))
}

/**
 * Removes a recipient from every watch of the wallet; a watch without recipients uses the defaults again.
 */
export async function removeRecipient(db: Db, wallet: Address, recipientId: number): Promise<void> {
  const remainingRecipients = sql`array_remove(${watches.recipientIds}, ${recipientId})`
  await db
    .update(watches)
    .set({
      recipientIds: sql`nullif(${remainingRecipients}, '{}'::int[])`,
      escalateTo: sql`array_remove(${watches.escalateTo}, ${recipientId})`,
      version: sql`${watches.version} + 1`,
    })
    .where(
      and(
        eq(watches.wallet, wallet),
        sql`${recipientId} = any(${watches.recipientIds} || ${watches.escalateTo})`,
      ),
    )
}

/**
 * The newest watch of the wallet that notifies a recipient, including paused watches; undefined if there is
 * none.
 *
 * @param recipient `exceptTypes`: watch types whose alerts the recipient does not get
 */
export async function findNewestWatchNotifying(
  db: Db,
  wallet: Address,
  recipient: {
    readonly id: number
    readonly byDefault: boolean
    readonly exceptTypes: readonly string[]
    /** Restricts the search to this watch. */
    readonly watchId: number | undefined
  },
): Promise<number | undefined> {
  const isNamed = sql`${recipient.id} = any(${watches.recipientIds})`
  const [row] = await db
    .select({ id: watches.id })
    .from(watches)
    .where(
      and(
        eq(watches.wallet, wallet),
        recipient.watchId === undefined ? undefined : eq(watches.id, recipient.watchId),
        recipient.byDefault ? or(isNamed, isNull(watches.recipientIds)) : isNamed,
        notInArray(watches.type, [...recipient.exceptTypes]),
      ),
    )
    .orderBy(desc(watches.id))
    .limit(1)
  return row?.id
}

/** Whether a watch of the wallet that has a slot is about a data provider. */
export async function isProviderWatched(
  db: Db,
  wallet: Address,
  provider: Address,
): Promise<boolean> {
  const rows = await db
    .select({ id: watches.id })
    .from(watches)
    .innerJoin(targets, eq(targets.id, watches.targetId))
    .where(
      and(
        eq(watches.wallet, wallet),
        isNull(watches.suspendedAt),
        sql`${targets.target} ->> 'provider' = ${provider}`,
      ),
    )
    .limit(1)
  return rows.length > 0
}

/** Number of running watches of all wallets, without those by which followed providers are judged. */
export async function countActiveWatches(db: Db): Promise<number> {
  const isOfPerson = notLike(watches.wallet, `${FOLLOWERS_PREFIX}%`)
  const [row] = await db.select({ count: count() }).from(watches).where(and(isJudged(), isOfPerson))
  return row?.count ?? 0
}
