import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { openSite, type Site } from './site.ts'

let site: Site
let origin: string

beforeAll(async () => {
  site = await openSite({ TRUST_PROXY: '1' })
  origin = await site.listen()
})
afterAll(() => site.close())

/** A client of its own, with its own limits. */
const newClient = () => `198.51.${randomInt(256)}.${randomInt(256)}`

const get = async (path: string, from: string) => {
  const response = await fetch(origin + path, {
    headers: { 'x-forwarded-for': from, 'accept-language': 'en' },
  })
  return { status: response.status, headers: response.headers, html: await response.text() }
}

/** Statuses of requests, eight at a time. */
async function statuses(count: number, path: (n: number) => string, from: string) {
  const found = new Map<number, number>()
  let next = 0
  const work = async () => {
    while (next < count) {
      next += 1
      const { status } = await get(path(next), from)
      found.set(status, (found.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return found
}

const PAGES_MAX = RATE_CLASSES.page.requests

describe('every page', () => {
  test('counts against one limit of the network, also an unknown one; files of the layout do not', async () => {
    const from = newClient()
    const paths = [
      ...['/', '/docs/search?q=limit', '/docs', '/problems', '/nowhere', '/pay/none', '/a/none'],
      ...['/connect/none', '/confirm/none', '/unsubscribe/none'],
    ]
    await statuses(PAGES_MAX, (n) => `${paths[n % paths.length]}`, from)
    for (const path of paths) {
      const refused = await get(path, from)
      expect({ path, status: refused.status }).toEqual({ path, status: 429 })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await get('/assets/style.css', from)).status).toBe(200)
    expect((await get('/', newClient())).status).toBe(200)
  })
})

describe('the page of an alert', () => {
  test('is read 120 times a minute for one network, and shared by all who open it at once', async () => {
    const { path } = await site.alert()
    const from = newClient()
    // One language and time zone is one reading, however often it is opened.
    expect(await statuses(300, (n) => `${path}?x=${n}`, from)).toEqual(new Map([[200, 300]]))
    const zones = Intl.supportedValuesOf('timeZone')
    const each = await statuses(200, (n) => `${path}?tz=${zones[n]}`, newClient())
    expect(each).toEqual(
      new Map([
        [200, 120],
        [429, 80],
      ]),
    )
  })

  test('shows within seconds what has changed, and at once what its reader did', async () => {
    const { id } = await site.mailbox()
    const [row] = await site.database.sql`select wallet from recipients where id = ${id}`
    const { path, alertId } = await site.alert({
      wallet: row?.wallet,
      recipientId: id,
      position: 2,
    })
    const from = newClient()
    expect((await get(path, from)).html).toContain('value="ack"')
    const body = 'answer=ack'
    const posted = await fetch(origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': from },
      body,
    })
    expect(posted.status).toBe(303)
    expect((await get(path, from)).html).toContain('value="unack"')
    await site.database.sql`delete from alerts where id = ${alertId}`
    site.clock.advance(2)
    expect((await get(path, from)).status).toBe(404)
  })
})

test('the start page is rendered once a minute in each language, whatever is added to its address', async () => {
  const from = newClient()
  const first = await get('/', from)
  expect((await get('/?x=1', from)).html).toBe(first.html)
  expect((await get('/?lang=de', from)).html).not.toBe(first.html)
  expect(first.html).not.toContain('x=1')
})
