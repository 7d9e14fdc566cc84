import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateLiveMessages } from '#bot/core/live-messages.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { createRecipient, updateRecipient } from '#src/operations/recipients.ts'
import { updateWatch } from '#src/operations/watches.ts'
import { API_TIMEOUT_SECONDS, createApi } from '#src/telegram/api.ts'
import { saveStates } from '#src/watches/state-store.ts'
import { saveObservationCursor, TIP_CURSOR } from '#src/watches/target-store.ts'
import { type BotWorld, botWorld, LIVE_CHECKS, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'

/** The overview of a wallet: in private, in groups, and pinned. */

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const says = (chat: TestChat) => chat.last().text.replace(/\s+/g, ' ')

/** Advances a minute, and updates live messages. */
async function follow(seconds = 61): Promise<void> {
  world.clock.advance(seconds)
  const api = createApi({ token: BOT_TOKEN, apiRoot: world.telegram.url }, API_TIMEOUT_SECONDS)
  await updateLiveMessages({ app: world.app, api, username: BOT_NAME, checks: LIVE_CHECKS })
}

/** Records that the chain was read up to a block of this age. */
async function readUpTo(secondsAgo: number, failingFor?: number): Promise<void> {
  const ago = (seconds: number) => new Date(world.clock.now().getTime() - seconds * 1000)
  await saveObservationCursor(world.app.db, {
    type: TIP_CURSOR,
    blockNumber: 41_234_567,
    blockAt: ago(secondsAgo),
    observedAt: world.clock.now(),
    failingSince: failingFor === undefined ? null : ago(failingFor),
    checkedAt: world.clock.now(),
  })
}

describe('/status', () => {
  test('of a wallet without watches offers a new watch', async () => {
    const carol = await world.linked('carol')
    await carol.say('/status')
    expect(says(carol)).toContain('You have no watches yet.')
    expect(says(carol)).toContain('💳 0 credits (0 USD) · 🎟️ Slots: 0 of 0')
    expect(carol.labels()).toEqual([['New watch'], ['Refresh', '📌 Pin', 'Provider…'], ['‹ Menu']])
  })

  test('shows watches, the worst first, credits, recipients that are off, and the age of the data', async () => {
    const { fire } = alertsIn(world)
    await world.giveSlots('alice', 4)
    await world.addWatch('alice', { label: 'Quiet' })
    const loud = await world.addWatch('alice', { label: 'Node A' })
    await world.addWatch('alice', { label: 'Paused', status: 'paused' })
    const url = 'https://example.org/hook'
    const body = { name: 'Pager <b>', channel: 'webhook', url }
    const { id } = await world.as('alice', createRecipient, { body })
    const off = { params: { id: String(id) }, body: { status: 'disabled' } }
    await world.as('alice', updateRecipient, off)
    await readUpTo(2)
    const ann = await world.linked('alice')
    await fire(loud, { event: 'wallet-balance.moved' })
    await ann.say('/status')
    const text = says(ann)
    expect(text).toContain('💳 0 credits (0 USD) · 🎟️ Slots: 3 of 4')
    expect(text).not.toContain('🔕')
    expect(text).toContain('📪 \u2068Pager <b>\u2069: switched off')
    expect(text).toContain('Chain: block 41234567, 2 s old')
    expect(text).not.toContain('not answering')
    expect(text.indexOf('Quiet')).toBeLessThan(text.indexOf('Paused'))
    expect(ann.labels()).toContainEqual(['Refresh', '📌 Pin', 'Provider…'])
    await ann.press('Refresh')
    expect(says(ann)).toBe(text)
  })

  test('names no other recipient that is off in a chat that only receives', async () => {
    const url = 'https://example.org/hook'
    const body = { name: 'Pager', channel: 'webhook', url }
    const { id } = await world.as('carol', createRecipient, { body })
    const off = { params: { id: String(id) }, body: { status: 'disabled' } }
    await world.as('carol', updateRecipient, off)
    const boss = await world.linked('carol')
    await boss.say('/status')
    expect(says(boss)).toContain('Pager')
    const reader = await world.linked('carol', ['read'])
    await reader.say('/status')
    expect(says(reader)).toContain('Slots:')
    expect(says(reader)).not.toContain('Pager')
  })

  test('and the menu show the severity of the worst active alert, and that the chat is muted', async () => {
    const bob = await world.linked('bob')
    const settings = { type: 'provider-fsp', target: { provider: walletOf('bob') }, settings: {} }
    const ids = [
      await world.addWatch('bob', { label: 'Node A', ...settings }),
      await world.addWatch('bob', { label: 'Node B', ...settings }),
    ]
    const fires = (watchId: number, severity: 'warning' | 'critical') => {
      const at = world.clock.now()
      const times = { since: at, lastEvidenceAt: at, lastFiredAt: at }
      const state = { streak: 2, severity: null }
      const signal = { signal: 'ftso-commit', phase: 'firing', streak: 2 } as const
      return saveStates(world.app.db, [
        { watchId, state: { ...signal, ...times, state, severity } },
      ])
    }
    const texts = async () => {
      const texts: string[] = []
      for (const command of ['/menu', '/status']) {
        await bob.say(command)
        texts.push(says(bob))
      }
      return texts
    }
    await fires(ids[0] ?? 0, 'warning')
    for (const text of await texts()) expect(text).toContain('🟠 1 active')
    await fires(ids[1] ?? 0, 'critical')
    for (const text of await texts()) expect(text).toContain('🔴 2 active')
    for (const text of await texts()) expect(text).not.toContain('🔕')
    await bob.say('/mute 1h')
    for (const text of await texts()) expect(text).toContain('🔕 This chat: muted until')
  })

  test('says since when the chain has not answered', async () => {
    await readUpTo(400, 300)
    const ann = await world.linked('alice')
    await ann.say('/status')
    expect(says(ann)).toContain('Chain: block 41234567, 6 min, 40 s old')
    expect(says(ann)).toContain('⚪ The chain has not been responding since')
    await readUpTo(2)
  })

  test('opens from the menu and leads back there', async () => {
    const ann = await world.linked('alice')
    await ann.say('/menu')
    await ann.press('Status')
    expect(says(ann)).toContain('Chain: block')
    await ann.press('‹ Menu')
    expect(says(ann)).toContain('Watchdog · 0xf39F')
  })

  test('in a group shows no credits, and buttons only to a person who linked the wallet', async () => {
    const ann = await world.linked('bob')
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const ben = world.person('en', 'Ben')
    world.telegram.join(id, ben.id)
    await world.addWatch('bob', { label: 'Shared' })
    const crew = world.chat(id, ann.id)
    await crew.say(`/start ${await world.groupCode('bob')}`)
    await crew.press('Link this chat')
    await crew.say('/status')
    expect(says(crew)).toContain('Shared')
    expect(says(crew)).not.toContain('credits')
    expect(crew.labels()).toContainEqual(['Refresh', '📌 Pin'])
    await world.chat(id, ben.id).say('/status')
    expect(says(crew)).toContain('Shared')
    expect(crew.labels()).toEqual([])
  })

  test.each(LOCALES)('is shown in %s', async (locale) => {
    const ann = await world.linked('bob', ['read'], locale)
    await ann.say('/status')
    expect(ann.last().text).not.toContain('{{')
  })
})

describe('a pinned status', () => {
  test('is edited at most once a minute, and only when it has changed', async () => {
    const ann = await world.linked('alice')
    const watchId = await world.addWatch('alice', { label: 'Pinned one' })
    await ann.say('/status')
    const { id } = ann.last()
    expect((await ann.press('📌 Pin')).text).toBe('Pinned. The message updates automatically.')
    expect(world.telegram.lastCall('pinChatMessage')?.payload).toMatchObject({
      chat_id: ann.id,
      message_id: id,
      disable_notification: true,
    })
    expect(ann.labels().flat()).toContain('📌 Unpin')
    const edits = () =>
      world.telegram.calls.filter(({ method, payload }) => {
        return method === 'editMessageText' && payload.message_id === id
      }).length
    const before = edits()
    await follow()
    await follow()
    expect(edits()).toBe(before)
    const change = { params: { id: String(watchId) }, body: { status: 'paused' } }
    await world.as('alice', updateWatch, change)
    await follow(30)
    expect(edits()).toBe(before)
    await follow(31)
    expect(edits()).toBe(before + 1)
    const pinned = () => ann.all().find((message) => message.id === id)
    expect(pinned()?.text).toMatch(/⏸️ \u2068?Pinned one/)
    await ann.say('/menu')
    await world.as('alice', updateWatch, { ...change, body: { status: 'active' } })
    await follow()
    expect(pinned()?.text).toMatch(/🟢 \u2068?Pinned one/)
  })

  test('can be unpinned', async () => {
    const ann = await world.linked('alice')
    await ann.say('/status')
    await ann.press('📌 Pin')
    const { text } = await ann.press('📌 Unpin')
    expect(text).toBe('No longer pinned.')
    expect(world.telegram.lastCall('unpinChatMessage')?.refused).toBeUndefined()
    expect(ann.labels()).toContainEqual(['Refresh', '📌 Pin', 'Provider…'])
  })

  test('is refused with the reason where the bot may not pin', async () => {
    const ann = await world.linked('carol')
    const { id } = world.telegram.group({ title: 'Ops', members: [ann.id], admins: [ann.id] })
    const ops = world.chat(id, ann.id)
    await ops.say(`/start ${await world.groupCode('carol')}`)
    await ops.press('Link this chat')
    await ops.say('/status')
    const { text } = await ops.press('📌 Pin')
    expect(text).toBe('The bot needs the right to pin messages here.')
  })
})
