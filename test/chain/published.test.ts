import { createServer, type RequestListener } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { closeServer, listenOnLoopback } from '#sandbox/loopback.ts'
import { createPublicationReader } from '#src/chain/publication-reader.ts'

const Schema = z.object({ epoch: z.int() })

let answer: RequestListener
let url: string
const server = createServer((request, response) => answer(request, response))
const published = () => createPublicationReader({ timeoutMs: 200, bytesMax: 1000 })

beforeEach(async () => {
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

test('a missing file (404) counts as absent', async () => {
  answer = (_request, response) => response.writeHead(404).end()
  expect(await published().read(url, Schema)).toEqual({ is: 'absent' })
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
  ['never ends', (_, response) => response.write('{'), 'timeout'],
])('a response that %s counts as failed, with the reason', async (_name, listener, reason) => {
  answer = listener
  const source = published()
  expect(await source.read(url, Schema)).toEqual({ is: 'failed', reason })
  answer = (_request, response) => response.end('{"epoch":452}')
  expect(await source.read(url, Schema)).toMatchObject({ is: 'found' })
})

test.each([
  ['refuses connections', 'http://127.0.0.1:2/geheim', 'ECONNREFUSED'],
  ['has no address', 'http://nobody.invalid/geheim', 'ENOTFOUND'],
])('a host that %s is named by the cause, without the URL', async (_name, address, reason) => {
  expect(await published().read(address, Schema)).toEqual({ is: 'failed', reason })
})

test('a caller that aborts gets the reason of its abort', async () => {
  answer = () => undefined
  const controller = new AbortController()
  const reason = new Error('no longer needed')
  const asked = published().read(url, Schema, { signal: controller.signal })
  controller.abort(reason)
  await expect(asked).rejects.toBe(reason)
})
