import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registerPages } from '#src/pages/index.ts'
import { providerFsp } from '#src/watches/types/provider-fsp/index.ts'
import { BOT_NAME } from '../support/harness.ts'
import { OWNER, openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

describe('/a/<code>', () => {
  test('shows the event, the watch, the time and every field', async () => {
    const { path } = await site.alert()
    const { status, text, html } = await site.get(path)
    expect(status).toBe(200)
    expect(text).toContain('🔵 Info')
    expect(text).toContain('Treasury sent 12,500 FLR')
    expect(text).toContain('Nov 20, 2026, 21:04 UTC')
    expect(text).toContain('Incident 31')
    expect(text).toContain('from 12,742.5 FLR to 242.5 FLR')
    // As in a chat: the last four characters can be compared; the copy button has all of it.
    expect(html).toMatch(
      /<code><bdi dir="ltr"><span class="whole">0x3f12…[0-9A-Za-z]{4}<\/span><\/bdi>/,
    )
    expect(html).toMatch(/data-copy="0x3f12[0-9A-Fa-f]{36,60}"/)
    expect(html).toContain('rel="noreferrer"')
    expect(html).not.toContain('<form')
    expect(text).not.toContain(OWNER.wallet)
  })
  test('shows times in the recipient’s time zone', async () => {
    const { id } = await site.mailbox({ timezone: 'Asia/Kolkata' })
    const { path } = await site.alert({ recipientId: id, position: 1 })
    expect((await site.get(path)).text).toContain('Nov 21, 2026, 02:34 UTC+5:30')
  })
  test('says when it recovered and after how long', async () => {
    const recovered_at = new Date('2026-11-20T21:17:01.000Z')
    const { path } = await site.alert({ state: 'recovered', recovered_at, position: 2 })
    const { text } = await site.get(path)
    expect(text).toContain('🟢 Recovered')
    expect(text).toContain('Recovered on Nov 20, 2026, 21:17 UTC after 12 minutes, 30 seconds')
  })
  test('of an alert that has recovered begins with its end, in the past tense, without what to do', async () => {
    const fired_at = new Date('2026-11-20T21:04:31.000Z')
    const recovered_at = new Date('2026-11-20T21:17:01.000Z')
    const [commit, over] = ['fsp.ftso-commit', 'fsp.ftso-commit.recovered'] as const
    const signal = providerFsp.signals.find(({ id }) => id === 'ftso-commit')
    const of = (event: typeof commit | typeof over) => ({
      ...{ type: providerFsp.name, signal: 'ftso-commit', event, severity: 'warning' },
      watch_id: 6100,
      data: JSON.stringify(signal?.examples[event]),
    })
    const ended = { state: 'recovered', recovered_at }
    const { path, alertId } = await site.alert({ ...of(commit), ...ended, fired_at, position: 10 })
    const open = await site.alert({ ...of(commit), position: 9 })
    const before = (await site.get(open.path)).text
    expect(before).toContain('What to do')
    const recovery = await site.alert({
      ...{ ...of(over), ...ended, started_at: fired_at, recovery_of: alertId },
      ...{ fired_at: recovered_at, is_episode: false, position: 11 },
    })
    const { text, html } = await site.get(path)
    expect(html).toMatch(/<h1>\u2068.*\u2069: FTSO commits are arriving again<\/h1>/)
    expect(text).toMatch(/voting rounds? affected/)
    expect(text).toMatch(/FTSO commit .* · recovered/)
    const places = ['arriving again', 'Recovered on Nov 20', ' · recovered'].map((part) =>
      text.indexOf(part),
    )
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    for (const page of [text, (await site.get(recovery.path)).text]) {
      expect(page).not.toContain('What to do')
      expect(page).toContain('Why it matters')
    }
    expect(before).toContain('every further round adds to the loss')
    expect(text).not.toContain('every further round adds to the loss')
  })
  test.each([
    ['warning', '🟠 Warning'],
    ['critical', '🔴 Critical'],
  ])('shows %s as a symbol and a word', async (severity, chip) => {
    const { path } = await site.alert({ severity, watch_id: severity.length })
    expect((await site.get(path)).text).toContain(chip)
  })
  test('leads to the watch’s card in the bot', async () => {
    const { path } = await site.alert({ watch_id: 4711 })
    const app = { ...site.app, botUsername: () => BOT_NAME }
    const server = Fastify()
    await server.register(registerPages, { app })
    const { payload } = await server.inject({ method: 'GET', url: path })
    await server.close()
    expect(payload).toContain(`href="https://t.me/${BOT_NAME}?start=w4711"`)
  })
  test('marks an acknowledged alert', async () => {
    const { path } = await site.alert({ state: 'acknowledged', position: 3 })
    expect((await site.get(path)).text).toContain('✓ Acknowledged')
  })
  test('escapes what people typed', async () => {
    const { path } = await site.alert({
      watch_label: '<img src=x onerror=alert(1)>',
      position: 4,
    })
    const { html, text } = await site.get(path)
    expect(html).not.toContain('<img src=x')
    expect(text).toContain('<img src=x onerror=alert(1)>')
  })
  test('answers 404 to every other code, and to one of a deleted alert', async () => {
    const { path, alertId } = await site.alert({ position: 5 })
    const wrong = [`${path.slice(0, -2)}xx`, '/a/x', `/a/${alertId}`, '/a/%00']
    for (const path of wrong) {
      const { status, text } = await site.get(path)
      expect([status, text], path).toEqual([
        404,
        expect.stringContaining('This link does not open an alert'),
      ])
    }
    await site.database.sql`delete from alerts where id = ${alertId}`
    expect((await site.get(path)).status).toBe(404)
  })
  test('that is deleted says so', async () => {
    const { path, alertId } = await site.alert({ position: 7 })
    await site.database.sql`delete from alerts where id = ${alertId}`
    expect((await site.get(path)).text).toContain('This alert was deleted')
  })
  test('shows the help of its signal and a timeline', async () => {
    const { path } = await site.alert({ position: 8 })
    const { text } = await site.get(path)
    expect(text).toContain('What is checked')
    expect(text).toContain('What to do')
    expect(text).toContain('21:04:31 UTC triggered')
  })
  test('says what to do before the facts, and folds the deliveries', async () => {
    const { path } = await site.alert({ position: 9 })
    const { html, text } = await site.get(path)
    const places = ['What to do', 'triggered', 'What is checked'].map((part) => text.indexOf(part))
    expect(places.every((place) => place > 0)).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
    expect(html).not.toContain('<details class="more" open')
  })
})

describe('a link of one recipient', () => {
  async function own(position: number) {
    const mailbox = await site.mailbox({ name: 'Ann' })
    const wallet = mailbox.owner.wallet
    const watch_id = 5000 + position
    const alert = await site.alert({ recipientId: mailbox.id, wallet, position, watch_id })
    return { ...alert, mailbox }
  }

  test('acknowledges under the name of the recipient, and takes that back', async () => {
    const { path } = await own(20)
    expect((await site.get(path)).text).toContain('Acknowledge Mute 1 h Mute 8 h')
    const done = await site.post(path, 'answer=ack')
    expect([done.status, done.headers['location']]).toEqual([303, path])
    const { text } = await site.get(path)
    expect(text).toContain('✓ Acknowledged')
    expect(text).toMatch(/acknowledged by .?Ann/)
    expect((await site.post(path, 'answer=unack')).status).toBe(303)
    expect((await site.get(path)).text).not.toContain('✓ Acknowledged')
  })
  test('says when further recipients are notified, until someone acknowledges it', async () => {
    const { path, alertId } = await own(25)
    const { sql } = site.database
    await sql`update alerts set escalate_at = '2026-11-20T21:19:33Z' where id = ${alertId}`
    const line = 'If no one acknowledges this alert by 21:19 UTC, more recipients are notified.'
    expect((await site.get(path)).text).toContain(line)
    await site.post(path, 'answer=ack')
    expect((await site.get(path)).text).not.toContain('more recipients are notified')
  })
  test('says when further recipients were notified', async () => {
    const { path, alertId } = await own(26)
    const { sql } = site.database
    await sql`update alerts set escalated_at = '2026-11-20T21:19:33Z', escalated_to = '{}' where id = ${alertId}`
    const { text } = await site.get(path)
    expect(text).toContain('21:19:33 UTC escalated: no one had acknowledged the alert')
    expect(text).not.toContain('more recipients are notified')
  })
  test('acknowledges an alert that never recovers, as the chat does', async () => {
    const { path } = await own(24)
    await site.database.sql`update alerts set is_episode = false where position = 24`
    expect((await site.get(path)).text).toContain('Acknowledge Mute 1 h Mute 8 h')
    await site.post(path, 'answer=ack')
    expect((await site.get(path)).text).toContain('✓ Acknowledged')
  })
  test('mutes the alert until it recovers', async () => {
    const { path } = await own(21)
    await site.post(path, 'answer=muteRecovered')
    expect((await site.get(path)).text).toContain(
      'Muted in chat and e-mail until the alert recovers.',
    )
  })
  test('changes nothing by a visit or an unknown answer', async () => {
    const { path } = await own(22)
    const before = (await site.get(path)).text
    expect((await site.post(path, 'answer=explode')).status).toBe(303)
    expect((await site.get(path)).text).toBe(before)
  })
  test('is read-only after seven days', async () => {
    const { path } = await own(23)
    await site.database.sql`
      update alerts set created_at = '2026-11-01T00:00:00Z' where position = 23`
    const { text, html } = await site.get(path)
    expect(html).not.toContain('<form')
    expect(text).toContain('This link is read-only.')
    expect((await site.post(path, 'answer=ack')).status).toBe(403)
  })
})

test('a link without a recipient has no form and refuses actions', async () => {
  const { path } = await site.alert({ position: 30 })
  expect((await site.get(path)).html).not.toContain('<form')
  expect((await site.post(path, 'answer=ack')).status).toBe(403)
  expect((await site.get(path)).text).not.toContain('✓ Acknowledged')
})
