import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { changeChat } from '#bot/core/store.ts'
import { isVerbHandled } from '#bot/core/verb-rights.ts'
import { GUIDED_TYPES } from '#bot/features/new/view.ts'
import type { ChatMessage } from '#sandbox/telegram/model.ts'
import { packed, unpacked, VERB_NAMES } from '#src/actions/codec.ts'
import { directionOf, type Locale } from '#src/kernel/locale.ts'
import { listAlerts } from '#src/operations/rest/alerts.ts'
import { createMaintenance } from '#src/operations/rest/maintenance.ts'
import { createRecipient, updateRecipient } from '#src/operations/rest/recipients.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { checkScreen, dataOf } from '../support/buttons.ts'
import { isEveryLocale, SCREEN_LOCALES } from '../support/locales.ts'
import { isWhole } from '../support/runs.ts'

/** Hundreds of presses take long on a busy machine. */
const TIMEOUT_MS = 300_000

const worlds: BotWorld[] = []
const verbs = new Set<string>()
/** Verbs on the screens of one locale. */
const shown = new Set<string>()
/** Numbers of presses in one locale, by verb. */
const presses = new Map<string, number>()

afterAll(async () => {
  for (const world of worlds) await world.close()
})

/** Checks a message against the limits, in every language, and records the verbs on it. */
function check(message: ChatMessage, openedBy?: string): void {
  for (const verb of checkScreen(message, openedBy)) {
    verbs.add(verb)
    shown.add(verb)
  }
}

/** Presses a button and checks the resulting messages. */
async function press(world: BotWorld, chat: TestChat, data: string): Promise<void> {
  world.clock.advance(5)
  const before = chat.last()
  const pressed = world.telegram.pressRaw(chat.id, before.id, data)
  await world.settle()
  expect((await pressed.answer()).text.length).toBeLessThanOrEqual(200)
  // A press that a toast answers leaves the screen that another one opened.
  const isOpened = chat.last().id !== before.id || chat.last().text !== before.text
  check(chat.last(), isOpened ? unpacked(data)?.verb : undefined)
  countPress(data)
}

function countPress(data: string): void {
  const verb = unpacked(data)?.verb ?? ''
  presses.set(verb, (presses.get(verb) ?? 0) + 1)
}

/**
 * Verbs whose buttons depend on the step before them; and those that take the chat's language, wallet or
 * link away, which other tests press.
 */
const APART = /^(?:new\.(?!start|type)|link\.|wallet\.use|stop\.(?:unlink|dataYes))/

/** Verbs that other tests press. */
const PRESSED_ELSEWHERE = /^(?:none|close|trial\.start|test\.(?:try|open))$/

/** Whether all buttons are pressed that differ in more than their row. */
const isFull = isWhole || isEveryLocale
/**
 * The cards of all rows are opened, and every kind of screen below them: in full for each row, else for two. Of the
 * other verbs a limited number is pressed, and fewer that differ in their row only. What a button does is the same in
 * every language, so that the others press one of each, and open some cards.
 */
const CARDS = /^(?:watch|rec)\.(?:card|group|more|rule)$/
const SCREENS = /\.(?:card|group|edit|more|rule)$/
const LIMITS = {
  whole: { verb: 4, same: 2, screen: Number.POSITIVE_INFINITY, card: Number.POSITIVE_INFINITY },
  usual: { verb: 2, same: 1, screen: 2, card: Number.POSITIVE_INFINITY },
  once: { verb: 1, same: 1, screen: 1, card: 4 },
} as const

function limitsIn(locale: Locale) {
  if (isFull) return LIMITS.whole
  return locale === 'en' ? LIMITS.usual : LIMITS.once
}

/** Number of pressed buttons by kind. */
type Pressed = Map<string, number>

/** Counts a button. @returns whether to press it */
function isWanted(pressed: Pressed, locale: Locale, data: string, only: RegExp): boolean {
  const { verb, args } = unpacked(data) ?? { verb: 'none', args: {} }
  if (pressed.has(data) || APART.test(verb) || !only.test(verb)) return false
  const same = JSON.stringify([verb, { ...args, id: undefined }])
  const [ofVerb, ofSame] = [pressed.get(verb) ?? 0, pressed.get(same) ?? 0]
  const isScreen = SCREENS.test(verb) && !verb.startsWith('alert.')
  const most = limitsIn(locale)
  const ofScreen = CARDS.test(verb) ? most.card : most.screen
  const isEnough = isScreen ? ofSame >= ofScreen : ofVerb >= most.verb || ofSame >= most.same
  if (isEnough) return false
  pressed.set(data, 1)
  pressed.set(verb, ofVerb + 1)
  pressed.set(same, ofSame + 1)
  return true
}

/** Presses every reachable button once, including those of the resulting messages. */
async function pressAll(
  world: BotWorld,
  chat: TestChat,
  locale: Locale,
  pressed: Pressed,
  only = /^/,
): Promise<void> {
  const waiting = [...dataOf(chat.last())]
  for (let data = waiting.shift(); data !== undefined; data = waiting.shift()) {
    if (!isWanted(pressed, locale, data, only)) continue
    await press(world, chat, data)
    if (unpacked(data)?.verb === 'settings.langSet') {
      await changeChat(world.app.db, chat.id, { locale }, world.app.clock.now())
    }
    waiting.push(...dataOf(chat.last()))
  }
}

describe.each(SCREEN_LOCALES)('in %s', (locale) => {
  let world: BotWorld
  let chat: TestChat

  beforeAll(async () => {
    world = await botWorld({ SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'W <w@example.org>' })
    worlds.push(world)
    await world.giveSlots('alice', 20)
    chat = world.person(locale, directionOf(locale) === 'rtl' ? 'سلمى بنت عبد الرحمن' : 'Wolfgang')
    for (const text of [walletOf('bob'), '/start']) {
      await chat.say(text)
      check(chat.last())
      await pressAll(world, chat, locale, new Map())
    }
    // A second wallet, so that there is one to choose.
    await chat.say(`/start ${await world.linkCode('carol')}`)
    await chat.press(dataOf(chat.last()).find((data) => data.includes('link.yes')) ?? '')
    check(chat.last())
    for (const answer of ['link.no', 'link.yes']) {
      await chat.say(`/start ${await world.linkCode('alice', ['read', 'write', 'spend'])}`)
      check(chat.last())
      await chat.press(dataOf(chat.last()).find((data) => data.includes(answer)) ?? '')
      check(chat.last())
    }
  })

  beforeEach(() => world.clock.advance(90))

  test('every step of setting up a group has buttons that lead on and back', async () => {
    const group = world.telegram.group({ title: HOSTILE, members: [chat.id], bot: 'left' })
    world.telegram.addBot(group.id, { from: chat.id })
    await world.settle()
    await chat.say(`/start group${group.id}`)
    check(chat.last())
    for (const data of dataOf(chat.last())) await press(world, chat, data)
    check(world.chat(group.id, chat.id).last())
  })

  test('every step of every form has buttons that lead on and back', async () => {
    for (const type of GUIDED_TYPES) {
      const before = presses.get('new.who') ?? 0
      await press(world, chat, packed('new.type', { type, address: undefined }))
      for (const text of ['nonsense', walletOf('bob'), 'FLR/USD']) {
        await chat.say(text)
        check(chat.last())
        // The steps after it are pressed below.
        if (isFull || text === 'nonsense') await pressStep(world, chat)
      }
      const next = () => {
        const buttons = dataOf(chat.last())
        return ON.flatMap((verb) => buttons.find((data) => unpacked(data)?.verb === verb) ?? [])[0]
      }
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        await pressStep(world, chat)
        const isLast = unpacked(next() ?? '')?.verb === 'new.create'
        // A choice of the step before it may have led there.
        if (isLast && (presses.get('new.who') ?? 0) === before) await pressStep(world, chat)
        const on = next()
        if (on !== undefined) await press(world, chat, on)
      }
      // Also the last step was reached, with its choice of recipients.
      expect(presses.get('new.who') ?? 0, type).toBeGreaterThan(before)
      if (limitsIn(locale) === LIMITS.once && type !== GUIDED_TYPES[0]) continue
      for (const verb of ['new.back', 'new.cancel'] as const) {
        await press(world, chat, packed('new.type', { type, address: undefined }))
        const data = dataOf(chat.last()).find((data) => unpacked(data)?.verb === verb)
        await press(world, chat, data ?? '')
      }
    }
  })

  test(
    'every button of every screen leads somewhere and is answered',
    async () => {
      const label = HOSTILE
      const now = world.app.clock.now()
      for (const channel of ['one', 'two']) {
        const url = `https://${'long-'.repeat(11)}example.org:8443/${channel}`
        await world.as('alice', createRecipient, { body: { name: label, channel: 'webhook', url } })
      }
      for (const { name, form: guide } of REGISTRY) {
        if (guide === undefined || name === 'wallet-balance') continue
        await world.addWatch('alice', { label, type: name, ...EXAMPLES[name] })
      }
      const muted = { label, mutedUntil: new Date(now.getTime() + 30 * 86_400_000) }
      for (const over of [{}, { status: 'paused' }, { status: 'suspended' }, muted] as const) {
        await world.addWatch('alice', { label, direction: 'down', ...over })
      }
      const pressed: Pressed = new Map()
      const commands = ['/start', '/watches', '/new', '/language', '/help', '/cancel']
      for (const text of [...commands, 'hello', walletOf('bob'), 'desk@example.org']) {
        await chat.say(text)
        check(chat.last(), text.slice(1))
        await pressAll(world, chat, locale, pressed, APART_FROM_SETTINGS)
      }
    },
    TIMEOUT_MS,
  )

  test(
    'every button of alerts, recipients, settings and the ways out is, too',
    async () => {
      const { fire, deliver } = alertsIn(world)
      const hook = { name: HOSTILE, channel: 'webhook', default: true }
      const mail = { name: HOSTILE, channel: 'email', address: 'ops@example.org' }
      await world.as('alice', createRecipient, { body: mail })
      const hooks = [...(isFull ? 'abcdefgh' : 'abcde')].map(
        (name) => `https://example.org/${name}`,
      )
      const [off] = await Promise.all(
        hooks.map((url) => world.as('alice', createRecipient, { body: { ...hook, url } })),
      )
      const params = { id: String(off?.id) }
      await world.as('alice', updateRecipient, { params, body: { status: 'disabled' } })
      await deliver()
      check(chat.last())
      for (const events of LOOKS) {
        world.clock.advance(400)
        // Buttons below an alert mute its watch.
        await fire(await world.addWatch('alice', { label: HOSTILE }), ...events)
        await pressMessage(world, chat)
      }
      const first = await world.as('alice', listAlerts, { query: { limit: '1' } })
      const { id = 1 } = first.data[0] ?? {}
      const safe: Pressed = new Map()
      for (const data of [packed('mute.list'), packed('alert.card', { id }), packed('rec.list')]) {
        await press(world, chat, data)
        await pressAll(world, chat, locale, safe, KEEPING)
      }
      await world.as('alice', updateRecipient, { params, body: { status: 'active' } })
      await press(world, chat, packed('rec.card', { id: off?.id ?? 1 }))
      await pressAll(world, chat, locale, safe, KEEPING)
      // Now there are old alerts to delete.
      world.clock.advance(8 * 86_400)
      await world.as('alice', createMaintenance, { body: { name: HOSTILE, minutes: 600 } })
      const pressed: Pressed = new Map()
      for (const text of ['/alerts', '/recipients', '/settings', '/mute 1h', '/mute', '/stop']) {
        await chat.say(text)
        check(chat.last(), text.slice(1))
        await pressAll(world, chat, locale, pressed, APART_FROM_WATCHES)
      }
    },
    TIMEOUT_MS,
  )

  test('every kind of button on these screens was pressed', () => {
    const missing = [...shown].filter((verb) => !presses.has(verb))
    expect(missing.filter((verb) => !APART.test(verb) && !PRESSED_ELSEWHERE.test(verb))).toEqual([])
    shown.clear()
    presses.clear()
  })

  test(
    'every button that was there is answered after everything is gone, too',
    async () => {
      const seen = new Set(chat.all().flatMap(dataOf))
      await chat.say('/watches')
      for (const data of seen) await press(world, chat, data)
      const refused = world.telegram.calls.filter(({ refused }) => refused !== undefined)
      const HARMLESS = /not modified|no text in the message|message to (?:edit|delete) not found/
      expect(refused.filter(({ refused: why }) => !HARMLESS.test(why?.description ?? ''))).toEqual(
        [],
      )
    },
    TIMEOUT_MS,
  )
})

/** Presses the actions below an alert, and those that undo them. */
async function pressMessage(world: BotWorld, chat: TestChat): Promise<void> {
  const { id } = chat.last()
  const message = () => chat.all().find((message) => message.id === id) ?? chat.last()
  // Mute… opens other buttons in place of the first ones.
  for (const round of ['there', 'mute', 'back']) {
    check(message())
    for (const data of dataOf(message())) {
      const isAct = /^(?:alert\.(?:ack|unack|ackAll|unackAll|mute|open)|watch\.unmute)$/
      if (!isAct.test(unpacked(data)?.verb ?? '')) continue
      world.clock.advance(5)
      const pressed = world.telegram.pressRaw(chat.id, id, data)
      await world.settle()
      expect((await pressed.answer()).text.length, round).toBeLessThanOrEqual(200)
      check(message())
      countPress(data)
    }
  }
}

/** Verbs about alerts and recipients after which these are still there. */
const KEEPING = /^(?:alert|rec)\.(?!\w+Yes$)|^mute\.off$/

/** Verbs that are pressed in a test: in full those of recipients and settings in both. */
const APART_FROM_SETTINGS = isFull ? /^/ : /^(?!(?:settings|mute|maintenance|stop)\b)/
const APART_FROM_WATCHES = isFull
  ? /^(?:alert|rec|settings|mute|maintenance|stop|wallet)\b/
  : /^(?:(?:alert|settings|mute|maintenance|stop|wallet)\b|rec\.(?:card|delete|zone|more))/

/** A name that a user may choose: long, with characters that break markup and codecs. */
const HOSTILE = 'ওয়ালেট <b>&"\'_*[]()~` Ж'.repeat(3).slice(0, 40)

/** Events to fire in a watch: alone, with a way to pay, without a recovery, several at once. */
const LOOKS = [
  [{ event: 'fsp.fdc-consensus', severity: 'critical' }],
  [{ event: 'credits.low-balance' }],
  [{ event: 'wallet-balance.moved', severity: 'info' }],
  [{ event: 'fsp.ftso-commit' }, { event: 'fsp.ftso-reveal' }],
] as const

const provider = { target: { provider: walletOf('bob') }, settings: {} }
const EXAMPLES: Readonly<Record<string, { readonly target: unknown; readonly settings: unknown }>> =
  {
    'credits-balance': { target: {}, settings: { limit: 1_000_000_000 } },
    'feed-move': {
      target: { feed: 'FLR/USD' },
      settings: { percent: 5, windowSeconds: 604_800, direction: 'any' },
    },
    'provider-eligibility': provider,
    'reward-signing': provider,
    'provider-fsp': provider,
  }

/** Verbs that lead to the next step, in the order of preference. */
const ON = ['new.create', 'new.next', 'new.set'] as const
const STEPS_MAX = 4

const CHOICES: ReadonlySet<string> = new Set(['new.flip', 'new.who', 'new.page', 'new.ask'])

/**
 * Presses the choices at a step of a form and on its subscreens, except those that lead to the next
 * step.
 */
async function pressStep(world: BotWorld, chat: TestChat): Promise<void> {
  for (const data of dataOf(chat.last())) {
    const { verb, args } = unpacked(data) ?? { verb: 'none' as const, args: {} }
    const isBeside =
      ('field' in args && args.field === 'who') || ('value' in args && args.value === 'choose')
    if (!CHOICES.has(verb) && !isBeside) continue
    await press(world, chat, data)
    if (isBeside) await pressStep(world, chat)
    const leave = isBeside ? 'new.next' : verb === 'new.ask' ? 'new.back' : undefined
    const back = dataOf(chat.last()).find((data) => unpacked(data)?.verb === leave)
    if (back !== undefined) await press(world, chat, back)
  }
}

test('every verb that is handled stands on some screen', () => {
  const missing = VERB_NAMES.filter((verb) => isVerbHandled(verb) && !verbs.has(verb))
  expect(missing.filter((verb) => !ELSEWHERE.test(verb))).toEqual([])
})

/**
 * Verbs on messages that only events cause, those of groups, money, following and several wallets, and `feed.watch`, which
 * is in answers of a chain. `watch.escLater` stands where everybody hears at once, `alert.card` on the card of a watch with
 * an open alert, `rec.keptDrop` where alerts are kept, and `rec.channel` where somebody made the bot an administrator of a
 * channel.
 */
const ELSEWHERE =
  /^(?:trial|terms|group|topup|slots|subs|ledger|wizard|follow)\b|^(?:none|close|free|feed\.watch|watch\.escLater|alert\.card|rec\.(?:keptDrop|channel)|test\.(?:press|try|open)|alert\.(?:un)?ackAll|wallet\.page)$/
