import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getAddress } from 'viem/utils'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { AlertPage } from '#src/alerts/model.ts'
import { writeMessage } from '#src/auth/message.ts'
import { Challenge } from '#src/auth/model.ts'
import { challengeExpiry } from '#src/auth/rules.ts'
import { formatToken, hasTokenForm } from '#src/auth/token.ts'
import { CreditAccount } from '#src/billing/account/model.ts'
import { SlotQuote, Subscription } from '#src/billing/subscriptions/model.ts'
import { Topup } from '#src/billing/topups/model.ts'
import { translate } from '#src/i18n/translate.ts'
import { SCOPES } from '#src/kernel/caller.ts'
import { ERROR_STATUS } from '#src/kernel/errors.ts'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { isErrorCode, statusOfErrorCode } from '#src/kernel/problems.ts'
import type { AnyOperation } from '#src/operations/define.ts'
import { examplesAt } from '#src/operations/examples/index.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'
import { Problem } from '#src/operations/openapi/problems.ts'
import { PricingDocument } from '#src/operations/rest/pricing-document.ts'
import { Recipient } from '#src/recipients/model.ts'
import { Watch } from '#src/watches/model.ts'
import { every } from './support/every.ts'
import { serviceOnly } from './support/harness.ts'
import { request, signIn, withTrial } from './support/people.ts'

const PUBLIC_URL = 'http://127.0.0.1:8080'
const EXAMPLES = examplesAt(PUBLIC_URL)
const answerOf = (id: string) => EXAMPLES[id]?.response

const Tree = z.record(z.string(), z.unknown())
type Tree = z.output<typeof Tree>

function describeIn(locale: Locale): Tree {
  const app = { publicUrl: PUBLIC_URL, operations: REGISTRY }
  return Tree.parse(JSON.parse(JSON.stringify(openApiDocument(app, locale))))
}

/** All values of keys with this name, at any depth. */
function allOf(name: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === name ? [inner] : allOf(name, inner),
  )
}

/** Every text in a value, with the name of its key. */
function textsIn(value: unknown, name = ''): (readonly [name: string, text: string])[] {
  if (typeof value === 'string') return [[name, value]]
  if (typeof value !== 'object' || value === null) return []
  const isList = Array.isArray(value)
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, isList ? name : key))
}

const named = (operations: readonly AnyOperation[]) =>
  operations.map((operation) => [operation.id, operation] as const)

describe('the examples of operations', () => {
  test('exist for every body and every answer, and for nothing else', () => {
    const has = (id: string, part: 'request' | 'response' | 'queued') =>
      EXAMPLES[id]?.[part] !== undefined
    const shown = REGISTRY.map(({ id }) => [
      id,
      { request: has(id, 'request'), response: has(id, 'response'), queued: has(id, 'queued') },
    ])
    const needed = REGISTRY.map(({ id, body, status, queued }) => [
      id,
      { request: body !== undefined, response: status !== 204, queued: queued !== undefined },
    ])
    expect(shown).toEqual(needed)
    const ids = REGISTRY.map(({ id }) => id)
    expect(Object.keys(EXAMPLES).filter((id) => !ids.includes(id))).toEqual([])
  })

  test('send a body that the operation accepts', () =>
    every(named(REGISTRY.filter(({ body }) => body !== undefined)), (id, { body }) => {
      expect(body?.safeParse(EXAMPLES[id]?.request).error).toBeUndefined()
    }))

  test('show exactly what the operation answers, with its status', () =>
    every(
      named(REGISTRY.filter(({ output }) => output !== undefined)),
      (id, { output = z.never(), queued }) => {
        const answers = [answerOf(id), ...(queued ? [EXAMPLES[id]?.queued] : [])]
        const decoded = answers.map((answer) => output.parse(answer))
        expect(decoded.map((answer) => z.encode(output, answer))).toEqual(answers)
        if (queued !== undefined) expect(decoded.map(queued.when)).toEqual([false, true])
      },
    ))

  test('are shown at every body and answer of the description', () => {
    const media = allOf('content', describeIn('en')).flatMap((content) =>
      Object.values(Tree.parse(content)).map((media) => Tree.parse(media)),
    )
    expect(media.length).toBeGreaterThan(REGISTRY.length)
    expect(media.filter(({ example }) => example === undefined)).toEqual([])
  })
})

describe('the journey of the examples', () => {
  const watch = Watch.parse(answerOf('getWatch'))
  const recipient = Recipient.parse(answerOf('createRecipient'))
  const topup = Topup.parse(answerOf('getTopup'))
  const account = CreditAccount.parse(answerOf('getAccount'))

  test('has one wallet, one watch and one alert', () => {
    const valuesOf = (name: string) => [...new Set(allOf(name, EXAMPLES))]
    const wallet = '0x3f12B8ac9D2e7f4B6a1C5D8E0F9A7B3c2d1ea91C'
    expect(valuesOf('wallet')).toEqual([wallet])
    expect(valuesOf('watchId')).toEqual([42])
    expect(watch).toMatchObject({ id: 42, label: 'Treasury', target: { address: wallet } })
    expect(recipient).toMatchObject({ id: 7, name: 'Pager hook' })
    expect(watch.recipientIds).toBeNull()
    expect(watch.settings).toMatchObject({ threshold: '100' })
    const [alert, ...others] = AlertPage.parse(answerOf('listAlerts')).data
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      id: 4711,
      watchLabel: watch.label,
      firedAt: watch.lastEvaluatedAt,
      data: { address: wallet, threshold: '100', blockTime: watch.lastEvaluatedAt?.toISOString() },
      deliveries: [{ recipientId: recipient.id }],
    })
    expect(answerOf('listTokens')).toMatchObject({ data: [{ id: 3 }] })
  })

  test('has the message to sign that the service would write', async () => {
    const { wallet, nonce, issuedAt, message } = Challenge.parse(answerOf('createChallenge'))
    const expiresAt = challengeExpiry(issuedAt)
    const fields = { publicUrl: PUBLIC_URL, wallet, scopes: SCOPES, nonce, issuedAt, expiresAt }
    expect(message).toBe(await writeMessage(fields))
  })

  test('has a ledger whose sum is the balance', () => {
    const quote = SlotQuote.parse(answerOf('quoteSubscription'))
    const bought = Subscription.parse(answerOf('createSubscription'))
    expect(account.ledger.data.map(({ deltaCredits }) => deltaCredits)).toEqual([
      -bought.totalCredits,
      topup.creditedCredits,
    ])
    expect(account.balanceCredits).toBe(topup.creditedCredits - bought.totalCredits)
    expect([quote.totalCredits, quote.balanceCredits]).toEqual([
      bought.totalCredits,
      topup.creditedCredits,
    ])
    expect(account.slots.purchased).toBe(bought.quantity)
    const { nativeFlr } = PricingDocument.parse(answerOf('getPricing'))
    expect(topup.payTo).toBe(nativeFlr.payTo)
    expect(topup.amount * 1000n).toBe(
      BigInt(nativeFlr.amountPer1000Credits) * BigInt(topup.credits),
    )
  })

  test('has all its times on one day, except the ends of terms and the next term, which are later, and the history of the backtest, which is earlier', () => {
    const later = ['expiresAt', 'endsAt', 'nextRenewalAt', 'resetsAt']
    const { backtestWatch, quoteRenewal, renewSubscription, ...story } = EXAMPLES
    const isInstant = ([, text]: readonly [string, string]) => /\d{4}-\d\d-\d\dT\d\d:/.test(text)
    const instants = textsIn(story).filter(isInstant)
    const next = textsIn({ quoteRenewal, renewSubscription }).filter(isInstant)
    expect(next.filter(([, text]) => text < '2026-11-20')).toEqual([])
    const past = textsIn(backtestWatch).filter(isInstant)
    expect(past.filter(([, text]) => text > '2026-11-21')).toEqual([])
    expect(instants.length).toBeGreaterThan(30)
    expect(
      instants.filter(([name, text]) => !later.includes(name) && !text.includes('2026-11-20T')),
    ).toEqual([])
    const ends = instants.filter(([name]) => later.includes(name))
    expect(ends.filter(([, text]) => text < '2026-11-20')).toEqual([])
  })

  test('writes addresses with their checksums', () => {
    const text = JSON.stringify(describeIn('en'))
    const addresses = [...text.matchAll(/0x[0-9a-fA-F]{40}(?![0-9a-fA-F])/g)].map(
      ([match]) => match,
    )
    expect(addresses.length).toBeGreaterThan(20)
    expect(addresses.filter((address) => address !== getAddress(address))).toEqual([])
  })

  test('contains no well-formed token or secret in any language', () => {
    for (const locale of LOCALES) {
      const text = JSON.stringify(describeIn(locale))
      const tokens = [...text.matchAll(/fwd_[\w…]*/g)].map(([match]) => match)
      expect([...new Set(tokens)].toSorted()).toEqual(['fwd_3Kd9', 'fwd_…'])
      expect(tokens.filter(hasTokenForm)).toEqual([])
      const secrets = [...text.matchAll(/whsec_[\w+/=…]*/g)].map(([match]) => match)
      expect([...new Set(secrets)].toSorted()).toEqual(['whsec_…'])
    }
    const text = JSON.stringify(EXAMPLES)
    const zeros = Buffer.alloc(32)
    const codes = [...text.matchAll(/start(?:group)?=([\w-]+)/g)].map(([, code]) => code)
    expect([...new Set(codes)]).toEqual([zeros.subarray(16).toString('base64url')])
  })
})

/** The problem that the description shows for each status. */
function problemsIn(locale: Locale): ReadonlyMap<number, z.output<typeof Problem>> {
  const { responses } = Tree.parse(describeIn(locale)['components'])
  const problems = allOf('example', responses).map((example) =>
    z.strictObject(Problem.shape).parse(example),
  )
  return new Map(problems.map((problem) => [problem.status, problem]))
}

describe('the examples of problems', () => {
  const english = problemsIn('en')

  test('cover each status with which an operation refuses', () => {
    const problems = [...english.values()]
    expect(
      problems.map(({ code, status }) => isErrorCode(code) && statusOfErrorCode(code) === status),
    ).toEqual(problems.map(() => true))
    // No operation answers 405.
    const statuses = Object.values(ERROR_STATUS).filter(
      (status) => status !== ERROR_STATUS.method_not_allowed,
    )
    expect([...english.keys()]).toEqual(statuses)
  })

  test.each(LOCALES)('are written in %s', (locale) => {
    const { title, detail } = problemsIn(locale).get(404) ?? {}
    expect([title, detail]).toEqual([
      translate(locale, 'errors:not_found.title'),
      translate(locale, 'errors:not_found.detail'),
    ])
  })
})

describe('a running service', () => {
  const english = problemsIn('en')
  let service: Awaited<ReturnType<typeof serviceOnly>>
  let alice: Awaited<ReturnType<typeof signIn>>

  beforeAll(async () => {
    service = await serviceOnly({ PUBLIC_URL })
    alice = await withTrial(await signIn(service, 'alice'))
  })
  afterAll(() => service.close())

  const neverIssued = { authorization: `Bearer ${formatToken(new Uint8Array(32))}` }
  const send = (id: string, over: Tree) => ({ ...EXAMPLES[id]?.request, ...over })
  const wrong = { settings: {}, cooldownSeconds: 9_999_999 }
  const sendTwice = async () => {
    const key = { 'idempotency-key': 'once' }
    await alice.request('PUT', '/channels/webhook', { url: 'https://example.org/a' }, key)
    return alice.request('PUT', '/channels/webhook', { url: 'https://example.org/b' }, key)
  }

  test.each([
    [400, () => alice.request('POST', '/watches', send('createWatch', wrong))],
    [401, () => request(service, 'GET', '/account', undefined, neverIssued)],
    [402, () => alice.request('POST', '/subscriptions', send('createSubscription', {}))],
    [403, async () => (await signIn(service, 'bob', [])).request('POST', '/topup')],
    [404, () => alice.request('DELETE', '/auth/tokens/42')],
    [412, () => alice.request('PUT', '/settings', send('replaceSettings', { version: 99 }))],
    [413, () => alice.request('PUT', '/settings', { timezone: 'x'.repeat(70_000) })],
    [415, () => alice.request('PUT', '/settings', 'x', { 'content-type': 'text/plain' })],
    [422, sendTwice],
  ] as const)('refuses with %i as the description shows', async (status, refuse) => {
    const { body } = await refuse()
    const { requestId } = Problem.parse(body)
    expect(body).toEqual({ ...english.get(status), requestId })
  })

  test('exports the columns that the description shows', async () => {
    const { text } = await alice.request('GET', '/alerts/export')
    expect(`\ufeff${String(answerOf('exportAlerts')).split('\r\n')[0]}`).toBe(text.trimEnd())
  })
})

describe('the linter of the description', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'watchdog-examples-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('notices an example that does not fit', async () => {
    const text = JSON.stringify(describeIn('en'))
    const file = join(folder, 'openapi.json')
    await writeFile(file, text.replace('"deleted":1', '"deleted":"one"'))
    const redocly = join(import.meta.dirname, '../node_modules/.bin/redocly')
    const run = promisify(execFile)
    const { stdout } = await run(redocly, ['lint', '--format=json', file], { cwd: folder })
    const { totals, problems } = JSON.parse(stdout)
    expect(totals).toMatchObject({ errors: 0, warnings: 1 })
    expect(problems).toMatchObject([{ ruleId: 'no-invalid-media-type-examples' }])
  })
})
