import { afterAll, beforeAll, expect, test } from 'vitest'
import { REGISTRY } from '#src/watches/types/index.ts'
import { openSite, type Site } from './site.ts'

let site: Site
let free: Site
beforeAll(async () => {
  ;[site, free] = await Promise.all([openSite(), openSite({ BILLING_ENABLED: 'false' })])
})
afterAll(() => Promise.all([site.close(), free.close()]))

test('says what it is, what it watches and what it costs', async () => {
  const { text, html } = await site.get('/')
  expect(text).toContain('Alerts for the Flare network')
  expect(html.match(/<li><a href="\/docs\/watches\//g)).toHaveLength(REGISTRY.length)
  expect(text).toContain(
    'A slot has room for one watch and costs 500 credits (0.5 USD) for 30 days.',
  )
  expect(text).toContain('10% off when you pay for 6 months or more.')
  expect(text).toContain('Example of an alert')
  expect(text).toContain('FTSO commit: missing')
  expect(text).toContain('1,000 credits cost 1 USD.')
  expect(text).toContain('The first slot is free for 14 days.')
})

test('leads to prices and operations that are there', async () => {
  const { html } = await site.get('/')
  const links = [...html.matchAll(/href="(\/api\/[^"]+)"/g)].flatMap(([, link]) => link ?? [])
  expect(links).toHaveLength(2)
  for (const link of links) expect((await site.get(link)).status, link).toBe(200)
})

test('shows no bot where there is none', async () => {
  expect((await site.get('/')).html).not.toContain('t.me')
})

test('says that a service without billing is free', async () => {
  const { text } = await free.get('/')
  expect(text).toContain('This service is free of charge.')
  expect(text).not.toContain('credits')
  expect((await free.get('/')).html).not.toContain('watchdog.example.org/terms')
})
