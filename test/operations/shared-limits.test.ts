import { afterAll, assert, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createApp, type Service } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { connect } from '#src/db/connection.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { createLimits, pruneCounts, type RateClass } from '#src/operations/gate/limits.ts'
import { testEnvironment } from '../support/environment.ts'
import { serviceOnly } from '../support/harness.ts'
import { request } from '../support/people.ts'

let firstProcess: Awaited<ReturnType<typeof serviceOnly>>
let other: Service
beforeAll(async () => {
  firstProcess = await serviceOnly()
  other = createApp(loadConfig(testEnvironment()), {
    databaseUrl: firstProcess.database.url,
    log: silentLogger,
    clock: firstProcess.clock,
  })
})
afterAll(async () => {
  await other.stop()
  await firstProcess.close()
})

/** Number of admitted requests, sent to two processes in turn. */
async function admitted(rate: RateClass, key: string, requests: number): Promise<number> {
  const results = await Promise.allSettled(
    Array.from({ length: requests }, (_, n) =>
      (n % 2 === 0 ? firstProcess : other).app.limits.admit(rate, key),
    ),
  )
  return results.filter(({ status }) => status === 'fulfilled').length
}

describe('rate limits of several processes', () => {
  test.each([
    'challenge',
    'token',
    'payment',
    'quote',
    'test',
  ] as const)('let 10 requests of the class %s through in all, also at once', async (rate) => {
    expect(await admitted(rate, 'one client', 30)).toBe(10)
    expect(await admitted(rate, 'another client', 4)).toBe(4)
  })

  test('are separate in each process for general requests', async () => {
    expect(await admitted('act', 'one client', 200)).toBe(120)
  })

  test('are shared at the HTTP interface, whichever process handles the request', async () => {
    const ask = (service: Service) =>
      request(
        service as never,
        'POST',
        '/auth/challenge',
        { wallet: PEOPLE.alice.account.address },
        {},
        '192.0.2.77',
      )
    const statuses: number[] = []
    for (let n = 0; n < 12; n += 1)
      statuses.push((await ask(n % 2 === 0 ? firstProcess : other)).status)
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429])
  })

  test('uncount a success, whichever process counted it', async () => {
    for (let n = 0; n < 40; n += 1) {
      const { limits } = (n % 2 === 0 ? firstProcess : other).app
      await limits.admit('token', 'a regular')
      await limits.takeBack('token', 'a regular')
    }
  })

  test('cause no more queries than their limit in a process that is flooded', async () => {
    const before = await statements()
    await Promise.allSettled(
      Array.from({ length: 500 }, () => firstProcess.app.limits.admit('quote', 'a flood')),
    )
    expect((await statements()) - before).toBe(10)
  })

  /** Requests that were counted in the database for the flood. */
  async function statements(): Promise<number> {
    const [row] = await firstProcess.database.sql<{ points: number }[]>`
      select points from rate_counts where key = 'quote:a flood'`
    return row?.points ?? 0
  }

  test('refuse sign-in and payments while the database does not respond, and nothing else', async () => {
    const gone = connect('postgres://nobody@127.0.0.1:1/nothing')
    const limits = createLimits({ ...gone, clock: systemClock })
    for (const rate of ['challenge', 'token', 'payment', 'quote', 'test'] as const) {
      await expect(limits.admit(rate, 'client')).rejects.not.toBeInstanceOf(AppError)
      await expect(limits.takeBack(rate, 'client')).resolves.toBeUndefined()
    }
    await limits.admit('read', 'client')
    await gone.close()
  })

  test('delete old counts', async () => {
    await firstProcess.app.limits.admit('test', 'soon forgotten')
    await firstProcess.database.sql`
      update rate_counts set expire = ${new Date(firstProcess.clock.now().getTime() - 2 * 3_600_000)}
      where key = 'test:soon forgotten'`
    await firstProcess.app.limits.admit('test', 'kept')
    await firstProcess.database.sql`
      update rate_counts set expire = ${firstProcess.clock.now()} where key = 'test:kept'`
    await pruneCounts(firstProcess.app)
    const rows = await firstProcess.database.sql<{ key: string }[]>`
      select key from rate_counts where key like 'test:%kept' or key like 'test:soon%'`
    assert(rows.length === 1)
    expect(rows[0]?.key).toBe('test:kept')
  })
})
