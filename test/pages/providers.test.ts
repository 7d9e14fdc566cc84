import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import axe from 'axe-core'
import { fastify } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { translate } from '#src/i18n/translate.ts'
import { directionOf, LOCALES } from '#src/kernel/locale.ts'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { registerPages } from '#src/pages/index.ts'
import { watchStart } from '#src/telegram/links.ts'
import { openBrowser } from '../support/browser.ts'
import { type WatchWorld, watchWorld } from '../watches/world.ts'
import { textOf } from './site.ts'

/** The pages and files of data providers, for everybody. */

/** Folder for screenshots of the pages and pictures, if set. */
const PICTURES = process.env['SCREENSHOTS']

let world: WatchWorld
/** A client of its own for each test, because requests are counted by client. */
let client = 1

beforeAll(async () => {
  const providers = [
    { name: 'Anchor', stake: 3_000_000_000 },
    { name: 'Alpha Oracle' },
    { name: '<i>Sly</i>"]' },
  ]
  world = await watchWorld({ simulation: { providers }, isAlone: true })
  const player = world.simulation()
  await player.playRounds(3)
  await player.behave('Alpha Oracle', 'no-commit')
  await player.playRounds(4)
  await world.devnet.mine(2, 1)
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  const tip = await chain.confirmedBlock(confirmations, signal)
  await facts.publications.fetch(tip, signal)
  await facts.rounds.advance(tip, signal)
}, 60_000)
afterAll(() => world.close())
afterEach(async () => {
  await world.primary.up()
  client += 1
  // The cached answer of another test has expired.
  world.clock.advance(61)
})

const accounts = (name: string) => world.simulation().provider(name).accounts
const pathOf = (name: string) => `/providers/${accounts(name).identity.address}`

async function get(url: string, headers: Record<string, string> = {}) {
  const remoteAddress = `192.0.2.${client}`
  const response = await world.server.inject({ url, headers, remoteAddress })
  const { statusCode: status, payload: html, rawPayload: bytes } = response
  return { status, html, bytes, headers: response.headers, text: textOf(html) }
}

describe('the list', () => {
  test('lists every provider with its weight and last rounds, the heaviest first', async () => {
    const { status, text, html, headers } = await get('/providers')
    expect(status).toBe(200)
    expect(text).toMatch(/Anchor [\d.]+% 100% \d+\/\d+ .*Alpha Oracle [\d.]+% 50% \d+\/\d+/)
    expect(html).toContain(`href="${pathOf('Alpha Oracle')}"`)
    expect(html).toContain('&lt;i&gt;Sly')
    expect(html).not.toContain('<i>Sly')
    expect(headers['cache-control']).toBe('public, max-age=60')
    const again = await get('/providers', { 'if-none-match': String(headers.etag) })
    expect([again.status, again.html]).toEqual([304, ''])
  })
  test('counts the same rounds as the page and the badge of a provider when ids are missing', async () => {
    const { sql } = world.database
    // The newest three of the stored rounds are thirty days after the others.
    await sql`create table before_hole as select * from fsp_rounds`
    // Without counts of days, the badge counts the last rounds.
    await sql`create table counted_days as select * from fsp_daily`
    await sql`delete from fsp_daily`
    const [hole] = await sql`select max(round) - 3 as round from fsp_rounds`
    await sql`update fsp_rounds set round = round - 28800 where round <= ${hole?.['round']}`
    const { text, html } = await get('/providers')
    const badge = await get(`${pathOf('Anchor')}/badge.svg`)
    const page = await get(pathOf('Anchor'))
    await sql`delete from fsp_rounds`
    await sql`insert into fsp_rounds select * from before_hole`
    await sql`insert into fsp_daily select * from counted_days`
    await sql`drop table before_hole, counted_days`
    expect(page.text).toContain('Last 20 rounds: 3 OK, 0 with problems · 17 without data')
    expect(text).toMatch(/Anchor [\d.]+% – 3\/3 17 without data/)
    expect(badge.html).toContain('aria-label="Anchor: 3/3"')
    expect([html, page.html].join('')).not.toContain('chip fine')
  })
  test('can be searched by a part of a name and by any address', async () => {
    const { text, html } = await get('/providers?q=alpha')
    expect(text).toContain('Alpha Oracle')
    expect(html).not.toContain(pathOf('Anchor'))
    expect((await get('/providers?q=%3Cscript%3E')).text).toContain(
      'No data provider matches “<script>”.',
    )
    const { submit } = accounts('Alpha Oracle')
    const first = await get(`/providers?q=${submit.address}&lang=de`)
    expect(first.headers.location).toBe(`/providers/${submit.address}?lang=de`)
    const second = await get(String(first.headers.location))
    expect(second.headers.location).toBe(`${pathOf('Alpha Oracle')}?lang=de`)
  })
  test('is shown while the chain does not answer, without weights', async () => {
    await world.primary.down()
    const { status, text } = await get('/providers')
    expect(status).toBe(200)
    expect(text).toMatch(/Alpha Oracle – 50% \d+\/\d+/)
  })
})

describe('the page of a provider', () => {
  test.each(LOCALES)('in %s has its rounds and its registrations', async (locale) => {
    const { status, text, html, headers } = await get(`${pathOf('Alpha Oracle')}?lang=${locale}`)
    expect(status).toBe(200)
    expect(html).toContain(`<html lang="${locale}" dir="${directionOf(locale)}">`)
    expect(text).toContain('Alpha Oracle')
    for (const key of ['registration', 'addresses', 'embed'] as const) {
      const title = translate(locale, `pages:provider.${key}`)
      expect(text).toContain(title.replaceAll(/[\u2066-\u2069]/gu, '').replaceAll(/\s+/gu, ' '))
    }
    expect(html).toContain('<svg ')
    expect(html).not.toMatch(/pages:|bot:|\{\{/)
    // Its script only copies the lines to embed.
    expect(html.match(/<script[^>]*>/g)).toEqual([
      '<script type="module" src="/scripts/copies.js">',
    ])
    expect(headers['cache-control']).toBe('public, max-age=60')
  })
  test('says how many rounds had problems, and names its picture for link previews', async () => {
    const { text, html, headers } = await get(pathOf('Alpha Oracle'))
    expect(text).toMatch(/Last \d+ rounds: \d+ OK, \d+ with problems/)
    expect(text).toMatch(/Reward epoch \d+: registered, in the signing policy, weight [\d.]+%/)
    const url = `${world.app.publicUrl}${pathOf('Alpha Oracle')}`
    expect(html).toContain(`<meta property="og:image" content="${url}/share.png">`)
    expect(html).toContain('<meta property="og:title" content="Alpha Oracle">')
    const again = await get(pathOf('Alpha Oracle'), { 'if-none-match': String(headers.etag) })
    expect(again.status).toBe(304)
    const german = await get(`${pathOf('Alpha Oracle')}?lang=de`)
    expect(german.html).toContain(`content="${url}/share.png?lang=de"`)
    expect(german.text).toContain(`${url}/rounds.svg?lang=de&theme=light`)
  })
  test('escapes a name in the page, in its meta data and in the files', async () => {
    const { html } = await get(pathOf('<i>Sly</i>"]'))
    expect(html).toContain('content="&lt;i&gt;Sly&lt;/i&gt;&quot;]"')
    expect(html).not.toContain('<i>Sly')
    // Neither the link of Markdown nor the attribute ends inside the name.
    expect(html).toContain('[![iSly/i](')
    const badge = await get(`${pathOf('<i>Sly</i>"]')}/badge.svg`)
    expect(badge.html).not.toContain('<i>')
  })
  test('has links that start the bot’s form of a watch', async () => {
    const pages = fastify()
    const app = { ...world.app, botUsername: () => 'watchdog_test_bot' }
    await pages.register(registerPages, { app })
    const { payload } = await pages.inject(pathOf('Alpha Oracle'))
    await pages.close()
    const start = watchStart('provider-fsp', accounts('Alpha Oracle').identity.address)
    expect(payload).toContain(`href="https://t.me/watchdog_test_bot?start=${start}"`)
  })
  test('is not found for other accounts, other texts and a mistyped address', async () => {
    const { address } = PEOPLE.bob.account
    const mistyped = address.replace(/[A-F]/, (letter) => letter.toLowerCase())
    for (const asked of [address, 'nobody', mistyped, '0x12']) {
      const { status, text } = await get(`/providers/${asked}`)
      expect([asked, status]).toEqual([asked, 404])
      expect(text).toContain('This address is not registered as a data provider')
      expect((await get(`/providers/${asked}/badge.svg`)).status).toBe(404)
      expect((await get(`/providers/${asked}/rounds.png`)).status).toBe(404)
    }
  })
  test('has stored rounds while the chain does not answer, and says so', async () => {
    await world.primary.down()
    const { status, text } = await get(pathOf('Alpha Oracle'))
    expect(status).toBe(200)
    expect(text).toContain('These are the last stored values.')
    const other = await get(`/providers/0x${'ab'.repeat(20)}`)
    expect(other.status).toBe(503)
    expect(Number(other.headers['retry-after'])).toBeGreaterThan(0)
    expect(other.headers['cache-control']).toBe('no-store')
  })
  test('is served without any stored round and without the chain', async () => {
    const { sql } = world.database
    await sql`create table kept_rounds as select * from fsp_rounds`
    await sql`create table kept_daily as select * from fsp_daily`
    await sql`delete from fsp_rounds`
    await world.primary.down()
    expect((await get('/providers')).status).toBe(200)
    expect((await get(pathOf('Anchor'))).text).toContain('No voting rounds seen')
    const badge = async () => (await get(`${pathOf('Anchor')}/badge.svg`)).html
    // The counts of the last 30 days are stored apart from the rounds.
    expect(await badge()).toContain('aria-label="Anchor: 100%"')
    await sql`delete from fsp_daily`
    world.clock.advance(61)
    expect(await badge()).toContain('aria-label="Anchor: –"')
    expect((await get(`${pathOf('Anchor')}/rounds.png`)).status).toBe(200)
    await sql`insert into fsp_rounds select * from kept_rounds`
    await sql`insert into fsp_daily select * from kept_daily`
    await sql`drop table kept_rounds, kept_daily`
  })
})

describe('the files to embed', () => {
  test.each([
    ['badge.svg', 'image/svg+xml; charset=utf-8'],
    ['rounds.svg', 'image/svg+xml; charset=utf-8'],
    ['rounds.svg?theme=light&rounds=100', 'image/svg+xml; charset=utf-8'],
    ['rounds.png', 'image/png'],
    ['share.png', 'image/png'],
  ])('%s can be embedded by other sites, and has an ETag', async (file, type) => {
    const { status, headers, bytes } = await get(`${pathOf('Alpha Oracle')}/${file}`)
    expect(status).toBe(200)
    expect(headers['content-type']).toBe(type)
    expect(headers['cross-origin-resource-policy']).toBe('cross-origin')
    expect(headers['cache-control']).toBe('public, max-age=60')
    const tag = { 'if-none-match': String(headers.etag) }
    expect((await get(`${pathOf('Alpha Oracle')}/${file}`, tag)).status).toBe(304)
    if (type === 'image/png') {
      expect(bytes.subarray(1, 4).toString()).toBe('PNG')
      // The size that a shared link declares for its picture.
      const height = file === 'share.png' ? 672 : 874
      expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([1280, height])
    }
    await keepPicture(file.replace(/[?&]/g, '-'), bytes)
  })
  test('are in the language that their address names, whatever the browser asks for', async () => {
    const path = `${pathOf('Alpha Oracle')}/rounds.svg`
    const arabic = { 'accept-language': 'ar' }
    expect((await get(path, arabic)).html).toContain('>Signature</text>')
    expect((await get(`${path}?lang=ar`)).html).toContain('التوقيع')
    expect((await get(`${path}?lang=de`)).html).toContain('>Gewicht</text>')
    const [english, chinese] = await Promise.all([
      get(path.replace('svg', 'png')),
      get(`${path.replace('svg', 'png')}?lang=zh`),
    ])
    expect(english.bytes.equals(chinese.bytes)).toBe(false)
  })
  test('show with ?round= that round, as soon as it is stored and whatever follows', async () => {
    const file = (round: number | string) => get(`${pathOf('Anchor')}/rounds.svg?round=${round}`)
    const newest = async () => {
      const [row] = await world.database.sql`select max(round)::int as round from fsp_rounds`
      return Number(row?.['round'])
    }
    const before = await newest()
    const old = await file(before)
    expect(old.html).toContain(`Round ${before}<`)
    expect(old.html).not.toContain('UTC')
    await world.simulation().playRounds(1)
    await world.devnet.mine(2, 1)
    const { chain, confirmations, facts } = world.app
    const { signal } = new AbortController()
    await facts.rounds.advance(await chain.confirmedBlock(confirmations, signal), signal)
    expect(await newest()).toBe(before + 1)
    expect((await file(before + 1)).html).toContain(`Round ${before + 1}<`)
    const again = await file(before)
    expect(again.html).toBe(old.html)
    const png = await get(`${pathOf('Anchor')}/share.png?round=${before}`)
    expect([png.status, png.headers['content-type']]).toEqual([200, 'image/png'])
    world.clock.advance(61)
    const usual = (await get(`${pathOf('Anchor')}/rounds.svg`)).html
    expect(usual).toContain('UTC')
    const newestRounds = usual.slice(usual.indexOf('<g>'))
    for (const unknown of [1, 999_999_999, '9'.repeat(40), '-1', '1e3', 'x', '']) {
      const { status, html } = await file(unknown)
      expect([unknown, status]).toEqual([unknown, 200])
      expect(html.endsWith(newestRounds)).toBe(true)
    }
  })
  test('are limited by client', async () => {
    const path = `${pathOf('Anchor')}/badge.svg`
    for (let index = 0; index < RATE_CLASSES.public.requests; index += 1) {
      expect((await get(path)).status).toBe(200)
    }
    const { status, headers } = await get(path)
    expect(status).toBe(429)
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  })
  test('ask the chain once for many requests at once, and never for invalid addresses', async () => {
    world.primary.resetCounts()
    const asked = `/providers/0x${'cd'.repeat(20)}/rounds.png`
    const answers = await Promise.all(Array.from({ length: 50 }, () => get(asked)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    expect(world.primary.count('eth_getCode')).toBe(1)
    world.primary.resetCounts()
    for (let index = 0; index < 50; index += 1) await get(`/providers/0x${index}/rounds.png`)
    expect(world.primary.counts()).toEqual({})
  })
})

async function keepPicture(name: string, bytes: Buffer) {
  if (PICTURES === undefined) return
  await mkdir(PICTURES, { recursive: true })
  await writeFile(join(PICTURES, name.includes('svg') ? `${name}.svg` : `${name}.png`), bytes)
}

test('fit a phone without scripts, light and dark, in Latin and Arabic letters', async () => {
  const browser = await openBrowser()
  const base = await world.server.listen({ host: '127.0.0.1', port: 0 })
  const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({
        viewport: { width: 360, height: 780 },
        colorScheme,
      })
      const page = await context.newPage()
      await page.addInitScript(axe.source)
      for (const lang of ['en', 'ar'] as const) {
        for (const path of ['/providers', pathOf('Alpha Oracle')]) {
          await page.goto(`${base}${path}?lang=${lang}`)
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          )
          expect([path, lang, overflow]).toEqual([path, lang, 0])
          const found = await page.evaluate(
            (runOnly) => (window as unknown as { axe: typeof axe }).axe.run(document, { runOnly }),
            rules,
          )
          expect(found.violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([])
          if (PICTURES !== undefined) {
            const name = `${path === '/providers' ? 'list' : 'page'}-${lang}-${colorScheme}.png`
            await page.screenshot({ path: join(PICTURES, name), fullPage: true })
          }
        }
      }
      await context.close()
    }
  } finally {
    await browser.close()
  }
}, 120_000)
