import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import { verifyStandard, verifyWatchdog } from '#sandbox/verify.ts'
import { signBody, signStandard, WebhookPayload } from '#src/channels/hooks/webhook.ts'
import { verifyWebhook } from '../../clients/typescript/src/index.ts'
import {
  BODY,
  FOLDER,
  HEADERS,
  headerOf,
  SECRET,
  SENT_AT,
  SIGNATURE,
  verifierTests,
} from './verifiers.ts'

/** What receivers of webhooks are told to check; the programs in other languages are in `test/tools`. */

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/verify.md'), 'utf8')

describe('the published test vector', () => {
  test('is what the service signs', () => {
    const body = BODY.toString('utf8')
    const id = '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11'
    expect(headerOf('X-Watchdog-Signature')).toBe(signBody(SECRET, SENT_AT, body))
    expect(headerOf('X-Watchdog-Timestamp')).toBe(String(SENT_AT))
    expect(headerOf('webhook-signature')).toBe(signStandard(SECRET, id, SENT_AT, body))
  })

  test('is valid for a customer who follows the description', () => {
    const headers = Object.fromEntries(
      HEADERS.trim()
        .split('\n')
        .map((line) => [line.split(': ')[0]?.toLowerCase(), line.split(': ')[1]]),
    )
    const now = new Date(SENT_AT * 1000)
    expect(verifyWatchdog(headers, BODY, SECRET, now)).toMatchObject({ ok: true })
    expect(verifyStandard(headers, BODY, SECRET, now)).toMatchObject({ ok: true })
  })

  test('is in docs/verify.md, with the signature of the shortest body', () => {
    expect(PAGE).toContain(SECRET)
    expect(PAGE).toContain(String(SENT_AT))
    expect(PAGE).toContain(signBody(SECRET, SENT_AT, '{"payloadVersion":2}'))
  })
})

describe('typescript.ts', () => {
  const program = join(FOLDER, 'typescript.ts')
  verifierTests({ run: () => [process.execPath, '--conditions=watchdog-source', program] })
})

test('the client reads every field of the payload that the service writes', async () => {
  const read = await verifyWebhook({
    secret: SECRET,
    headers: { 'x-watchdog-timestamp': String(SENT_AT), 'x-watchdog-signature': SIGNATURE },
    body: BODY,
    nowSeconds: SENT_AT,
  })
  // The recorded request has neither the chain nor the incident, which the service writes too.
  const added = { chainId: 14, network: 'flare', incidentId: 31 }
  const renderedMessage = Object.assign(added, read.renderedMessage)
  expect(WebhookPayload.safeParse({ ...read, renderedMessage }).error).toBeUndefined()
  expect(Object.keys(read).toSorted()).toEqual(Object.keys(WebhookPayload.shape).toSorted())
})

test('the check in docs/verify.md refuses a request without a signature, and accepts a valid one', async () => {
  const script = /```js\n(import [^`]*(?:`[^`\n]*`[^`]*)*)\n```/.exec(PAGE)?.[1]
  const folder = mkdtempSync(join(tmpdir(), 'verify-'))
  const file = join(folder, 'verify.mjs')
  writeFileSync(file, `${script}\nexport { isGenuine }\n`)
  const { isGenuine } = await import(pathToFileURL(file).href)
  rmSync(folder, { recursive: true })
  const now = Math.floor(Date.now() / 1000)
  expect(isGenuine(SECRET, String(now), undefined, BODY)).toBe(false)
  const signature = signBody(SECRET, now, BODY.toString('utf8'))
  expect(isGenuine(SECRET, String(now), signature, BODY)).toBe(true)
})
