import { expect, test } from 'vitest'
import type { Db } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createLastSuccesses } from './last-successes.ts'

const AT = new Date('2026-11-27T12:00:00Z')
const RECIPIENTS = 1000

/** Successes of many recipients, on a database that refuses each statement with the next of these errors. */
async function finishWith(...errors: readonly Error[]): Promise<number> {
  let statements = 0
  const execute = () => Promise.reject(errors[Math.min(statements++, errors.length - 1)])
  const db = { execute } as unknown as Db
  const lastSuccesses = createLastSuccesses({ db, log: silentLogger })
  const none = { failureAt: null, failingSince: null, reason: null, disable: null }
  const ids = Array.from({ length: RECIPIENTS }, (_, index) => index + 1)
  lastSuccesses.add(ids.map((recipientId) => ({ recipientId, successAt: AT, ...none })))
  await lastSuccesses.finish()
  expect(lastSuccesses.pendingOf(ids)).toEqual([])
  return statements
}

test('a stop asks a database that went away during the search for a refused row only once more', async () => {
  const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
  expect(await finishWith(new Error('refused'), gone)).toBe(2)
})
