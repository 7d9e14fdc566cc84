import { createHmac, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { receiverPage } from '#sandbox/receiver/page.ts'
import { type Receiver, startReceiver } from '#sandbox/receiver.ts'
import { verifyStandard, verifyWatchdog } from '#sandbox/verify.ts'

const NOW = new Date('2026-01-02T03:04:07.000Z')
const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='
const OTHER_SECRET = 'whsec_YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODk='
const BODY = Buffer.from('{"event":"wallet-balance.moved","text":"5 € – ✓"}')

describe('a signature as the specification describes it', () => {
  // Made with `openssl dgst -sha256 -hmac` over the same text.
  const headers = {
    'x-watchdog-timestamp': '1767323045',
    'x-watchdog-signature':
      'sha256=3aa220b763ef0eb2864bb8cb5d7485df2329b01154af85cbdbabbd4b9647475c',
  }

  it('is accepted', () => {
    expect(verifyWatchdog(headers, BODY, SECRET, NOW)).toEqual({ ok: true, ageSeconds: 2 })
  })

  it('is refused 300 seconds away from its timestamp, not before', () => {
    const at = (seconds: number) => new Date((1767323045 + seconds) * 1000)
    for (const seconds of [-300, 300]) {
      expect(verifyWatchdog(headers, BODY, SECRET, at(seconds)).ok).toBe(true)
    }
    for (const seconds of [-301, -300.001, 300.001, 301]) {
      const verdict = verifyWatchdog(headers, BODY, SECRET, at(seconds))
      expect(verdict).toMatchObject({ ok: false, reason: 'stale' })
    }
  })

  it('is refused if any byte of the signature, the body, the timestamp or the secret is changed', () => {
    const parts = [headers['x-watchdog-signature'], BODY.toString('latin1'), '1767323045', SECRET]
    const change = fc
      .nat({ max: parts.length - 1 })
      .chain((part) => fc.tuple(fc.constant(part), fc.nat({ max: (parts[part] ?? '').length - 1 })))
    fc.assert(
      fc.property(change, fc.integer({ min: 1, max: 255 }), ([part, at], flip) => {
        const bytes = Buffer.from(parts[part] ?? '', 'latin1')
        bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at)
        const changed = parts.with(part, bytes.toString('latin1'))
        const [signature = '', body = '', timestamp = '', secret = ''] = changed
        const verdict = verifyWatchdog(
          { 'x-watchdog-signature': signature, 'x-watchdog-timestamp': timestamp },
          Buffer.from(body, 'latin1'),
          secret,
          NOW,
        )
        expect(verdict.ok).toBe(false)
      }),
    )
  })

  it('is refused without a prefix, in capitals, cut off, doubled or unreadable', () => {
    const { 'x-watchdog-signature': good } = headers
    const bad = [good.slice(7), good.toUpperCase(), good.slice(0, -1), `${good}, ${good}`, '']
    for (const signature of bad) {
      const changed = { ...headers, 'x-watchdog-signature': signature }
      expect(verifyWatchdog(changed, BODY, SECRET, NOW)).toMatchObject({ reason: 'mismatch' })
    }
    const soon = { ...headers, 'x-watchdog-timestamp': '1767323045.0' }
    expect(verifyWatchdog(soon, BODY, SECRET, NOW)).toMatchObject({ reason: 'malformed' })
    const { 'x-watchdog-timestamp': _, ...undated } = headers
    expect(verifyWatchdog(undated, BODY, SECRET, NOW)).toMatchObject({ reason: 'missing' })
  })
})

describe('a signature of Standard Webhooks', () => {
  // The example in the documentation of the first libraries with this scheme.
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = Buffer.from('{"test": 2432232314}')
  const headers = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const now = new Date(1614265330_000)

  it('is accepted, also among several signatures', () => {
    expect(verifyStandard(headers, body, secret, now)).toEqual({ ok: true, ageSeconds: 0 })
    const several = `v1a,AAAA v1,Zm9v ${headers['webhook-signature']}`
    const answer = verifyStandard({ ...headers, 'webhook-signature': several }, body, secret, now)
    expect(answer.ok).toBe(true)
  })

  it('is refused with another id, body, secret, version or time', () => {
    const refused = [
      verifyStandard({ ...headers, 'webhook-id': 'msg_other' }, body, secret, now),
      verifyStandard(headers, Buffer.from('{"test":2432232314}'), secret, now),
      verifyStandard(headers, body, SECRET, now),
      verifyStandard(
        { ...headers, 'webhook-signature': headers['webhook-signature'].replace('v1', 'v2') },
        body,
        secret,
        now,
      ),
      verifyStandard(headers, body, secret, new Date(now.getTime() + 301_000)),
      verifyStandard({ ...headers, 'webhook-timestamp': 'now' }, body, secret, now),
      verifyStandard({}, body, secret, now),
    ]
    expect(refused.map((verdict) => ('reason' in verdict ? verdict.reason : 'ok'))).toEqual([
      ...['mismatch', 'mismatch', 'mismatch', 'mismatch'],
      ...['stale', 'malformed', 'missing'],
    ])
  })
})

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver({ secret: SECRET, clock: { now: () => NOW } })
})

afterEach(() => receiver.close())

/** Signs with `secret` as the service would 2 s before the receiver's time. */
function signed(secret: string, more: Record<string, string> = {}): Record<string, string> {
  const timestamp = '1767323045'
  const id = randomUUID()
  const hmac = (key: string | Buffer, text: string) =>
    createHmac('sha256', key).update(text).update(BODY)
  const standardKey = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const standard = hmac(standardKey, `${id}.${timestamp}.`).digest('base64')
  return {
    'content-type': 'application/json',
    'x-watchdog-timestamp': timestamp,
    'x-watchdog-signature': `sha256=${hmac(secret, `${timestamp}.`).digest('hex')}`,
    'x-watchdog-event': 'wallet-balance.moved',
    'x-watchdog-attempt': '2',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${standard}`,
    ...more,
  }
}

function deliver(headers = signed(SECRET), url = receiver.url()): Promise<Response> {
  const signal = AbortSignal.timeout(5_000)
  return fetch(url, { method: 'POST', headers, body: BODY, signal })
}

describe('receiver', () => {
  it('stores a delivery as it arrived, and reports its signatures as valid', async () => {
    const { status } = await deliver()
    expect(status).toBe(200)
    expect(receiver.deliveries).toMatchObject([
      {
        id: 1,
        receivedAt: NOW,
        hook: 'main',
        method: 'POST',
        headers: { 'x-watchdog-attempt': '2' },
        json: { event: 'wallet-balance.moved', text: '5 € – ✓' },
        verdicts: {
          watchdog: { ok: true, ageSeconds: 2 },
          watchdogNext: { ok: false, reason: 'missing' },
          standard: { ok: true, ageSeconds: 2 },
        },
        answer: 200,
      },
    ])
    expect(receiver.deliveries[0]?.rawBody.equals(BODY)).toBe(true)
  })

  it('responds with 401 if no signature is valid', async () => {
    expect((await deliver(signed(OTHER_SECRET))).status).toBe(401)
    expect(receiver.deliveries[0]).toMatchObject({
      verdicts: { watchdog: { reason: 'mismatch' }, standard: { reason: 'mismatch' } },
      answer: 401,
    })
    expect((await deliver({})).status).toBe(401)
  })

  it('accepts the new secret while deliveries are still signed with the old one', async () => {
    receiver.setSecret('main', OTHER_SECRET)
    const old = signed(SECRET)
    const next = signed(OTHER_SECRET, { 'webhook-id': old['webhook-id'] ?? '' })
    const headers = {
      ...old,
      'x-watchdog-signature-next': next['x-watchdog-signature'] ?? '',
    }
    expect((await deliver(headers)).status).toBe(200)
    expect(receiver.deliveries[0]?.verdicts).toMatchObject({
      watchdog: { ok: false },
      watchdogNext: { ok: true },
      standard: { ok: false },
    })
  })

  it('has a secret for each hook, and checks nothing for a hook without one', async () => {
    receiver.setSecret('ops', OTHER_SECRET)
    expect((await deliver(signed(OTHER_SECRET), receiver.url('ops'))).status).toBe(200)
    expect((await deliver(signed(SECRET), receiver.url('ops'))).status).toBe(401)
    receiver.setSecret('ops', undefined)
    expect((await deliver(signed(SECRET), receiver.url('ops'))).status).toBe(200)
    const hooks = receiver.deliveries.map(({ hook, verdicts }) => [hook, verdicts?.watchdog.ok])
    expect(hooks).toEqual([
      ['ops', true],
      ['ops', false],
      ['ops', undefined],
    ])
  })

  it('has no other paths than its hooks', async () => {
    expect((await deliver(signed(SECRET), new URL('/other', receiver.url()).href)).status).toBe(404)
    expect(receiver.deliveries).toEqual([])
  })

  it('stores a body that is not JSON', async () => {
    await fetch(receiver.url('raw'), { method: 'POST', body: new Uint8Array([0xff, 0x00, 0x7b]) })
    const [delivery] = receiver.deliveries
    expect(delivery?.json).toBeUndefined()
    expect([...(delivery?.rawBody ?? [])]).toEqual([0xff, 0x00, 0x7b])
  })

  it('responds to the next deliveries as configured, then as usual', async () => {
    receiver.answerNext(500, { status: 429, headers: { 'retry-after': '60' }, body: 'slow down' })
    expect((await deliver()).status).toBe(500)
    const second = await deliver()
    expect([second.status, second.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await second.text()).toBe('slow down')
    expect((await deliver()).status).toBe(200)
    receiver.answerAlways(410)
    expect((await deliver()).status).toBe(410)
    receiver.answerAlways(undefined)
    expect((await deliver()).status).toBe(200)
    receiver.answerNext(500)
    receiver.cancelAnswers()
    expect((await deliver()).status).toBe(200)
  })

  it('breaks the connection', async () => {
    receiver.answerNext('reset')
    await expect(deliver()).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } })
    expect(receiver.deliveries).toMatchObject([{ answer: 'reset' }])
  })

  it('can leave a request without a response', async () => {
    receiver.answerNext('hang')
    const signal = AbortSignal.timeout(300)
    const asked = fetch(receiver.url(), {
      method: 'POST',
      headers: signed(SECRET),
      body: BODY,
      signal,
    })
    await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(receiver.deliveries).toMatchObject([{ answer: 'hang' }])
  })

  it('can respond late', async () => {
    receiver.answerNext({ status: 204, delayMs: 200 })
    const from = performance.now()
    expect((await deliver()).status).toBe(204)
    expect(performance.now() - from).toBeGreaterThan(190)
  })

  it('waits for a delivery, whether it has arrived or is still to arrive', async () => {
    const coming = receiver.waitFor(({ hook }) => hook === 'ops')
    await deliver()
    expect(await receiver.waitFor(({ hook }) => hook === 'main')).toBe(receiver.deliveries[0])
    await deliver(signed(SECRET), receiver.url('ops'))
    expect(await coming).toBe(receiver.deliveries[1])
    await expect(receiver.waitFor(() => false, 20)).rejects.toThrow(
      'no such delivery within 20 ms; there is\n  wallet-balance.moved at main',
    )
  })

  it('ends all connections and waiting callers when it closes', async () => {
    receiver.answerNext('hang', { status: 200, delayMs: 60_000 })
    const hanging = [deliver(), deliver()].map((asked) =>
      expect(asked).rejects.toThrow('fetch failed'),
    )
    await receiver.waitFor(({ id }) => id === 2)
    const waiting = expect(receiver.waitFor(() => false)).rejects.toThrow('before it closed')
    await Promise.all([receiver.close(), receiver.close()])
    await Promise.all([...hanging, waiting])
    await expect(deliver()).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
  })
})

describe('receiver page', () => {
  let app: FastifyInstance
  let base: string

  beforeEach(async () => {
    app = Fastify()
    await app.register(receiverPage, { receiver })
    base = await app.listen({ host: '127.0.0.1', port: 0 })
  })

  afterEach(() => app.close())

  const page = async (path = '/receiver') => (await fetch(base + path)).text()
  const post = (path: string, form: Record<string, string> = {}) =>
    fetch(base + path, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' })

  it('lists deliveries, newest first, with event, attempt, verdict and response', async () => {
    expect(await page()).toContain('No delivery yet')
    await deliver()
    await deliver(signed(OTHER_SECRET))
    await deliver(signed(SECRET, { 'webhook-signature': 'v1,AAAA' }))
    const html = await page()
    const ids = [...html.matchAll(/<li id="delivery-(\d)"/g)].map(([, id]) => id)
    expect(ids).toEqual(['3', '2', '1'])
    const items = html.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ')
    expect(items).toContain('wallet-balance.moved ▲ partly verified · attempt 2 → 200')
    expect(items).toContain('wallet-balance.moved ✗ refused · attempt 2 → 401')
    expect(items).toContain('wallet-balance.moved ✓ verified · attempt 2 → 200')
  })

  it('shows each check as a customer computes it, and the code for it', async () => {
    await deliver()
    const checks = async () =>
      [...(await page()).matchAll(/<li class="(\w+)"><span[^>]*>.<\/span><span>([^<]*)/g)].map(
        ([, state, line]) => `${state} ${line}`,
      )
    expect(await checks()).toEqual([
      'fine X-Watchdog-Signature',
      'fine webhook-signature',
      'fine timestamp 2 s',
    ])
    await deliver(signed(OTHER_SECRET, { 'x-watchdog-signature-next': 'sha256=00' }))
    expect(await checks()).toEqual([
      'critical X-Watchdog-Signature: does not fit the secret and the body',
      'critical X-Watchdog-Signature-Next: does not fit the secret and the body',
      'critical webhook-signature: does not fit the secret and the body',
      'fine timestamp 2 s',
    ])
    await deliver(signed(SECRET), receiver.url('bare'))
    expect(await checks()).toEqual(['muted Not checked: the hook “bare” has no secret'])
    expect(await page()).toContain('export function verifyWatchdog(')
  })

  it('shows the body pretty and raw, and escapes it', async () => {
    const body = '{"x":"<script>alert(1)</script>"}'
    await fetch(receiver.url(), { method: 'POST', body })
    const html = await page()
    expect(html).not.toContain('<script>')
    const escaped = '&lt;script&gt;alert(1)&lt;/script&gt;'
    expect(html).toContain(`{\n  &quot;x&quot;: &quot;${escaped}&quot;\n}`)
    expect(html).toContain(`{&quot;x&quot;:&quot;${escaped}&quot;}`)
  })

  it('sets the next responses and removes them', async () => {
    for (const answer of ['500', '429 Retry-After 60', 'hang']) {
      expect((await post('/receiver/answers', { answer })).status).toBe(303)
    }
    expect(await page()).toContain('Coming up: <b>500, 429 Retry-After 60, hang</b>')
    expect((await deliver()).status).toBe(500)
    expect((await deliver()).headers.get('retry-after')).toBe('60')
    await post('/receiver/answers/cancel')
    expect((await deliver()).status).toBe(200)
    expect((await post('/receiver/answers', { answer: 'maybe' })).status).toBe(400)
  })

  it('sets and removes the secret of a hook, and never shows all of the secret', async () => {
    await post('/receiver/secret', { hook: ' ops ', secret: ` ${OTHER_SECRET}\n` })
    expect(receiver.secrets.get('ops')).toBe(OTHER_SECRET)
    const html = await page()
    expect(html).toContain(receiver.url('ops'))
    expect(html).not.toContain(OTHER_SECRET)
    await post('/receiver/secret', { hook: 'ops', secret: '' })
    expect(receiver.secrets.has('ops')).toBe(false)
    expect((await post('/receiver/secret', { hook: 'a/b', secret: SECRET })).status).toBe(400)
  })

  it('notifies listening pages of a new delivery, and deletes all', async () => {
    const { body } = await fetch(`${base}/live`)
    const events = body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await events?.read())?.value).toContain('retry:')
    await deliver()
    expect((await events?.read())?.value).toBe('data: {"topic":"receiver","data":"changed"}\n\n')
    await post('/receiver/clear')
    expect(receiver.deliveries).toEqual([])
  })
})
