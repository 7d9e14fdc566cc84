import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { PROCESS_ENVIRONMENT } from '../support/environment.ts'

const MAIN = join(import.meta.dirname, '../../src/db/main.ts')

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function runMain(environment: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...PROCESS_ENVIRONMENT, PATH: '', BILLING_ENABLED: 'false', ...environment }
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN], { env })
  return stdout
}

const required = {
  PUBLIC_URL: 'http://localhost',
  SECRET_KEY: Buffer.alloc(32).toString('base64'),
  FLARE_RPC_URLS: 'http://localhost:9650',
}

test('npm run migrate brings an empty database up to date', async () => {
  await database.sql`drop schema public cascade`
  await database.sql`drop schema if exists drizzle cascade`
  await database.sql`create schema public`
  const output = await runMain({ ...required, DATABASE_URL: database.url })
  expect(output).toContain('the database is up to date')
  const applied = await database.sql`select hash from drizzle.__drizzle_migrations`
  expect(applied.length).toBeGreaterThan(0)
})

test('npm run migrate names every variable that is missing', async () => {
  const failure = await runMain({ DATABASE_URL: database.url }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 1 })
  for (const name of Object.keys(required)) expect(String(failure)).toContain(`${name} is missing`)
})
