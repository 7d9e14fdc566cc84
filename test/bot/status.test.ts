import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { createRecipient, updateRecipient } from '#src/operations/rest/recipients.ts'
import { updateWatch } from '#src/operations/rest/watches.ts'
import { saveStates } from '#src/watches/state-store.ts'
import { TIP_CURSOR } from '#src/watches/tables.ts'
import { saveObservationCursor } from '#src/watches/target-store.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { alertsIn } from '../support/bot-alerts.ts'
import { changeLive } from '../support/live.ts'

/** The overview of a wallet in private chats and groups, and as a pinned message that is updated. */

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

const lastText = (chat: TestChat) => chat.last().text.replace(/\s+/g, ' ')

/**
 * Updates live messages once, some seconds later; by default more than the minute between two updates. The chain was read
 * meanwhile.
 */
async function updateAfter(seconds = 61): Promise<void> {
  world.clock.advance(seconds)
  await recordTip(2)
  await changeLive(world)
}

/** Stores a newest block of this age, and how long no newer block has come. */
async function recordTip(ageSeconds: number, failingSeconds?: number): Promise<void> {
  const ago = (seconds: number) => new Date(world.clock.now().getTime() - seconds * 1000)
  await saveObservationCursor(world.app.db, {
    type: TIP_CURSOR,
    blockNumber: 41_234_567,
    blockAt: ago(ageSeconds),
    observedAt: world.clock.now(),
    failingSince: failingSeconds === undefined ? null : ago(failingSeconds),
    checkedAt: world.clock.now(),
  })
}

describe('the status', () => {
  test('offers a new watch to a wallet without watches', async () => {
    const carol = await world.linked('carol')
    await carol.say('status')
    expect(lastText(carol)).toContain('You have no watches yet.')
    expect(lastText(carol)).toContain('💳 0 USD (0 credits) · 🎟️ Watches: 0 of 0')
    expect(carol.labels()).toEqual([['New watch'], ['📌 Pin'], ['‹ Watches']])
  })

  test('shows watches, paused ones last, credits, slots, recipients that are off, and the age of the newest block', async () => {
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
    await recordTip(2)
    const ann = await world.linked('alice')
    await fire(loud, { event: 'wallet-balance.moved' })
    await ann.say('status')
    const text = lastText(ann)
    expect(text).toContain('💳 0 USD (0 credits) · 🎟️ Watches: 3 of 4')
    expect(text).not.toContain('🔕')
    expect(text).toContain('📪 \u2068Pager <b>\u2069: switched off')
    expect(text).toContain('Chain: block 41234567, 2 s old')
    expect(text).not.toContain('not answering')
    for (const label of ['Node A', 'Quiet']) {
      expect(text).toContain(label)
      expect(text.indexOf(label)).toBeLessThan(text.indexOf('Paused'))
    }
    expect(ann.labels()).toContainEqual(['📌 Pin'])
  })

  test('names recipients that are off only in a chat that may manage them', async () => {
    const url = 'https://example.org/hook'
    const body = { name: 'Pager', channel: 'webhook', url }
    const { id } = await world.as('carol', createRecipient, { body })
    const off = { params: { id: String(id) }, body: { status: 'disabled' } }
    await world.as('carol', updateRecipient, off)
    const boss = await world.linked('carol')
    await boss.say('status')
    expect(lastText(boss)).toContain('Pager')
    const reader = await world.linked('carol', ['read'])
    await reader.say('status')
    expect(lastText(reader)).toContain('Watches:')
    expect(lastText(reader)).not.toContain('Pager')
  })

  test('shows, as the menu does, the highest severity of the active alerts, and that the chat is muted', async () => {
    const bob = await world.linked('bob')
    const settings = { type: 'provider-fsp', target: { provider: walletOf('bob') }, settings: {} }
    const ids = [
      await world.addWatch('bob', { label: 'Node A', ...settings }),
      await world.addWatch('bob', { label: 'Node B', ...settings }),
    ]
    const startEpisode = (watchId: number, severity: 'warning' | 'critical') => {
      const at = world.clock.now()
      const times = { since: at, lastEvidenceAt: at, lastFiredAt: at }
      const state = { streak: 2, severity: null }
      const signal = { signal: 'ftso-commit', phase: 'firing', streak: 2 } as const
      const cooldown = { changes: [], cooldownUntil: null }
      return saveStates(world.app.db, [
        { watchId, state: { ...signal, ...times, ...cooldown, state, severity } },
      ])
    }
    const texts = async () => {
      const texts: string[] = []
      for (const command of ['/menu', 'status']) {
        await bob.say(command)
        texts.push(lastText(bob))
      }
      return texts
    }
    await startEpisode(ids[0] ?? 0, 'warning')
    for (const text of await texts()) expect(text).toContain('🟠 1 active')
    await startEpisode(ids[1] ?? 0, 'critical')
    for (const text of await texts()) expect(text).toContain('🔴 2 active')
    for (const text of await texts()) expect(text).not.toContain('🔕')
    await bob.say('/mute 1h')
    for (const text of await texts()) expect(text).toContain('🔕 This chat: muted until')
  })

  test('says that the chain has not been responding, and since when', async () => {
    await recordTip(400, 300)
    const ann = await world.linked('alice')
    await ann.say('status')
    expect(lastText(ann)).toContain('Chain: block 41234567, 6 min, 40 s old')
    expect(lastText(ann)).toContain('⚪ The chain has not been responding since')
    await recordTip(2)
  })

  test('opens from the watches and leads back there', async () => {
    const ann = await world.linked('alice')
    await ann.say('/watches')
    await ann.press('Status')
    expect(lastText(ann)).toContain('Chain: block')
    await ann.press('‹ Watches')
    expect(ann.labels().flat()).toContain('Status')
  })

  test('shows no credits in a group, and buttons only to a person who linked the wallet', async () => {
    const ann = await world.linked('bob')
    const { id } = world.telegram.group({ title: 'Crew', members: [ann.id], admins: [ann.id] })
    const ben = world.person('en', 'Ben')
    world.telegram.join(id, ben.id)
    await world.addWatch('bob', { label: 'Shared' })
    const crew = world.chat(id, ann.id)
    await crew.say(`/start ${await world.groupCode('bob')}`)
    await crew.press('Link this chat')
    await crew.say('/watches')
    await crew.press('Status')
    expect(lastText(crew)).toContain('Shared')
    expect(lastText(crew)).not.toContain('credits')
    expect(crew.labels()).toContainEqual(['📌 Pin'])
    await world.chat(id, ben.id).say('/watches')
    expect(lastText(crew)).toContain('Shared')
    expect(crew.labels()).toEqual([])
  })

  test.each(LOCALES)('has no unfilled placeholder in %s', async (locale) => {
    const ann = await world.linked('bob', ['read'], locale)
    await ann.say('status')
    expect(ann.last().text).not.toContain('{{')
  })
})

describe('pinning the status', () => {
  test('keeps its message up to date: at most one edit a minute, and only of a change', async () => {
    const ann = await world.linked('alice')
    const watchId = await world.addWatch('alice', { label: 'Pinned one' })
    await ann.say('status')
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
    await updateAfter()
    await updateAfter()
    expect(edits()).toBe(before)
    const change = { params: { id: String(watchId) }, body: { status: 'paused' } }
    await world.as('alice', updateWatch, change)
    await updateAfter(30)
    expect(edits()).toBe(before)
    await updateAfter(31)
    expect(edits()).toBe(before + 1)
    const pinned = () => ann.all().find((message) => message.id === id)
    expect(pinned()?.text).toMatch(/⏸️ \u2068?Pinned one/)
    await ann.say('/menu')
    await world.as('alice', updateWatch, { ...change, body: { status: 'active' } })
    await updateAfter()
    expect(pinned()?.text).toMatch(/🟢 \u2068?Pinned one/)
  })

  test('can be undone', async () => {
    const ann = await world.linked('alice')
    await ann.say('status')
    await ann.press('📌 Pin')
    const { text } = await ann.press('📌 Unpin')
    expect(text).toBe('No longer pinned.')
    expect(world.telegram.lastCall('unpinChatMessage')?.refused).toBeUndefined()
    expect(ann.labels()).toContainEqual(['📌 Pin'])
  })

  test('is refused with the reason where the bot may not pin', async () => {
    const ann = await world.linked('carol')
    const { id } = world.telegram.group({ title: 'Ops', members: [ann.id], admins: [ann.id] })
    const ops = world.chat(id, ann.id)
    await ops.say(`/start ${await world.groupCode('carol')}`)
    await ops.press('Link this chat')
    await world.addWatch('carol', { label: 'Here' })
    await ops.say('/watches')
    await ops.press('Status')
    const { text } = await ops.press('📌 Pin')
    expect(text).toBe('The bot needs the right to pin messages here.')
  })
})
