import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { testDestination } from '#src/operations/chat/destinations.ts'
import {
  createRecipient,
  deleteRecipient,
  updateRecipient,
} from '#src/operations/rest/recipients.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import { getWatchType } from '#src/watches/types/index.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { apiOf, changeLive } from '../support/live.ts'

let hooks: ChatHooks
let world: BotWorld
let ann: TestChat
const iso = (label: string) => `\u2068${label}\u2069`

beforeAll(async () => {
  hooks = await startChatHooks()
  world = await botWorld()
  ann = await world.linked('alice')
})
afterAll(async () => {
  await world.close()
  await hooks.close()
})
beforeEach(() => world.clock.advance(90))

const look = async () => {
  world.clock.advance(2)
  await changeLive(world)
}
const deliver = () => alertsIn(world).deliver()
const shown = (messageId: number) => ann.all().find(({ id }) => id === messageId)
const followed = () => world.sql`select 1 from telegram_live_messages where kind like 'recipient-%'`
const giveUp = () =>
  endDeliveries(world.app.db, sql`test`, sql`status = 'failed', last_status_code = 404`)

const CHANNELS = [
  { channel: 'discord', button: 'Discord', url: () => hooks.discordUrl() },
  { channel: 'ntfy', button: 'ntfy', url: () => hooks.ntfyUrl() },
] as const

describe.each(CHANNELS)('the test of a recipient of $channel', ({ channel, button, url }) => {
  const create = (name: string) =>
    world.as('alice', createRecipient, { body: { name, channel, url: url() } })

  /** Presses Test on a new recipient's card. */
  async function tested() {
    const { id } = await create('Ops')
    await ann.say(`/start r${id}`)
    await ann.press('Test')
    const message = ann.last()
    expect(message.text).toContain(`⏳ ${iso('Ops')}: on its way`)
    return { id, messageId: message.id, keyboard: message.keyboard }
  }

  test('reports its arrival on the screen after the recipient was added', async () => {
    await ann.say('/recipients')
    await ann.press('Add recipient')
    await ann.press(button)
    await ann.say(url())
    const { id: messageId, text, keyboard } = ann.last()
    expect(text).toContain('on its way')
    await look()
    expect(shown(messageId)?.text).toBe(text)
    await deliver()
    await look()
    expect(shown(messageId)?.text).toMatch(/✓ .+: arrived after [\d,]+\u00a0ms/)
    expect(shown(messageId)?.text).not.toContain('on its way')
    expect(shown(messageId)?.keyboard).toEqual(keyboard)
    expect(hooks.messages.at(-1)?.service).toBe(channel)
    expect(await followed()).toEqual([])
  })

  test('reports its arrival on the card', async () => {
    const { messageId, keyboard } = await tested()
    await deliver()
    await look()
    expect(shown(messageId)?.text).toMatch(/✓ \u2068Ops\u2069: arrived after [\d,]+\u00a0ms/)
    expect(shown(messageId)?.keyboard).toEqual(keyboard)
    expect(await followed()).toEqual([])
  })

  test('is reported on the card as given up', async () => {
    const { messageId } = await tested()
    await giveUp()
    await look()
    expect(shown(messageId)?.text).toContain(`✕ ${iso('Ops')}: not delivered · 404`)
    expect(await followed()).toEqual([])
  })

  test('is followed when it is switched on again, below the line that says so', async () => {
    const { id } = await create('Back')
    const params = { id: String(id) }
    await world.as('alice', updateRecipient, { params, body: { status: 'disabled' } })
    await ann.say(`/start r${id}`)
    await ann.press('Switch on and test')
    const messageId = ann.last().id
    expect(ann.last().text).toContain(`⏳ ${iso('Back')}: on its way`)
    await deliver()
    await look()
    expect(shown(messageId)?.text).toMatch(
      /✓ The recipient is on again\.\n✓ \u2068Back\u2069: arrived after [\d,]+\u00a0ms/,
    )
  })

  test('is no longer followed once its message is deleted, which brings no new one', async () => {
    const { messageId } = await tested()
    await apiOf(world).deleteMessage(ann.id, messageId)
    const before = ann.all().length
    await deliver()
    await look()
    expect(ann.all()).toHaveLength(before)
    expect(await followed()).toEqual([])
  })

  test('changes no message that shows something else, and none of a deleted recipient', async () => {
    const { messageId } = await tested()
    await ann.press('‹ Recipients')
    const list = shown(messageId)
    await deliver()
    await look()
    expect(shown(messageId)).toEqual(list)
    const gone = await tested()
    await world.as('alice', deleteRecipient, { params: { id: String(gone.id) } })
    await look()
    expect(shown(gone.messageId)?.text).toContain('on its way')
    expect(await followed()).toEqual([])
  })
})

describe('one test a minute', () => {
  const create = (name: string) =>
    world.as('alice', createRecipient, { body: { name, channel: 'ntfy', url: hooks.ntfyUrl() } })
  const send = (id: number) => world.as('alice', testDestination, { body: { id } })

  test('is sent where several chats of a wallet ask at once', async () => {
    const { id } = await create('Once')
    const results = await Promise.all(Array.from({ length: 5 }, () => send(id)))
    expect(results.filter(({ status }) => status === 'queued')).toHaveLength(1)
  })

  test('does not count a test that was not sent because its recipient was off', async () => {
    const { id } = await create('Off and on')
    await send(id)
    const params = { id: String(id) }
    await world.as('alice', updateRecipient, { params, body: { status: 'disabled' } })
    await deliver()
    const [{ status } = { status: undefined }] =
      await world.sql`select status from deliveries where recipient_id = ${id} and test`
    expect(status).toBe('disabled')
    await world.as('alice', updateRecipient, { params, body: { status: 'active' } })
    expect(await send(id)).toMatchObject({ status: 'queued' })
  })
})

describe('a test of a watch', () => {
  test.each([
    ['the usual severity of its first signal', {}, 'warning'],
    ['the lowest severity that the watch sends', { minSeverity: 'critical' }, 'critical'],
    [
      'the severity of a silence that chance does not explain',
      { signals: onlySignal('fast-updates') },
      'critical',
    ],
    [
      'the severity of a balance below five FLR',
      { signals: onlySignal('balance-low', { minimumFlr: 5 }) },
      'critical',
    ],
  ])('has %s', async (_what, changes, severity) => {
    const { id } = await world.as('alice', createRecipient, {
      body: { name: 'Severity', channel: 'ntfy', url: hooks.ntfyUrl() },
    })
    const watchId = await world.addWatch('alice', {
      label: 'Node',
      type: 'provider-fsp',
      target: { provider: walletOf('carol') },
      settings: {},
      recipientIds: [id],
    })
    const params = { id: String(watchId) }
    if (Object.keys(changes).length > 0) {
      await world.as('alice', updateWatch, { params, body: changes })
    }
    await world.as('alice', testDestination, { body: { id, watchId } })
    const [sent] = await world.sql<{ severity: string }[]>`
      select envelope -> 'message' ->> 'severity' as severity from deliveries
      where recipient_id = ${id} and test`
    expect(sent).toEqual({ severity })
  })
})

/** Enables one signal of a provider, and no other. */
function onlySignal(id: string, parameters: Readonly<Record<string, number>> = {}) {
  return getWatchType('provider-fsp').signals.map((signal) => ({
    id: signal.id,
    enabled: signal.id === id,
    ...(signal.id === id && Object.keys(parameters).length > 0 && { parameters }),
  }))
}
