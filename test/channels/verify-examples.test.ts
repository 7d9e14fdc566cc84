import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyStandard, verifyWatchdog } from '#sandbox/verify.ts'
import {
  makeSecret,
  rotateSecret,
  signBody,
  signStandard,
  WebhookPayload,
} from '#src/channels/webhook.ts'
import { verifyWebhook } from '../../clients/typescript/src/index.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, webhookWorld } from './worlds.ts'

/** The published test vector, for authors of their own verifiers. */
const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
const SENT_AT = 1795176000
const folder = new URL('../../examples/verify/', import.meta.url).pathname
const BODY = readFileSync(join(folder, 'vector/body.txt'))
const HEADERS = readFileSync(join(folder, 'vector/headers.txt'), 'utf8')
const SIGNATURE = headerOf('X-Watchdog-Signature')
const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

let temporary: string

beforeAll(() => {
  temporary = mkdtempSync(join(tmpdir(), 'verify-'))
})

afterAll(() => rmSync(temporary, { recursive: true }))

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

  test('is in the README, with the signature of the shortest body', () => {
    expect(README).toContain(SECRET)
    expect(README).toContain(String(SENT_AT))
    expect(README).toContain(signBody(SECRET, SENT_AT, '{"payloadVersion":2}'))
  })
})

/** Environment of a verifier; Node compiles its modules once for all runs. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

interface Verifier {
  readonly name: string
  readonly tool: string
  /** Builds the program in a folder; returns its command. */
  readonly build?: (into: string) => readonly [string, readonly string[]]
  readonly run: (into: string) => readonly [string, ...string[]]
}

const VERIFIERS: readonly Verifier[] = [
  {
    name: 'typescript.ts',
    tool: process.execPath,
    run: () => [process.execPath, '--conditions=watchdog-source', join(folder, 'typescript.ts')],
  },
  { name: 'python.py', tool: 'python3', run: () => ['python3', join(folder, 'python.py')] },
  {
    name: 'go/main.go',
    tool: 'go',
    build: (into) => ['go', ['build', '-o', join(into, 'verify-go'), join(folder, 'go/main.go')]],
    run: (into) => [join(into, 'verify-go')],
  },
  { name: 'verify.sh', tool: 'openssl', run: () => ['sh', join(folder, 'verify.sh')] },
]

describe.each(VERIFIERS)('$name', ({ tool, build, run }) => {
  const isMissing = spawnSync(tool, [tool === 'python3' ? '--version' : 'version']).error
  const example = isMissing === undefined ? test : test.skip
  const reason = isMissing === undefined ? '' : ` (${tool} is not installed here)`

  beforeAll(() => {
    if (build === undefined || isMissing !== undefined) return
    const [command, args] = build(temporary)
    const built = spawnSync(command, args, { encoding: 'utf8' })
    if (built.status !== 0) throw new Error(`${command} could not build it: ${built.stderr}`)
  })

  const verify = (over: Partial<Request>) => verdictOf(run(temporary), { ...VECTOR, ...over })

  example(`takes the published vector, and up to 300 seconds either way${reason}`, async () => {
    for (const now of [SENT_AT, SENT_AT + 300, SENT_AT - 300]) {
      expect(await verify({ now })).toEqual({ text: 'valid', code: 0 })
    }
  })

  example(
    `takes the signature of the next secret while one replaces the other${reason}`,
    async () => {
      const receiver = await webhookWorld()
      const next = makeSecret()
      const rotatedAt = contextOf().now
      const url = receiver.receiver.url()
      const rotating = rotateSecret({ url, secret: receiver.secret }, next, rotatedAt)
      await receiver.channel.send(rotating, envelopeOf(), contextOf())
      const delivery = receiver.receiver.deliveries[0]
      await receiver.close()
      if (delivery === undefined) throw new Error('nothing arrived')
      const headers = Object.entries(delivery.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')
      const now = rotatedAt.getTime() / 1000
      const request = { headers, body: delivery.rawBody, now }
      expect(await verify({ ...request, secret: receiver.secret })).toMatchObject({ text: 'valid' })
      expect(await verify({ ...request, secret: next })).toMatchObject({ text: 'valid' })
      expect(await verify({ ...request, secret: makeSecret() })).toMatchObject({ code: 1 })
    },
  )

  example(`refuses to start without a secret or files, in one line${reason}`, () => {
    const [command, ...args] = run(temporary)
    const cases = [
      { env: { ...ENVIRONMENT, WEBHOOK_SECRET: SECRET }, given: [] },
      { env: { ...ENVIRONMENT, WEBHOOK_SECRET: '' }, given: ['h', 'b'] },
      { env: ENVIRONMENT, given: ['h', 'b'] },
    ]
    for (const { env, given } of cases) {
      const ran = spawnSync(command, [...args, ...given], { env, encoding: 'utf8' })
      expect(ran).toMatchObject({ status: 2, stdout: '' })
      expect(ran.stderr).toMatch(/^usage: WEBHOOK_SECRET=[^\n]+\n$/)
    }
  })

  const changed = Buffer.from(BODY)
  changed[changed.length - 2] = 0x21
  const signature = SIGNATURE
  const tampered: readonly (readonly [string, Partial<Request>])[] = [
    ['one changed byte', { body: changed }],
    ['one byte less', { body: BODY.subarray(0, -1) }],
    ['a line break more', { body: Buffer.concat([BODY, Buffer.from('\n')]) }],
    ['another secret', { secret: `${SECRET.slice(0, -2)}9=` }],
    [
      'another timestamp',
      { headers: HEADERS.replace(`Timestamp: ${SENT_AT}`, `Timestamp: ${SENT_AT + 1}`) },
    ],
    ['a shorter signature', { headers: HEADERS.replace(signature, signature.slice(0, -1)) }],
    ['a longer signature', { headers: HEADERS.replace(signature, `${signature}0`) }],
    ['capitals', { headers: HEADERS.replace(signature, signature.toUpperCase()) }],
    ['no algorithm', { headers: HEADERS.replace(signature, signature.slice('sha256='.length)) }],
    ['no signature', { headers: HEADERS.replace(/^X-Watchdog-Signature: .*\n/m, '') }],
    ['no timestamp', { headers: HEADERS.replace(/^X-Watchdog-Timestamp: .*\n/m, '') }],
    [
      'a malformed timestamp',
      { headers: HEADERS.replace(`Timestamp: ${SENT_AT}`, 'Timestamp: 1e9') },
    ],
    ['nothing at all', { headers: '', body: Buffer.alloc(0) }],
    ['300 seconds and one', { now: SENT_AT + 301 }],
    ['300 seconds and one before', { now: SENT_AT - 301 }],
  ]

  example(`refuses ${tampered.map(([what]) => what).join(', ')}${reason}`, async () => {
    for (const [what, over] of tampered) {
      const { text, code } = await verify(over)
      expect(text, what).toMatch(/^invalid: /)
      expect(code, what).toBe(1)
    }
  })
})

test('the client reads every field of the payload that the service writes', async () => {
  const read = await verifyWebhook({
    secret: SECRET,
    headers: { 'x-watchdog-timestamp': String(SENT_AT), 'x-watchdog-signature': SIGNATURE },
    body: BODY,
    nowSeconds: SENT_AT,
  })
  // The recorded request is of a release that did not include the chain yet.
  const renderedMessage = Object.assign({ chainId: 14, network: 'flare' }, read.renderedMessage)
  expect(WebhookPayload.safeParse({ ...read, renderedMessage }).error).toBeUndefined()
  expect(Object.keys(read).toSorted()).toEqual(Object.keys(WebhookPayload.shape).toSorted())
})

test('the check in the README refuses a request without a signature, and accepts a valid one', async () => {
  const script = /```js\n(import [^`]*(?:`[^`\n]*`[^`]*)*)\n```/.exec(README)?.[1]
  const file = join(temporary, 'readme.mjs')
  writeFileSync(file, `${script}\nexport { isGenuine }\n`)
  const { isGenuine } = await import(file)
  const now = Math.floor(Date.now() / 1000)
  expect(isGenuine(SECRET, String(now), undefined, BODY)).toBe(false)
  const signature = signBody(SECRET, now, BODY.toString('utf8'))
  expect(isGenuine(SECRET, String(now), signature, BODY)).toBe(true)
})

interface Request {
  readonly secret: string
  readonly headers: string
  readonly body: Uint8Array
  readonly now: number
}

const VECTOR: Request = { secret: SECRET, headers: HEADERS, body: BODY, now: SENT_AT }

/** Runs a verifier as its first lines describe. */
async function verdictOf(
  [command, ...args]: readonly [string, ...string[]],
  { secret, headers, body, now }: Request,
): Promise<{ text: string; code: number }> {
  const files = mkdtempSync(join(temporary, 'request-'))
  writeFileSync(join(files, 'headers.txt'), headers)
  writeFileSync(join(files, 'body.txt'), body)
  const inputs = [join(files, 'headers.txt'), join(files, 'body.txt'), String(now)]
  const env = { ...ENVIRONMENT, WEBHOOK_SECRET: secret }
  return await new Promise((resolve) => {
    execFile(command, [...args, ...inputs], { env }, (error, stdout) => {
      const code = error === null ? 0 : Number(error.code)
      resolve({ text: stdout.trim(), code })
    })
  })
}

function headerOf(name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(HEADERS)?.[1] ?? ''
}
