import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { freshDatabase } from '../support/database.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'

/** A developer follows the docs against a process of the service, and waits for the alert. */

const QUICK_START = fileURLToPath(new URL('../../examples/quickstart.mjs', import.meta.url))
const FLR = 10n ** 18n
const { alice, bob } = PEOPLE

let database: Awaited<ReturnType<typeof freshDatabase>>
let devnet: Devnet
let receiver: Receiver
let service: ServiceProcess
let folder: string
let token: string

beforeAll(async () => {
  ;[database, devnet, receiver, folder] = await Promise.all([
    freshDatabase(),
    startDevnet(),
    startReceiver(),
    mkdtemp(join(tmpdir(), 'documented-recipient-')),
  ])
  service = await startServiceProcess({
    DATABASE_URL: database.url,
    FLARE_RPC_URLS: devnet.rpcUrl,
    EVALUATION_INTERVAL_MS: '50',
  })
  await writeFile(join(folder, 'wallet.key'), alice.privateKey)
})
afterAll(async () => {
  await service.stop()
  await Promise.all([receiver.close(), devnet.close(), database.drop()])
  await rm(folder, { recursive: true })
})

async function call(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${service.url}/api/x402${path}`, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return JSON.parse(await answer.text())
}

/** Body of an operation's example in the API's description, as a reader copies it. */
async function exampleOf(path: string) {
  const { paths } = await call('GET', '/openapi.json')
  return paths[path].post.requestBody.content['application/json'].example
}

test('the quick start and the example of a recipient lead to a signed webhook of the next alert', async () => {
  const env = { WATCHDOG_URL: `${service.url}/api/x402` }
  const { stdout } = await promisify(execFile)(process.execPath, [QUICK_START], {
    cwd: folder,
    env,
  })
  expect(stdout).toContain('No recipient gets its alerts yet')
  const wallet = alice.account.address
  const { message } = await call('POST', '/auth/challenge', { wallet, scopes: ['write'] })
  const signature = await alice.account.signMessage({ message })
  token = (await call('POST', '/auth/token', { message, signature })).token
  const [before] = (await call('GET', '/watches')).data
  expect(before).toMatchObject({ notifies: [], warnings: ['nobody_is_notified'] })

  const example = await exampleOf('/recipients')
  const made = await call('POST', '/recipients', { ...example, url: receiver.url() })
  receiver.setSecret('main', made.secret)
  expect(await call('GET', `/watches/${before.id}`)).toMatchObject({
    notifies: [made.id],
    warnings: [],
  })

  await expect
    .poll(async () => (await call('GET', `/watches/${before.id}`)).signalStates[0].state, {
      timeout: 60_000,
    })
    .toBe('ok')
  await devnet.transfer(wallet, bob.account.address, 200n * FLR)
  await devnet.mine(3, 1)
  const hook = await receiver.waitFor(({ hook }) => hook === 'main', 60_000)
  expect(hook.verdicts).toMatchObject({ watchdog: { ok: true }, standard: { ok: true } })
  expect(hook.json).toMatchObject({ event: 'wallet-balance.moved', watchId: before.id })
}, 150_000)
