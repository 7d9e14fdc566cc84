import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { harness, type World } from '../support/harness.ts'

/** The program of the docs, run as a reader would, against the service over HTTP. */

let world: World
let url: string

beforeAll(async () => {
  world = await harness()
  url = await world.server.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => world.close())

async function run() {
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/quickstart.mjs'], {
    env: { WATCHDOG_URL: `${url}/api/x402`, PRIVATE_KEY: PEOPLE.alice.privateKey },
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

test('ends with a 201 and an active watch for a new wallet', async () => {
  const lines = await run()
  expect(lines.slice(-2)).toEqual([
    '201 POST /watches',
    'Watch 1 is active. Move 100 FLR, then read GET /alerts.',
  ])
  expect(lines).toContain('201 POST /subscriptions/trial')
})

test('prints the error code when there is no free slot', async () => {
  const failed = await run().then(
    () => undefined,
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
  expect(failed).toContain('409 POST /watches no_free_slot:')
})

test('is shown in the docs with the URL of this service', async () => {
  const { body } = await world.server.inject({ url: '/docs' })
  expect(body).toContain(`${world.app.publicUrl}/api/x402`)
  expect(body).toContain('quickstart.mjs')
  expect(body).not.toContain('watchdog.example.org/api/x402&#39;')
})

test('has an example in the API reference that names no recipients', async () => {
  const { body } = await world.server.inject({ url: '/api/x402/openapi.json' })
  const operation = JSON.parse(body).paths['/watches'].post
  const { example } = operation.requestBody.content['application/json']
  expect(example).not.toHaveProperty('recipientIds')
})
