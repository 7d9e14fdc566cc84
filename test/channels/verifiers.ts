import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSecret, rotateSecret } from '#src/channels/hooks/webhook.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, webhookWorld } from './worlds.ts'

/** Folder of the published verifiers. */
export const FOLDER = join(import.meta.dirname, '../../examples/verify')
/** The published test vector, for authors of their own verifiers. */
export const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='
export const SENT_AT = 1795176000
export const BODY = readFileSync(join(FOLDER, 'vector/body.txt'))
export const HEADERS = readFileSync(join(FOLDER, 'vector/headers.txt'), 'utf8')
export const SIGNATURE = headerOf('X-Watchdog-Signature')

/** The value of a header of the vector. */
export function headerOf(name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'm').exec(HEADERS)?.[1] ?? ''
}

/** A program that verifies the signature of a webhook, in one language. */
export interface Verifier {
  /** Builds the program in a folder; returns its command. */
  readonly build?: (into: string) => readonly [string, readonly string[]]
  readonly run: (into: string) => readonly [string, ...string[]]
}

interface Request {
  readonly secret: string
  readonly headers: string
  readonly body: Uint8Array
  readonly now: number
}

const VECTOR: Request = { secret: SECRET, headers: HEADERS, body: BODY, now: SENT_AT }

/** Environment of a verifier; Node compiles its modules once for all runs. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env['HOME'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
}

const changed = Buffer.from(BODY)
changed[changed.length - 2] = 0x21

/** Requests that every verifier refuses. */
const TAMPERED: readonly (readonly [string, Partial<Request>])[] = [
  ['one changed byte', { body: changed }],
  ['one byte less', { body: BODY.subarray(0, -1) }],
  ['a line break more', { body: Buffer.concat([BODY, Buffer.from('\n')]) }],
  ['another secret', { secret: `${SECRET.slice(0, -2)}9=` }],
  [
    'another timestamp',
    { headers: HEADERS.replace(`Timestamp: ${SENT_AT}`, `Timestamp: ${SENT_AT + 1}`) },
  ],
  ['a shorter signature', { headers: HEADERS.replace(SIGNATURE, SIGNATURE.slice(0, -1)) }],
  ['a longer signature', { headers: HEADERS.replace(SIGNATURE, `${SIGNATURE}0`) }],
  ['capitals', { headers: HEADERS.replace(SIGNATURE, SIGNATURE.toUpperCase()) }],
  ['no algorithm', { headers: HEADERS.replace(SIGNATURE, SIGNATURE.slice('sha256='.length)) }],
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

/** Declares what every verifier does. */
export function verifierTests({ build, run }: Verifier): void {
  let temporary: string

  beforeAll(() => {
    temporary = mkdtempSync(join(tmpdir(), 'verify-'))
    if (build === undefined) return
    const [command, args] = build(temporary)
    const built = spawnSync(command, args, { encoding: 'utf8' })
    if (built.status !== 0) throw new Error(`${command} could not build it: ${built.stderr}`)
  })
  afterAll(() => rmSync(temporary, { recursive: true }))

  const verify = (over: Partial<Request>) =>
    verdictOf(run(temporary), { ...VECTOR, ...over }, mkdtempSync(join(temporary, 'request-')))

  test('takes the published vector, and up to 300 seconds either way', async () => {
    for (const now of [SENT_AT, SENT_AT + 300, SENT_AT - 300]) {
      expect(await verify({ now })).toEqual({ text: 'valid', code: 0 })
    }
  })

  test('takes the signature of the next secret while one replaces the other', async () => {
    const { secret, next, now, ...request } = await requestOfTwoSecrets()
    expect(await verify({ ...request, now, secret })).toMatchObject({ text: 'valid' })
    expect(await verify({ ...request, now, secret: next })).toMatchObject({ text: 'valid' })
    expect(await verify({ ...request, now, secret: makeSecret() })).toMatchObject({ code: 1 })
  })

  test('refuses to start without a secret or files, in one line', () => {
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

  test(`refuses ${TAMPERED.map(([what]) => what).join(', ')}`, async () => {
    for (const [what, over] of TAMPERED) {
      const { text, code } = await verify(over)
      expect(text, what).toMatch(/^invalid: /)
      expect(code, what).toBe(1)
    }
  })
}

/** A request of the service while one secret replaces another. */
async function requestOfTwoSecrets() {
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
  return { secret: receiver.secret, next, headers, body: delivery.rawBody, now }
}

/** Runs a verifier as its first lines describe, with files in a folder. */
async function verdictOf(
  [command, ...args]: readonly [string, ...string[]],
  { secret, headers, body, now }: Request,
  folder: string,
): Promise<{ text: string; code: number }> {
  writeFileSync(join(folder, 'headers.txt'), headers)
  writeFileSync(join(folder, 'body.txt'), body)
  const inputs = [join(folder, 'headers.txt'), join(folder, 'body.txt'), String(now)]
  const env = { ...ENVIRONMENT, WEBHOOK_SECRET: secret }
  return await new Promise((resolve) => {
    execFile(command, [...args, ...inputs], { env }, (error, stdout) => {
      const code = error === null ? 0 : Number(error.code)
      resolve({ text: stdout.trim(), code })
    })
  })
}
