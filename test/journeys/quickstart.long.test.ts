import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { harness, type World } from '../support/harness.ts'

/** The program of the docs, run as a reader would, against the service over HTTP. */

const PROGRAM = fileURLToPath(new URL('../../examples/quickstart.mjs', import.meta.url))
const CREATED = '201 POST /watches'

let world: World
let url: string
/** Folders of readers: one without a key, and one with the key of Alice's wallet. */
let empty: string
let keyed: string

beforeAll(async () => {
  world = await harness()
  url = await world.server.listen({ port: 0, host: '127.0.0.1' })
  empty = await mkdtemp(join(tmpdir(), 'quickstart-'))
  keyed = await mkdtemp(join(tmpdir(), 'quickstart-'))
  await writeFile(join(keyed, 'wallet.key'), PEOPLE.alice.privateKey)
})
afterAll(async () => {
  await world.close()
  for (const folder of [empty, keyed]) await rm(folder, { recursive: true })
})

async function run(cwd: string, base = '/api/x402') {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM], {
    cwd,
    env: { WATCHDOG_URL: url + base },
  })
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim())
}

test('ends with a 201 and an active watch for a wallet that it creates, whose key only the reader can read', async () => {
  const lines = await run(empty)
  expect(lines.slice(-3)).toEqual([
    CREATED,
    'Watch 1 is active. Move 100 FLR, then read GET /alerts.',
    'No recipient gets its alerts yet: add one with POST /recipients.',
  ])
  expect(lines).toContain('201 POST /subscriptions/trial')
  const file = join(empty, 'wallet.key')
  const key = (await readFile(file, 'utf8')).trim()
  expect(key).toMatch(/^0x[0-9a-f]{64}$/)
  expect(lines.join('\n')).not.toContain(key.slice(2))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('uses the key in the file, and a second run finds the watch of the first', async () => {
  expect(await run(keyed)).toContain(CREATED)
  const targets = await world.sql<{ target: unknown }[]>`select target from targets order by id`
  expect(JSON.stringify(targets)).toContain(PEOPLE.alice.account.address.slice(2))
  const again = await run(keyed)
  expect(again).not.toContain(CREATED)
  expect(again.at(-2)).toBe('Watch 2 is active. Move 100 FLR, then read GET /alerts.')
})

test('prints the error code of a refusal', async () => {
  const failed = await run(keyed, '/api/x402/elsewhere').then(
    () => undefined,
    ({ stdout }: { readonly stdout: string }) => stdout,
  )
  expect(failed).toMatch(/^404 POST \/auth\/challenge [a-z_]+: /)
})

test('is shown in the docs with the URL of this service, and asks for no key on the command line', async () => {
  const { body } = await world.server.inject({ url: '/docs' })
  expect(body).toContain(`${world.app.publicUrl}/api/x402`)
  expect(body).toContain('quickstart.mjs')
  expect(body).not.toContain('watchdog.example.org/api/x402&#39;')
  expect(body).not.toContain('PRIVATE_KEY')
  const [, path = ''] = /curl -fsSO (?:http:\/\/[^/]+)(\S+)\nnpm install viem\n/.exec(body) ?? []
  const program = await world.server.inject({ url: path })
  expect(program.headers['content-type']).toContain('text/javascript')
  const base = `${world.app.publicUrl}/api/x402`
  expect(program.body).toBe(
    (await readFile(PROGRAM, 'utf8')).replace('https://watchdog.example.org/api/x402', base),
  )
})

test('has an example in the API reference that names no recipients', async () => {
  const { body } = await world.server.inject({ url: '/api/x402/openapi.json' })
  const operation = JSON.parse(body).paths['/watches'].post
  const { example } = operation.requestBody.content['application/json']
  expect(example).not.toHaveProperty('recipientIds')
})
