/** Load on service processes: requests of one person, and ledger entries whose alerts go to a receiver. */
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { ReceivedRequest } from '#sandbox/receiver.ts'
import { credit, debit } from '#src/billing/account/service.ts'
import { type Connection, transact } from '#src/db/connection.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'

/** Credits of a watched wallet move around this limit. */
const LIMIT = 1000

/** Acknowledged and failed writes and requests. */
export interface Load {
  /** References of the ledger entries whose transactions were acknowledged. */
  readonly acknowledged: string[]
  /** Times of the acknowledgements, in milliseconds of `performance.now()`. */
  readonly times: number[]
  /** Number of requests with the expected answer. */
  answered: number
  /** Errors of requests and transactions. */
  readonly failures: string[]
}

/** An empty load. */
export function newLoad(): Load {
  return { acknowledged: [], times: [], answered: 0, failures: [] }
}

/** The person whose requests are sent. */
export const PERSON = PEOPLE.alice.account

/** A wallet of the load. */
export function walletOf(index: number): Address {
  return `0x${index.toString(16).padStart(40, '0')}`
}

/**
 * Sends one request to the API of a process.
 * @throws Error for every answer without success
 */
export async function call(
  base: string,
  token: string,
  method: string,
  path: string,
  body?: object,
) {
  const response = await fetch(`${base}/api/x402${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Signs the person in and returns a token. */
export async function signIn(base: string): Promise<string> {
  const asked = { wallet: PERSON.address, scopes: ['write', 'spend'], label: 'rehearsal' }
  const { message } = await call(base, '', 'POST', '/auth/challenge', asked)
  const signature = await PERSON.signMessage({ message })
  const { token } = await call(base, '', 'POST', '/auth/token', { message, signature })
  return token
}

/** A watch of the wallet's own credits that sends each change to the receiver. */
export async function watchCredits(base: string, token: string, hook: string): Promise<void> {
  const { currentVersion } = await call(base, token, 'GET', '/account/terms')
  await call(base, token, 'POST', '/account/terms', { version: currentVersion })
  await call(base, token, 'POST', '/subscriptions/trial')
  await call(base, token, 'PUT', '/channels/webhook', { url: hook })
  await call(base, token, 'POST', '/watches', {
    type: 'credits-balance',
    target: {},
    settings: { limit: LIMIT },
    cooldownSeconds: 0,
  })
}

/**
 * Credits and debits a wallet across the limit until the load stops, and records what is acknowledged. A
 * failed transaction is recorded and not repeated: whether it was written is unknown.
 */
export async function write(
  { db }: Pick<Connection, 'db'>,
  wallet: Address,
  { load, pauseMs, stop }: { load: Load; pauseMs: number; stop: AbortSignal },
): Promise<void> {
  let isHigh = false
  for (let count = 0; !stop.aborted; count += 1) {
    const reference = `rehearsal:${wallet}:${count}`
    const entry = { wallet, amountCredits: count === 0 ? LIMIT - 5 : 10, reference, at: new Date() }
    try {
      // So many changes would impose a cooldown, and nothing more would be sent.
      await db.execute(sql`update signal_states set changes = '{}', cooldown_until = null`)
      await transact(db, async (tx) => {
        if (isHigh) await debit(tx, { ...entry, type: 'usage' })
        else await credit(tx, { ...entry, type: 'topup' })
      })
      load.acknowledged.push(reference)
      load.times.push(performance.now())
      if (count > 0) isHigh = !isHigh
    } catch (error) {
      load.failures.push(String(error))
    }
    await wait(pauseMs)
  }
}

/** Reads and writes through the API of a process until the load stops. */
export async function ask(
  base: string,
  token: string,
  { load, pauseMs, stop }: { load: Load; pauseMs: number; stop: AbortSignal },
): Promise<void> {
  const send = async (method: string, path: string, body?: object) => {
    try {
      const answer = await call(base, token, method, path, body)
      load.answered += 1
      return answer
    } catch (error) {
      load.failures.push(String(error))
      return undefined
    }
  }
  while (!stop.aborted) {
    for (const path of ['/watches', '/alerts', '/account', '/recipients']) await send('GET', path)
    const settings = await send('GET', '/settings')
    if (settings !== undefined) {
      const { version: _, ...same } = settings
      await send('PUT', '/settings', same)
    }
    await wait(pauseMs)
  }
}

/**
 * Evaluates the load: waits, at most a minute, until each alert has arrived.
 *
 * @param deliveries the deliveries that the receiver got
 */
export async function judge(
  { sql }: Pick<Connection, 'sql'>,
  load: Load,
  deliveries: readonly ReceivedRequest[],
) {
  const rows = await sql<{ reference: string }[]>`
    select reference from ledger_entries where reference like 'rehearsal:%'`
  const stored = new Set(rows.map(({ reference }) => reference))
  const alerts = await sql<{ id: string }[]>`select id::text from alerts`
  const deadline = performance.now() + MINUTE_MS
  const missing = () => {
    const arrived = new Set(deliveries.map(({ json }) => String(alertOf(json))))
    return alerts.filter(({ id }) => !arrived.has(id)).length
  }
  while (missing() > 0 && performance.now() < deadline) await wait(200)
  const ids = deliveries.map(({ headers }) => headers['webhook-id'])
  const gapsMs = load.times.slice(1).map((at, index) => at - (load.times[index] ?? at))
  return {
    acknowledgedWrites: load.acknowledged.length,
    lostWrites: load.acknowledged.filter((reference) => !stored.has(reference)).length,
    longestWithoutWritesMs: Math.round(Math.max(...gapsMs)),
    alerts: alerts.length,
    undelivered: missing(),
    deliveredTwice: ids.length - new Set(ids).size,
  }
}

function alertOf(json: unknown): unknown {
  return typeof json === 'object' && json !== null && 'alertId' in json ? json.alertId : undefined
}
