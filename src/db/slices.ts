/**
 * Work that is cut into slices, which processes share. Each process is a member while it renews its
 * membership, takes its share of the slices, releases surplus slices when another process joins, and takes
 * over slices of a process that has died. A write for a slice is refused once another process has taken
 * that slice.
 *
 * Memberships end by the clock of the database, not with a session as the locks of `lock.ts` do: a frozen
 * process or a broken network ends a session only after ten seconds, and a process would need one session
 * lock per slice. The slices of a killed and of a frozen process are taken over after the same time.
 */
import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { type Db, transact } from './connection.ts'
import { type Fence, FenceError } from './lock.ts'
import { connectionLostError, openSession, runAtClose } from './session.ts'
import { planShare, type SliceLease } from './slice-shares.ts'

/** Number of slices, which is also the maximum number of processes that can share the work. */
export const SLICES = 32
/** Channel that is notified when slices become free. */
export const SLICES_CHANNEL = 'slices'
/** Pause between two calls of `share`, and of `renew`. */
export const SHARE_INTERVAL_MS = 500
/** A member that has not renewed for this long counts as dead; three renewals may fail. */
const MEMBERSHIP_MS = 2500
/** `share` renews a membership that ends earlier than this, in milliseconds from now. */
const ENDS_SOON_MS = MEMBERSHIP_MS / 2
/** Longest wait for a renewal, after which the next one opens another connection. */
const ANSWER_MS = 5000
/** A process that has not called `share` for this long does not renew its membership. */
const STALLED_MS = 30_000
/** Members that died this long ago are deleted. */
const FORGET_MS = 60_000
const FORGOTTEN_MAX = 10
/** Time after which the server ends a transaction whose process is frozen, so that its slice can be taken. */
const IDLE_MS_MAX = 10_000

/**
 * Slices that a process holds. Another process may have taken any of them meanwhile; only a transaction under the
 * fence finds that out.
 */
export interface HeldSlices {
  held(): readonly number[]
  isHeld(slice: number): boolean
  /**
   * The right to write for these slices. A transaction under this fence is refused if a slice has had
   * another owner, and no other process takes a slice until the transaction has ended.
   */
  fenceOf(slices: readonly number[]): Fence
}

/** The slices of this process. */
export interface Slices extends HeldSlices {
  /**
   * The slices that are held now. A slice that is lost and taken again counts as lost, because work
   * for it may have been skipped in between.
   */
  hold(): HeldSlices
  /**
   * Renews the membership, on a separate connection. Without effect before the first `share`, and when the
   * last `share` is long ago: a process whose `share` does not finish cannot work for its slices either.
   */
  renew(): Promise<void>
  /**
   * Takes and gives up slices, so that this process has its share. Renews the membership if it ends soon.
   * @returns whether slices were taken
   */
  share(): Promise<boolean>
  /** Gives up all slices when the process stops, so that other processes need not wait. */
  leave(): Promise<void>
}

/** Slices for a single process: it holds all of them, without a fence. */
export function everySlice(): Slices {
  const all = Array.from({ length: SLICES }, (_, slice) => slice)
  const every = { held: () => all, isHeld: () => true, fenceOf: () => ({ transact }) }
  return {
    ...every,
    hold: () => every,
    renew: async () => undefined,
    share: async () => false,
    leave: async () => undefined,
  }
}

/**
 * Creates the slices of this process; it holds none before the first `share`. Long because its functions
 * share the held slices.
 *
 * @param name name of the work that is shared
 * @param wakes channels that are notified when slices were taken, because work for them may have waited
 */
export function createSlices({
  db,
  sql: base,
  name,
  wakes,
}: {
  readonly db: Db
  /** Opens the connection that renews the membership. */
  readonly sql: Sql
  readonly name: string
  readonly wakes: readonly string[]
}): Slices {
  const me = randomUUID()
  /** Held slices with their fencing numbers. */
  let held = new Map<number, number>()
  const renewals = createRenewals(base, name, me)
  /** End of the last `share`, by `performance.now()`; undefined before the first. */
  let sharedAtMs: number | undefined

  async function take(free: readonly number[], count: number): Promise<void> {
    if (count === 0 || free.length === 0) return
    const taken = await db.execute<{ slice: number; number: string }>(sql`
      with free as (
        select slice from slice_leases l
        where name = ${name} and slice = any(${sql.param([...free])}::smallint[]) and (
          owner is null or not exists (
            select from slice_members m
            where m.name = l.name and m.member = l.owner and ${isLive}
          )
        )
        order by slice limit ${count} for update skip locked
      )
      update slice_leases l set owner = ${me}, number = l.number + 1
      from free where l.name = ${name} and l.slice = free.slice
      returning l.slice, l.number`)
    for (const { slice, number } of taken) held.set(slice, Number(number))
  }

  async function giveUp(slices: readonly number[]): Promise<void> {
    if (slices.length === 0) return
    for (const slice of slices) held.delete(slice)
    await db.execute(sql`
      update slice_leases set owner = null
      where name = ${name} and slice = any(${sql.param([...slices])}::smallint[]) and owner = ${me}`)
    await notify(db, [SLICES_CHANNEL])
  }

  /** Reads the shares. If the membership ends soon or has ended, renews it first and reads again. */
  async function readAsMember(): Promise<Shares> {
    const shares = await readShares(db, name)
    const endsInMs = shares.members.get(me)
    if (endsInMs !== undefined && endsInMs > ENDS_SOON_MS) return shares
    await renewals.renew()
    return await readShares(db, name)
  }

  function hold(): HeldSlices {
    const numbers = new Map(held)
    const isHeld = (slice: number) => numbers.has(slice) && held.get(slice) === numbers.get(slice)
    return {
      held: () => [...numbers.keys()].filter(isHeld).sort((a, b) => a - b),
      isHeld,
      fenceOf: (slices) => ({
        transact: (of, work) =>
          transact(of, async (tx) => {
            const lost = await listLost(tx, name, numbers, slices)
            for (const slice of lost) numbers.delete(slice)
            if (lost.length > 0) throw new FenceError(`slices of "${name}" were lost: ${lost}`)
            return await work(tx)
          }),
      }),
    }
  }

  return {
    held: () => hold().held(),
    isHeld: (slice) => held.has(slice),
    fenceOf: (slices) => hold().fenceOf(slices),
    hold,
    async renew() {
      if (sharedAtMs === undefined || performance.now() - sharedAtMs > STALLED_MS) return
      await renewals.renew()
    },
    async share() {
      sharedAtMs ??= performance.now()
      const { members, leases } = await readAsMember()
      const before = held
      held = new Map(
        leases.flatMap(({ owner, slice, number }) => (owner === me ? [[slice, number]] : [])),
      )
      const move = planShare(me, new Set(members.keys()), leases)
      await giveUp(move.giveUp)
      await take(move.free, move.take)
      const hasTaken = [...held].some(([slice, number]) => before.get(slice) !== number)
      if (hasTaken) await notify(db, wakes)
      sharedAtMs = performance.now()
      return hasTaken
    },
    async leave() {
      held = new Map()
      if (sharedAtMs === undefined) return
      sharedAtMs = undefined
      await renewals.close()
      await db.execute(sql`delete from slice_members where name = ${name} and member = ${me}`)
      await db.execute(sql`
        update slice_leases set owner = null where name = ${name} and owner = ${me}`)
      await notify(db, [SLICES_CHANNEL])
    },
  }
}

/**
 * Condition: a membership is valid. A membership that ends later than a new one would was written before
 * the clock was set back.
 */
const isLive = sql`expires_at > clock_timestamp()
  and expires_at < clock_timestamp() + ${2 * MEMBERSHIP_MS} * interval '1 millisecond'`

async function notify(db: Db, channels: readonly string[]): Promise<void> {
  await db.execute(sql`
    select pg_notify(channel, '') from unnest(${sql.param([...channels])}::text[]) as channels(channel)`)
}

/** Renews a membership on a separate connection, so that it waits for no other statement. */
function createRenewals(base: Sql, name: string, me: string) {
  let session: Sql | undefined
  let cancelCloseWithBase: (() => void) | undefined

  async function close(): Promise<void> {
    const closing = session
    session = undefined
    cancelCloseWithBase?.()
    await closing?.end({ timeout: 0 })
  }

  function open(): Sql {
    const opened = openSession(base, {
      onclose: () => {
        if (session === opened) void close()
      },
    })
    cancelCloseWithBase = runAtClose(base, close)
    return opened
  }

  return {
    async renew(): Promise<void> {
      session ??= open()
      const hasAnswered = await endsWithin(renewOn(session, name, me), ANSWER_MS)
      if (hasAnswered) return
      await close()
      throw connectionLostError()
    },
    close,
  }
}

/** Renews a membership, and deletes those that ended long ago. */
async function renewOn(session: Sql, name: string, me: string): Promise<void> {
  await session`
    with gone as (
      delete from slice_members where (name, member) in (
        select name, member from slice_members
        where name = ${name} and member <> ${me}
          and expires_at < clock_timestamp() - ${FORGET_MS}::int * interval '1 millisecond'
        limit ${FORGOTTEN_MAX} for update skip locked
      )
    )
    insert into slice_members (name, member, expires_at)
    values (${name}, ${me}, clock_timestamp() + ${MEMBERSHIP_MS}::int * interval '1 millisecond')
    on conflict (name, member) do update set expires_at = excluded.expires_at`
}

interface Shares {
  /** Milliseconds until the membership of each live member ends. */
  readonly members: ReadonlyMap<string, number>
  readonly leases: readonly SliceLease[]
}

/** Live members, and every slice with its owner. The first process makes the slices. */
async function readShares(db: Db, name: string): Promise<Shares> {
  const [members, rows] = await Promise.all([
    db.execute<{ member: string; endsInMs: number }>(sql`
      select member,
        (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "endsInMs"
      from slice_members where name = ${name} and ${isLive}`),
    db.execute<{ slice: number; owner: string | null; number: string }>(sql`
      select slice, owner, number from slice_leases where name = ${name} order by slice`),
  ])
  if (rows.length < SLICES) {
    await db.execute(sql`
      insert into slice_leases (name, slice, number)
      select ${name}, slice, 0 from generate_series(0, ${SLICES - 1}) as slices(slice)
      on conflict do nothing`)
    return await readShares(db, name)
  }
  const live = new Map(members.map(({ member, endsInMs }) => [member, endsInMs]))
  const leases = rows.map(({ slice, owner, number }) => ({
    slice,
    owner,
    number: Number(number),
    isOwnerLive: owner !== null && live.has(owner),
  }))
  return { members: live, leases }
}

/**
 * Lists the given slices that have another owner now. The other slices are locked against a new owner until
 * the transaction ends; renewals and releases do not wait for the transaction. The server ends the
 * transaction of a process that freezes meanwhile.
 */
async function listLost(
  tx: Db,
  name: string,
  held: ReadonlyMap<number, number>,
  slices: readonly number[],
): Promise<readonly number[]> {
  const known = slices.flatMap((slice) => {
    const number = held.get(slice)
    return number === undefined ? [] : [{ slice, number }]
  })
  const still = await tx.execute<{ slice: number }>(sql`
    select l.slice,
      set_config('idle_in_transaction_session_timeout', ${String(IDLE_MS_MAX)}::text, true)
    from slice_leases l
      join jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as h(slice smallint, number bigint)
        on l.slice = h.slice and l.number = h.number
    where l.name = ${name}
    for key share of l`)
  const locked = new Set(still.map(({ slice }) => slice))
  return slices.filter((slice) => !locked.has(slice))
}
