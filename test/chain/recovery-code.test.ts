import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPort } from '#sandbox/world/ports.ts'
import { recoveryCode } from '#src/chain/signatures/recover.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { seriesOf } from '../support/metrics.ts'
import { startServiceProcess } from '../support/service-process.ts'

let database: FreshDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/** Starts the service, signs a wallet in, and reads its metrics and its log. */
async function signInAt(over: Readonly<Record<string, string>>) {
  const internalPort = String(await findPort())
  await using stack = new AsyncDisposableStack()
  const service = await startServiceProcess({
    ...{ DATABASE_URL: database.url, ROLES: 'api', INTERNAL_PORT: internalPort },
    ...over,
  })
  stack.defer(() => service.stop())
  const post = async (path: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const url = `${service.url}/api/x402${path}`
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: response.status, body: await response.json() }
  }
  const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const challenge = await post('/auth/challenge', { wallet: account.address })
  const { message } = challenge.body
  const signature = await account.signMessage({ message })
  const token = await post('/auth/token', { message, signature })
  const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
  const lines = service.messages.filter((line) => line.startsWith('signatures are recovered by'))
  return { token, metrics, lines }
}

const CASES = [
  { words: 'native code', code: 'native', over: {} },
  // A system for which the package has no native build.
  { words: 'WebAssembly', code: 'wasm', over: { npm_config_platform: 'sunos' } },
]

// A machine for which the package has none either recovers by WebAssembly only.
test.each(
  CASES.filter(({ code }) => code === 'wasm' || code === recoveryCode.name),
)('a service that recovers signers by $words says so once, in its log and its metrics, and signs wallets in', async ({
  words,
  code,
  over,
}) => {
  const { token, metrics, lines } = await signInAt(over)
  expect(token.status).toBe(200)
  expect(lines).toEqual([expect.stringContaining(words)])
  expect(seriesOf(metrics).get(`watchdog_recovery_code_info{code="${code}"}`)).toBe(1)
})
