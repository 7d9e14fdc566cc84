import { expect, test } from 'vitest'
import { createLogger } from '#src/log.ts'
import { testClock } from '../support/clock.ts'
import { serviceOnly } from '../support/harness.ts'

/** The trace of a request, in the lines of the log that the request causes. */

const TRACES = ['4bf92f3577b34da6a3ce929d0e0e4736', '0af7651916cd43dd8448eb211c80319c'] as const

test('a line has the trace of its own request, also after a body was read and an answer was awaited', async () => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => lines.push(JSON.parse(line)) })
  const service = await serviceOnly({}, testClock(), log)
  service.server.post('/fails', async ({ body }) => {
    await service.sql`select pg_sleep(0)`
    throw new Error(JSON.stringify(body))
  })
  const address = await service.server.listen({ port: 0, host: '127.0.0.1' })
  lines.length = 0
  const send = (name: string, traceparent?: string) =>
    fetch(`${address}/fails`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-request-id': name,
        ...(traceparent !== undefined && { traceparent }),
      },
      body: '{}',
    })
  await Promise.all([
    send('first', `00-${TRACES[0]}-00f067aa0ba902b7-01`),
    send('second', `00-${TRACES[1]}-00f067aa0ba902b7-01`),
    send('none'),
    send('garbage', `00-${TRACES[0]}-0000000000000000-01`),
  ])
  await service.close()
  const failed = lines.filter(({ msg }) => msg === 'request failed')
  expect(Object.fromEntries(failed.map(({ requestId, traceId }) => [requestId, traceId]))).toEqual({
    first: TRACES[0],
    second: TRACES[1],
    none: undefined,
    garbage: undefined,
  })
})
