import { createServer, type RequestListener } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { seriesOf } from '../support/metrics.ts'
import { type WatchWorld, watchWorld } from './world.ts'

/** Addresses of published data that cannot be read. */

const NAMES = ['Alpha', 'Bravo', 'Charlie']
/** Part of each address that may be a key. */
const KEY = 'geheim'
const signal = new AbortController().signal

const NOT_FOUND: RequestListener = (_request, response) => response.writeHead(404).end()
let answer: RequestListener = NOT_FOUND
const host = createServer((request, response) => answer(request, response))
const lines: { readonly level: string; readonly message: string; readonly variable: unknown }[] = []
const line = (level: string) => (fields: object, message: string) => {
  expect(JSON.stringify(fields)).not.toContain(KEY)
  const { variable } = Object(fields)
  if (variable !== undefined) lines.push({ level, message, variable })
}
let world: WatchWorld
let port: number

beforeAll(async () => {
  port = await listenOnLoopback(host, 0)
  world = await watchWorld({
    simulation: { providers: NAMES.map((name) => ({ name })) },
    env: {
      PROVIDER_DATASET_URL: `http://127.0.0.1:${port}/${KEY}/{epoch}/passes.json`,
      REWARD_DATA_URLS: `http://nobody.invalid/${KEY}/{epoch}.json`,
      P_CHAIN_RPC_URL: `http://127.0.0.1:2/${KEY}`,
    },
    log: { ...silentLogger, warn: line('warn'), info: line('info') },
  })
})
afterAll(async () => {
  await world.close()
  await closeServer(host)
})

const problem = async () => {
  const { payload, statusCode } = await world.internal.inject({ method: 'GET', url: '/readyz' })
  expect(statusCode).toBe(200)
  expect(payload).not.toContain(KEY)
  const { problems } = JSON.parse(payload)
  return problems.find(({ name }: { readonly name: string }) => name === 'publications')?.problem
}
const readings = async (variable: string, result: string) => {
  const { payload } = await world.internal.inject({ method: 'GET', url: '/metrics' })
  const name = `watchdog_source_readings_total{variable="${variable}",result="${result}"}`
  return seriesOf(payload).get(name)
}
const pass = async (seconds: number) => {
  await world.pass(seconds)
  await world.app.facts.publications.pollValidators(signal)
}
const of = (variable: string) =>
  lines
    .filter((row) => row.variable === variable)
    .map(({ level, message }) => `${level} ${message}`)

test('an address that was never read is a problem at once, and its watches have no data until it is read', async () => {
  answer = (_request, response) => response.writeHead(503).end()
  const provider = world.simulation().provider('Alpha').accounts.identity.address
  const { id } = await world.watch('provider-eligibility', { provider })
  const health = async () => (await world.alice.request('GET', `/watches/${id}`)).body.health
  await world.see()
  await world.app.facts.publications.pollValidators(signal)
  expect(await problem()).toBe(
    [
      `PROVIDER_DATASET_URL was never read (127.0.0.1:${port}: status 503)`,
      'REWARD_DATA_URLS was never read (nobody.invalid: ENOTFOUND)',
      'P_CHAIN_RPC_URL was never read (127.0.0.1:2: ECONNREFUSED)',
    ].join('; '),
  )
  expect(await readings('PROVIDER_DATASET_URL', 'failure')).toBe(1)
  expect(await readings('REWARD_DATA_URLS', 'failure')).toBe(1)
  expect(await readings('P_CHAIN_RPC_URL', 'failure')).toBe(1)
  for (let minute = 0; minute < 4; minute++) await pass(61)
  expect(await health()).toBe('no_data')
  expect(of('PROVIDER_DATASET_URL').slice(0, 2)).toEqual([
    'warn published data cannot be read',
    'warn published data still cannot be read',
  ])

  // What the chain says is judged all the same.
  await world.simulation().behave('Alpha', 'unregistered')
  await world.simulation().playToEpochEnd()
  await world.see()
  expect(await world.events(id)).toContain('provider.unregistered')

  answer = (request, response) => {
    const epoch = Number(/\/(\d+)\//.exec(request.url ?? '')?.[1])
    const rows = world.simulation().policies.find((policy) => policy.epoch === epoch)?.members ?? []
    response.end(
      JSON.stringify(
        rows.map(({ provider: { accounts } }) => ({
          rewardEpochId: epoch,
          voterAddress: accounts.identity.address,
          eligibleForReward: true,
        })),
      ),
    )
  }
  await pass(3700)
  await pass(61)
  expect(await problem()).not.toContain('PROVIDER_DATASET_URL')
  expect(await health()).toBe('ok')
  expect(await readings('PROVIDER_DATASET_URL', 'success')).toBe(1)
  expect(of('PROVIDER_DATASET_URL').at(-1)).toBe('info published data can be read again')

  // One that was read before may fail for a while.
  answer = (_request, response) => response.writeHead(503).end()
  await pass(700)
  expect(await problem()).not.toContain('PROVIDER_DATASET_URL')
  await pass(1801)
  expect(await problem()).toContain('PROVIDER_DATASET_URL cannot be read for 180')
})

test('an address under which nothing was ever published is a problem, but watches have the data of the chain', async () => {
  answer = NOT_FOUND
  await world.sql`delete from publications`
  await pass(3700)
  expect(await problem()).toContain('nothing is published there (status 404)')
  expect(await world.app.facts.publications.isEligibilityUnreadable()).toBe(false)
})
