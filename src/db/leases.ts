/**
 * Leases: which process does which work. A process is a member of the works that it joined while it renews its
 * membership, by the clock of the database, and a lease counts while its owner is a member. So a process that was killed,
 * frozen or cut off is followed within seconds, whatever becomes of its connections.
 *
 * A process may not know yet that its lease was taken over. Each lease has a fencing number, which grows with every
 * owner, and a write under an older number is refused.
 *
 * @see Martin Kleppmann, "How to do distributed locking": fencing tokens
 */
import { randomUUID } from 'node:crypto'
import { sql as query } from 'drizzle-orm'
import type { Sql } from 'postgres'
import { endsWithin } from '#src/kernel/ends-within.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { arrayLiteral } from './arrays.ts'
import { type Db, transact } from './connection.ts'
import { reportOutage } from './outage.ts'
import { connectionLostError, openSession, runAtClose } from './session.ts'
import { withEndSignal } from './transaction-scope.ts'

/** Pause between two renewals of the membership. */
const RENEWAL_MS = 500
/** A member that has not renewed for this long counts as dead; five renewals may fail. */
export const MEMBERSHIP_MS = 3500
/** Longest wait for a renewal, after which the next one opens another connection. */
const ANSWER_MS = 3000
/** Longest wait for the last statement of a process that stops. */
const LEAVE_MS = 1000
/** Members that died this long ago are deleted. */
const FORGET_MS = 60_000
const FORGOTTEN_MAX = 10
/** Time after which the server ends a transaction whose process is frozen, so that its lease can be taken. */
const IDLE_MS_MAX = 4000
/** The work whose leases are jobs, each done by one process. */
const JOBS = 'jobs'

/** Thrown when a write is refused because another owner of a lease followed. */
export class FenceError extends Error {
  override readonly name = 'FenceError'
  /** Items of the leases that were lost. */
  readonly items: readonly string[]

  constructor(work: string, items: readonly string[]) {
    super(`leases of "${work}" were taken over: ${items}`)
    this.items = items
  }
}

/** The right to write under leases. */
export interface Fence {
  /**
   * Runs `work` in a transaction, or refuses if a lease has had another owner. While it runs, nobody takes the lease.
   *
   * @throws FenceError when another owner followed
   */
  transact<T>(db: Db, work: (tx: Db) => Promise<T>): Promise<T>
}

/** A lease that this process holds. */
export interface Lease {
  /** Aborted when the lease may belong to another process. Transactions under the fence end with it. */
  readonly signal: AbortSignal
  readonly fence: Fence & { readonly number: number }
  /** Gives the lease up. Idempotent. */
  release(): Promise<void>
}

/** The leases of a process. */
export interface Leases {
  /** Id of this process as an owner of leases. */
  readonly owner: string
  /** Takes the lease of a job; undefined while another holder has it, in this process or another. */
  tryTake(job: string): Promise<Lease | undefined>
  /**
   * Runs `work` while this process holds the lease of a job, so that only one process does it at a time.
   *
   * Waits for the lease. The signal passed to `work` is aborted with `signal`, or when the lease may be lost; `work` must
   * then stop at once. After a loss it is started again as soon as the lease is held again.
   *
   * @returns the result of `work`, or undefined when `signal` was aborted first
   */
  whileHolding<T>(
    job: string,
    signal: AbortSignal,
    work: (signal: AbortSignal, lease: Lease) => Promise<T>,
  ): Promise<T | undefined>
  /** Makes this process a member of a work, as long as `isActive` returns true at the renewals. */
  join(work: string, isActive: () => boolean): void
  /** Renews the membership now. */
  renew(): Promise<void>
  /** Ends the membership of a work. */
  leave(work: string): Promise<void>
}

/**
 * Runs `work` in a transaction under the fence. Without a fence, where there is a single writer, the transaction
 * is a plain one.
 *
 * @throws FenceError when another owner of the lease followed
 */
export function transactUnder<T>(
  fence: Fence | undefined,
  db: Db,
  work: (tx: Db) => Promise<T>,
): Promise<T> {
  return fence === undefined ? transact(db, work) : fence.transact(db, work)
}

/**
 * SQL condition: a member `m` is live. A membership that ends later than a new one would was written before the clock
 * was set back.
 */
export const IS_LIVE = `m.expires_at > clock_timestamp()
  and m.expires_at < clock_timestamp() + ${2 * MEMBERSHIP_MS} * interval '1 millisecond'`
/** SQL condition: the owner of a lease `l` is a live member. */
export const IS_OWNER_LIVE = `exists (
  select from members m where m.work = l.work and m.process = l.owner and ${IS_LIVE}
)`

/**
 * Runs `run` in a transaction, if none of these leases has another number. The server ends the transaction of a process
 * that freezes meanwhile; renewals and releases do not wait for it.
 *
 * @throws FenceError when one was lost
 */
export function transactHolding<T>(
  db: Db,
  { work, numbers }: { work: string; numbers: ReadonlyMap<string, number | undefined> },
  run: (tx: Db) => Promise<T>,
): Promise<T> {
  const asked = [...numbers].map(([item, number]) => ({ item, number: number ?? -1 }))
  return transact(db, async (tx) => {
    const held = await tx.execute<{ item: string }>(query`
      select l.item,
        set_config('idle_in_transaction_session_timeout', ${String(IDLE_MS_MAX)}::text, true)
      from leases l
        join jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as a(item text, number bigint)
          on l.item = a.item and l.number = a.number
      where l.work = ${work}
      for key share of l`)
    const locked = new Set(held.map(({ item }) => item))
    const lost = [...numbers.keys()].filter((item) => !locked.has(item))
    if (lost.length > 0) throw new FenceError(work, lost)
    return await run(tx)
  })
}

interface Held {
  readonly number: number
  readonly controller: AbortController
}

interface Waiter {
  /** Whether it goes on waiting if another process has the lease, or no answer comes. */
  readonly isPatient: boolean
  resolve(lease: Lease | undefined): void
  reject(error: unknown): void
}

interface Renewed {
  readonly item: string
  readonly number: string
  readonly isTaken: boolean
}

interface LeaseOptions {
  readonly log?: Logger
  /** False in tests of processes that renew when they are told to. */
  readonly isRenewing?: boolean
}

/**
 * Creates the leases of this process, which has none. Long because renewing, taking and losing share what is held.
 *
 * @param base opens the connection on which memberships are renewed, so that they wait for no other statement
 */
export function createLeases(base: Sql, { log, isRenewing = true }: LeaseOptions = {}): Leases {
  const owner = randomUUID()
  const held = new Map<string, Held>()
  const waiting = new Map<string, Set<Waiter>>()
  const joined = new Map<string, () => boolean>()
  /** Jobs whose rows exist. */
  const known = new Set<string>()
  let session: Sql | undefined
  let isClosed = false
  /** Start of the last renewal that succeeded, by `performance.now()`. */
  let renewedAtMs = Number.NEGATIVE_INFINITY
  let isFailing = false
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  const stopAtClose = runAtClose(base, close)

  function openedSession(): Sql {
    const opened = openSession(base, {
      onclose: () => {
        if (session === opened) session = undefined
      },
      // So that an operator sees which connection is the owner of a lease.
      connection: { application_name: `flare-watchdog ${owner}` },
    })
    session = opened
    return opened
  }

  function loseSession(): void {
    const closing = session
    session = undefined
    void closing?.end({ timeout: 0 }).catch(() => undefined)
  }

  function lose(job: string, lease: Held): void {
    if (held.get(job) !== lease) return
    held.delete(job)
    lease.controller.abort(connectionLostError())
  }

  /** Another process may have taken the leases of a membership that has ended. */
  function loseIfExpired(): void {
    if (performance.now() - renewedAtMs < MEMBERSHIP_MS) return
    for (const [job, lease] of [...held]) lose(job, lease)
  }

  function tick(): void {
    loseIfExpired()
    const isNeeded = held.size + waiting.size + joined.size > 0
    if (isNeeded && running === undefined) void renewSoon().catch(() => undefined)
  }

  function start(): void {
    if (isRenewing && timer === undefined && !isClosed) timer = setInterval(tick, RENEWAL_MS)
  }

  /** Starts a renewal at the end of this turn, or after the one in progress. */
  function renewSoon(): Promise<void> {
    next ??= (running ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => {
        running = next
        next = undefined
        return beat().finally(() => {
          running = undefined
        })
      })
    return next
  }

  /** Renews the memberships, and takes what is waited for and free. */
  async function beat(): Promise<void> {
    if (isClosed) throw connectionLostError()
    const wanted = [...waiting.keys()].filter((job) => !held.has(job))
    const impatient = [...waiting].flatMap(([job, waiters]) =>
      [...waiters].filter(({ isPatient }) => !isPatient).map((waiter) => ({ job, waiter })),
    )
    const before = [...held]
    const startedAtMs = performance.now()
    try {
      const used = session ?? openedSession()
      const answer = renewOn(used, wanted)
      if (!(await endsWithin(answer, ANSWER_MS))) {
        loseSession()
        throw connectionLostError()
      }
      const rows = await answer
      renewedAtMs = startedAtMs
      if (isFailing) log?.info({}, 'leases are renewed again')
      isFailing = false
      const numbers = new Map(rows.map(({ item, number }) => [item, Number(number)]))
      for (const [job, lease] of before) if (numbers.get(job) !== lease.number) lose(job, lease)
      for (const { item, number, isTaken } of rows) if (isTaken) grant(item, Number(number))
      for (const { job, waiter } of impatient) settle(job, waiter, () => waiter.resolve(undefined))
    } catch (error) {
      const isReported = isFailing || log === undefined || reportOutage(log, error)
      if (!isReported) log.warn({ error: loggableError(error) }, 'leases could not be renewed')
      isFailing ||= !isReported
      for (const { job, waiter } of impatient) settle(job, waiter, () => waiter.reject(error))
      throw error
    }
  }

  async function renewOn(used: Sql, wanted: readonly string[]): Promise<readonly Renewed[]> {
    const unknown = wanted.filter((job) => !known.has(job))
    if (unknown.length > 0) {
      await used`
        insert into leases (work, item, number)
        select ${JOBS}, item, 0 from unnest(${arrayLiteral(unknown)}::text[]) as items(item)
        on conflict do nothing`
      for (const job of unknown) known.add(job)
    }
    const works = [...joined].flatMap(([work, isActive]) => (isActive() ? [work] : []))
    if (held.size > 0 || waiting.size > 0) works.push(JOBS)
    return used<Renewed[]>`
      with renewed as (
        insert into members (work, process, expires_at)
        select work, ${owner}, clock_timestamp() + ${MEMBERSHIP_MS}::int * interval '1 millisecond'
        from unnest(${arrayLiteral(works)}::text[]) as works(work)
        on conflict (work, process) do update set expires_at = excluded.expires_at
      ), gone as (
        delete from members where (work, process) in (
          select work, process from members
          where process <> ${owner}
            and expires_at < clock_timestamp() - ${FORGET_MS}::int * interval '1 millisecond'
          limit ${FORGOTTEN_MAX} for update skip locked
        )
      ), free as (
        select l.item from leases l
        where l.work = ${JOBS} and l.item = any(${arrayLiteral(wanted)}::text[])
          and (l.owner is null or l.owner = ${owner} or not ${used.unsafe(IS_OWNER_LIVE)})
        for update skip locked
      ), taken as (
        update leases l set owner = ${owner}, number = l.number + 1
        from free where l.work = ${JOBS} and l.item = free.item
        returning l.item, l.number
      )
      select item, number, true as "isTaken" from taken
      union all
      select item, number, false from leases
      where work = ${JOBS} and owner = ${owner} and item <> all(${arrayLiteral(wanted)}::text[])`
  }

  function settle(job: string, waiter: Waiter, answer: () => void): void {
    const waiters = waiting.get(job)
    if (waiters?.delete(waiter) !== true) return
    if (waiters.size === 0) waiting.delete(job)
    answer()
  }

  /** Gives a lease that was taken to the first that waits for it, or back if nobody waits any more. */
  function grant(job: string, number: number): void {
    const [waiter] = waiting.get(job) ?? []
    if (waiter === undefined) {
      void releaseRow(job, number).catch(() => undefined)
      return
    }
    const lease = { number, controller: new AbortController() }
    held.set(job, lease)
    settle(job, waiter, () => waiter.resolve(toLease(job, lease)))
  }

  async function releaseRow(job: string, number: number): Promise<void> {
    const used = session ?? openedSession()
    await used`
      update leases set owner = null
      where work = ${JOBS} and item = ${job} and owner = ${owner} and number = ${number}`
  }

  function toLease(job: string, lease: Held): Lease {
    const { number } = lease
    const { signal } = lease.controller
    const leases = { work: JOBS, numbers: new Map([[job, number]]) }
    return {
      signal,
      fence: {
        number,
        transact: async (db, run) => {
          try {
            return await withEndSignal(signal, () => transactHolding(db, leases, run))
          } catch (error) {
            if (error instanceof FenceError) lose(job, lease)
            throw error
          }
        },
      },
      release: async () => {
        if (held.get(job) !== lease) return
        held.delete(job)
        // If it fails, the lease is free when the membership ends, or taken by this process again.
        await releaseRow(job, number).catch(() => undefined)
      },
    }
  }

  /** Waits until the lease is taken, and without patience only for one answer. */
  async function take(
    job: string,
    isPatient: boolean,
    signal?: AbortSignal,
  ): Promise<Lease | undefined> {
    if (isClosed) return undefined
    const { promise, resolve, reject } = Promise.withResolvers<Lease | undefined>()
    const waiter = { isPatient, resolve, reject }
    waiting.set(job, (waiting.get(job) ?? new Set()).add(waiter))
    const giveUp = () => settle(job, waiter, () => resolve(undefined))
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted) giveUp()
    start()
    void renewSoon().catch(() => undefined)
    try {
      return await promise
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  async function close(): Promise<void> {
    if (isClosed) return
    isClosed = true
    clearInterval(timer)
    stopAtClose()
    for (const [job, lease] of [...held]) lose(job, lease)
    for (const [job, waiters] of [...waiting])
      for (const waiter of [...waiters]) settle(job, waiter, () => waiter.resolve(undefined))
    const leaving =
      session &&
      session`
        with gone as (delete from members where process = ${owner})
        update leases set owner = null where owner = ${owner}`
    await endsWithin(
      leaving?.catch(() => undefined),
      LEAVE_MS,
    )
    await session?.end({ timeout: 0 })
  }

  return {
    owner,
    tryTake: (job) => (held.has(job) ? Promise.resolve(undefined) : take(job, false)),
    async whileHolding(job, signal, work) {
      while (!signal.aborted) {
        const lease = await take(job, true, signal)
        if (lease === undefined) return undefined
        try {
          const result = await work(AbortSignal.any([signal, lease.signal]), lease)
          if (!lease.signal.aborted) return result
        } catch (error) {
          const isStop = error instanceof Error && error.name === 'AbortError'
          if (!lease.signal.aborted && !(signal.aborted && isStop)) throw error
        } finally {
          await lease.release()
        }
      }
      return undefined
    },
    join(work, isActive) {
      joined.set(work, isActive)
      start()
    },
    renew: renewSoon,
    async leave(work) {
      joined.delete(work)
      const used = session ?? openedSession()
      await used`
        with gone as (delete from members where work = ${work} and process = ${owner})
        update leases set owner = null where work = ${work} and owner = ${owner}`
    },
  }
}
