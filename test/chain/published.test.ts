import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'
import type { Logger } from '#src/kernel/logger.ts'

const Schema = z.object({ epoch: z.int() })

let answer: RequestListener
let url: string
let lines: string[]
const server = createServer((request, response) => answer(request, response))
const log: Logger = {
  error: (_fields, message) => lines.push(`error ${message}`),
  warn: (fields, message) => lines.push(`warn ${message}: ${fields['reason']}`),
  info: (_fields, message) => lines.push(`info ${message}`),
  debug: () => undefined,
}
const published = () => createPublicationReader({ log, timeoutMs: 200, bytesMax: 1000 })

beforeEach(async () => {
  lines = []
  url = `http://127.0.0.1:${await listenOnLoopback(server, 0)}/flare/452.json`
})
afterEach(() => closeServer(server))

test('a published file is read, and not downloaded again while it is unchanged (304)', async () => {
  const sent: number[] = []
  answer = (request, response) => {
    const isSame = request.headers['if-none-match'] === '"one"'
    sent.push(isSame ? 304 : 200)
    response.writeHead(isSame ? 304 : 200, { etag: '"one"' }).end(isSame ? '' : '{"epoch":452}')
  }
  const source = published()
  const found = { is: 'found', value: { epoch: 452 } }
  expect(await source.read(url, Schema)).toEqual(found)
  expect(await source.read(url, Schema, { isConditional: true })).toEqual({ is: 'same' })
  expect(await source.read(url, Schema)).toEqual(found)
  expect(sent).toEqual([200, 304, 200])
})

test('a missing file (404) counts as absent and is not logged', async () => {
  answer = (_request, response) => response.writeHead(404).end()
  expect(await published().read(url, Schema)).toEqual({ is: 'absent' })
  expect(lines).toEqual([])
})

test.each<[string, RequestListener, string]>([
  ['fails', (_, response) => response.writeHead(500).end(), 'status 500'],
  ['is not JSON', (_, response) => response.end('<html>'), 'response is not JSON'],
  ['has another shape', (_, response) => response.end('[]'), 'malformed response'],
  ['is too long', (_, response) => response.end(`"${'x'.repeat(2000)}"`), 'response too long'],
  [
    'redirects',
    (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'the URL redirects: configure its final address',
  ],
  ['never ends', (_, response) => response.write('{'), 'The operation was aborted due to timeout'],
])('a response that %s counts as failed and is logged once', async (_name, listener, reason) => {
  answer = listener
  const source = published()
  expect(await source.read(url, Schema)).toEqual({ is: 'failed' })
  expect(await source.read(url, Schema)).toEqual({ is: 'failed' })
  expect(lines).toEqual([`warn publication cannot be read: ${reason}`])
  answer = (_request, response) => response.end('{"epoch":452}')
  expect(await source.read(url, Schema)).toMatchObject({ is: 'found' })
  expect(lines.at(-1)).toBe('info publication answers again')
})

test('a caller that aborts gets the reason of its abort', async () => {
  answer = () => undefined
  const controller = new AbortController()
  const reason = new Error('no longer needed')
  const asked = published().read(url, Schema, { signal: controller.signal })
  controller.abort(reason)
  await expect(asked).rejects.toBe(reason)
})
