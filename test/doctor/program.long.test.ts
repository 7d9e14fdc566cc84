import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { PROCESS_ENVIRONMENT, testEnvironment } from '../support/environment.ts'

const MAIN = join(import.meta.dirname, '../../src/doctor/main.ts')

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

const run = (over: Readonly<Record<string, string>>) =>
  promisify(execFile)(process.execPath, [MAIN], {
    env: { ...PROCESS_ENVIRONMENT, ...testEnvironment({ DATABASE_URL: database.url, ...over }) },
  }).then(
    ({ stdout }) => ({ code: 0, stdout }),
    ({ code, stdout }) => ({ code, stdout }),
  )

test('npm run doctor writes one line for each finding, counts them, and ends with 1 if something is wrong', async () => {
  const sick = await run({})
  expect(sick.code).toBe(1)
  const lines = sick.stdout.trim().split('\n')
  expect(lines.slice(0, -1).every((line: string) => /^(ok|warn|WRONG) .+: ./.test(line))).toBe(true)
  expect(lines.at(-1)).toMatch(/^[1-9]\d* wrong, [1-9]\d* warnings, [1-9]\d* ok$/)
  expect(await run({ CHAIN_ID: 'flare' })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('WRONG configuration: CHAIN_ID is wrong'),
  })
})
