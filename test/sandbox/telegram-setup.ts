import { Bot, GrammyError } from 'grammy'
import { afterEach, beforeEach } from 'vitest'
import { startTelegramApi, type TelegramApi } from '#sandbox/telegram-api.ts'

export const TOKEN = '4242:test-token'
export const NOON = new Date('2026-11-20T12:00:00Z')

/** Clock of the server; reset to noon for each test. */
export const time = { now: NOON }

/** The server of the running test. */
export let api: TelegramApi

/** A real client of it. */
export let bot: Bot

/** Steps that end what a test started, the last one first. */
export const undo: (() => unknown)[] = []

/** Gives each test of a file a server and a client of its own. */
export function useTelegram(): void {
  beforeEach(async () => {
    time.now = NOON
    await start({})
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })
}

/** Starts another server, which takes the place of the first one. */
export async function start(options: { rates?: boolean }): Promise<void> {
  const own = await startTelegramApi({
    token: TOKEN,
    username: 'watchdog_bot',
    firstName: 'Watchdog',
    clock: { now: () => time.now },
    webhookPauseMs: 5,
    ...options,
  })
  undo.push(() => own.close())
  api = own
  bot = new Bot(TOKEN, { client: { apiRoot: own.url } })
}

/** Lets the bot poll until the test ends. */
export async function polling(): Promise<void> {
  const own = bot
  own.catch(() => {})
  await new Promise<void>((ready) => {
    const run = own.start({ onStart: () => ready(), timeout: 30 })
    undo.push(async () => {
      await own.stop()
      await run
    })
  })
}

/** Code and description of a call that was refused; throws when it was not. */
export async function refusal(call: Promise<unknown>): Promise<{ code: number; text: string }> {
  try {
    await call
  } catch (error) {
    if (error instanceof GrammyError) return { code: error.error_code, text: error.description }
    throw error
  }
  throw new Error('the call was not refused')
}

/** Ann, with the id of her chat. */
export function ann(started = true): number {
  return api.person({ firstName: 'Ann', languageCode: 'en', username: 'ann', started }).id
}
