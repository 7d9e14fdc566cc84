import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { walletBalance } from '#src/watches/types/wallet-balance.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client as Person, signIn, withTrial } from '../support/people.ts'
import { call, confirm, createAgents } from './agents.ts'

/** What a person agrees to, and what an agent may do with it. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let agents: ReturnType<typeof createAgents>
let alice: Person
let client: Client
let watchId: number

beforeAll(async () => {
  service = await serviceOnly()
  agents = createAgents(
    new URL('/mcp', await service.server.listen({ port: 0, host: '127.0.0.1' })),
  )
  alice = await withTrial(await signIn(service, 'alice'))
  client = await agents.connect(alice.token)
  await giveCredits(service.app, alice.caller.wallet, 60_000)
  const { body } = await call(client, 'createWatch', {
    body: {
      type: 'wallet-balance',
      target: { address: alice.caller.wallet, asset: 'FLR' },
      settings: { threshold: '100' },
      label: 'Alpha',
    },
  })
  watchId = body['id']
})
afterAll(async () => {
  await agents.close()
  await service.close()
})

let position = 0
/** Alerts of the watch, as evaluations record them. */
async function addAlerts(count: number, state = 'firing'): Promise<number[]> {
  const rows = Array.from({ length: count }, () => ({
    wallet: alice.caller.wallet,
    watch_id: watchId,
    watch_label: 'Alpha',
    type: 'wallet-balance',
    event: 'wallet-balance.moved',
    severity: 'info',
    state,
    data: JSON.stringify(walletBalance.signals[0]?.examples['wallet-balance.moved']),
    fired_at: service.clock.now(),
    created_at: service.clock.now(),
    position: ++position,
    is_episode: false,
    incident_id: position,
    opens_incident: true,
    reminders_sent: 0,
  }))
  const added = await service.sql<{ id: number }[]>`
    insert into alerts ${service.sql(rows)} returning id`
  return added.map(({ id }) => id)
}

async function alertIds(): Promise<number[]> {
  const rows = await service.sql<{ id: number }[]>`select id from alerts order by id`
  return rows.map(({ id }) => id)
}

describe('a confirmation', () => {
  test('of a deletion deletes what its preview counted, once, and repeats its answer', async () => {
    await addAlerts(4)
    const input = { body: { type: 'wallet-balance', all: true } }
    const asked = (await call(client, 'deleteAlerts', input)).body
    const later = await addAlerts(1)
    const confirmed = { ...input, confirmation: asked['confirmation'] }
    expect((await call(client, 'deleteAlerts', confirmed)).body).toEqual({ deleted: 4 })
    expect((await call(client, 'deleteAlerts', confirmed)).body).toEqual({ deleted: 4 })
    expect(await alertIds()).toEqual(later)
    await confirm(client, 'deleteAlerts', { body: { all: true } })
  })

  test('of a deletion deletes nothing if more alerts match than its preview counted', async () => {
    const recovered = await addAlerts(2, 'recovered')
    const firing = await addAlerts(1)
    const input = { body: { state: 'recovered', all: true } }
    const asked = (await call(client, 'deleteAlerts', input)).body
    await service.sql`update alerts set state = 'recovered' where id = ${recovered[0] ?? 0} or id = ${firing[0] ?? 0}`
    await service.sql`update alerts set id = ${(recovered[0] ?? 0) - 1} where id = ${firing[0] ?? 0}`
    const confirmed = { ...input, confirmation: asked['confirmation'] }
    const refused = await call(client, 'deleteAlerts', confirmed)
    expect(refused).toMatchObject({ isError: true, body: { code: 'etag_mismatch' } })
    expect(await alertIds()).toHaveLength(3)
    expect((await call(client, 'deleteAlerts', confirmed)).body['code']).toBe('etag_mismatch')
    expect((await confirm(client, 'deleteAlerts', { body: { all: true } })).body).toEqual({
      deleted: 3,
    })
  })

  test('of a removal does not remove what was set up again', async () => {
    const setup = { key: 'webhook', body: { url: 'https://hooks.example.org/a' } }
    await confirm(client, 'configureChannel', setup)
    const removed = await confirm(client, 'removeChannel', { key: 'webhook' })
    expect(removed.body).toEqual({ status: 204 })
    await confirm(client, 'configureChannel', setup)
    expect((await call(client, 'removeChannel', removed.confirmed)).body).toEqual({ status: 204 })
    const { data } = (await call(client, 'listChannels')).body
    expect(data.find(({ key }: { key: string }) => key === 'webhook').configured).toBe(true)
  })

  test('that was refused is used up, although the reason is gone', async () => {
    const input = { key: 'webhook' }
    const { body } = await call(client, 'removeChannel', input)
    await confirm(client, 'removeChannel', input)
    const late = { ...input, confirmation: body['confirmation'] }
    expect((await call(client, 'removeChannel', late)).body['code']).toBe('not_found')
    await confirm(client, 'configureChannel', {
      key: 'webhook',
      body: { url: 'https://hooks.example.org/a' },
    })
    expect((await call(client, 'removeChannel', late)).body['code']).toBe('not_found')
  })

  test('of auto-renew leaves later subscriptions, and what was switched off again, as they are', async () => {
    const slots = { body: { quantity: 1, periods: 1 } }
    await confirm(client, 'createSubscription', slots)
    const on = { body: { autoRenew: true } }
    const { body: asked } = await call(client, 'updateSubscriptions', on)
    await confirm(client, 'createSubscription', slots)
    const renewing = async () =>
      (await call(client, 'listSubscriptions')).body['data'].map(
        ({ autoRenew }: { autoRenew: boolean }) => autoRenew,
      )
    const confirmed = { ...on, confirmation: asked['confirmation'] }
    await call(client, 'updateSubscriptions', confirmed)
    expect(await renewing()).toEqual([true, false])
    await confirm(client, 'updateSubscriptions', { body: { autoRenew: false } })
    await call(client, 'updateSubscriptions', confirmed)
    expect(await renewing()).toEqual([false, false])
  })
})

test('the renewal of a subscription names its term and price, is paid once, and is previewed as it would be refused', async () => {
  const slots = { body: { quantity: 1, periods: 1 } }
  const { body: bought } = await confirm(client, 'createSubscription', slots)
  const { body: next } = await call(client, 'quoteRenewal', { id: bought['id'] })
  expect(next).toMatchObject({ term: 2, quote: { startsAt: bought['endsAt'] } })
  const renewal = { id: bought['id'], body: { term: 2 } }
  const { asked, confirmed, body } = await confirm(client, 'renewSubscription', renewal)
  expect(asked['summary']).toMatch(
    /^Renew subscription .* once: 1 slot for 30 days, until .*500 credits/,
  )
  expect(asked['estimate']).toMatchObject({ totalCredits: 500 })
  expect(body).toMatchObject({ startsAt: bought['endsAt'], endsAt: next['quote'].endsAt })
  expect((await call(client, 'renewSubscription', confirmed)).body).toEqual(body)
  const paid = (await call(client, 'renewSubscription', renewal)).body
  expect(paid['summary']).toMatch(/^This term of subscription .* is already paid/)
  const later = { ...renewal, body: { term: 4 } }
  expect((await call(client, 'renewSubscription', later)).body['code']).toBe('term_not_next')
})

describe('what overwrites, silences, accepts or hands out rights', () => {
  test('changes nothing before its confirmation, which says what it does', async () => {
    const { body: hook } = await call(client, 'createRecipient', {
      body: {
        channel: 'webhook',
        name: 'Pager',
        url: 'https://hooks.example.org/pager',
        default: false,
      },
    })
    const [alertId] = await addAlerts(1)
    const settings = (await call(client, 'getSettings')).body
    const { version: _, ...current } = settings
    const quiet = { enabled: true, from: '00:00', to: '23:59', criticalBypass: false }
    const calls = {
      configureChannel: [
        { key: 'webhook', body: { url: 'https://evil.example/x' } },
        /evil\.example\/x.*Destination until now: .?hooks\.example/s,
      ],
      updateRecipient: [
        { id: hook['id'], body: { url: 'https://evil.example/x' } },
        /Pager.*evil\.example\/x.*Destination until now/s,
      ],
      updateWatch: [{ id: watchId, body: { status: 'paused' } }, /Alpha.*status: "paused"/],
      replaceSettings: [
        { body: { ...current, quietHours: quiet } },
        /^Change the notification settings of the wallet: .?quietHours: \{"enabled":true,"from":"00:00"[^{]*$/,
      ],
      acknowledge: [{ id: alertId }, /^Acknowledge alert/],
      acceptTerms: [{ body: { version: service.app.billing.terms.version } }, /terms of service/],
      updateSubscriptions: [{ body: { autoRenew: false } }, /^Switch off auto-renew/],
    } as const
    const before = await service.sql`select * from recipients order by id`
    for (const [name, each] of Object.entries(calls)) {
      const { body } = await call(client, name, each[0])
      expect([name, body['code'], body['confirmationRequired']]).toEqual([name, undefined, true])
      expect(body['summary']).toMatch(each[1])
    }
    expect(await service.sql`select * from recipients order by id`).toEqual(before)
    expect((await call(client, 'getWatch', { id: watchId })).body['status']).toBe('active')
    expect((await call(client, 'getSettings')).body).toEqual(settings)
    const { data } = (await call(client, 'listAlerts')).body
    expect(data[0]).toMatchObject({ id: alertId, acknowledgedAt: null })
    const paused = await confirm(client, 'updateWatch', { id: watchId, body: { status: 'paused' } })
    expect(paused.body['status']).toBe('paused')
    await confirm(client, 'acknowledge', { id: alertId })
    const acknowledged = (await call(client, 'listAlerts')).body['data']
    expect(acknowledged[0].acknowledgedAt).not.toBeNull()
  })

  test.each([
    ['that is a default', { default: true }, /^It gets the alerts of every watch .*\.$/],
    ['that may become one', {}, /^It gets the alerts of every watch .* if nobody else gets them/],
  ])('includes a new recipient %s', async (what, chosen, gets) => {
    const url = 'https://evil.example/x'
    const input = { body: { channel: 'webhook', name: what, url, ...chosen } }
    const countOf = async () => (await service.sql`select from recipients`).length
    const before = await countOf()
    const asked = (await call(client, 'createRecipient', input)).body
    const [created, consequence] = String(asked['summary']).split('\n')
    expect(created).toMatch(/^Create recipient “.*” \(webhook\): .*evil\.example\/x/)
    expect(consequence).toMatch(gets)
    expect(await countOf()).toBe(before)
    const made = await confirm(client, 'createRecipient', input)
    expect(made.body).toMatchObject({ name: what, secret: expect.not.stringContaining('whsec_') })
    expect((await call(client, 'createRecipient', made.confirmed)).body).toEqual(made.body)
    expect(await countOf()).toBe(before + 1)
    const none = { body: { ...input.body, default: null } }
    expect((await call(client, 'createRecipient', none)).body['code']).toBe('validation_failed')
    await confirm(client, 'deleteRecipient', { id: made.body['id'] })
  })

  test('includes the free trial', async () => {
    const bob = await signIn(service, 'bob')
    const { currentVersion } = (await bob.request('GET', '/account/terms')).body
    await bob.request('POST', '/account/terms', { version: currentVersion })
    const agent = await agents.connect(bob.token)
    const trial = await confirm(agent, 'startTrial')
    expect(trial.asked['summary']).toMatch(/^Start the free trial \(1 slot, 14 days\)\./)
    expect(trial.body).toMatchObject({ slots: 1 })
    expect((await call(agent, 'startTrial')).body['code']).toBe('trial_already_used')
  })
})

test('the secret of a webhook is in no answer of a tool, also not in a repeat of one', async () => {
  const made = await call(client, 'createRecipient', {
    body: {
      channel: 'webhook',
      name: 'Other',
      url: 'https://hooks.example.org/other',
      default: false,
    },
    idempotencyKey: 7,
  })
  const again = await call(client, 'createRecipient', {
    body: {
      channel: 'webhook',
      name: 'Other',
      url: 'https://hooks.example.org/other',
      default: false,
    },
    idempotencyKey: '7',
  })
  expect(again.body).toEqual(made.body)
  const id = made.body['id']
  const rotated = await confirm(client, 'updateRecipient', { id, body: { rotateSecret: true } })
  const set = await confirm(client, 'configureChannel', {
    key: 'webhook',
    body: { url: 'https://hooks.example.org/set' },
  })
  for (const { body } of [made, again, rotated, set]) {
    expect(JSON.stringify(body)).not.toContain('whsec_')
    expect(body['secret']).toContain('in the chat with the bot')
  }
})

describe('a preview', () => {
  test('is refused for the reasons for which the call would be refused', async () => {
    const carol = await agents.connect((await signIn(service, 'carol')).token)
    const refused = [
      [client, 'deleteAlerts', { body: { type: 'wallet-balance' } }, 'validation_failed'],
      [client, 'createSubscription', { body: { quantity: 20, periods: 1 } }, 'slot_limit_reached'],
      [
        client,
        'createSubscription',
        { body: { quantity: 1, periods: 1, expectedCredits: 1 } },
        'price_changed',
      ],
      [client, 'startTrial', {}, 'trial_already_used'],
      [client, 'acceptTerms', { body: { version: 'none' } }, 'terms_version_changed'],
      [
        client,
        'updateWatch',
        { id: watchId, body: { recipientIds: [999_999] } },
        'validation_failed',
      ],
      [client, 'updateRecipient', { id: 999_999, body: { name: 'x' } }, 'not_found'],
      [
        client,
        'configureChannel',
        { key: 'webhook', body: { url: 'ftp://hooks.example.org/' } },
        'validation_failed',
      ],
      [carol, 'createSubscription', { body: { quantity: 1, periods: 1 } }, 'terms_not_accepted'],
      [carol, 'startTrial', {}, 'terms_not_accepted'],
      [carol, 'acknowledge', { id: 999_999 }, 'not_found'],
    ] as const
    for (const [agent, name, input, code] of refused) {
      const { body } = await call(agent, name, input)
      expect([name, body['code']]).toEqual([name, code])
    }
  })
})

test('an idempotency key that is no text is converted or refused, never left out', async () => {
  const body = {
    channel: 'webhook',
    name: 'Keyed',
    url: 'https://hooks.example.org/k',
    default: false,
  }
  const made = await call(client, 'createRecipient', { body, idempotencyKey: 123 })
  const again = await call(client, 'createRecipient', { body, idempotencyKey: 123 })
  expect(again.body['id']).toBe(made.body['id'])
  for (const idempotencyKey of [null, true, {}, ['x']]) {
    const refused = await call(client, 'createRecipient', { body, idempotencyKey })
    expect(refused.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/idempotencyKey', code: 'type' }],
    })
  }
  // A call that is confirmed has its confirmation for a key.
  const slots = { body: { quantity: 1, periods: 1 }, idempotencyKey: 'x' }
  expect((await call(client, 'createSubscription', slots)).body).toMatchObject({
    errors: [{ pointer: '/idempotencyKey', code: 'unknown' }],
  })
})
