import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendDueReminders } from '#src/billing/subscriptions/reminders.ts'
import { giveCredits } from '../support/credits.ts'
import { confirmMailbox, linkChat } from '../support/destinations.ts'
import { BOT_NAME, harness, type World } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'

/** Notices as their recipients see them. */

let world: World
let alice: Client
let ann: Awaited<ReturnType<typeof linkChat>>

beforeAll(async () => {
  world = await harness()
  alice = await signIn(world, 'alice')
  await alice.request('POST', '/account/terms', { version: '2026-11' })
  await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
  await confirmMailbox(world)
  await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  await world.deliver()
  world.inbox.clear()
  world.clock.advance(600)
  ann = await linkChat(world, alice)
})
afterAll(() => world.close())

test('a chat that was linked is shown in the mailbox, with a way to remove it', async () => {
  await world.deliver()
  expect(world.inbox.mails).toHaveLength(1)
  const [mail] = world.inbox.mails
  expect(mail?.subject).toContain('A chat was linked to 0x')
  expect(mail?.text).toContain('private chat. Permissions: receive alerts, manage watches.')
  expect(mail?.text).toContain('Remove…')
  expect(mail?.text).toMatch(new RegExp(`https://t\\.me/${BOT_NAME}\\?start=r\\d+`))
  expect(mail?.html).not.toContain('rec.delete')
})

test('a notice about slots that end goes to the chat, to the mailbox if the chat is off, and never to the webhook', async () => {
  await giveCredits(world.app, alice.caller.wallet, 1500)
  await alice.request('POST', '/subscriptions', { quantity: 3, periods: 1 })
  world.inbox.clear()
  world.receiver.clear()
  world.clock.advance(23 * 86_400)
  await sendDueReminders(world.app, new AbortController().signal)
  await world.deliver()
  const message = await world.telegram.waitFor(() => {
    const last = world.telegram.lastMessage(ann.chat)
    return last?.text?.startsWith('🎟️') === true ? last : undefined
  })
  expect(message.text).toBe(
    '🎟️ 3 slots end on Dec 20, 2026\n\nNo watch will be suspended: your other slots are enough.\n' +
      'With auto-renew: 1.50\u00a0USD (1,500 credits) every 30 days.',
  )
  expect(message.keyboard.map((row) => row.map(({ text }) => text))).toEqual([
    ['Turn on auto-renew'],
    ['Renew once', 'Slots'],
  ])
  expect(message.keyboard.flat().map(({ callback_data }) => callback_data)).toEqual([
    expect.stringMatching(/^1:slots\.renew:[0-9a-z]+:1$/),
    expect.stringMatching(/^1:slots\.again:[0-9a-z]+$/),
    '1:slots',
  ])
  expect(message.silent).toBe(false)
  expect(world.inbox.mails).toEqual([])
  await world.sql`update recipients set status = 'disabled' where channel = 'telegram'`
  world.clock.advance(6 * 86_400)
  await sendDueReminders(world.app, new AbortController().signal)
  await world.deliver()
  expect(world.inbox.mails).toMatchObject([
    {
      to: 'ops@example.org',
      subject: expect.stringContaining('3 slots end on Dec 20, 2026'),
      text: expect.stringContaining(`https://t.me/${BOT_NAME}?start=slots`),
    },
  ])
  // A mail's button leads to where the chat's button leads.
  const { body } = await alice.request('GET', '/subscriptions')
  const text = world.inbox.mails[0]?.text
  for (const start of ['renewals', `renew${body.data[0].id}`]) {
    expect(text).toMatch(new RegExp(`https://t\\.me/${BOT_NAME}\\?start=${start}\\s`))
  }
  expect(world.receiver.deliveries).toEqual([])
})
