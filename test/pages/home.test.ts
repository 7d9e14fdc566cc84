import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recentExample } from '#src/alerts/messages/example.ts'
import * as prices from '#src/billing/price-list.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import { checkedKey, translate, translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { plainOf } from '#src/telegram/text.ts'
import { REGISTRY } from '#src/watches/types/index.ts'
import { openSite, type Site } from './site.ts'

let site: Site
let free: Site
let selling: Site
beforeAll(async () => {
  const upstreams = JSON.stringify({ 'ftso-analytics': 'http://127.0.0.1:1' })
  ;[site, free, selling] = await Promise.all([
    openSite(),
    openSite({ BILLING_ENABLED: 'false' }),
    openSite({ METERED_UPSTREAMS: upstreams }),
  ])
})
afterAll(() => Promise.all([site.close(), free.close(), selling.close()]))

/** Text without the marks of direction. */
const bare = (text: string) => text.replaceAll(/[\u200e\u200f\u2066-\u2069]/gu, '')
/** Letters alone: tags leave blanks where a reader sees none. */
const letters = (text: string) => bare(text).replaceAll(/\s+/gu, '')

test('says what it is and what it watches', async () => {
  const { text, html } = await site.get('/')
  expect(text).toContain('Alerts for the Flare network')
  expect(html.match(/<a href="\/docs\/watches\//g)).toHaveLength(REGISTRY.length)
})

test.each(
  LOCALES,
)('names the watch types as the chat does in %s, as the docs do', async (locale) => {
  const t = translator(locale)
  const [home, docs] = await Promise.all([
    site.get(`/?lang=${locale}`),
    site.get(`/docs/watches?lang=${locale}`),
  ])
  for (const { name } of REGISTRY) {
    const label = t(checkedKey(`bot:button.type.${name}`))
    expect(letters(home.text), name).toContain(letters(label))
    expect(home.html, name).toContain(`<strong>${label}</strong>`)
    expect(letters(docs.text), name).toContain(letters(label))
  }
})

describe('the prices', () => {
  test('are those of the price list', async () => {
    const { text } = await selling.get('/')
    expect(text).toContain('Free 0 USD A signature is enough')
    expect(text).toContain(`1 slot ${prices.TRIAL_DAYS} days`)
    expect(text).toContain(`Data calls ${prices.FREE_TIER_DAILY_CALLS} a day`)
    const usd = (credits: number) => {
      const dollars = (credits * prices.USD_PER_1000_CREDITS_MICROS) / 1e9
      return dollars < 0.01 ? dollars : dollars.toFixed(2)
    }
    const slot = prices.SLOT_PRICE_CREDITS
    const period = prices.PERIOD_DAYS
    expect(text).toContain(`A slot ${slot} credits ${usd(slot)} USD · ${period} days`)
    expect(text).toContain('One watch, alerts on every channel')
    for (const { minPeriods, discountBps } of prices.DURATION_DISCOUNTS) {
      expect(text).toContain(`${minPeriods * period} days −${discountBps / 100}%`)
    }
    for (const { minQuantity, discountBps } of prices.VOLUME_DISCOUNTS) {
      expect(text).toContain(`${minQuantity} slots or more −${discountBps / 100}%`)
    }
    for (const id of prices.RESOURCES) {
      const price = prices.RESOURCE_PRICES_CREDITS[id]
      const name = translate('en', `pages:home.price.resource.${id}`)
      const credits = translate('en', 'units:credits', { count: price })
      expect(text).toContain(`${name} ${credits} ${usd(price)} USD`)
    }
  })
  test('have the direction of their own text, such as 0 USD on an Arabic page', async () => {
    const { html } = await selling.get('/?lang=ar')
    const amounts = [...html.matchAll(/<p class="amount">(.*?)<\/p>/g)].map(([, inner]) => inner)
    expect(amounts).toHaveLength(3)
    for (const amount of amounts) expect(amount).toMatch(/^<bdi>.+<\/bdi>$/)
  })

  test('have none for data calls on a service that offers no data', async () => {
    const { text } = await site.get('/')
    expect(text).toContain('500 credits')
    expect(text).not.toContain('Data calls')
  })
  test.each(LOCALES)('of a slot in %s are written as in the chat', async (locale) => {
    const { text } = await site.get(`/?lang=${locale}`)
    const credits = translate(locale, 'units:credits', { count: prices.SLOT_PRICE_CREDITS })
    expect(letters(text)).toContain(letters(credits))
  })
  test('are absent on a service without billing', async () => {
    const { text, html } = await free.get('/')
    expect(text).toContain('This service is free of charge.')
    expect(text).not.toContain('credits')
    expect(html).not.toContain('watchdog.example.org/terms')
  })
})

test.each(LOCALES)('shows in %s an alert with the words and buttons of a chat', async (locale) => {
  const { text } = await site.get(`/?lang=${locale}`)
  const openedAt = site.clock.now()
  const reader = { locale, timezone: 'UTC' }
  const envelope = recentExample(reader, { openedAt, publicUrl: site.app.publicUrl })
  const { html, rows } = alertView(envelope, {}, { now: openedAt })
  expect(letters(text)).toContain(letters(plainOf(html)))
  expect(rows.flat()).toHaveLength(4)
  for (const { label } of rows.flat()) expect(letters(text)).toContain(letters(label))
})

test('links prices and operations that exist', async () => {
  const { html } = await site.get('/')
  const links = [...html.matchAll(/href="(\/api\/[^"]+)"/g)].flatMap(([, link]) => link ?? [])
  expect(links).toHaveLength(2)
  for (const link of links) expect((await site.get(link)).status, link).toBe(200)
})

test('has an example for programs that works as it is pasted', async () => {
  const { html, text } = await site.get('/')
  const command = /<code>(curl .*?)<\/code>/s.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? ''
  const [, path = ''] = /^curl \S+?(\/api\S+) /.exec(command) ?? []
  const [, type = ''] = /-H 'Content-Type: (\S+)'/.exec(command) ?? []
  const [, body = ''] = /-d '(.*)'$/s.exec(command) ?? []
  const answer = await site.post(path, body, { 'content-type': type })
  expect(answer.status).toBe(200)
  expect(JSON.parse(answer.html).message).toContain(JSON.parse(body).wallet)
  expect(text).toContain('Start here')
})

test('shows no link to a bot on a service without one', async () => {
  expect((await site.get('/')).html).not.toContain('t.me')
})
