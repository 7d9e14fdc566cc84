import { afterAll, expect, test } from 'vitest'
import { createInternalServer } from '#src/http/internal.ts'

const readings = new Map<string, () => Promise<number | undefined>>([
  ['watchdog_known', async () => 7],
  ['watchdog_unknown', async () => undefined],
  ['watchdog_broken', () => Promise.reject(new Error('no answer'))],
])

const server = createInternalServer(
  [],
  [...readings].map(([name, read]) => ({ name, help: 'For this test.', read })),
)
afterAll(() => server.close())

test('metrics show what can be read, and nothing else of their own', async () => {
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/metrics' })
  expect(statusCode).toBe(200)
  expect(payload).toMatch(/^watchdog_known 7$/m)
  expect(payload).toMatch(/^process_cpu_seconds_total /m)
  expect(payload).not.toMatch(/^watchdog_unknown \d/m)
  expect(payload).not.toMatch(/^watchdog_broken \d/m)
})
