import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '#sandbox/receiver.ts'
import { sendTest } from '#src/alerts/messages/test-send.ts'
import { createApp } from '#src/app.ts'
import { createProver, PROOF_HEADER } from '#src/channels/hooks/receiver-proof.ts'
import { loadConfig } from '#src/config.ts'
import { everySlice } from '#src/db/slices.ts'
import { pruneReceived } from '#src/delivery/receiver/receiver.ts'
import { Label } from '#src/kernel/label.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { registerPages } from '#src/pages/index.ts'
import { testEnvironment } from '../support/environment.ts'
import { NO_PACE } from '../support/pace.ts'
import { openReachableSite, sendTestTo } from './receiver-world.ts'
import { OWNER, type Site } from './site.ts'

/** The page that receives webhooks for a test: what it takes, shows, keeps and refuses. */

let site: Site
let base: string

beforeAll(async () => {
  ;({ site, base } = await openReachableSite())
})
afterAll(() => site.close())
afterEach(() => site.database.sql`delete from recipients`)

/** Opens a new receiver, and returns the path of its page. */
async function openReceiver(query = ''): Promise<string> {
  const { status, headers } = await site.get(`/receiver${query}`)
  expect([status, headers['cache-control']]).toEqual([303, 'no-store'])
  return String(headers['location'])
}

/** Posts a body as this service would, unless `proof` says otherwise. */
async function post(path: string, body: string, over: Readonly<Record<string, string>> = {}) {
  const prove = createProver({ box: site.app.box, publicUrl: base })
  const { statusCode } = await site.server.inject({
    method: 'POST',
    url: path,
    headers: { 'content-type': 'application/json', ...prove(base + path, body), ...over },
    payload: body,
  })
  return statusCode
}

const countRows = async () => {
  const [row] = await site.database.sql`select count(*)::int as n from received_deliveries`
  return row?.['n']
}

test('a delivery that one process takes is on the page of another one', async () => {
  const path = await openReceiver()
  const other = createApp(loadConfig(testEnvironment({ PUBLIC_URL: base })), {
    databaseUrl: site.database.nearUrl,
    log: silentLogger,
    clock: site.clock,
    slices: everySlice(),
    pace: NO_PACE,
  })
  await other.server.register(registerPages, { app: other.app })
  try {
    const { result } = await sendTestTo(site, base + path)
    expect(result).toMatchObject({ status: 'delivered', statusCode: 204 })
    const { statusCode, headers, payload } = await other.server.inject({ url: path })
    expect([statusCode, headers['cache-control'], headers['x-robots-tag']]).toEqual([
      200,
      'no-store',
      'noindex',
    ])
    expect(payload).toContain('X-Watchdog-Signature')
    expect(payload).not.toMatch(new RegExp(PROOF_HEADER, 'i'))
  } finally {
    await other.stop()
  }
})

test('only this service can post: not a stranger, not with the proof of another body or address', async () => {
  const path = await openReceiver()
  const prove = createProver({ box: site.app.box, publicUrl: base })
  const before = await countRows()
  const elsewhere = await openReceiver()
  for (const proof of [
    '',
    'AAAA',
    prove(base + path, '{"a":2}')[PROOF_HEADER] ?? '',
    prove(base + elsewhere, '{"a":1}')[PROOF_HEADER] ?? '',
  ]) {
    expect(await post(path, '{"a":1}', { [PROOF_HEADER]: proof })).toBe(404)
  }
  const forged = `${path.slice(0, -1)}${path.endsWith('A') ? 'B' : 'A'}`
  expect(await post(forged, '{}')).toBe(404)
  expect((await site.get(forged)).status).toBe(404)
  expect(await countRows()).toBe(before)
  expect(await post(path, '{"a":1}')).toBe(204)
})

test('no other address ever gets the proof, not even one that looks like a receiver', async () => {
  const receiver = await startReceiver()
  const path = await openReceiver()
  try {
    const url = `${new URL(receiver.url()).origin}/hook/main`
    const { result } = await sendTestTo(site, url)
    expect(result.status).toBe('delivered')
    expect(receiver.deliveries.map(({ headers }) => PROOF_HEADER.toLowerCase() in headers)).toEqual(
      [false],
    )
    const prove = createProver({ box: site.app.box, publicUrl: 'https://watchdog.example.org' })
    for (const foreign of [
      `https://watchdog.example.org.evil.example${path}`,
      `https://watchdog.example.org@evil.example${path}`,
      `http://watchdog.example.org${path}`,
      `https://watchdog.example.org:8443${path}`,
      `https://evil.example/https://watchdog.example.org${path}`,
      'https://watchdog.example.org/receiver',
    ]) {
      expect(prove(foreign, '{}'), foreign).toEqual({})
    }
    expect(prove(`https://watchdog.example.org${path}`, '{}')).toHaveProperty(PROOF_HEADER)
  } finally {
    await receiver.close()
  }
})

test('what arrives is text: no markup, no link, and no header of a proxy', async () => {
  const path = await openReceiver()
  const body = JSON.stringify({ a: '</pre><script>alert(1)</script>', b: 'https://evil.example' })
  await post(path, body, {
    'x-watchdog-event': '"><img src=x onerror=alert(1)>',
    'x-forwarded-for': '10.1.2.3',
  })
  const { html } = await site.get(path)
  expect(html).not.toContain('<script>alert')
  expect(html).not.toContain('<img src=x')
  expect(html).not.toContain('href="https://evil.example')
  expect(html).not.toContain('10.1.2.3')
  expect(html).toContain('&lt;/pre&gt;&lt;script&gt;alert(1)')
})

test('the newest twenty are kept, and those of other addresses stay', async () => {
  const [path, other] = [await openReceiver(), await openReceiver()]
  await post(other, '{"other":true}')
  for (let n = 1; n <= 22; n += 1) await post(path, `{"n":${n}}`)
  const { html } = await site.get(path)
  const shown = [...html.matchAll(/&quot;n&quot;: (\d+)/g)].map(([, n]) => Number(n))
  expect(shown).toEqual(Array.from({ length: 20 }, (_, index) => 22 - index))
  expect((await site.get(other)).html).toContain('&quot;other&quot;: true')
})

test('a body that is too long or no JSON is refused, and so is a flood at one address', async () => {
  const [path, other] = [await openReceiver(), await openReceiver()]
  expect(await post(path, `"${'x'.repeat(64 * 1024)}"`)).toBe(413)
  expect(await post(path, 'a=1', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415)
  const statuses = await Promise.all(Array.from({ length: 70 }, () => post(path, '{}')))
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(8)
  expect(await post(other, '{}')).toBe(204)
})

test('after an hour the address is over: it shows nothing, switches the webhook off, and its rows are deleted', async () => {
  const path = await openReceiver()
  const { recipient, result } = await sendTestTo(site, base + path)
  expect(result.status).toBe('delivered')
  await pruneReceived(site.app)
  expect((await site.get(path)).html).toContain('<article')
  site.clock.advance(60 * 60)
  const { status, text, html } = await site.get(path)
  expect([status, html.includes('<article')]).toEqual([200, false])
  expect(text).toContain('This address has stopped working')
  const late = await sendTest(site.app, OWNER, recipient.id)
  expect(late).toMatchObject({ status: 'failed', statusCode: 410, lastError: 'gone' })
  const [row] = await site.database.sql`select status from recipients where id = ${recipient.id}`
  expect(row).toEqual({ status: 'disabled' })
  site.clock.advance(1)
  await pruneReceived(site.app)
  expect(await countRows()).toBe(0)
})

test('a receiver is opened in the language that the link chose, and every opening has an address of its own', async () => {
  const [one, two] = [await openReceiver('?lang=de'), await openReceiver('?lang=de')]
  expect(one).toMatch(/^\/receiver\/[\w-]{50,90}\?lang=de$/)
  expect(one).not.toBe(two)
  expect((await site.get(one)).text).toContain('Ihr erster Webhook')
})

test.each(
  LOCALES,
)('the name of the webhook is a label that the API takes, in %s', async (locale) => {
  const { html } = await site.get(await openReceiver(`?lang=${locale}`))
  const name = /data-name="([^"]+)"/.exec(html)?.[1]
  expect(Label.safeParse(name).error).toBeUndefined()
})
