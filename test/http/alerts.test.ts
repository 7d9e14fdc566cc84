import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebhookPayload } from '#src/channels/hooks/webhook.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { Alert, AlertList } from '../generated/api.ts'
import { harness, type World } from '../support/harness.ts'
import { type Client, signIn, withTrial } from '../support/people.ts'

const FLR = 10n ** 18n

let world: World
let alice: Client
let bob: Client

beforeAll(async () => {
  world = await harness()
  alice = await withTrial(await signIn(world, 'alice'))
  bob = await signIn(world, 'bob')
  await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: '=SUM(A1), "quoted"',
    target: { address: bob.caller.wallet, asset: 'FLR' },
    settings: { threshold: '1' },
  })
  await world.observe()
  for (let n = 1n; n <= 5n; n++) {
    await world.devnet.transfer(
      world.devnet.people.carol.account.address,
      bob.caller.wallet,
      n * FLR,
    )
    await world.observe()
  }
})
afterAll(() => world.close())

async function list(query = ''): Promise<Alert[]> {
  return (await alice.request<AlertList>('GET', `/alerts${query}`)).body.data
}

/** The alert at an index of the list; the test fails without one. */
function at(alerts: readonly Alert[], index: number): Alert {
  const alert = alerts[index]
  if (alert === undefined) throw new Error(`there is no alert ${index}`)
  return alert
}
const ids = (alerts: readonly { id: number }[]) => alerts.map(({ id }) => id)

describe('GET /alerts', () => {
  test('applies every filter', async () => {
    const all = await list()
    expect(all).toHaveLength(5)
    const { firedAt } = at(all, 2)
    for (const [query, expected] of [
      ['?type=wallet-balance&group=alerts&signal=balance-change', 5],
      ['?event=wallet-balance.moved&severity=info&state=firing', 5],
      ['?severity=critical', 0],
      ['?state=recovered', 0],
      [`?watchId=${at(all, 0).watchId}`, 5],
      ['?watchId=999999', 0],
      [`?from=${firedAt}`, 3],
      [`?to=${firedAt}`, 2],
    ] as const) {
      expect([query, (await list(query)).length]).toEqual([query, expected])
    }
  })

  test('pages through the result of a filter, and refuses the cursor for another filter', async () => {
    const first = await alice.request('GET', '/alerts?limit=2&severity=info')
    expect(first.body.nextCursor.length).toBeLessThanOrEqual(24)
    const cursor = encodeURIComponent(first.body.nextCursor)
    const second = await alice.request('GET', `/alerts?limit=2&severity=info&cursor=${cursor}`)
    expect([...ids(first.body.data), ...ids(second.body.data)]).toEqual(
      ids(await list()).slice(0, 4),
    )
    expect(await alice.request('GET', `/alerts?severity=critical&cursor=${cursor}`)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/cursor', code: 'cursor' }] },
    })
  })

  test('shows nothing of another wallet', async () => {
    expect((await bob.request('GET', '/alerts')).body.data).toEqual([])
  })
})

describe('GET /alerts/export', () => {
  test('returns the same rows as CSV without formulas', async () => {
    const { status, headers, text } = await alice.request('GET', '/alerts/export')
    expect(status).toBe(200)
    expect(headers['content-type']).toBe('text/csv; charset=utf-8')
    // Spreadsheets read a file without the mark in the encoding of the machine.
    expect(text.startsWith('\uFEFFid,')).toBe(true)
    const [head, ...rows] = text.slice(1).trimEnd().split('\r\n')
    expect(head).toBe(
      'id,firedAt,recoveredAt,watchId,watchLabel,type,signal,group,event,severity,state,title,body,data,incidentId,during',
    )
    expect(rows.map((row) => Number(row.split(',')[0]))).toEqual(ids(await list()))
    expect(rows[0]).toContain(`"'=SUM(A1), ""quoted"""`)
  })

  test('applies the filters of the list', async () => {
    const { text } = await alice.request('GET', '/alerts/export?severity=critical')
    expect(text.trimEnd().split('\r\n')).toHaveLength(1)
  })
})

describe('POST /message-preview', () => {
  test.each(LOCALES)('shows every channel’s form in %s', async (locale) => {
    const { status, body } = await alice.request('POST', '/message-preview', {
      event: 'wallet-balance.moved',
      locale,
    })
    expect(status).toBe(200)
    expect(body.rendered.locale).toBe(locale)
    expect(body.telegram.html).toContain('<b>')
    expect(body.email.html).toContain(`lang="${locale}"`)
    expect(JSON.parse(body.webhook.body)).toMatchObject({
      payloadVersion: 2,
      rendered: body.rendered,
      renderedMessage: body.renderedMessage,
    })
  })

  test('shows one channel, with the given data and watch', async () => {
    const [watch] = (await alice.request('GET', '/watches')).body.data
    const { body } = await alice.request('POST', '/message-preview', {
      event: 'wallet-balance.moved',
      channel: 'telegram',
      severity: 'critical',
      data: { changeAmount: '5000000000000000000' },
      watchId: watch.id,
    })
    expect(body).not.toHaveProperty('email')
    expect(body.rendered.title).toBe('5\u00a0FLR arrived')
    expect(body.renderedMessage).toMatchObject({
      watchId: watch.id,
      severity: 'critical',
      test: true,
    })
  })

  test.each([
    [{ event: 'nope' }, '/event'],
    [{ event: 'wallet-balance.moved', data: { changeAmount: 'x' } }, '/data'],
    [{ event: 'fsp.ftso-commit', data: { reason: 'former-address' } }, '/data'],
    [{ event: 'fsp.ftso-reveal', data: { reason: 'too-long' } }, '/data'],
    [{ event: 'wallet-balance.moved', data: { decimals: 4_000_000 } }, '/data'],
    [{ event: 'wallet-balance.moved', data: { other: ['a'.repeat(30_000)] } }, '/data'],
    [{ event: 'wallet-balance.moved', locale: 'xx' }, '/locale'],
    [{ event: 'wallet-balance.moved', data: [] }, '/data'],
  ])('refuses %j', async (body, pointer) => {
    const answer = await alice.request('POST', '/message-preview', body)
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } })
  })

  test.each([
    ['fsp.reveal-offence', 'critical'],
    ['fsp.reveal-offence', 'info', 'info'],
    ['provider.unregistered', 'critical'],
    ['fsp.ftso-commit', 'warning'],
    ['credits.low-balance', 'warning'],
    ['wallet-balance.moved', 'warning'],
    ['fsp.ftso-commit.recovered', 'info'],
    ['fsp.registration.recovered', 'info'],
  ])('shows %s as %s', async (event, expected, severity?: string) => {
    const { body } = await alice.request('POST', '/message-preview', { event, severity })
    expect(body.renderedMessage.severity).toBe(expected)
  })

  test('does not find another wallet’s watch', async () => {
    const [watch] = (await alice.request('GET', '/watches')).body.data
    const body = { event: 'wallet-balance.moved', watchId: watch.id }
    expect((await bob.request('POST', '/message-preview', body)).status).toBe(404)
  })
})

describe('a test of a recipient', () => {
  test('has an example alert of the newest watch that notifies the recipient, and is marked as a test', async () => {
    const { receiver } = world
    const { body: hook } = await alice.request('POST', '/recipients', {
      ...{ name: 'Hook', channel: 'webhook', url: receiver.url('hook'), default: false },
    })
    receiver.setSecret('hook', hook.secret)
    const send = async () => {
      expect((await alice.request('POST', `/recipients/${hook.id}/test`)).status).toBe(200)
      return WebhookPayload.parse(receiver.deliveries.at(-1)?.json)
    }
    // No watch notifies it: it is no default recipient, and none names it.
    expect(await send()).toMatchObject({ type: 'wallet-balance', watchId: null, label: null })
    const [newest] = (await alice.request('GET', '/watches')).body.data.toReversed()
    await alice.request('PATCH', `/watches/${newest.id}`, { recipientIds: [hook.id] })
    const payload = await send()
    expect(payload).toMatchObject({
      type: newest.type,
      watchId: newest.id,
      label: newest.label,
      alertId: null,
      data: { test: true },
      renderedMessage: { test: true, title: expect.stringMatching(/ · test$/) },
    })
    const [definition] = newest.signals
    expect(payload.signal).toBe(definition.id)
    expect(payload.event.startsWith(payload.type ?? '')).toBe(true)
    expect(Object.keys(payload.data).length).toBeGreaterThan(2)
    await alice.request('PATCH', `/watches/${newest.id}`, { recipientIds: null })
  })
})

describe('DELETE /alerts', () => {
  test('requires a selection', async () => {
    for (const path of ['/alerts', '/alerts?severity=info']) {
      expect(await alice.request('DELETE', path)).toMatchObject({
        status: 400,
        body: { errors: [{ code: 'selector' }] },
      })
    }
  })

  test('deletes nothing of another wallet', async () => {
    const alert = at(await list(), 0)
    expect((await bob.request('DELETE', `/alerts/${alert.id}`)).status).toBe(404)
    expect((await bob.request('DELETE', '/alerts', { all: true })).body).toEqual({ deleted: 0 })
    expect(await list()).toHaveLength(5)
  })

  test('deletes one alert, a list, those before a time, and all', async () => {
    const all = await list()
    expect((await alice.request('DELETE', `/alerts/${at(all, 0).id}`)).status).toBe(204)
    expect((await alice.request('DELETE', `/alerts/${at(all, 0).id}`)).status).toBe(404)
    const named = `/alerts?ids=${at(all, 1).id},${at(all, 0).id}`
    expect((await alice.request('DELETE', named)).body).toEqual({ deleted: 1 })
    const before = { before: at(all, 3).firedAt, severity: 'info' }
    expect((await alice.request('DELETE', '/alerts', before)).body).toEqual({ deleted: 1 })
    expect((await alice.request('DELETE', '/alerts?all=true')).body).toEqual({ deleted: 2 })
    expect(await list()).toEqual([])
  })
})
