/**
 * Work that is cut into slices, which processes share. Each member of the work takes its share of the slices, gives
 * surplus slices up when another process joins, and takes over those of a process that has died. Each slice is a lease,
 * so a write for it is refused once another process has taken it (`leases.ts`).
 */
import { sql } from 'drizzle-orm'
import { type Db, transact } from './connection.ts'
import {
  type Fence,
  FenceError,
  IS_LIVE,
  IS_OWNER_LIVE,
  type Leases,
  MEMBERSHIP_MS,
  transactHolding,
} from './leases.ts'
import { planShare, type SliceLease } from './slice-shares.ts'

/** Number of slices, which is also the maximum number of processes that can share the work. */
export const SLICES = 32
/** Channel that is notified when slices become free. */
export const SLICES_CHANNEL = 'slices'
/** Pause between two calls of `share`. */
export const SHARE_INTERVAL_MS = 500
/** `share` renews a membership that ends earlier than this, in milliseconds from now. */
const ENDS_SOON_MS = MEMBERSHIP_MS / 2
/** A process that has not called `share` for this long does not renew its membership: it cannot work for its slices. */
const STALLED_MS = 30_000

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
  leases,
  name,
  wakes,
}: {
  readonly db: Db
  readonly leases: Leases
  readonly name: string
  readonly wakes: readonly string[]
}): Slices {
  const me = leases.owner
  /** Held slices with their fencing numbers. */
  let held = new Map<number, number>()
  /** End of the last `share`, by `performance.now()`; undefined before the first. */
  let sharedAtMs: number | undefined

  const isActive = () => sharedAtMs !== undefined && performance.now() - sharedAtMs <= STALLED_MS

  async function take(free: readonly number[], count: number): Promise<void> {
    if (count === 0 || free.length === 0) return
    const taken = await db.execute<{ item: string; number: string }>(sql`
      with free as (
        select l.item from leases l
        where l.work = ${name} and l.item = any(${sql.param(free.map(String))}::text[])
          and (l.owner is null or not ${sql.raw(IS_OWNER_LIVE)})
        order by l.item limit ${count} for update skip locked
      )
      update leases l set owner = ${me}, number = l.number + 1
      from free where l.work = ${name} and l.item = free.item
      returning l.item, l.number`)
    for (const { item, number } of taken) held.set(Number(item), Number(number))
  }

  async function giveUp(slices: readonly number[]): Promise<void> {
    if (slices.length === 0) return
    for (const slice of slices) held.delete(slice)
    await db.execute(sql`
      update leases set owner = null
      where work = ${name} and item = any(${sql.param(slices.map(String))}::text[]) and owner = ${me}`)
    await notify(db, [SLICES_CHANNEL])
  }

  /** Reads the shares. If the membership ends soon or has ended, renews it first and reads again. */
  async function readAsMember(): Promise<Shares> {
    const shares = await readShares(db, name)
    const endsInMs = shares.members.get(me)
    if (endsInMs !== undefined && endsInMs > ENDS_SOON_MS) return shares
    await leases.renew()
    return await readShares(db, name)
  }

  function hold(): HeldSlices {
    const numbers = new Map(held)
    const isHeld = (slice: number) => numbers.has(slice) && held.get(slice) === numbers.get(slice)
    return {
      held: () => [...numbers.keys()].filter(isHeld).sort((a, b) => a - b),
      isHeld,
      fenceOf: (slices) => ({
        transact: async (of, work) => {
          const asked = new Map(slices.map((slice) => [String(slice), numbers.get(slice)]))
          try {
            return await transactHolding(of, { work: name, numbers: asked }, work)
          } catch (error) {
            if (error instanceof FenceError)
              for (const item of error.items) numbers.delete(Number(item))
            throw error
          }
        },
      }),
    }
  }

  return {
    held: () => hold().held(),
    isHeld: (slice) => held.has(slice),
    fenceOf: (slices) => hold().fenceOf(slices),
    hold,
    async share() {
      sharedAtMs ??= performance.now()
      leases.join(name, isActive)
      const { members, shares } = await readAsMember()
      const before = held
      held = new Map(
        shares.flatMap(({ owner, slice, number }) => (owner === me ? [[slice, number]] : [])),
      )
      const move = planShare(me, new Set(members.keys()), shares)
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
      await leases.leave(name)
      await notify(db, [SLICES_CHANNEL])
    },
  }
}

async function notify(db: Db, channels: readonly string[]): Promise<void> {
  await db.execute(sql`
    select pg_notify(channel, '') from unnest(${sql.param([...channels])}::text[]) as channels(channel)`)
}

interface Shares {
  /** Milliseconds until the membership of each live member ends. */
  readonly members: ReadonlyMap<string, number>
  readonly shares: readonly SliceLease[]
}

/** Live members, and every slice with its owner. The first process makes the slices. */
async function readShares(db: Db, name: string): Promise<Shares> {
  const [members, rows] = await Promise.all([
    db.execute<{ process: string; endsInMs: number }>(sql`
      select process,
        (extract(epoch from expires_at - clock_timestamp()) * 1000)::float8 as "endsInMs"
      from members m where work = ${name} and ${sql.raw(IS_LIVE)}`),
    db.execute<{ slice: number; owner: string | null; number: string }>(sql`
      select item::integer as slice, owner, number from leases where work = ${name} order by 1`),
  ])
  if (rows.length < SLICES) {
    await db.execute(sql`
      insert into leases (work, item, number)
      select ${name}, slice, 0 from generate_series(0, ${SLICES - 1}) as slices(slice)
      on conflict do nothing`)
    return await readShares(db, name)
  }
  const live = new Map(members.map(({ process, endsInMs }) => [process, endsInMs]))
  const shares = rows.map(({ slice, owner, number }) => ({
    slice,
    owner,
    number: Number(number),
    isOwnerLive: owner !== null && live.has(owner),
  }))
  return { members: live, shares }
}
