import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { type Inbox, startMailServer } from '#sandbox/inbox.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { type BotWorld, botWorld, type TestChat } from '../support/bot.ts'
import { changeLive, startLiveJobs } from '../support/live.ts'

let inbox: Inbox
let world: BotWorld
let stopJobs = async () => {}

beforeAll(async () => {
  inbox = await startMailServer()
  world = await botWorld({
    SMTP_URL: inbox.url,
    EMAIL_FROM: 'Watchdog <watchdog@example.org>',
  })
})
afterAll(async () => {
  await stopJobs()
  await world.close()
  await inbox.close()
})

const follow = () => changeLive(world)

async function addMailbox(chat: TestChat, address: string) {
  await chat.say('/recipients')
  await chat.press('Add recipient')
  await chat.press('E-mail')
  await chat.say(address)
}

const sendConfirmations = () =>
  sendDueConfirmations(world.service.app, new AbortController().signal)

async function confirm(address: string) {
  await sendConfirmations()
  const mail = inbox.mails.findLast(({ to }) => JSON.stringify(to).includes(address))
  const link = mail && confirmLinkOf(mail)
  await world.server.inject({
    method: 'POST',
    url: new URL(link ?? '').pathname,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'answer=yes',
  })
}

const shown = (chat: TestChat, messageId: number) =>
  chat.all().find(({ id }) => id === messageId)?.text
const confirmed = (address: string) =>
  `✅ \u2068${inertText(address)}\u2069 is confirmed. Alerts are sent to this recipient from now on.`

test('a chat is told of a confirmed mailbox by its commit, without any time passing', async () => {
  const ann = await world.linked('alice')
  const bob = await world.linked('bob')
  await addMailbox(ann, 'at-once@example.org')
  await addMailbox(bob, 'waits@example.org')
  const { id } = ann.last()
  const before = bob.last()
  stopJobs = await startLiveJobs(world)
  await confirm('at-once@example.org')
  const text = await world.telegram.waitFor(() =>
    shown(ann, id)?.startsWith('✅') ? shown(ann, id) : undefined,
  )
  expect(text).toBe(confirmed('at-once@example.org'))
  await stopJobs()
  expect(bob.last()).toEqual(before)
})

test.each([
  {
    address: 'again@example.org',
    waitSeconds: 301,
    notice: '✓ A confirmation e-mail is on its way.',
  },
  { address: 'early@example.org', waitSeconds: 0, notice: 'Next one in 5 minutes.' },
])('the card after "Send it again" is told, too: $address', async ({ address, ...tried }) => {
  const ann = await world.linked('alice')
  await addMailbox(ann, address)
  await sendConfirmations()
  world.clock.advance(tried.waitSeconds)
  await ann.press('Send it again')
  const { id, text } = ann.last()
  expect(text).toContain(tried.notice)
  stopJobs = await startLiveJobs(world)
  await confirm(address)
  await world.telegram.waitFor(() => shown(ann, id) === confirmed(address))
  await stopJobs()
})

test('a confirmation whose notification was lost is found by the clock', async () => {
  const ann = await world.linked('alice')
  await addMailbox(ann, 'lost@example.org')
  const { id } = ann.last()
  await confirm('lost@example.org')
  await follow()
  expect(shown(ann, id)).toContain('📨')
  world.clock.advance(10)
  await follow()
  expect(shown(ann, id)).toBe(confirmed('lost@example.org'))
})

test('the test that a confirmation sends is not repeated by “Test” soon after, nor a pressed one by a second press', async () => {
  const ann = await world.linked('alice')
  await addMailbox(ann, 'once@example.org')
  await confirm('once@example.org')
  world.clock.advance(10)
  await follow()
  const tests = async () => {
    const rows =
      await world.sql`select 1 from deliveries d join recipients r on r.id = d.recipient_id
      where d.test and r.name = 'once@example.org'`
    return rows.length
  }
  expect(await tests()).toBe(1)
  await ann.press('Test')
  expect(ann.last().text).toMatch(
    /⏳ \u2068once@\u2060example\.\u2060org\u2069: a test was sent a moment ago; the next one is possible at \d\d:\d\d:\d\d/,
  )
  expect(await tests()).toBe(1)
  world.clock.advance(60)
  await ann.press('Test')
  expect(ann.last().text).toContain('⏳ \u2068once@\u2060example.\u2060org\u2069: on its way')
  await ann.press('Test')
  expect(ann.last().text).toContain('a test was sent a moment ago')
  expect((await ann.press('Test')).text).toMatch(
    /^⏳ \u2068once@\u2060example\.\u2060org\u2069: a test was sent a moment ago; the next one is possible at \d\d:\d\d:\d\d\sUTC$/,
  )
  expect(await tests()).toBe(2)
})
