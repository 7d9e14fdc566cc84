import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { makeSecret } from '#src/channels/hooks/webhook.ts'
import { type Connection, connect } from '#src/db/connection.ts'
import { enqueue, type NewDelivery, newDeliveryId } from '#src/delivery/service.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { createYearOfPartitions, withDatabase } from './database.ts'
import { fillHooks, type WalletWithHook } from './delivery-hooks.ts'
import { fillHeads } from './fill-heads.ts'
import type { Measurement } from './report.ts'
import { startServer } from './start-server.ts'

const DEAD = 1000
const ROWS_EACH = 1000
const ALERTS_PER_SECOND = 20
const SECONDS = 15
const WARM_SECONDS = 3
const HEALTHY = 100
const GOAL_RATIO = 3
const PATIENCE_MS = 120_000

/**
 * Latency of an alert from its insertion to a healthy receiver, at a modest rate, while a million
 * deliveries to a thousand dead destinations are unfinished and half of them due; compared with the
 * latency without them. Half of the dead destinations refuse, half never answer.
 */
export async function benchBacklog(): Promise<readonly Measurement[]> {
  const receiver = await startServer('./delivery-receiver.ts', '')
  const silent = createServer((socket) => socket.on('error', () => undefined))
  silent.listen(0, '0.0.0.0')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const [url = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(
      async (databaseUrl) => {
        const connection = connect(databaseUrl, { statementTimeoutMs: 0 })
        try {
          await createYearOfPartitions(connection, systemClock.now())
          const hooks = await fillHooks(connection, url, HEALTHY)
          const scene = { databaseUrl, url, hooks }
          const alone = await measure(connection, scene)
          await fillBacklog(connection, port)
          const behind = await measure(connection, scene)
          return [compared('p50', behind.p50, alone.p50), compared('p99', behind.p99, alone.p99)]
        } finally {
          await connection.close()
        }
      },
      { durable: true },
    )
  } finally {
    receiver.stop()
    silent.close()
  }
}

interface Scene {
  readonly databaseUrl: string
  readonly url: string
  readonly hooks: readonly WalletWithHook[]
}

interface Latencies {
  readonly p50: number
  readonly p99: number
}

/**
 * Writes deliveries that have failed for hours: their retries are due between 14 hours ago and 14 hours from now.
 */
async function fillBacklog(connection: Connection, silentPort: number): Promise<void> {
  const { sql } = connection
  const box = createSecretBox(Buffer.alloc(32, 7))
  const at = systemClock.now()
  const begin = newDeliveryId(at).slice(0, 13)
  const envelope = JSON.stringify(envelopeOf({ message: { fields: [], body: '' } }))
  for (let host = 0; host < DEAD; host += 1) {
    const authority = `127.${1 + (host >> 8)}.${host & 255}.1:${host % 2 === 0 ? silentPort : 1}`
    const hook = { url: `http://${authority}/hook`, secret: makeSecret() }
    const destination = box.seal('destination', JSON.stringify(hook))
    await sql`
      with dead as (
        insert into recipients (wallet, channel, own, destination, target, partition_key, locale, timezone,
          status, switched_at, min_severity, is_default, created_at, updated_at)
        values ('0x' || lpad(to_hex(${1_000_000 + host}::int), 40, '0'), 'webhook', true,
          ${destination}, '', ${authority}, 'en', 'UTC', 'active', ${at}, 'info', true, ${at}, ${at})
        returning id, wallet
      )
      insert into delivery_queue (id, wallet, recipient_id, channel, partition_key, order_key, fired_at, position,
        envelope, kind, recovery, test, urgency, status, attempts, next_attempt_at, created_at)
      select (${begin} || substr(gen_random_uuid()::text, 14))::uuid, dead.wallet, dead.id, 'webhook',
        ${authority}, dead.id || ' ' || n, ${at}, n, ${envelope}::json, 'alert', false, false, n % 3,
        'retrying', 3, ${at}::timestamptz + (random() - 0.5) * interval '28 hours', ${at}
      from dead, generate_series(1, ${ROWS_EACH}::int) n`
  }
  await sql`analyze delivery_queue`
  await fillHeads(connection)
}

/** Milliseconds from the insertion of an alert to its first bytes at the receiver. */
async function measure(connection: Connection, { databaseUrl, url, hooks }: Scene) {
  const worker = await startServer('./delivery-subject.ts', databaseUrl)
  try {
    await sendAll(connection, { url, hooks, seconds: WARM_SECONDS })
    return await sendAll(connection, { url, hooks, seconds: SECONDS })
  } finally {
    worker.stop()
  }
}

async function sendAll(
  { db }: Connection,
  run: {
    readonly url: string
    readonly hooks: readonly WalletWithHook[]
    readonly seconds: number
  },
): Promise<Latencies> {
  const count = run.seconds * ALERTS_PER_SECOND
  const writtenAt = new Map<string, number>()
  const startedAt = performance.now()
  const writing: Promise<void>[] = []
  for (let index = 0; index < count; index += 1) {
    const dueAt = startedAt + (index * 1000) / ALERTS_PER_SECOND
    const earlyMs = dueAt - performance.now()
    if (earlyMs > 0) await wait(earlyMs)
    const hook = run.hooks[index % run.hooks.length]
    if (hook === undefined) throw new Error('there are no receivers')
    const now = systemClock.now()
    const id = newDeliveryId(now)
    writtenAt.set(id, performance.timeOrigin + dueAt)
    const { wallet, recipientId, partitionKey } = hook
    const row: NewDelivery = {
      id,
      wallet,
      alertId: null,
      recipientId,
      channel: 'webhook',
      partitionKey,
      orderKey: id,
      firedAt: now,
      position: index,
      envelope: envelopeOf({ deliveryId: id, message: { severity: 'warning' } }),
      createdAt: now,
      status: 'pending',
    }
    writing.push(db.transaction((tx) => enqueue(tx, [row])))
  }
  await Promise.all(writing)
  const endsAt = performance.now() + PATIENCE_MS
  while (Number(await (await fetch(run.url)).text()) < count) {
    if (performance.now() > endsAt) throw new Error('not all alerts arrived')
    await wait(100)
  }
  const arrivals: readonly (readonly [string, number])[] = await (
    await fetch(`${run.url}take`)
  ).json()
  const waits = arrivals.map(([id, at]) => at - (writtenAt.get(id) ?? Number.NaN))
  waits.sort((a, b) => a - b)
  const at = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

function compared(which: string, value: number, floor: number): Measurement {
  const ratio = value / floor
  return {
    bench: 'backlog',
    measure: `${ALERTS_PER_SECOND} alerts/s to the wire past 1,000,000 unfinished, ${which}`,
    value,
    unit: 'ms',
    floor,
    ratio,
    goal: `<= ${GOAL_RATIO} times as long as without them`,
    met: ratio <= GOAL_RATIO,
  }
}
