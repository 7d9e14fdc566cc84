/** Names that people choose are text on every screen of the bot: clients find nothing to press in them. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { REGISTRY } from '#bot/features/index.ts'
import { detectEntities, storedEntities } from '#sandbox/telegram/entities.ts'
import { parseHtml } from '#sandbox/telegram/html.ts'
import { packed } from '#src/actions/codec.ts'
import { hasText, translator } from '#src/i18n/translate.ts'
import { withoutJoiners } from '#src/kernel/inert-text.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createRecipient, updateRecipient } from '#src/operations/rest/recipients.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import { basesOf, formsOf, readCatalogue } from '../locales/sources.ts'
import { type BotWorld, botWorld, menuNames, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { pressAll } from '../support/buttons.ts'
import { BOT_NAME } from '../support/harness.ts'
import { placeholdersOf } from '../support/text-rules.ts'

const TIMEOUT_MS = 300_000

/** Names with everything that clients look for; together all kinds. */
const NAMES = [
  '@evil_bot evil.com /evil $EVIL #evil',
  '+49 301 2345678 t.me/evil a@evil.com',
] as const
const [NAME, CONTACT] = NAMES

/** Everything that a client would make of a text itself, beside the commands of the bot. */
function pressable({ text, entities }: ReturnType<typeof parseHtml>): readonly string[] {
  return storedEntities(entities, detectEntities(text))
    .filter(({ type }) => DETECTED.has(type))
    .map(({ offset, length }) => text.slice(offset, offset + length))
    .filter((found) => !COMMANDS.has(found))
}

const DETECTED = new Set([
  ...['url', 'email', 'mention', 'hashtag', 'cashtag', 'phone_number', 'bot_command'],
])
/** Commands that no menu has are `start`, `cancel`, and `here`, which chooses the topic of a group. */
const COMMANDS = new Set(
  [
    'start',
    'cancel',
    'here',
    ...REGISTRY.flatMap(({ commands }) => commands.map(({ name }) => name)),
  ].flatMap((name) => [`/${name}`, `/${name}@${BOT_NAME}`]),
)

let world: BotWorld
let ann: TestChat
let group: TestChat

beforeAll(async () => {
  world = await botWorld({ SMTP_URL: 'smtp://127.0.0.1:1', EMAIL_FROM: 'W <w@example.org>' })
  await world.giveSlots('alice', 20)
  ann = world.person('en', NAME)
  await ann.say(`/start ${await world.linkCode('alice', ['read', 'write', 'spend'])}`)
  await ann.press('Link this chat')
  const { id } = world.telegram.group({ title: CONTACT, members: [ann.id], admins: [ann.id] })
  group = world.chat(id, ann.id)
  await group.say(`/start@${BOT_NAME} ${await world.groupCode('alice')}`)
  await group.press('Link this chat')
}, TIMEOUT_MS)
afterAll(() => world.close())

/** The texts that the bot sent or wrote into messages, as Telegram reads them. */
function sentTexts(): readonly ReturnType<typeof parseHtml>[] {
  return world.telegram.calls.flatMap(({ payload }) => {
    const text = payload['text'] ?? payload['caption']
    if (typeof text !== 'string' || 'callback_query_id' in payload) return []
    if (payload['parse_mode'] === 'HTML') return [parseHtml(text)]
    return [{ text, entities: [] }]
  })
}

test(
  'no screen, alert or refusal makes one pressable',
  async () => {
    const body = { channel: 'webhook', default: true } as const
    const recipients = await Promise.all(
      NAMES.map((name, index) =>
        world.as('alice', createRecipient, {
          body: { ...body, name, url: `https://example.org/${index}` },
        }),
      ),
    )
    const recipientIds = recipients.map(({ id }) => id)
    const watches = [
      ...(await Promise.all(NAMES.map((label) => world.addWatch('alice', { label })))),
      await world.addWatch('alice', { label: NAME, status: 'suspended', recipientIds }),
      await world.addWatch('alice', {
        label: CONTACT,
        type: 'provider-fsp',
        target: { provider: walletOf('bob') },
        settings: {},
      }),
    ]
    const [first = 0, , , node = 0] = watches
    await world.as('alice', updateWatch, {
      params: { id: String(first) },
      body: { escalateAfterMinutes: 5, escalateTo: recipientIds },
    })
    await world.as('alice', updateRecipient, {
      params: { id: String(recipientIds[0]) },
      body: { status: 'disabled' },
    })
    const { fire } = alertsIn(world)
    await fire(node, { event: 'fsp.ftso-commit', severity: 'critical' })
    await ann.press('Acknowledge')
    await fire(node, { event: 'fsp.ftso-commit.recovered' })
    world.clock.advance(400)
    await fire(node, { event: 'fsp.ftso-commit' }, { event: 'fsp.ftso-reveal' })
    world.clock.advance(400)
    const data = { asset: walletOf('carol'), symbol: NAME }
    for (const watch of watches) await fire(watch, { event: 'wallet-balance.moved', data })
    // What a server answered is shown, too.
    const { sql } = world.database
    for (const table of ['delivery_queue', 'delivery_log'])
      await sql`update ${sql(table)} set last_error = ${CONTACT}, last_status_code = null`
    await sql`update recipients set status_reason = ${CONTACT} where status = 'disabled'`
    for (const chat of [ann, group]) {
      const mention = chat === group ? `@${BOT_NAME}` : ''
      for (const command of [...menuNames('private'), ...menuNames('administrators')]) {
        await chat.say(`/${command}${mention}`)
        await pressAll({ world, chat, only: OPENING, sameMax: 1 })
      }
      for (const command of ['watches', 'alerts', 'provider', 'price', 'mute', 'topup', 'new']) {
        for (const name of NAMES) await chat.say(`/${command}${mention} ${name}`)
      }
    }
    for (const name of NAMES) {
      await ann.say(name)
      // Each of the steps and questions with a typed answer.
      for (const type of ['provider-fsp', 'wallet-balance', 'feed-move'] as const) {
        const press = packed('new.type', { type, address: undefined })
        world.telegram.pressRaw(ann.id, ann.last().id, press)
        await world.settle()
        await ann.say(name)
        world.clock.advance(5)
      }
    }
    const texts = sentTexts()
    for (const name of NAMES) {
      const shown = texts.filter(({ text }) => withoutJoiners(text).includes(name))
      expect(new Set(shown.map(({ text }) => text)).size).toBeGreaterThan(20)
    }
    const found = texts.flatMap((text) => {
      const all = pressable(text)
      return all.length === 0 ? [] : [{ all, text: text.text }]
    })
    expect(found).toEqual([])
  },
  TIMEOUT_MS,
)

/** Verbs that open a screen. */
const OPENING =
  /^(?:home|help|status|stop|settings|topup|slots|mute\.list|wallet\.list|watch\.(?:list|card|more|edit|try|test|who|esc|delete)|alert\.(?:list|filter|card|deliveries|delete|help)|signal\.(?:list|group|card)|rec\.(?:list|card|add|hear|log|delete|zone|name)|topup\.(?:asset|history)|slots\.(?:list|quote)|new\.(?:start|type|like))$/

test.each(
  LOCALES,
)('no text of the bot makes one pressable by what surrounds it, in %s', (locale) => {
  const t = translator(locale)
  const texts = readCatalogue(locale)
  const keys = basesOf(texts).filter((key) => key.startsWith('bot:') && hasText(key))
  expect(keys.length).toBeGreaterThan(900)
  const found = keys.flatMap((key) => {
    if (!hasText(key)) return []
    const forms = Object.values(formsOf(texts, key))
    const places = new Set(forms.flatMap((form) => [...placeholdersOf(form)]))
    places.delete('count')
    if (places.size === 0) return []
    return WORDS.flatMap((word) => {
      const values = Object.fromEntries([...places].map((place) => [place, word]))
      return pressable(parseHtml(t.html(key, { ...values, count: 2 }))).map((what) => [key, what])
    })
  })
  expect(found).toEqual([])
})

/** One of each kind, so that each stands at the beginning and at the end of its place. */
const WORDS = [
  ...NAMES.flatMap((name) => name.split(' ')),
  'tg://x',
  '8.8.8.8',
  'evil',
  '@everyone',
]
