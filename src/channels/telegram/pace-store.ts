import { createHash } from 'node:crypto'
import { and, eq, gt, inArray, ne, sql } from 'drizzle-orm'
import { type Db, transact } from '#src/db/connection.ts'
import { deleteBatch } from '#src/db/delete-batch.ts'
import { createBatcher } from '#src/kernel/batcher.ts'
import { telegramPaces } from '../tables.ts'
import {
  botFloodEnd,
  FLOODS_OF_BOT,
  holdFor,
  NEVER_SENT,
  type Pace,
  type PaceLimits,
  type SharedPaces,
  takeTurn,
} from './pace-rules.ts'

/** Key of the row of the bot as a whole. */
const BOT = 0

/** A request for a turn, and the row of its chat. */
interface TurnRequest {
  /** Key of the chat's row; undefined if the call counts for the bot only. */
  readonly rowKey: number | undefined
  readonly patienceMs: number
  readonly isGroup: boolean
}

type Taken = Awaited<ReturnType<SharedPaces['take']>>

/**
 * Requests of this process share one transaction at a time, because they would wait for the row of the bot
 * anyway.
 */
const TURNS = {
  batchesAtOnce: 1,
  groupsPerBatch: 100,
  itemsPerGroup: 1,
  itemsPerBatch: 100,
  waitingPerKeyMax: 1,
  itemsMax: 10_000,
} as const

/** Creates the paces of a bot that all processes on the database share. */
export function createStoredPaces(db: Db, botId: number, limits: PaceLimits): SharedPaces {
  const takeAll = (requests: readonly TurnRequest[]) =>
    transact(db, (tx) => takeTurns(tx, botId, requests, limits))
  const turns = createBatcher<TurnRequest, Taken>({
    ...TURNS,
    processTogether: async (groups) =>
      (await takeAll(groups.map(([request]) => request))).map((result) => [result]),
    processAlone: ([request]) => takeAll([request]),
  })
  return {
    take: async (chatId, { patienceMs, isGroup }) => {
      const rowKey = chatId === undefined ? undefined : placeOf(botId, chatId)
      const taken = turns.add(undefined, { rowKey, patienceMs, isGroup })
      return (await taken) ?? { isTaken: false, waitMs: limits.allMs }
    },
    flood: (chatId, ms) =>
      transact(db, async (tx) => {
        const rowKey = placeOf(botId, chatId)
        const { now, pace: bot } = await lockBot(tx, botId)
        const [[, chat] = [rowKey, NEVER_SENT]] = await listPaces(tx, botId, [rowKey])
        await savePace(tx, botId, rowKey, holdFor(chat, now, ms), new Date(now))
        const end = botFloodEnd(await listFloodEnds(tx, botId, now))
        if (end !== undefined) await savePace(tx, botId, BOT, holdFor(bot, now, end - now))
      }),
  }
}

/** Takes turns one after another, in the order of the requests. */
async function takeTurns(
  tx: Db,
  botId: number,
  requests: readonly TurnRequest[],
  limits: PaceLimits,
): Promise<readonly Taken[]> {
  const { now, pace } = await lockBot(tx, botId)
  const places = requests.flatMap(({ rowKey }) => rowKey ?? [])
  const chats = new Map(await listPaces(tx, botId, places))
  const changed = new Map<number, Pace>()
  let bot = pace
  const taken = requests.map(({ rowKey, ...request }): Taken => {
    const chat = rowKey === undefined ? undefined : (chats.get(rowKey) ?? NEVER_SENT)
    const turn = takeTurn({ bot, chat }, { ...request, now }, limits)
    if (!turn.isTaken) return turn
    bot = turn.bot
    changed.set(BOT, bot)
    if (rowKey !== undefined) {
      chats.set(rowKey, turn.chat)
      changed.set(rowKey, turn.chat)
    }
    return { isTaken: true, waitMs: turn.waitMs }
  })
  for (const [rowKey, rowPace] of changed) await savePace(tx, botId, rowKey, rowPace)
  return taken
}

/** Hexadecimal digits of a hash that fit into a safe integer. */
const PLACE_DIGITS = 13

/**
 * Key of the row of a chat: a hash, above 0. So no id remains of a person who deletes their data, although
 * the reply that confirms the deletion writes a pace.
 */
function placeOf(botId: number, chatId: number): number {
  const hash = createHash('sha256').update(`pace of ${chatId} for ${botId}`).digest('hex')
  return Number.parseInt(hash.slice(0, PLACE_DIGITS), 16) + 1
}

/**
 * Locks the row of the bot, so that its turns are taken one after another, in all processes. The commit
 * does not wait for the disk, because the next turn would wait, too. If a crash of the database loses
 * turns, they are over when it is back.
 *
 * @returns the database's time after the row was locked
 */
async function lockBot(
  tx: Db,
  botId: number,
): Promise<{ readonly now: number; readonly pace: Pace }> {
  const [row] = await tx.execute<{ nextAt: Date; at: Date; now: Date }>(sql`
    insert into telegram_paces (bot_id, chat_id, next_at, at)
    values (${botId}, ${BOT}, clock_timestamp(), clock_timestamp())
    on conflict (bot_id, chat_id) do update set bot_id = excluded.bot_id
    returning next_at as "nextAt", at, clock_timestamp() as now,
      set_config('synchronous_commit', 'off', true)`)
  if (row === undefined) throw new Error('the row of the bot was not written')
  const pace = { nextAt: row.nextAt.getTime(), sentAt: [], at: row.at.getTime() }
  return { now: row.now.getTime(), pace }
}

/** Paces of chats by their rows. Only the process that has locked the bot reads them. */
async function listPaces(
  tx: Db,
  botId: number,
  places: readonly number[],
): Promise<readonly (readonly [number, Pace])[]> {
  if (places.length === 0) return []
  const rows = await tx
    .select({
      rowKey: telegramPaces.chatId,
      nextAt: telegramPaces.nextAt,
      sentAt: telegramPaces.sentAt,
      at: telegramPaces.at,
    })
    .from(telegramPaces)
    .where(and(eq(telegramPaces.botId, botId), inArray(telegramPaces.chatId, [...places])))
  return rows.map(({ rowKey, nextAt, sentAt, at }) => [
    rowKey,
    { nextAt: nextAt.getTime(), sentAt, at: at.getTime() },
  ])
}

async function savePace(
  tx: Db,
  botId: number,
  rowKey: number,
  { nextAt, sentAt, at }: Pace,
  floodedAt?: Date,
): Promise<void> {
  const pace = {
    nextAt: new Date(nextAt),
    sentAt,
    at: new Date(at),
    ...(floodedAt !== undefined && { floodedAt }),
  }
  await tx
    .insert(telegramPaces)
    .values({ botId, chatId: rowKey, ...pace })
    .onConflictDoUpdate({ target: [telegramPaces.botId, telegramPaces.chatId], set: pace })
}

/** Ends of the waits of chats that recently got a response 429, in milliseconds. */
async function listFloodEnds(tx: Db, botId: number, now: number): Promise<readonly number[]> {
  const since = new Date(now - FLOODS_OF_BOT.withinMs)
  const rows = await tx
    .select({ nextAt: telegramPaces.nextAt })
    .from(telegramPaces)
    .where(
      and(
        eq(telegramPaces.botId, botId),
        ne(telegramPaces.chatId, BOT),
        gt(telegramPaces.floodedAt, since),
      ),
    )
  return rows.map(({ nextAt }) => nextAt.getTime())
}

/**
 * Deletes paces of chats that could send again before a time.
 *
 * @returns their number, at most `limit`
 */
export function deletePaces(db: Db, before: Date, limit: number): Promise<number> {
  const where = sql`${telegramPaces.chatId} <> ${BOT} and ${telegramPaces.nextAt} < ${before}`
  return deleteBatch(db, telegramPaces, { id: ['botId', 'chatId'], where, limit })
}
