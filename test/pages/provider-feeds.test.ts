import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom'
import ICAL from 'ical.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import { type WatchWorld, watchWorld } from '../watches/world.ts'

/** Feeds and the calendar of a data provider, for everybody. */

let world: WatchWorld
let client = 1

beforeAll(async () => {
  const providers = [{ name: 'Anchor', stake: 3_000_000_000 }, { name: '<i>Sly</i> & @bot' }]
  world = await watchWorld({ simulation: { providers }, isAlone: true })
  const player = world.simulation()
  await player.playRounds(3)
  await player.behave('<i>Sly</i> & @bot', 'no-commit')
  await player.playRounds(6)
  await world.devnet.mine(2, 1)
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  const tip = await chain.confirmedBlock(confirmations, signal)
  await facts.publications.fetch(tip, signal)
  await facts.rounds.advance(tip, signal)
}, 60_000)
afterAll(() => world.close())

const pathOf = (name: string) =>
  `/providers/${world.simulation().provider(name).accounts.identity.address}`
const SLY = '<i>Sly</i> & @bot'

async function get(url: string, headers: Record<string, string> = {}) {
  client += 1
  const remoteAddress = `192.0.2.${client % 250}`
  const response = await world.server.inject({ url, headers, remoteAddress })
  return { status: response.statusCode, text: response.payload, headers: response.headers }
}

function parseAtom(xml: string) {
  const document = new DOMParser({ onError: onErrorStopParsing }).parseFromString(xml, 'text/xml')
  const texts = (name: string) =>
    Array.from(document.getElementsByTagName(name), (element) => element.textContent ?? '')
  return { ids: texts('id'), titles: texts('title'), updated: texts('updated') }
}

test('Atom and JSON Feed have the same incidents, whose ids stay', async () => {
  const atom = await get(`${pathOf(SLY)}/incidents.atom`)
  expect([atom.status, atom.headers['content-type']]).toEqual([
    200,
    'application/atom+xml; charset=utf-8',
  ])
  const { ids, titles } = parseAtom(atom.text)
  expect(titles[0]).toContain('<i>Sly</i>')
  expect(ids.length).toBeGreaterThan(1)
  expect(new Set(ids).size).toBe(ids.length)
  const json = await get(`${pathOf(SLY)}/incidents.json`)
  expect(json.headers['content-type']).toBe('application/feed+json; charset=utf-8')
  const { items } = JSON.parse(json.text)
  expect(items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1))
  world.clock.advance(3700)
  const later = parseAtom((await get(`${pathOf(SLY)}/incidents.atom`)).text)
  expect(later.ids).toEqual(ids)
})

test('a provider without incidents has an empty feed', async () => {
  const { status, text } = await get(`${pathOf('Anchor')}/incidents.json`)
  expect([status, JSON.parse(text).items]).toEqual([200, []])
})

test.each(LOCALES)('feeds and calendar are in %s', async (locale) => {
  const feed = JSON.parse((await get(`${pathOf(SLY)}/incidents.json?lang=${locale}`)).text)
  expect(feed.language).toBe(locale)
  expect(feed.home_page_url.endsWith(`?lang=${locale}`)).toBe(locale !== 'en')
  const { text } = await get(`${pathOf(SLY)}/calendar.ics?lang=${locale}`)
  const calendar = new ICAL.Component(ICAL.parse(text))
  const events = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event))
  expect(events.length).toBeGreaterThan(8)
  for (const { uid, summary, description } of events) {
    expect(`${uid} ${summary} ${description}`).not.toMatch(/pages:|\{\{|undefined/)
  }
  expect(new Set(events.map(({ uid }) => uid)).size).toBe(events.length)
})

test('the calendar has the epochs one after the other, and a registration before each', async () => {
  const { text } = await get(`${pathOf('Anchor')}/calendar.ics`)
  const calendar = new ICAL.Component(ICAL.parse(text))
  const events = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event))
  const of = (kind: string) =>
    events
      .filter(({ uid }) => uid.startsWith(`${kind}-`))
      .map(({ startDate, endDate }) => [+startDate.toJSDate(), +endDate.toJSDate()] as const)
  const epochs = of('epoch')
  expect(epochs.slice(1).map(([from]) => from)).toEqual(epochs.slice(0, -1).map(([, to]) => to))
  const starts = epochs.map(([from]) => from)
  for (const [opens] of of('registration')) expect(starts.some((start) => start > opens)).toBe(true)
  expect(of('registration').length).toBeGreaterThanOrEqual(4)
})

test('who has the file is sent nothing, by tag and by time, until it changes', async () => {
  for (const file of ['incidents.atom', 'incidents.json', 'calendar.ics', 'badge.svg']) {
    const first = await get(`${pathOf(SLY)}/${file}`)
    const tag = String(first.headers.etag)
    const changed = String(first.headers['last-modified'])
    expect(Date.parse(changed)).not.toBeNaN()
    const by = async (headers: Record<string, string>) =>
      (await get(`${pathOf(SLY)}/${file}`, headers)).status
    expect(await by({ 'if-none-match': tag })).toBe(304)
    expect(await by({ 'if-modified-since': changed })).toBe(304)
    const before = new Date(Date.parse(changed) - 1000).toUTCString()
    expect(await by({ 'if-modified-since': before })).toBe(200)
    expect(await by({ 'if-modified-since': 'no date' })).toBe(200)
    // A tag counts more than a time.
    expect(await by({ 'if-none-match': '"other"', 'if-modified-since': changed })).toBe(200)
    const german = await get(`${pathOf(SLY)}/${file}?lang=de`)
    if (file !== 'badge.svg') expect(german.headers.etag).not.toBe(tag)
  }
})

test('the page leads to the feeds and the calendar, and programs find them', async () => {
  const { text } = await get(`${pathOf(SLY)}?lang=de`)
  const url = `${world.app.publicUrl}${pathOf(SLY)}`
  for (const [type, file] of [
    ['application/atom+xml', 'incidents.atom'],
    ['application/feed+json', 'incidents.json'],
    ['text/calendar', 'calendar.ics'],
  ]) {
    expect(text).toContain(`<link rel="alternate" type="${type}" href="${url}/${file}?lang=de"`)
    expect(text).toContain(`<a href="${url}/${file}?lang=de">`)
  }
  expect(text).toContain(`<a href="webcal:${url.replace(/^https?:/, '')}/calendar.ics?lang=de">`)
})

test('without the chain the calendar says when to come again, and an account has no feed', async () => {
  const fresh = pathOf('Anchor')
  world.clock.advance(120)
  await world.primary.down()
  const away = await get(`${fresh}/calendar.ics`)
  await world.primary.up()
  expect([away.status, Number(away.headers['retry-after']) > 0]).toEqual([503, true])
  world.clock.advance(120)
  const account = `/providers/0x${'12'.repeat(20)}`
  expect((await get(`${account}/calendar.ics`)).status).toBe(404)
  expect((await get(`${account}/incidents.atom`)).status).toBe(404)
  expect((await get('/providers/nobody/incidents.json')).status).toBe(404)
})
