/** Nothing that a group shows speaks of credits, whatever is sent or pressed there. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandText } from '#bot/core/feature.ts'
import { changeChat } from '#bot/core/store.ts'
import { REGISTRY } from '#bot/features/index.ts'
import { unpacked } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import { CHECK_EVERYTHING } from '#src/jobs/define.ts'
import { judgeLedgers } from '#src/jobs/judge-ledgers.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { createTopup } from '#src/operations/rest/topups.ts'
import { createWatch } from '#src/operations/rest/watches.ts'
import { type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { moneyWorld } from '../support/bot-money.ts'
import { pressAll } from '../support/buttons.ts'
import { giveCredits } from '../support/credits.ts'
import { BOT_NAME } from '../support/harness.ts'
import { SCREEN_LOCALES } from '../support/locales.ts'
import { isWhole } from '../support/runs.ts'

/** Hundreds of presses take long on a busy machine. */
const TIMEOUT_MS = 300_000

const CREDITS =
  /credit|crédit|ক্রেডিট|点数|\d 点|क्रेडिट|وحد(?:ة|ات)\s(?:ال)?رصيد|الرصيد والسجل|24[.,\s]?680|Purse/iu

let world: Awaited<ReturnType<typeof moneyWorld>>
let ann: TestChat
let group: TestChat
let credits: number
let alertId: number
let number: number
/** Data of the buttons of the private chat, which a group may have from earlier. */
let buttons: readonly string[]
/** Number of the newest call that was looked at. */
let seen = 0

beforeAll(async () => {
  world = await moneyWorld()
  ann = await world.linked('alice', ['read', 'write', 'spend'])
  await world.accept('alice')
  await world.as('alice', createTopup, { body: { asset: 'FLR', credits: 20_000 } })
  const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
  group = world.chat(id, ann.id)
  await giveCredits(world.app, walletOf('alice'), 24_680)
  await world.giveSlots('alice', 10)
  const provider = await world.addWatch('alice', {
    label: 'Node',
    type: 'provider-fsp',
    target: { provider: walletOf('bob') },
    settings: {},
  })
  const balance = await world.addWatch('alice', { label: 'Treasury' })
  await world.addWatch('alice', { label: 'Waiting', status: 'suspended' })
  const body = { label: 'Purse', type: 'credits-balance', target: {}, settings: { limit: 30_000 } }
  credits = (await world.as('alice', createWatch, { body })).id
  await group.say(
    `/start@${BOT_NAME} ${await world.groupCode('alice', ['read', 'write', 'spend'])}`,
  )
  await group.press('Link this chat')
  await judgeLedgers.run(world.service.app, new AbortController().signal, CHECK_EVERYTHING)
  const { fire } = alertsIn(world)
  await fire(credits, { event: 'credits.low-balance' })
  await fire(provider, { event: 'fsp.ftso-commit' })
  world.clock.advance(700)
  await fire(balance, { event: 'wallet-balance.moved', data: { isTopUp: true } })
  const [row] = await world.database
    .sql`select id, incident_id as number from alerts where type = 'credits-balance'`
  alertId = Number(row?.['id'])
  number = Number(row?.['number'])
  buttons = await buttonsOf(ann)
}, TIMEOUT_MS)
afterAll(() => world.close())

/** Opens the screens of a chat, and returns the data of all buttons on them. */
async function buttonsOf(chat: TestChat): Promise<readonly string[]> {
  newCalls(chat.id)
  for (const text of [...commands(), `watches ${credits}`, `alerts ${number}`]) {
    await chat.say(`/${text}`)
    await pressAll({ world, chat, only: OPENING, sameMax: 2 })
  }
  const sent = JSON.stringify(newCalls(chat.id))
  return [...new Set([...sent.matchAll(/"callback_data":"([^"]+)"/g)].map(([, data = '']) => data))]
}

/** Verbs that only open a screen. */
const OPENING =
  /^(?:home|help|status|stop|settings|topup|slots|mute\.list|wallet\.list|watch\.(?:list|card|more|raw|edit|try|test|who|esc)|alert\.(?:list|filter|card|deliveries|help)|signal\.(?:list|group|card)|rec\.(?:list|card|add|hear)|topup\.(?:asset|history)|slots\.(?:list|quote)|new\.(?:start|type))$/

/** The bot's calls for a chat since the last look: its messages, edits and answers to presses. */
function newCalls(chatId: number) {
  const calls = world.telegram.calls.filter(({ sequence }) => sequence > seen)
  seen = Math.max(seen, ...calls.map(({ sequence }) => sequence))
  return calls
    .map(({ payload }) => payload)
    .filter((payload) => payload['chat_id'] === chatId || 'callback_query_id' in payload)
}

const commands = () => [
  'start',
  ...REGISTRY.flatMap((feature) => feature.commands.map(({ name }) => name)),
]

/** Asserts that nothing that was sent to the group since the last look speaks of credits. Returns the data of its buttons. */
function requireSilence(): readonly string[] {
  const sent = newCalls(group.id).map((payload) => JSON.stringify(payload))
  for (const text of sent)
    expect(text.replaceAll(/"callback_data":"[^"]*"/g, '')).not.toMatch(CREDITS)
  return sent.flatMap((text) =>
    [...text.matchAll(/"callback_data":"([^"]+)"/g)].map(([, data = '']) => data),
  )
}

const speak = (locale: Locale) =>
  changeChat(world.app.db, group.id, { locale }, world.app.clock.now())

test('the private chat has screens about credits', () => {
  expect(buttons.length).toBeGreaterThan(60)
  expect(ann.all().filter(({ text }) => CREDITS.test(text)).length).toBeGreaterThan(2)
})

test.each(LOCALES)('no menu of commands in a group speaks of credits in %s', (locale) => {
  const t = translator(locale)
  for (const menu of ['group', 'administrators'] as const) {
    const shown = REGISTRY.flatMap(({ commands }) => commands).filter(({ menus }) =>
      menus.includes(menu),
    )
    expect(shown.length).toBeGreaterThan(2)
    for (const command of shown) expect(t(commandText(command, menu))).not.toMatch(CREDITS)
  }
})

test('greeting and alerts do not, nor does the payment of a top-up', () => {
  const texts = group.all().map(({ text }) => text)
  expect(texts).toContainEqual(expect.stringContaining('Treasury'))
  for (const text of texts) expect(text).not.toMatch(CREDITS)
})

test('a group is told that the payment of a top-up is the owner’s, and is not warned of it', () => {
  const paid = group.all().find(({ text }) => text.includes('This is a payment by the owner'))
  expect(paid?.text).toMatch(/Treasury.* sent /)
  expect(paid?.text).not.toContain('secure the wallet')
  expect(paid?.keyboard.flat().map(({ text }) => text)).toEqual(['Details'])
})

test.each(LOCALES)('no answer to a command does in %s', async (locale) => {
  await speak(locale)
  for (const text of [...commands(), `watches ${credits}`, `alerts ${number}`]) {
    await group.say(`/${text.replace(/^\w+/, (word) => `${word}@${BOT_NAME}`)}`)
  }
  requireSilence()
})

test.each(SCREEN_LOCALES)(
  'no button of the group or of an earlier message does in %s',
  async (locale) => {
    await speak(locale)
    const waiting = new Set<string>()
    for (const text of commands()) {
      await group.say(`/${text}@${BOT_NAME}`)
      for (const data of requireSilence()) waiting.add(data)
    }
    for (const data of buttons) waiting.add(data)
    const presses = new Map<string, number>()
    const isPressed = (data: string) => {
      const { verb, args } = unpacked(data) ?? { verb: 'none', args: {} }
      const count = presses.get(verb) ?? 0
      presses.set(verb, count + 1)
      const isHidden = Object.values(args).some((value) => value === credits || value === alertId)
      return !ENDING.test(verb) && (isWhole || isHidden || count < SAME_MAX)
    }
    for (const data of waiting) {
      if (!isPressed(data)) continue
      world.clock.advance(5)
      world.telegram.pressRaw(group.id, group.last().id, data)
      await world.settle()
      for (const next of requireSilence()) waiting.add(next)
    }
    expect(waiting.size).toBeGreaterThan(buttons.length)
  },
  TIMEOUT_MS,
)

/** Maximum number of presses of one verb, unless they are about the watch of credits. */
const SAME_MAX = 2

/** Verbs that end the link, or change the language. */
const ENDING = /^(?:stop\.|settings\.langSet)/
