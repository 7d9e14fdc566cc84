import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from '../support/environment.ts'

const MAIN = join(import.meta.dirname, '../../src/admin/main.ts')
const ALICE = PEOPLE.alice.account.address

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const environment = () => ({
  ...PROCESS_ENVIRONMENT,
  ...testEnvironment(),
  DATABASE_URL: database.url,
})

async function run(...words: readonly string[]) {
  return await promisify(execFile)(process.execPath, [MAIN, ...words], { env: environment() }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  )
}

test('the program lists its commands, runs dry without --yes, and ends with 1 and one line if it refuses', async () => {
  expect((await run()).stdout).toContain('delete-account <wallet>')
  const credit = ['credit', ALICE, '5', '--reference', 'a', '--note', 'note']
  const dry = await run(...credit)
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain('this was a dry run; add --yes to do it')
  expect(await database.sql`select from ledger_entries`).toHaveLength(0)
  expect(await run('refund', ALICE, '1', '--note', 'note', '--yes')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `the ledger of ${ALICE} has no entry 1\n`,
  })
  expect(await run('export', ALICE)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\{/),
  })
})

test('a credit that is killed at any moment and repeated is written once', async () => {
  const words = ['credit', ALICE, '70', '--reference', 'killed', '--note', 'note', '--yes']
  for (const ms of [300, 700, 900, 1100, 1300, 1600]) {
    const child = spawn(process.execPath, [MAIN, ...words], { env: environment(), stdio: 'ignore' })
    const ended = once(child, 'exit')
    await Promise.race([wait(ms), ended])
    child.kill('SIGKILL')
    await ended
  }
  await run(...words)
  const entries = await database.sql`
    select delta_credits::int as delta, balance_after_credits::int as balance from ledger_entries`
  expect(entries).toEqual([{ delta: 70, balance: 70 }])
  const [acts] =
    await database.sql`select count(*) filter (where changed)::int as changed from operator_acts`
  expect(acts?.['changed']).toBe(1)
})
