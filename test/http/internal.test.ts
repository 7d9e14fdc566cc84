import { afterAll, expect, test } from 'vitest'
import { createInternalServer, type MetricReading } from '#src/http/internal.ts'

const readings = new Map<string, MetricReading['read']>([
  ['watchdog_known', async () => 7],
  ['watchdog_unknown', async () => undefined],
  ['watchdog_broken', () => Promise.reject(new Error('no answer'))],
])

let attempts = 3
const byChannel: MetricReading = {
  name: 'watchdog_attempts_total',
  help: 'For this test.',
  labels: ['channel'],
  read: async () => [
    { labels: { channel: 'telegram' }, value: attempts },
    { labels: { channel: 'webhook' }, value: 0 },
  ],
}

const server = createInternalServer(
  [],
  [...[...readings].map(([name, read]) => ({ name, help: 'For this test.', read })), byChannel],
)
afterAll(() => server.close())

test('metrics show the readings that succeed, and no others', async () => {
  const { statusCode, payload } = await server.inject({ method: 'GET', url: '/metrics' })
  expect(statusCode).toBe(200)
  expect(payload).toMatch(/^watchdog_known 7$/m)
  expect(payload).toMatch(/^process_cpu_seconds_total /m)
  expect(payload).not.toMatch(/^watchdog_unknown \d/m)
  expect(payload).not.toMatch(/^watchdog_broken \d/m)
})

test.each([
  '/livez',
  '/readyz',
  '/metrics',
  '/nothing',
])('%s forbids content type sniffing', async (url) => {
  const { headers } = await server.inject({ method: 'GET', url })
  expect(headers['x-content-type-options']).toBe('nosniff')
})

test('counters by label show what was read last', async () => {
  await server.inject({ method: 'GET', url: '/metrics' })
  attempts = 5
  const { payload } = await server.inject({ method: 'GET', url: '/metrics' })
  expect(payload).toMatch(/^# TYPE watchdog_attempts_total counter$/m)
  expect(payload).toMatch(/^watchdog_attempts_total\{channel="telegram"\} 5$/m)
  expect(payload).toMatch(/^watchdog_attempts_total\{channel="webhook"\} 0$/m)
})
