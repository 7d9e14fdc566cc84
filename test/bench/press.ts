import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'
import { getAddress } from 'viem/utils'
import { z } from 'zod'
import { packed } from '#src/actions/codec.ts'
import { connect } from '#src/db/connection.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { busyLine, type CoreShares, measureSides } from './core-shares.ts'
import { withDatabase } from './database.ts'
import { type Measurement, median } from './report.ts'
import { findPostmaster } from './scale-cpu.ts'
import { type BenchServer, startServer } from './start-server.ts'
import { waitUntil } from './wait-until.ts'

const CHATS = 10_000
const PRESSES_PER_SECOND = 50
const ROUNDS = 5
const SECONDS = 10
const WARM_SECONDS = 5
const P50_GOAL_MS = 25
const P99_GOAL_MS = 100
const LIVING_ID = 5
const FIRST_CHAT = 1000

/**
 * Measures 50 presses a second in 10,000 linked chats: the time from the update at the webhook to the screen at the
 * Bot API. The floor runs the same SQL statements without the service. PostgreSQL flushes every commit to disk.
 */
export async function benchPress(): Promise<readonly Measurement[]> {
  return withDatabase(
    async (databaseUrl) => {
      const postmaster = await fillChats(databaseUrl)
      const api = await startServer('./press-api.ts')
      const service = await startServer('./press-subject.ts', databaseUrl, api.url)
      const floor = await startServer('./press-floor.ts', databaseUrl, api.url)
      try {
        const press = createPresses(api.url, postmaster)
        await press(floor, WARM_SECONDS)
        await press(service, WARM_SECONDS)
        const rounds: { subject: Run; floor: Run }[] = []
        for (let round = 0; round < ROUNDS; round++) {
          const below = await press(floor, SECONDS)
          rounds.push({ floor: below, subject: await press(service, SECONDS) })
        }
        const [last] = rounds.slice(-1)
        if (last) process.stdout.write(busyLine('press', last.subject.busy, last.floor.busy))
        return [
          measurement('p50', rounds, ({ p50Ms }) => p50Ms, P50_GOAL_MS),
          measurement('p99', rounds, ({ p99Ms }) => p99Ms, P99_GOAL_MS),
        ]
      } finally {
        floor.stop()
        service.stop()
        api.stop()
      }
    },
    { durable: true },
  )
}

interface Run {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly busy: CoreShares
}

const Times = z.array(z.tuple([z.number(), z.number()]))
/** Data of the buttons that are pressed in turn; each opens another screen. */
const SCREENS = [
  () => packed('home'),
  () => packed('watch.list', { page: 1 }),
  (chat: number) => packed('watch.card', { id: chat + 1 }),
]

/**
 * Makes a run of presses: each in another chat, so that no one waits for an earlier press of the same chat.
 */
function createPresses(apiUrl: string, postmaster: number) {
  let presses = 0
  return async ({ url, pid }: BenchServer, seconds: number): Promise<Run> => {
    const pool = new Pool(url, { connections: 16 })
    const sentAt = new Map<number, number>()
    const startedAt = performance.now()
    const { busy } = await measureSides({ serverPid: pid, postmaster }, async () => {
      const sent: Promise<void>[] = []
      for (let number = 0; number < seconds * PRESSES_PER_SECOND; number++) {
        const earlyMs = startedAt + (number * 1000) / PRESSES_PER_SECOND - performance.now()
        if (earlyMs > 0) await wait(earlyMs)
        const chat = presses++ % CHATS
        sentAt.set(FIRST_CHAT + chat, performance.timeOrigin + performance.now())
        sent.push(send(pool, presses, chat))
      }
      await Promise.all(sent)
      await waitUntil('all screens arrived', async () => {
        const there = Number(await (await fetch(`${apiUrl}/count`)).text())
        return there >= sentAt.size
      })
    })
    await pool.close()
    const arrived = new Map(Times.parse(await (await fetch(`${apiUrl}/take`)).json()))
    const waits = [...sentAt].map(([chat, at]) => (arrived.get(chat) ?? Number.NaN) - at)
    if (waits.some(Number.isNaN)) throw new Error('a press was not answered')
    waits.sort((a, b) => a - b)
    const at = (share: number) => waits[Math.ceil(waits.length * share) - 1] ?? Number.NaN
    return { p50Ms: at(0.5), p99Ms: at(0.99), busy }
  }
}

async function send(pool: Pool, updateId: number, chat: number): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/telegram/webhook',
    headers: {
      'content-type': 'application/json',
      'x-telegram-bot-api-secret-token': 'bench',
    },
    body: JSON.stringify(pressOf(updateId, chat)),
  })
  await body.dump()
  if (statusCode !== 200) throw new Error(`the webhook answered ${statusCode}`)
}

function pressOf(updateId: number, chat: number) {
  const id = FIRST_CHAT + chat
  const data = SCREENS[updateId % SCREENS.length]?.(chat)
  return {
    update_id: updateId,
    callback_query: {
      id: String(updateId),
      from: { id, is_bot: false, first_name: `Person ${id}`, language_code: 'en' },
      chat_instance: String(id),
      data,
      message: {
        message_id: LIVING_ID,
        date: 1,
        chat: { id, type: 'private', first_name: `Person ${id}` },
        from: { id: 1, is_bot: true, first_name: 'Bench', username: 'bench_bot' },
        text: 'A screen',
        reply_markup: { inline_keyboard: [[{ text: 'Open', callback_data: data }]] },
      },
    },
  }
}

function measurement(
  measure: string,
  rounds: readonly { subject: Run; floor: Run }[],
  pick: (run: Run) => number,
  goalMs: number,
): Measurement {
  const value = median(rounds.map(({ subject }) => pick(subject)))
  return {
    bench: 'press',
    measure: `${PRESSES_PER_SECOND} presses/s, ${CHATS} chats, ${measure}`,
    value,
    unit: 'ms',
    floor: median(rounds.map(({ floor }) => pick(floor))),
    ratio: median(rounds.map(({ subject, floor }) => pick(subject) / pick(floor))),
    goal: `<= ${goalMs} ms`,
    met: value <= goalMs,
  }
}

/** Writes linked chats, each with a wallet and a watch of its own. Returns the process id of PostgreSQL. */
async function fillChats(databaseUrl: string): Promise<number> {
  const { sql, close } = connect(databaseUrl)
  // The key of the test environment.
  const box = createSecretBox(Buffer.alloc(32, 7))
  const chats = Array.from({ length: CHATS }, (_, index) => {
    const id = FIRST_CHAT + index
    const wallet = getAddress(`0x${(index + 1).toString(16).padStart(40, '0')}`)
    return { id, wallet, destination: box.seal('destination', JSON.stringify({ chatId: id })) }
  })
  await sql`create unlogged table bench_chats as
    select * from jsonb_to_recordset(${sql.json(chats)}::jsonb) as made (id bigint, wallet text, destination text)`
  // Updates of the floor have a table of their own: the service must not find them.
  await sql`create table bench_updates (like telegram_updates including all)`
  await sql`insert into telegram_chats (id, kind, title, locale, current_message_id, created_at, updated_at)
    select id, 'private', 'Person ' || id, 'en', ${LIVING_ID}, now(), now() from bench_chats`
  await sql`insert into recipients (wallet, channel, own, name, destination, target, partition_key, locale, timezone, status,
      switched_at, min_severity, is_default, chat_id, chat_scopes, linked_by, created_at, updated_at)
    select wallet, 'telegram', false, 'Chat', destination, '', id::text, 'en', 'UTC', 'active', now(), 'info', true,
      id, '{read,write}', id, now(), now() from bench_chats`
  await sql`insert into targets (type, key, target, watch_count, must_judge)
    select 'wallet-balance', wallet, jsonb_build_object('address', wallet, 'asset', 'FLR'), 1, true
    from bench_chats order by id`
  await sql`insert into watches (wallet, type, target_id, label, settings, signals, min_severity,
      cooldown_seconds, status, version, created_at, updated_at)
    select key, type, id, 'Bench ' || id, '{"threshold":"1","direction":"any"}', '[]', 'info', 0, 'active', 1,
      now(), now()
    from targets order by id`
  await sql`analyze`
  const postmaster = await findPostmaster(sql)
  await close()
  return postmaster
}
