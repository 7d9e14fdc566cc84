import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { freshDatabase } from './support/database.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from './support/environment.ts'

const [, ...START] = packageJson.scripts.start.split(' ')
const ROOT = new URL('../', import.meta.url).pathname

/** `npm start` without npm: what it printed, and how it ended. */
function start(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, START, {
    cwd: ROOT,
    env: { ...PROCESS_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    printed.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    printed.err += chunk
  })
  return { child, printed, ended: once(child, 'exit') }
}

test('a missing or wrong variable stops the start with one line per problem', async () => {
  const { printed, ended } = start({ ...testEnvironment({ PORT: '99999' }), SECRET_KEY: '' })
  expect((await ended)[0]).toBe(1)
  expect(printed.err.trim().split('\n')).toEqual([
    expect.stringMatching(/^PORT is wrong: /),
    'SECRET_KEY is missing',
  ])
})

test('a start that waits for its database stops when it is told to', async () => {
  const { child, printed, ended } = start(
    testEnvironment({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    }),
  )
  for await (const chunk of child.stdout) if (String(chunk).includes('database')) break
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(printed.err).toBe('')
})

test('a failure that nobody caught is told without what surrounds it, and ends the service', async () => {
  const failure = `new Error('Failed query, params: whatever', { cause: new Error('no such table') })`
  const isHeard = `process.listenerCount('uncaughtException') > 0`
  const script = `setInterval(() => { if (${isHeard}) throw ${failure} }, 5)`
  const { printed, ended } = start({
    ...testEnvironment({
      LOG_LEVEL: 'info',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    }),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  })
  expect((await ended)[0]).toBe(1)
  expect(printed.out).toContain('Error: no such table')
  expect(printed.out + printed.err).not.toContain('Failed query')
})

test('partitions are there before anything can be written into them', async () => {
  const database = await freshDatabase()
  const ports = { PORT: '0', INTERNAL_PORT: '0' }
  const { child, printed, ended } = start(
    testEnvironment({ LOG_LEVEL: 'info', DATABASE_URL: database.url, ...ports }),
  )
  for await (const chunk of child.stdout) if (String(chunk).includes('"ready"')) break
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  const said = printed.out.trim().split('\n')
  const messages = said.map((line): string => JSON.parse(line).msg)
  const told = messages.filter((message) => ['partitions arranged', 'ready'].includes(message))
  expect(told).toEqual([...Array(3).fill('partitions arranged'), 'ready'])
  await database.drop()
})
