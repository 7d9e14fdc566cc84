import { afterAll, beforeAll, expect, test } from 'vitest'
import type { World } from '#sandbox/world.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { startSandboxWorld, withBlocks } from '../support/sandbox-world.ts'

/** The index leads to every page of the service, in a new world without any data. */

let world: World

beforeAll(async () => {
  world = await startSandboxWorld(silentLogger)
})
afterAll(() => world?.close())

/** Texts of the pages that need data, by their names on the index. */
const SAMPLES = {
  connect: ['/connect/', 'Does your chat show this code?'],
  pay: ['/pay/', 'Waiting for the payment.'],
  alert: ['/a/', 'Alice’s wallet'],
  confirm: ['/confirm/', 'alice@example.org'],
  unsubscribe: ['/unsubscribe/', 'alice@example.org'],
} as const

async function read(url: string) {
  const response = await fetch(url)
  const html = await response.text()
  return { status: response.status, html }
}

/** URLs on the index, by label. */
async function listed(): Promise<ReadonlyMap<string, string>> {
  const { status, html } = await read(world.url)
  expect(status).toBe(200)
  const [, list = ''] = /<ul class="links"[^>]*>([\s\S]*?)<\/ul>/.exec(html) ?? []
  const links = [...list.matchAll(/<a href="([^"]+)">([^<]+)</g)]
  return new Map(links.map(([, href = '', label = '']) => [label, href]))
}

function press(sample: string, redirect: 'follow' | 'manual'): Promise<Response> {
  const body = new URLSearchParams({ sample })
  return fetch(`${world.url}/home/sample`, { method: 'POST', body, redirect })
}

test('the index links every page that needs no example, and each exists', async () => {
  const links = await listed()
  const pages = ['Start page', 'Documentation', 'Problems']
  expect([...links.keys()]).toEqual(expect.arrayContaining(pages))
  for (const [label, href] of links) {
    expect({ label, status: (await read(href)).status }).toEqual({ label, status: 200 })
  }
})

test.each(
  Object.entries(SAMPLES),
)('a button leads to an existing page of the kind %s', async (sample, [path, says]) => {
  const pressed = await withBlocks(world, press(sample, 'manual'))
  expect(pressed.headers.get('location')).toBe(`/#sample-${sample}`)
  const { html } = await read(world.url)
  const [, href = ''] = new RegExp(`id="sample-${sample}"><a href="([^"]+)"`).exec(html) ?? []
  expect(href).toContain(world.service.publicUrl + path)
  const page = await read(href)
  expect(page.status).toBe(200)
  expect(page.html).toContain(says)
})

test('a kind of page without an example is refused with a message', async () => {
  const response = await press('none', 'follow')
  expect(await response.text()).toContain('There is no page called none.')
})
