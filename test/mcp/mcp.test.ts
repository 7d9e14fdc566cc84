import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SCOPES } from '#src/kernel/caller.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { summarizeTopup } from '#src/operations/summaries/summaries.ts'
import { toolsFor } from '../../src/http/mcp/tools.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client as Person, signIn, withTrial } from '../support/people.ts'
import { call, createAgents } from './agents.ts'

/** The front door of agents, over HTTP, with the client of the official SDK. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let url: URL
let alice: Person
let agents: ReturnType<typeof createAgents>

beforeAll(async () => {
  service = await serviceOnly()
  url = new URL('/mcp', await service.server.listen({ port: 0, host: '127.0.0.1' }))
  agents = createAgents(url)
  alice = await withTrial(await signIn(service, 'alice'))
})
afterAll(async () => {
  await agents.close()
  await service.close()
})

const connect = (token?: string, headers: Record<string, string> = {}) =>
  agents.connect(token, headers)

const WALLET = () => alice.caller.wallet
const NEW_WATCH = () => ({
  type: 'wallet-balance',
  target: { address: WALLET(), asset: 'FLR' },
  settings: { threshold: '100' },
})

describe('the tools', () => {
  const caller = { wallet: '0x01' as never, scopes: SCOPES, via: 'http' } as const

  test('are the operations, except sign-in, documents and the deletion of an account', () => {
    const names = toolsFor(caller, 'en').map(({ name }) => name)
    const others = REGISTRY.map(({ id }) => id).filter((id) => !names.includes(id))
    expect(others).toEqual([
      'deleteAccount',
      'exportAlerts',
      'createChallenge',
      'exchangeToken',
      'getOpenApi',
      'getProviderMetrics',
    ])
  })

  test('have schemas without references, and no argument name twice', () => {
    for (const { name, inputSchema } of toolsFor(caller, 'en')) {
      expect(JSON.stringify(inputSchema), name).not.toMatch(/"\$(ref|defs|schema)"/)
      const operation = REGISTRY.find(({ id }) => id === name)
      const names = [operation?.params, operation?.query].flatMap((schema) =>
        schema instanceof z.ZodObject ? Object.keys(schema.shape) : [],
      )
      const all = [...names, 'body', 'confirmation', 'idempotencyKey']
      expect(new Set(all).size, name).toBe(all.length)
    }
  })

  test.each(LOCALES)('are described in %s', (locale) => {
    for (const { name, description } of toolsFor(caller, locale)) {
      expect(description, name).not.toMatch(/operations:|undefined/)
    }
  })

  test('have hints for reading, destructive and idempotent operations', () => {
    const hints = Object.fromEntries(
      toolsFor(caller, 'en').map(({ name, annotations }) => [name, annotations]),
    )
    expect(hints['listWatches']).toEqual({ readOnlyHint: true })
    expect(hints['previewMessage']).toMatchObject({ readOnlyHint: true })
    expect(hints['createWatch']).toEqual({ destructiveHint: false })
    expect(hints['deleteWatch']).toMatchObject({ destructiveHint: true, idempotentHint: true })
    const harmless = ['createWatch', 'confirmTopup', 'testChannel', 'testRecipient']
    const writing = toolsFor(caller, 'en').filter(({ annotations }) => !annotations?.readOnlyHint)
    for (const { name, annotations } of writing) {
      expect([name, annotations?.destructiveHint]).toEqual([name, !harmless.includes(name)])
    }
  })

  test('take a confirmation exactly if they delete, overwrite, silence, spend, accept or hand out rights', () => {
    for (const { name, annotations, inputSchema } of toolsFor(caller, 'en')) {
      const asks = Object.hasOwn(inputSchema.properties ?? {}, 'confirmation')
      expect([name, asks]).toEqual([name, annotations?.destructiveHint === true])
    }
  })

  test('have one secret in their outputs, that of a webhook', () => {
    const found = toolsFor(caller, 'en').flatMap(({ name }) => {
      const { output } = REGISTRY.find(({ id }) => id === name) ?? {}
      const schema =
        output && JSON.stringify(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }))
      return /"(?:\w*secret|password)":\{/i.test(schema ?? '') ? [name] : []
    })
    // Lists have it in their schema only.
    const lists = ['listChannels', 'listRecipients']
    const shown = ['configureChannel', 'createRecipient', 'updateRecipient']
    expect(found.toSorted()).toEqual([...lists, ...shown].toSorted())
  })
})

describe('a client', () => {
  test('sees the tools that its token allows', async () => {
    const reader = await signIn(service, 'carol', [])
    const namesOf = async (client: Client) =>
      (await client.listTools()).tools.map(({ name }) => name)
    const [anybody, reading, all] = await Promise.all(
      [undefined, reader.token, alice.token].map(async (token) => namesOf(await connect(token))),
    )
    expect(anybody).toEqual([
      'describeTool',
      'lookUpAddressOrName',
      'listDataProviders',
      'getUsualAlerts',
      'getFeedPrice',
      'getPricing',
      'getWatchType',
      'getStats',
    ])
    expect(reading).toContain('listAlerts')
    expect(reading).not.toContain('createWatch')
    expect(all).toContain('createSubscription')
    const client = await connect(alice.token)
    expect(client.getServerVersion()?.name).toBe('flare-watchdog')
    expect(client.getInstructions()).toContain('getPricing')
  })

  test('without a token looks up what anybody may see, and gets it as structure and as text', async () => {
    const client = await connect()
    await client.listTools()
    const ask = async (name: string, input: Record<string, unknown> = {}) => {
      const { content, structuredContent, isError } = await client.callTool({
        name,
        arguments: input,
      })
      expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }])
      return { isError, ...Object(structuredContent) }
    }
    const nobody = await ask('lookUpAddressOrName', { text: 'no such provider' })
    expect(nobody).toEqual({ kind: 'nothing', why: 'no_address' })
    expect(await ask('lookUpAddressOrName', { text: WALLET() })).toMatchObject({
      address: WALLET(),
    })
    expect(await ask('listDataProviders', { order: 'worst' })).toEqual({ total: 0, data: [] })
    expect(await ask('getUsualAlerts', { provider: WALLET() })).toEqual({ result: null })
    expect(await ask('getFeedPrice', { feed: 'BTC' })).toMatchObject({ usd: null })
    expect(await ask('getPricing')).toHaveProperty('assets')
    const wrong = await ask('listDataProviders', { order: 'best' })
    expect(wrong).toMatchObject({ isError: true, code: 'validation_failed' })
  })

  test('creates a watch, reads it with a number as its id, and finds it in the list', async () => {
    const client = await connect(alice.token)
    const input = { body: NEW_WATCH(), idempotencyKey: 'once' }
    const { isError, body } = await call(client, 'createWatch', input)
    expect([isError, body['status']]).toEqual([false, 'active'])
    expect((await call(client, 'createWatch', input)).body).toEqual(body)
    expect((await call(client, 'getWatch', { id: body['id'] })).body).toMatchObject({
      target: { address: WALLET() },
    })
    const { data } = (await call(client, 'listWatches', { limit: 5 })).body
    expect(data).toHaveLength(1)
  })

  test('gets the same problem documents as in REST, in its language', async () => {
    const client = await connect(alice.token, { 'accept-language': 'de' })
    const wrong = await call(client, 'getWatch', { id: 999 })
    const { body: rest } = await alice.request('GET', '/watches/999', undefined, {
      'accept-language': 'de',
    })
    expect(wrong).toEqual({ isError: true, body: { ...rest, requestId: expect.any(String) } })
    const misspelt = await call(client, 'listAlerts', { watchID: 1 })
    expect(misspelt.body).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/watchID', code: 'unknown' }],
    })
    expect((await call(client, 'listAlerts', { limit: 'many' })).body).toMatchObject({
      code: 'validation_failed',
    })
  })

  test('cannot call a tool that its scopes do not allow', async () => {
    const reader = await connect((await signIn(service, 'carol', [])).token)
    const refused = await call(reader, 'createWatch', { body: NEW_WATCH() })
    expect(refused).toMatchObject({ isError: true, body: { code: 'insufficient_scope' } })
    const anybody = await connect()
    await expect(call(anybody, 'listWatches')).rejects.toThrow(/401|missing_token|Unauthorized/)
    for (const [name, closest] of [
      ['create_watch', 'createWatch'],
      ['ListWatchs', 'listWatches'],
      ['exchangeToken', 'revokeToken'],
      ['__proto__', '\\w+'],
    ] as const) {
      await expect(call(anybody, name)).rejects.toMatchObject({
        code: -32_602,
        message: expect.stringMatching(new RegExp(`No such tool. Closest: ${closest}$`)),
      })
    }
  })

  test('shares the limits of REST', async () => {
    const bob = await withTrial(await signIn(service, 'bob'))
    const client = await connect(bob.token)
    const draft = { body: { event: 'wallet-balance.moved', locale: 'en' } }
    let last = await call(client, 'previewMessage', draft)
    for (let count = 1; count < RATE_CLASSES.preview.requests; count++) {
      await bob.request('POST', '/message-preview', draft.body)
    }
    last = await call(client, 'previewMessage', draft)
    expect(last).toMatchObject({ isError: true, body: { code: 'rate_limited' } })
    expect(last.body['retryAfterSeconds']).toBeGreaterThan(0)
  })
})

describe('a call that spends', () => {
  const slots = { body: { quantity: 1, periods: 1 } }

  test('is executed once after its confirmation', async () => {
    const client = await connect(alice.token)
    const before = await giveCredits(service.app, WALLET(), 60_000)
    const { body: asked } = await call(client, 'createSubscription', slots)
    expect(asked).toMatchObject({
      confirmationRequired: true,
      wallet: WALLET(),
      tool: 'createSubscription',
      input: slots,
      estimate: { quantity: 1, balanceCredits: before },
    })
    const balance = async () => (await call(client, 'getAccount')).body['balanceCredits']
    expect(await balance()).toBe(before)
    const confirmed = { ...slots, confirmation: asked['confirmation'] }
    const [first, second] = await Promise.all([
      call(client, 'createSubscription', confirmed),
      call(client, 'createSubscription', confirmed),
    ])
    const third = await call(client, 'createSubscription', confirmed)
    const bought = [first, second, third].filter(({ body }) => body['status'] === 'active')
    expect(bought.length).toBeGreaterThanOrEqual(2)
    expect(new Set(bought.map(({ body }) => body['id'])).size).toBe(1)
    expect(await balance()).toBe(before - third.body['totalCredits'])
  })

  test('asks for confirmation again for other arguments, another tool, another wallet, and after five minutes', async () => {
    const client = await connect(alice.token)
    const { body: asked } = await call(client, 'createSubscription', slots)
    const { confirmation } = asked
    const other = { body: { quantity: 2, periods: 1 }, confirmation }
    const owner = await withTrial(await signIn(service, 'bob'))
    await giveCredits(service.app, owner.caller.wallet, 5000)
    const bob = await connect(owner.token)
    const again = [
      await call(client, 'createSubscription', other),
      await call(client, 'deleteAlerts', { body: { all: true }, confirmation }),
      await call(bob, 'createSubscription', { ...slots, confirmation }),
      await call(client, 'createSubscription', { ...slots, confirmation: `${confirmation}x` }),
      await call(client, 'createSubscription', { ...slots, confirmation: 5 }),
    ]
    service.clock.advance(5 * MINUTE_MS)
    again.push(await call(client, 'createSubscription', { ...slots, confirmation }))
    for (const { body } of again) expect(body['confirmationRequired']).toBe(true)
  })

  test('needs the scope before its confirmation, and is refused for the same reasons as in REST', async () => {
    const writer = await connect((await signIn(service, 'alice', ['write'])).token)
    expect((await call(writer, 'createSubscription', slots)).body).toMatchObject({
      code: 'insufficient_scope',
      scope: 'spend',
    })
    const client = await connect(alice.token)
    const none = { body: { quantity: 0, periods: 1 } }
    expect((await call(client, 'createSubscription', none)).body).toMatchObject({
      code: 'validation_failed',
    })
    const carol = await connect((await withTrial(await signIn(service, 'carol'))).token)
    expect((await call(carol, 'createSubscription', slots)).body).toMatchObject({
      code: 'insufficient_credits',
    })
  })
})

describe('the summary of a call', () => {
  const asksFirst = toolsFor({ wallet: '0x01' as never, scopes: SCOPES, via: 'http' }, 'en')
    .filter(({ annotations }) => annotations?.destructiveHint)
    .map(({ name }) => name)

  test('exists for every tool that asks first', () => {
    expect(asksFirst.length).toBeGreaterThan(5)
    for (const name of asksFirst) {
      expect(REGISTRY.find(({ id }) => id === name)?.summarize, name).toBeTypeOf('function')
    }
  })

  test('says in words what is done, to which item and at which price', async () => {
    const client = await connect(alice.token)
    await giveCredits(service.app, WALLET(), 5000)
    const textOf = async (name: string, input: Record<string, unknown>) =>
      String((await call(client, name, input)).body['summary']).replaceAll(/[\u00a0\n]/g, ' ')
    const { body: watch } = await call(client, 'createWatch', {
      body: { ...NEW_WATCH(), label: 'Alpha provider' },
    })
    expect(watch['code']).toBeUndefined()
    expect(await textOf('deleteWatch', { id: watch['id'] })).toMatch(
      /^Delete watch \d+ “.?Alpha provider.?”\. It stops watching, and its slot becomes free\.$/,
    )
    const { body: hook } = await call(client, 'createRecipient', {
      body: {
        channel: 'webhook',
        name: 'Pager',
        url: 'https://hooks.example.org/a',
        default: false,
      },
    })
    expect(await textOf('deleteRecipient', { id: hook['id'] })).toMatch(
      /^Delete recipient \d+ “.?Pager.?” \(webhook\)/,
    )
    const slots = { quantity: 2, periods: 6 }
    const bought = await textOf('createSubscription', { body: { ...slots, autoRenew: true } })
    expect(bought).toMatch(
      /^Buy 2 slots for 180 days at 5\.40 USD \(5,400 credits\)\. The wallet has [\d.,]+ USD \([\d,]+ credits\)\. Auto-renew is on: 5\.40 USD \(5,400 credits\) every 180 days\./,
    )
    const then = { slots: 1, periods: 1 } as const
    const topup = { app: service.app, caller: alice.caller, locale: 'en' } as const
    expect(
      (await summarizeTopup({ ...topup, body: { asset: 'FLR', then } })).replaceAll(
        /[\u00a0\n]/g,
        ' ',
      ),
    ).toBe(
      'Create a quote for a top-up of 10 USD (10,000 credits). Once it is paid, it buys 1 slot for 30 days at 0.50 USD (500 credits). Auto-renew is off: nothing more is charged.',
    )
    expect(await textOf('deleteAlerts', { body: { all: true } })).toBe(
      'Delete all alerts from the history: 0 alerts.',
    )
    const before = '2026-11-01T00:00:00.000Z'
    const narrow = { watchId: watch['id'], severity: 'info', state: 'recovered', before }
    expect(await textOf('deleteAlerts', { body: narrow })).toMatch(
      /^Delete 0 alerts from the history\. Watch: .?Alpha provider.? · Severity: Info · State: recovered · Before: Nov 1, 2026, 00:00 UTC$/,
    )
    await service.sql`insert into alerts ${service.sql(
      [1, 2, 3].map((position) => ({
        wallet: WALLET(),
        watch_id: watch['id'],
        watch_label: 'Alpha provider',
        type: 'wallet-balance',
        event: 'wallet-balance.moved',
        severity: 'info',
        state: 'firing',
        data: {},
        fired_at: new Date('2026-10-30T00:00:00Z'),
        created_at: new Date('2026-10-30T00:00:00Z'),
        position,
        is_episode: false,
        incident_id: position,
        opens_incident: true,
        reminders_sent: 0,
      })),
    )}`
    expect(await textOf('deleteAlerts', { body: { watchId: watch['id'], before } })).toContain(
      'Delete 3 alerts from the history.',
    )
    expect(await textOf('deleteAlerts', { body: { all: true } })).toContain(': 3 alerts.')
    const { data } = (await call(client, 'listTokens')).body
    expect(await textOf('revokeToken', { id: data[0].id })).toMatch(/^Revoke API token \d+ “/)
  })

  test('is refused for an item that does not exist', async () => {
    const client = await connect(alice.token)
    for (const [name, input] of [
      ['deleteWatch', { id: 999_999 }],
      ['deleteAlert', { id: 999_999 }],
      ['deleteRecipient', { id: 999_999 }],
      ['revokeToken', { id: 999_999 }],
      ['removeChannel', { key: 'webhook' }],
      ['updateSubscriptions', { body: { id: 999_999, autoRenew: true } }],
    ] as const) {
      const { isError, body } = await call(client, name, input)
      expect([name, isError, body['code']]).toEqual([name, true, 'not_found'])
    }
  })
})

test('a deletion is executed after its confirmation', async () => {
  const client = await connect(alice.token)
  const { data } = (await call(client, 'listWatches')).body
  const { id } = data[0]
  const { body: asked } = await call(client, 'deleteWatch', { id })
  expect(asked).toMatchObject({ confirmationRequired: true, input: { id } })
  expect((await call(client, 'getWatch', { id })).isError).toBe(false)
  const confirmed = await call(client, 'deleteWatch', { id, confirmation: asked['confirmation'] })
  expect(confirmed).toEqual({ isError: false, body: { status: 204 } })
  expect((await call(client, 'getWatch', { id })).body).toMatchObject({ code: 'not_found' })
})

describe('a request', () => {
  const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

  const post = async (body: unknown, headers: Record<string, string> = {}, method = 'POST') => {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...headers,
      },
      ...(method === 'POST' && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('with an invalid token is refused as in REST', async () => {
    const { status, headers } = await post(LIST, { authorization: 'Bearer fwd_wrong' })
    const metadata = `${service.app.publicUrl}/.well-known/oauth-protected-resource/mcp`
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer error="invalid_token", resource_metadata="${metadata}"`,
    ])
  })

  test('for a stream or the end of a session is refused: there are no sessions', async () => {
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await post('', {}, method)
      expect([status, headers.get('allow')]).toEqual([405, 'POST'])
    }
    expect((await post(LIST)).headers.get('mcp-session-id')).toBeNull()
  })

  test('with several messages, garbage or too many bytes is refused', async () => {
    expect((await post([LIST, LIST])).status).toBe(400)
    expect((await post('{')).status).toBe(400)
    expect((await post('"x"')).status).toBe(400)
    expect((await post('')).status).toBe(400)
    expect((await post({ no: 'message' })).status).toBe(400)
    expect((await post({ ...LIST, params: { text: '\u0000' } })).status).toBe(400)
    expect((await post({ ...LIST, params: { text: 'x'.repeat(70_000) } })).status).toBe(413)
    expect((await post(LIST, { 'content-type': 'text/plain' })).status).toBe(415)
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    expect((await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep}}`)).status).toBe(
      400,
    )
  })

  test('is answered without a handshake, in both revisions of the protocol', async () => {
    const { status, text } = await post(LIST)
    expect(status).toBe(200)
    expect(text).toContain('getPricing')
    const modern = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: 'auto' } },
    )
    await modern.connect(new StreamableHTTPClientTransport(url))
    expect((await modern.listTools()).tools.map(({ name }) => name)).toContain('getPricing')
    await modern.close()
  })

  test('that lists tools without a token is limited by network', async () => {
    const statuses: number[] = []
    for (let count = 0; count <= RATE_CLASSES.public.requests; count++) {
      statuses.push((await post(LIST)).status)
      if (statuses.at(-1) === 429) break
    }
    expect(statuses.at(-1)).toBe(429)
  })
})
