import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client as Person, signIn, withTrial } from '../support/people.ts'
import { call, createAgents } from './agents.ts'

/** Clients that can ask their person: the person agrees there, and the agent cannot. */

let service: Awaited<ReturnType<typeof serviceOnly>>
let agents: ReturnType<typeof createAgents>
let alice: Person
let asked: string[]
let answer: Parameters<ReturnType<typeof createAgents>['connectAsking']>[1]
let client: Awaited<ReturnType<ReturnType<typeof createAgents>['connectAsking']>>
let url: URL

const AGREE = () => ({ action: 'accept' as const, content: { agree: true } })
const SLOTS = { body: { quantity: 1, periods: 1 } }

beforeAll(async () => {
  service = await serviceOnly()
  url = new URL('/mcp', await service.server.listen({ port: 0, host: '127.0.0.1' }))
  agents = createAgents(url)
  alice = await withTrial(await signIn(service, 'alice'))
  await giveCredits(service.app, alice.caller.wallet, 60_000)
  client = await agents.connectAsking(alice.token, (question) => {
    asked.push(question)
    return answer(question)
  })
})
beforeEach(() => {
  asked = []
  answer = AGREE
})
afterAll(async () => {
  await agents.close()
  await service.close()
})

const slots = async () => (await service.sql`select from subscriptions`).length

describe('a client that can ask its person', () => {
  test('asks once with the summary, and the call happens once the person agrees', async () => {
    const before = await slots()
    const { body, isError } = await call(client, 'createSubscription', SLOTS)
    expect([isError, body['status']]).toEqual([false, 'active'])
    expect(asked).toEqual([expect.stringMatching(/^Buy 1 slot for 30 days at .*500 credits/)])
    expect(await slots()).toBe(before + 1)
  })

  test.each([
    ['declines', () => ({ action: 'decline' as const })],
    ['cancels', () => ({ action: 'cancel' as const })],
    ['leaves the box empty', () => ({ action: 'accept' as const, content: { agree: false } })],
    ['answers nothing', () => ({ action: 'accept' as const })],
    ['answers something else', () => ({ action: 'accept' as const, content: { agree: 'yes' } })],
  ])('does nothing if the person %s', async (_what, says) => {
    answer = says
    const before = await slots()
    const { body, isError } = await call(client, 'createSubscription', SLOTS)
    expect([isError, body['confirmed']]).toEqual([false, false])
    expect(body['message']).toContain('nothing was done')
    expect(asked).toHaveLength(1)
    expect(await slots()).toBe(before)
  })

  test('does not let an agent confirm in place of the person', async () => {
    const legacy = await agents.connect(alice.token)
    const { body } = await call(legacy, 'createSubscription', SLOTS)
    expect(body['message']).toContain('This client cannot ask')
    answer = () => ({ action: 'decline' })
    const before = await slots()
    const input = { ...SLOTS, confirmation: body['confirmation'] }
    expect((await call(client, 'createSubscription', input)).body['confirmed']).toBe(false)
    expect(await slots()).toBe(before)
    const paid = await call(legacy, 'createSubscription', input)
    expect(paid.body['status']).toBe('active')
  })

  test('asks again if the answer came late, and not for what would be refused', async () => {
    answer = () => {
      if (asked.length === 1) service.clock.advance(5 * MINUTE_MS)
      return AGREE()
    }
    const bought = await call(client, 'createSubscription', SLOTS)
    expect([asked.length, bought.body['status']]).toEqual([2, 'active'])
    asked = []
    const many = { body: { quantity: 20, periods: 1 } }
    const refused = await call(client, 'createSubscription', many)
    expect([asked.length, refused.body['code']]).toEqual([0, 'slot_limit_reached'])
  })
})

describe('an answer', () => {
  const META = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  }
  const post = async (
    params: Record<string, unknown>,
    capabilities: object = { elicitation: {} },
  ) => {
    const _meta = { ...META, 'io.modelcontextprotocol/clientCapabilities': capabilities }
    const named = { name: 'createSubscription', arguments: SLOTS, ...params, _meta }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        authorization: `Bearer ${alice.token}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': String(named.name),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: named }),
    })
    const text = await response.text()
    const json = text.startsWith('{') ? text : (text.match(/^data: (.*)$/m)?.[1] ?? 'null')
    return JSON.parse(json).result
  }
  const agree = { inputResponses: { agree: AGREE() } }

  test('counts only for the call that was asked about, once, and with what the service signed', async () => {
    const before = await slots()
    const question = await post({})
    expect(question).toMatchObject({
      resultType: 'input_required',
      requestState: expect.any(String),
    })
    const { requestState } = question
    const others = [
      { ...agree },
      { ...agree, requestState: `${requestState}x` },
      { ...agree, requestState, arguments: { body: { quantity: 2, periods: 1 } } },
      { ...agree, requestState, name: 'startTrial', arguments: {} },
      { requestState },
    ]
    for (const other of others) {
      const { resultType, content } = await post(other)
      expect(
        resultType === 'input_required' || content[0].text.includes('trial_already_used'),
      ).toBe(true)
    }
    expect(await slots()).toBe(before)
    const answers = [await post({ ...agree, requestState }), await post({ ...agree, requestState })]
    const [first, second] = answers.map(({ content }) => JSON.parse(content[0].text))
    expect([first.status, second]).toEqual(['active', first])
    expect(await slots()).toBe(before + 1)
  })

  test('of a client that shows addresses only, or nothing, is the agent’s: it confirms by itself', async () => {
    for (const capabilities of [{}, { elicitation: { url: {} } }, { elicitation: null }]) {
      const result = await post({}, capabilities)
      const text = result?.content?.[0]?.text
      if (text !== undefined) expect(JSON.parse(text)['confirmationRequired']).toBe(true)
      expect(result?.resultType).not.toBe('input_required')
    }
  })
})
