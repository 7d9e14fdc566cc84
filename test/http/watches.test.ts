import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Problem, Watch } from '../generated/api.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

let world: World
let alice: Client
let bob: Client

const target = { address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', asset: 'FLR' }
const balance = { type: 'wallet-balance', target, settings: { threshold: '100' } }

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  bob = await signIn(world, 'bob')
})
afterAll(() => world.close())

beforeEach(async () => {
  const { body } = await alice.request('GET', '/watches')
  for (const { id } of body.data) await alice.request('DELETE', `/watches/${id}`)
})

/** A watch, or the problem that prevented it. */
async function create(over: object = {}) {
  return alice.request<Watch & Pick<Problem, 'detail' | 'errors'>>('POST', '/watches', {
    ...balance,
    ...over,
  })
}

describe('POST /watches', () => {
  test('creates a watch in a free slot, and GET shows it', async () => {
    const { status, headers, body } = await create({ label: 'Treasury' })
    expect(status).toBe(201)
    expect(headers.location).toBe(`/api/x402/watches/${body.id}`)
    expect(body).toMatchObject({
      ...balance,
      label: 'Treasury',
      settings: { threshold: '100', direction: 'any' },
      signals: [{ id: 'balance-change', enabled: true, parameters: {} }],
      recipientIds: null,
      minSeverity: 'info',
      cooldownSeconds: 0,
      status: 'active',
      health: 'ok',
      signalStates: [{ id: 'balance-change', state: 'unknown', since: null }],
      lastEvaluatedAt: null,
    })
    expect((await alice.request('GET', `/watches/${body.id}`)).body).toEqual(body)
    expect((await alice.request('GET', '/watches')).body).toEqual({
      data: [body],
      nextCursor: null,
    })
  })

  test('is refused while every slot is taken', async () => {
    await create()
    const answer = await create()
    expect(answer).toMatchObject({ status: 409, body: { code: 'no_free_slot' } })
    expect(answer.body.detail).toContain('Your only slot is in use')
  })

  test('gives one free slot to one of many concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create()))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(9).fill(409)])
  })

  test('is refused without a slot', async () => {
    const answer = await bob.request('POST', '/watches', balance)
    expect(answer).toMatchObject({ status: 409, body: { code: 'no_free_slot' } })
    expect(answer.body.detail).toContain('start the free trial if you have not used it yet')
  })

  test('creates one watch for twenty requests with one key, and replays the response', async () => {
    const headers = { 'idempotency-key': 'one-watch' }
    const send = () => alice.request('POST', '/watches', balance, headers)
    const answers = await Promise.all(Array.from({ length: 20 }, send))
    const created = answers.filter(({ status }) => status === 201)
    const waiting = answers.filter(({ status }) => status === 409)
    expect(created.length + waiting.length).toBe(20)
    expect(waiting.every(({ body }) => body.code === 'idempotency_in_progress')).toBe(true)
    expect(new Set(created.map(({ body }) => body.id)).size).toBe(1)
    const replay = await send()
    expect(replay.headers['idempotent-replayed']).toBe('true')
    expect(replay).toMatchObject({ status: 201, body: created[0]?.body })
    expect((await alice.request('GET', '/watches')).body.data).toHaveLength(1)
  })

  test('refuses a used key with another body, and accepts it again after a day', async () => {
    const headers = { 'idempotency-key': 'reused' }
    const first = await alice.request('POST', '/watches', balance, headers)
    const other = { ...balance, label: 'Other' }
    const answer = await alice.request('POST', '/watches', other, headers)
    expect(answer).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } })
    await alice.request('DELETE', `/watches/${first.body.id}`)
    world.clock.advance(86_401)
    expect((await alice.request('POST', '/watches', other, headers)).status).toBe(201)
  })

  test.each([
    ['a response of another shape', () => world.app.box.seal('idempotency', '{"id":"seven"}'), 201],
    [
      'a refusal with a code of another release',
      () => {
        const refusal = { kind: 'conflict', code: 'never_heard_of', details: {} }
        return world.app.box.seal('idempotency', JSON.stringify(refusal))
      },
      409,
    ],
    ['a response that no key decrypts', () => 'damaged', 201],
  ])('names %s, and creates nothing again', async (_name, seal, status) => {
    const headers = { 'idempotency-key': `unreadable ${_name}` }
    const send = () => alice.request('POST', '/watches', balance, headers)
    expect(await send()).toMatchObject({ status: 201 })
    await world.sql`
      update idempotency_keys set answer = ${seal()}, status = ${status}
      where key = ${headers['idempotency-key']}`
    for (let repeat = 0; repeat < 2; repeat++) {
      const answer = await send()
      expect(answer).toMatchObject({
        status: 409,
        body: { code: 'idempotency_response_unreadable' },
      })
      expect(answer.headers).not.toHaveProperty('idempotent-replayed')
    }
    expect((await alice.request('GET', '/watches')).body.data).toHaveLength(1)
    const rows = world.app.quarantine.read()
    expect(rows).toContainEqual({ kind: 'idempotent_response', rows: expect.any(Number) })
  })

  test('replays a refusal for its key, too', async () => {
    await create()
    const headers = { 'idempotency-key': 'refused' }
    const first = await alice.request('POST', '/watches', balance, headers)
    expect(first).toMatchObject({ status: 409, body: { code: 'no_free_slot' } })
    const { body } = await alice.request('GET', '/watches')
    await alice.request('DELETE', `/watches/${body.data[0].id}`)
    expect(await alice.request('POST', '/watches', balance, headers)).toMatchObject({
      status: 409,
      body: { code: 'no_free_slot' },
    })
  })

  test.each([
    ['an unknown type', { type: 'weather' }, '/type', 'choice'],
    ['an unknown property', { colour: 'red' }, '/colour', 'unknown'],
    [
      'an address with too few digits',
      { target: { ...target, address: '0x12' } },
      '/target/address',
      'address',
    ],
    [
      'an address with one letter wrong',
      { target: { ...target, address: '0x70997970C51812dc3A010C7d01b50e0d17dc79c8' } },
      '/target/address',
      'checksum',
    ],
    ['no threshold', { settings: {} }, '/settings/threshold', 'required'],
    [
      'a threshold of nothing',
      { settings: { threshold: '0' } },
      '/settings/threshold',
      'too_small',
    ],
    [
      'too high a threshold',
      { settings: { threshold: '1000000000000001' } },
      '/settings/threshold',
      'too_big',
    ],
    ['a label too long', { label: 'x'.repeat(41) }, '/label', 'too_long'],
    ['a label of one space', { label: ' ' }, '/label', 'blank'],
    ['an invisible label', { label: '\u200b\u3164' }, '/label', 'blank'],
    ['a label with a line break', { label: 'a\nb' }, '/label', 'control_characters'],
    ['a recipient that is not there', { recipientIds: [99] }, '/recipientIds/0', 'recipient'],
    ['an unknown signal', { signals: [{ id: 'nope' }] }, '/signals/0/id', 'signal'],
    [
      'a parameter no signal has',
      { signals: [{ id: 'balance-change', parameters: { rounds: 2 } }] },
      '/signals/0/parameters/rounds',
      'parameter',
    ],
    ['a negative cooldown', { cooldownSeconds: -1 }, '/cooldownSeconds', 'too_small'],
    [
      'an asset that is no token',
      { target: { ...target, asset: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' } },
      '/target/asset',
      'not_a_token',
    ],
  ])('refuses %s, and names the field', async (_name, over, pointer, code) => {
    const answer = await create(over)
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed' } })
    expect(answer.body.errors).toContainEqual(expect.objectContaining({ pointer, code }))
  })

  test('works while the chain does not respond: the first observed value is the baseline', async () => {
    await world.rpc.down()
    const { status } = await create()
    await world.rpc.up()
    expect(status).toBe(201)
  })
})

describe('PATCH /watches/{id}', () => {
  test('changes the given fields and no others', async () => {
    const { body: before } = await create({ label: 'Treasury' })
    const { status, body } = await alice.request('PATCH', `/watches/${before.id}`, {
      settings: { direction: 'down' },
      minSeverity: 'warning',
      mutedUntil: '2027-11-21T00:00:00.000Z',
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      ...before,
      settings: { threshold: '100', direction: 'down' },
      minSeverity: 'warning',
      mutedUntil: '2027-11-21T00:00:00.000Z',
      updatedAt: body.updatedAt,
      version: before.version + 1,
    })
    const cleared = await alice.request('PATCH', `/watches/${before.id}`, { mutedUntil: null })
    expect(cleared.body.mutedUntil).toBeNull()
  })

  test('refuses a change of type or target', async () => {
    const { body } = await create()
    const answer = await alice.request('PATCH', `/watches/${body.id}`, { target })
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/target' }] } })
  })

  test('refuses settings that contradict the stored ones', async () => {
    const { body } = await create()
    const settings = { threshold: '-5' }
    const answer = await alice.request('PATCH', `/watches/${body.id}`, { settings })
    expect(answer.body.errors).toEqual([
      expect.objectContaining({ pointer: '/settings/threshold', code: 'decimal' }),
    ])
  })

  test('distinguishes a setting of the wrong type from a missing one', async () => {
    const { body } = await create()
    const settings = { threshold: 5 }
    const answer = await alice.request('PATCH', `/watches/${body.id}`, { settings })
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      [expect.objectContaining({ pointer: '/settings/threshold', code: 'type' })],
    ])
  })

  test('with If-Match changes only an unchanged watch', async () => {
    const { body } = await create()
    const { headers } = await alice.request('GET', `/watches/${body.id}`)
    const patch = (label: string) =>
      alice.request('PATCH', `/watches/${body.id}`, { label }, { 'if-match': String(headers.etag) })
    expect((await patch('First')).status).toBe(200)
    expect(await patch('Second')).toMatchObject({ status: 412, body: { code: 'etag_mismatch' } })
  })

  test('with several tags in If-Match changes a watch that still has one of them', async () => {
    const { body } = await create()
    const tagNow = async () =>
      String((await alice.request('GET', `/watches/${body.id}`)).headers.etag)
    const patch = async (ifMatch: string) => {
      const change = { label: 'Other' }
      const headers = { 'if-match': ifMatch }
      return (await alice.request('PATCH', `/watches/${body.id}`, change, headers)).status
    }
    const first = await tagNow()
    expect(await patch(`"999.ok.", ${first}`)).toBe(200)
    expect(await patch(`"999.ok.", ${first}`)).toBe(412)
    expect(await patch(`"not-ours",${await tagNow()},"999.ok."`)).toBe(200)
    expect(await patch('*')).toBe(200)
    expect(await patch(`W/${await tagNow()}`)).toBe(412)
    expect(await patch('"not-ours"')).toBe(412)
    expect(await patch('')).toBe(412)
  })

  test('loses no change when many arrive at once', async () => {
    const { body } = await create()
    await Promise.all([
      alice.request('PATCH', `/watches/${body.id}`, { settings: { threshold: '7' } }),
      alice.request('PATCH', `/watches/${body.id}`, { settings: { direction: 'up' } }),
      alice.request('PATCH', `/watches/${body.id}`, { cooldownSeconds: 60 }),
    ])
    expect((await alice.request('GET', `/watches/${body.id}`)).body).toMatchObject({
      settings: { threshold: '7', direction: 'up' },
      cooldownSeconds: 60,
      version: 4,
    })
  })
})

describe('GET /watches', () => {
  test('leaves out a stored watch that cannot be read, which can be deleted', async () => {
    const { body } = await create()
    await world.database.sql`update watches set signals = '{"damaged": true}' where id = ${body.id}`
    expect(await alice.request('GET', '/watches')).toMatchObject({
      status: 200,
      body: { data: [], nextCursor: null },
    })
    expect(world.app.quarantine.read()).toContainEqual({ kind: 'watch', rows: 1 })
    expect((await alice.request('DELETE', `/watches/${body.id}`)).status).toBe(204)
  })
})

describe('GET /watches/{id}', () => {
  test('responds with 304 while nothing has changed', async () => {
    const { body } = await create()
    const { headers } = await alice.request('GET', `/watches/${body.id}`)
    const again = await alice.request('GET', `/watches/${body.id}`, undefined, {
      'if-none-match': String(headers.etag),
    })
    expect(again).toMatchObject({ status: 304, text: '' })
  })

  test.each(['0', '-1', 'abc', '1.5', '99999999999', '1e3'])('refuses the id %s', async (id) => {
    expect((await alice.request('GET', `/watches/${id}`)).status).toBe(400)
  })
})

describe('another wallet’s watch', () => {
  test('is not found by any operation', async () => {
    const { body } = await create()
    const path = `/watches/${body.id}`
    for (const [method, payload] of [
      ['GET', undefined],
      ['PATCH', { label: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      expect(await bob.request(method, path, payload)).toMatchObject({ status: 404 })
    }
    expect((await bob.request('GET', '/watches')).body.data).toEqual([])
  })
})

describe('DELETE /watches/{id}', () => {
  test('frees the slot, once', async () => {
    const { body } = await create()
    expect((await alice.request('DELETE', `/watches/${body.id}`)).status).toBe(204)
    expect((await alice.request('DELETE', `/watches/${body.id}`)).status).toBe(404)
    expect((await create()).status).toBe(201)
  })
})
