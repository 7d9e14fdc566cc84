import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { alertUrl } from '#src/alerts/alert-urls.ts'
import { readLinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { listAllRecipients, readRecipientsById } from '#src/recipients/service.ts'
import { textOf } from '../pages/site.ts'
import { endDeliveries } from '../support/deliveries.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** The page that the link of a message with several alerts opens shows their outage. */

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const COMMIT = 'fsp.ftso-commit'
const REGISTRATION = 'fsp.registration'

let world: AlertWorld
let watchId: number
let since: string

beforeAll(async () => {
  world = await alertWorld()
})
beforeEach(async () => {
  world.clock.advance(3 * 86_400)
  await world.sql`update tokens set expires_at = ${new Date('2030-01-01T00:00:00.000Z')}`
  watchId = await world.watch('Alpha')
  since = world.clock.now().toISOString()
  const data = { reason: 'missing', since, streak: 2 }
  await world.record(watchId, ...DUTIES.map((duty) => ({ event: `fsp.${duty}`, data })))
  await world.deliver()
})
afterAll(() => world.close())

/** The page of the newest alert of an event, by the link of the mailbox. */
async function open(event = COMMIT) {
  const ids = (await listAllRecipients(world.app.db, world.alice.caller.wallet)).map(({ id }) => id)
  const readers = [...(await readRecipientsById(world.app.db, ids)).values()]
  const mailbox = readers.find(({ channel }) => channel === 'email')
  const [row] = await world.sql<{ id: number }[]>`
    select id from alerts where watch_id = ${watchId} and event = ${event} order by id desc limit 1`
  const link = { alertId: row?.id ?? 0, recipientId: mailbox?.id ?? null }
  const url = new URL(alertUrl(world.app, link)).pathname
  const html = (await world.server.inject({ url })).payload
  const heading = textOf(/<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? '')
  const list = /id="alerts">[^<]*<\/h2>\s*<ul[^>]*>([\s\S]*?)<\/ul>/.exec(html)?.[1] ?? ''
  return { url, html, text: textOf(html), heading, links: [...list.matchAll(/href="([^"]+)"/g)] }
}
const missed = (rounds: number) => {
  const state = {
    lastRound: 1_000_000,
    streak: rounds,
    firstRound: 1_000_000 - rounds + 1,
    firstAt: Date.parse(since) / 1000,
    missed: rounds,
    isBroken: true,
    bad: [],
    silent: rounds,
    others: { total: 97, failed: 1 },
    usual: [],
    earnings: {
      roundsPerEpoch: 3360,
      newest: { rewardEpoch: 451, amountWei: `1680${'0'.repeat(18)}`, weightRatio: null },
    },
  }
  return world.sql`
    update signal_states set state = ${world.sql.json(state)} where watch_id = ${watchId}`
}
const time = () => since.slice(11, 16)

test('it names the cause, the damage so far and each alert, whose link opens that alert alone', async () => {
  await missed(17)
  world.clock.advance(1500)
  const { text, heading, links } = await open()
  expect(heading).toBe(`🔴 Alpha has sent no votes since ${time()} (17 rounds)`)
  expect(text).toContain('The rewards of these rounds are lost')
  expect(text).toContain('Others without this problem: 96 of 97')
  expect(text).toContain('Rounds affected: 17 of 3,360')
  expect(text).toContain('Rewards of these rounds: about 8.5 FLR')
  expect(text).toContain('1. Check on the server that the client is running'.slice(3))
  expect(text).toContain('Alerts of this incident')
  expect(text).not.toContain('More alerts of this watch')
  expect(links).toHaveLength(5)
  for (const [, href = ''] of links) {
    const own = (await world.server.inject({ url: new URL(href).pathname })).payload
    expect(textOf(own)).not.toContain('Alerts of this incident')
    expect(textOf(own)).toContain('in 17 consecutive rounds')
  }
})

test('a raised severity is the same alert of the outage', async () => {
  world.clock.advance(90)
  const data = { reason: 'missing', since, streak: 4 }
  await world.record(watchId, { event: COMMIT, severity: 'critical', data })
  await world.deliver()
  expect((await open()).links).toHaveLength(5)
})

test('more alerts than the list has room for are counted below it', async () => {
  // Each reward epoch without registration is an episode of its own.
  for (let epoch = 0; epoch < 25; epoch += 1) {
    await world.record(watchId, { event: REGISTRATION, data: { rewardEpochId: 400 + epoch } })
  }
  await world.deliver()
  const { text, links } = await open(REGISTRATION)
  expect(links).toHaveLength(20)
  expect(text).toContain('and 5 more')
})

test('more alerts than one read has are all counted, and one press acknowledges all', async () => {
  await world.record(watchId, { event: REGISTRATION, data: { rewardEpochId: 400 } })
  await world.copyAlert({ watchId, event: REGISTRATION }, 129)
  await endDeliveries(
    world.app.db,
    sql`watch_id = ${watchId} and channel = 'email'`,
    sql`status = 'delivered', delivered_at = ${world.clock.now()}`,
  )
  const { text, url } = await open(REGISTRATION)
  expect(text).toContain('and 110 more')
  let statements = 0
  const count = () => {
    statements += 1
  }
  subscribe(STATEMENT_CHANNEL, count)
  await world.server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'answer=ack',
  })
  unsubscribe(STATEMENT_CHANNEL, count)
  // All of them stay locked meanwhile: another person who acts at the same time waits for as long.
  expect(statements).toBeLessThan(60)
  const left = await world.sql`
    select from alerts where watch_id = ${watchId} and event = ${REGISTRATION}
      and acknowledged_at is null`
  expect(left).toHaveLength(0)
})

test('only the alerts that it shows are rendered', async () => {
  await world.record(watchId, { event: REGISTRATION, data: { rewardEpochId: 400 } })
  await world.copyAlert({ watchId, event: REGISTRATION }, 200)
  await endDeliveries(
    world.app.db,
    sql`watch_id = ${watchId} and channel = 'email'`,
    sql`status = 'delivered', delivered_at = ${world.clock.now()}`,
  )
  const { url } = await open(REGISTRATION)
  // Each rendered alert has a link.
  let signed = 0
  const signLink: typeof world.app.box.signLink = (...link) => {
    signed += 1
    return world.app.box.signLink(...link)
  }
  const deps = { ...world.app, box: { ...world.app.box, signLink } }
  const page = await readLinkedAlertPage(deps, url.split('/').at(-1) ?? '')
  expect(page?.incident?.more).toBeGreaterThan(180)
  expect(signed).toBeLessThan(30)
})

test('beyond the alerts that it reads it counts no more than it has read', async () => {
  await world.record(watchId, { event: REGISTRATION, data: { rewardEpochId: 400 } })
  await world.deliver()
  // As many as a wallet gathers in months.
  await world.copyAlert({ watchId, event: REGISTRATION }, 1000)
  const { text, heading } = await open(REGISTRATION)
  expect(text).toMatch(/and at least 9\d\d more/)
  expect(heading).toMatch(/ · and at least (?:9\d\d|1,000) more$/)
})

test('once it is over it says how long it lasted and how many rounds were lost', async () => {
  world.clock.advance(360)
  const roundStart = world.clock.now().toISOString()
  const source = { rewardEpochId: 451, amountWei: `1680${'0'.repeat(18)}`, weightRatio: null }
  const cost = { rounds: 4, ofRounds: 3360, amountWei: `2${'0'.repeat(18)}`, symbol: 'FLR', source }
  const data = { roundStart, since: roundStart, gapSeconds: 360, missedRounds: 4, cost }
  await world.record(watchId, ...DUTIES.map((duty) => ({ event: `fsp.${duty}.recovered`, data })))
  const { text, heading, links } = await open()
  expect(heading).toBe('🟢 Alpha is healthy again · down 6 min, 4 rounds, about 2 FLR lost')
  expect(links).toHaveLength(5)
  expect(text).not.toContain('Acknowledge')
})

test('an alert that was over before is no part of it', async () => {
  world.clock.advance(360)
  const roundStart = world.clock.now().toISOString()
  const data = { roundStart, since: roundStart, gapSeconds: 360, missedRounds: 4 }
  await world.record(watchId, ...DUTIES.map((duty) => ({ event: `fsp.${duty}.recovered`, data })))
  world.clock.advance(3600)
  const later = { reason: 'late', since: world.clock.now().toISOString(), streak: 2 }
  await world.record(watchId, { event: COMMIT, data: later })
  await world.deliver()
  const { text, heading } = await open()
  expect(heading).toBe('Alpha: FTSO commit too late in 2 consecutive rounds')
  expect(text).toContain('More alerts of this watch')
  expect(text).not.toContain('Alerts of this incident')
})
