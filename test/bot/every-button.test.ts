import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unpacked, VERB_NAMES } from '#bot/callback-data.ts'
import { changeChat } from '#bot/store.ts'
import { directionOf, LOCALES, type Locale } from '#src/kernel/locale.ts'
import type { ChatMessage } from '#src/sandbox/telegram/model.ts'
import { type BotWorld, botWorld, type Chatting } from '../support/bot.ts'

const ROWS_MAX = 8
const LABEL_BUDGETS = [24, 16, 10]

const worlds: BotWorld[] = []
const verbs = new Set<string>()

afterAll(async () => {
  for (const world of worlds) await world.close()
})

/** What may stand on a message, whatever the language. */
function check(message: ChatMessage): void {
  expect(message.text.length).toBeLessThanOrEqual(4096)
  expect(message.keyboard.length).toBeLessThanOrEqual(ROWS_MAX)
  for (const row of message.keyboard) {
    expect(row.length).toBeLessThanOrEqual(3)
    for (const { text, callback_data: data = '' } of row) {
      expect([...text].length, text).toBeLessThanOrEqual(LABEL_BUDGETS[row.length - 1] ?? 0)
      expect(Buffer.byteLength(data)).toBeLessThanOrEqual(64)
      expect(unpacked(data), data).toBeDefined()
    }
  }
}

function dataOf(message: ChatMessage): string[] {
  return message.keyboard.flat().map(({ callback_data: data = '' }) => data)
}

/** Presses every button that can be reached, once; what a press shows is looked at too. */
async function pressAll(world: BotWorld, chat: Chatting, locale: Locale): Promise<void> {
  const pressed = new Set<string>()
  const waiting = [...dataOf(chat.last())]
  for (let data = waiting.shift(); data !== undefined; data = waiting.shift()) {
    if (pressed.has(data)) continue
    pressed.add(data)
    const verb = unpacked(data)?.verb ?? ''
    verbs.add(verb)
    world.clock.advance(5)
    const press = world.telegram.pressRaw(chat.id, chat.last().id, data)
    await world.settle()
    expect((await press.answer()).text.length).toBeLessThanOrEqual(200)
    check(chat.last())
    if (verb === 'settings.langSet') {
      await changeChat(world.app.db, chat.id, { locale }, world.app.clock.now())
    }
    waiting.push(...dataOf(chat.last()))
  }
}

describe.each(LOCALES)('in %s', (locale) => {
  let world: BotWorld
  let chat: Chatting

  beforeAll(async () => {
    world = await botWorld()
    worlds.push(world)
    const name = directionOf(locale) === 'rtl' ? 'سلمى بنت عبد الرحمن' : 'Wolfgang Amadeus'
    chat = world.person(locale, name)
    const label = 'ওয়ালেট <b>&"\'_*[]()~` Ж'.repeat(3).slice(0, 40)
    const until = new Date(world.app.clock.now().getTime() + 30 * 86_400_000)
    await world.addWatch('alice', { label })
    await world.addWatch('alice', { label, status: 'paused' })
    await world.addWatch('alice', { label, status: 'suspended' })
    await world.addWatch('alice', { label, mutedUntil: until })
    for (const direction of ['any', 'up', 'down'] as const) {
      await world.addWatch('alice', { label: `عربي ${direction}`, direction })
    }
  })

  test('every button of every screen leads somewhere and is answered', async () => {
    await chat.say('/start')
    check(chat.last())
    await pressAll(world, chat, locale)
    for (const answer of ['link.no', 'link.yes']) {
      await chat.say(`/start ${await world.linkCode('alice', ['read', 'write', 'spend'])}`)
      check(chat.last())
      const data = dataOf(chat.last()).find((one) => one.includes(answer)) ?? ''
      verbs.add(answer)
      await chat.press(data)
      check(chat.last())
    }
    await chat.say('/start')
    await pressAll(world, chat, locale)
    for (const text of ['/watches', '/language', '/help', '/cancel', 'hello']) {
      await chat.say(text)
      check(chat.last())
      await pressAll(world, chat, locale)
    }
  })

  test('every button that was there is answered after everything is gone, too', async () => {
    const seen = new Set(chat.all().flatMap(dataOf))
    await chat.say('/watches')
    for (const data of seen) {
      world.clock.advance(5)
      const press = world.telegram.pressRaw(chat.id, chat.last().id, data)
      await world.settle()
      await press.answer()
      check(chat.last())
    }
    const { calls } = world.telegram
    const refused = calls.filter(({ refused }) => refused !== undefined)
    expect(refused.filter(({ refused }) => !refused?.description.includes('not modified'))).toEqual(
      [],
    )
  })
})

test('every verb stands on some screen', () => {
  expect([...verbs].sort()).toEqual([...VERB_NAMES].sort())
})
