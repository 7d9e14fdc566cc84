import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createLiveMessages,
  followSubject,
  type LiveCheck,
  type LiveKind,
  OVER,
} from '#bot/core/live-messages.ts'
import { findLive, wakeLive } from '#bot/core/live-store.ts'
import { screen } from '#bot/views/view.ts'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createChallenge } from '#src/auth/service.ts'
import { claimConnectCode, connectScopes } from '#src/recipients/connect.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { BOT_NAME } from '../support/harness.ts'
import { apiOf, changeLive, startLiveJobs } from '../support/live.ts'

/** Messages that a job changes later, whatever their kind. */

let world: BotWorld

beforeAll(async () => {
  world = await botWorld({ PUBLIC_URL: 'https://watchdog.example.org' })
})
afterAll(() => world.close())
beforeEach(async () => {
  world.clock.advance(90)
  await world.sql`delete from telegram_live_messages`
})

/** A process with these kinds. */
function processOf(kinds: Readonly<Record<string, LiveKind | LiveCheck>>) {
  const ofName = Object.entries(kinds).map(
    ([name, kind]) => [name, typeof kind === 'function' ? { check: kind } : kind] as const,
  )
  const deps = { app: world.app, api: apiOf(world), username: BOT_NAME }
  return createLiveMessages(() => deps, new Map(ofName))
}

/** A message of a new chat that follows a subject of this kind. */
async function followed(kind: string, handle?: string) {
  const chat = world.person()
  await chat.say('/help')
  const message = { chatId: chat.id, messageId: chat.last().id }
  const subject = { kind, wallet: null, ...(handle !== undefined && { handle }) }
  await followSubject(world.app, message, { ...subject, checkAfterMs: 0, expiresAt: null })
  return { chat, message }
}

const redraw =
  (text: string): LiveCheck =>
  async () => ({ kind: 'redraw', view: screen([text], []), nextAt: undefined })

/** A check that waits until it is let go on. */
function held(text: string) {
  const gate = Promise.withResolvers<void>()
  const begun: number[] = []
  const check: LiveCheck = async (...args) => {
    begun.push(args[1].messageId)
    await gate.promise
    return redraw(text)(...args)
  }
  return { check, begun, goOn: () => gate.resolve() }
}

/** What the page sends when a person signs there. */
async function signedClaim(code: string, name: 'bob' | 'carol') {
  const { account } = PEOPLE[name]
  const asked = { wallet: account.address, scopes: [...connectScopes(false)], label: undefined }
  const { message } = await createChallenge(world.app, asked)
  return { code, message, signature: await account.signMessage({ message }), timezone: 'UTC' }
}

const textOf = (chat: TestChat, { messageId }: { readonly messageId: number }) =>
  chat.all().find(({ id }) => id === messageId)?.text

describe('a message', () => {
  test('is changed by one of two processes that find it due at once', async () => {
    let checks = 0
    const check: LiveCheck = async (...args) => {
      checks += 1
      return redraw('once')(...args)
    }
    const { chat, message } = await followed('kind')
    const processes = [processOf({ kind: check }), processOf({ kind: check })]
    await Promise.all(processes.map((live) => live.run()))
    await Promise.all(processes.map((live) => live.settled()))
    expect(textOf(chat, message)).toBe('once')
    expect(checks).toBe(1)
    expect(await findLive(world.app.db, message)).toBeUndefined()
  })

  test('is changed by another process after one was killed during its check', async () => {
    const { chat, message } = await followed('kind')
    const killed = held('never')
    await processOf({ kind: killed.check }).run()
    await vi.waitFor(() => expect(killed.begun).toHaveLength(1))
    const other = processOf({ kind: redraw('by the other') })
    world.clock.advance(59)
    await other.run()
    await other.settled()
    expect(textOf(chat, message)).not.toBe('by the other')
    world.clock.advance(2)
    await other.run()
    await other.settled()
    expect(textOf(chat, message)).toBe('by the other')
    killed.goOn()
  })

  test('is not changed by a check during which it was pressed', async () => {
    const { chat, message } = await followed('kind')
    const { check, begun, goOn } = held('too late')
    const live = processOf({ kind: check })
    await live.run()
    await vi.waitFor(() => expect(begun).toHaveLength(1))
    const [[button] = []] = chat.labels()
    await chat.press(button ?? '')
    const shown = textOf(chat, message)
    goOn()
    await live.settled()
    expect(textOf(chat, message)).toBe(shown)
    expect(shown).not.toBe('too late')
  })

  test('whose subject changes during its check is checked again', async () => {
    const { chat, message } = await followed('kind', 'subject')
    let text = 'first'
    const live = processOf({
      kind: async () => {
        const view = screen([text], [])
        if (text === 'first') await wakeLive(world.app.db, ['subject'], world.clock.now())
        text = 'second'
        return { kind: 'redraw', view, nextAt: new Date(world.clock.now().getTime() + 3_600_000) }
      },
    })
    await live.run()
    await live.settled()
    expect(textOf(chat, message)).toBe('first')
    // Two changes of one message are a second apart.
    world.clock.advance(1)
    await live.run()
    await live.settled()
    expect(textOf(chat, message)).toBe('second')
  })

  test('of a chat that blocked the bot is forgotten, and others are changed', async () => {
    const blocked = await followed('kind')
    const { chat, message } = await followed('kind')
    world.telegram.block(blocked.chat.id)
    const live = processOf({ kind: redraw('new') })
    await live.run()
    await live.settled()
    expect(textOf(chat, message)).toBe('new')
    expect(await findLive(world.app.db, blocked.message)).toBeUndefined()
  })

  test('waits as long as Telegram orders, and half a minute after another failure', async () => {
    const { chat, message } = await followed('kind')
    const live = processOf({ kind: redraw('new') })
    const shownAfter = async (seconds: number) => {
      world.clock.advance(seconds)
      await live.run()
      await live.settled()
      return textOf(chat, message)
    }
    world.telegram.failNext('editMessageText', {
      error_code: 429,
      description: 'Too Many Requests: retry after 40',
      parameters: { retry_after: 40 },
    })
    await shownAfter(0)
    world.telegram.failNext('editMessageText', { error_code: 502, description: 'Bad Gateway' })
    expect(await shownAfter(39)).not.toBe('new')
    expect(await shownAfter(1)).not.toBe('new')
    expect(await shownAfter(29)).not.toBe('new')
    expect(await shownAfter(1)).toBe('new')
  })

  test('whose check fails by a bug is tried again, and others are changed', async () => {
    const bad = await followed('bad')
    const { chat, message } = await followed('kind')
    const live = processOf({
      kind: redraw('new'),
      bad: () => Promise.reject(new Error('a bug')),
    })
    await live.run()
    await live.settled()
    expect(textOf(chat, message)).toBe('new')
    const row = await findLive(world.app.db, bad.message)
    expect(row?.dueAt.getTime()).toBe(world.clock.now().getTime() + 30_000)
  })

  test('of a kind that this version does not have is forgotten', async () => {
    const { chat, message } = await followed('of another version')
    const before = chat.last()
    const live = processOf({ kind: redraw('new') })
    await live.run()
    await live.settled()
    expect(chat.last()).toEqual(before)
    expect(await findLive(world.app.db, message)).toBeUndefined()
  })
})

describe('messages whose checks take long', () => {
  test('hold up no others, and are checked two at once', async () => {
    const slow = held('slow')
    const live = processOf({
      slow: { check: slow.check, isSlow: true },
      quick: redraw('quick'),
    })
    const waiting = [await followed('slow'), await followed('slow'), await followed('slow')]
    await live.run()
    await vi.waitFor(() => expect(slow.begun).toHaveLength(2))
    // The next run begins although the checks of the one before have not ended.
    const { chat, message } = await followed('quick')
    await live.run()
    await vi.waitFor(() => expect(textOf(chat, message)).toBe('quick'))
    expect(slow.begun).toHaveLength(2)
    slow.goOn()
    await live.settled()
    expect(waiting.map((of) => textOf(of.chat, of.message))).toEqual(['slow', 'slow', 'slow'])
  })
})

test('a check that hangs holds up no other of its speed', async () => {
  const hanging = held('late')
  const live = processOf({ hanging: hanging.check, kind: redraw('new') })
  await followed('hanging')
  const { chat, message } = await followed('kind')
  await live.run()
  await vi.waitFor(() => expect(textOf(chat, message)).toBe('new'))
  hanging.goOn()
  await live.settled()
})

test('nothing more is checked after a stop, and the rest is due again when its lease ends', async () => {
  const stop = new AbortController()
  stop.abort()
  const check = vi.fn<LiveCheck>(async () => OVER)
  await followed('kind')
  const live = processOf({ kind: check })
  await live.run(new Set(), stop.signal)
  await live.settled()
  expect(check).not.toHaveBeenCalled()
})

describe('by a commit, without any time passing and by two processes', () => {
  test('a chat is told once that its code was used', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const code = ann.last().keyboard[0]?.[0]?.url?.split('/connect/')[1] ?? ''
    const claim = await signedClaim(code, 'bob')
    const stop = await startLiveJobs(world)
    const before = ann.all().length
    await claimConnectCode(world.app, claim)
    await world.telegram.waitFor(() => ann.last().text.includes('Connected'))
    await stop()
    expect(ann.all()).toHaveLength(before)
    expect(await world.sql`select 1 from telegram_live_messages where chat_id = ${ann.id}`).toEqual(
      [],
    )
  })

  test('a message with a link for a group asks which alerts the group gets', async () => {
    await world.giveSlots('alice', 1)
    const ann = await world.linked('alice')
    await world.addWatch('alice', { label: 'Treasury' })
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press('Group or person')
    await ann.press('Receive only')
    const card = ann.last()
    const add = card.keyboard.flat().find(({ text }) => text.startsWith('Add to a group'))
    const code = new URL(add?.url ?? '').searchParams.get('startgroup') ?? ''
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const group = world.chat(id, ann.id)
    await group.say(`/start@${BOT_NAME} ${code}`)
    const stop = await startLiveJobs(world)
    await group.press('Link this chat')
    const shown = () => ann.all().find((message) => message.id === card.id)?.text
    await world.telegram.waitFor(() => shown()?.includes('Which alerts should'))
    await stop()
  })
})

describe('the outcome of a connect code', () => {
  test('is told in a new message when the message with the code shows another screen', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const code = ann.last().keyboard[0]?.[0]?.url?.split('/connect/')[1] ?? ''
    await ann.press('‹ Back')
    const before = ann.last()
    const claim = await signedClaim(code, 'carol')
    const stop = await startLiveJobs(world)
    await claimConnectCode(world.app, claim)
    await world.telegram.waitFor(() => ann.last().text.includes('Connected'))
    await stop()
    expect(ann.last().id).toBeGreaterThan(before.id)
    expect(ann.all().find(({ id }) => id === before.id)?.text).toBe(before.text)
  })

  test('is found by the clock if its notification was lost', async () => {
    const ann = world.person()
    await ann.say('/connect')
    const code = ann.last().keyboard[0]?.[0]?.url?.split('/connect/')[1] ?? ''
    const claim = await signedClaim(code, 'carol')
    await claimConnectCode(world.app, claim)
    await changeLive(world)
    expect(ann.last().text).not.toContain('Connected')
    world.clock.advance(5)
    await changeLive(world)
    expect(ann.last().text).toContain('Connected')
  })
})
