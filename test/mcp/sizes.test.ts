import type { Client } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { SCOPES } from '#src/kernel/caller.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { examplesAt } from '#src/operations/examples/index.ts'
import { PARAMETERS } from '#src/operations/examples/parameters.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'
import { callTool } from '../../src/http/mcp/call.ts'
import { findTool, toolsFor } from '../../src/http/mcp/tools.ts'
import { giveCredits } from '../support/credits.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client as Person, signIn, withTrial } from '../support/people.ts'
import { call, createAgents } from './agents.ts'

/** What a model reads: the list of tools, and the answer of each tool that is called with what it requires. */

/** In characters. Clients cut answers at 25,000 tokens, and read the tools before the first call. */
const ANSWER_LENGTH_MAX = 25_000
const TOOLS_LENGTH_MAX = { en: 25_000, others: 26_000 }
const SLOTS = 20

let service: Awaited<ReturnType<typeof serviceOnly>>
let agents: ReturnType<typeof createAgents>
let alice: Person
let client: Client

const type = WATCH_TYPES.find(({ name }) => name === 'provider-fsp')

beforeAll(async () => {
  service = await serviceOnly()
  agents = createAgents(
    new URL('/mcp', await service.server.listen({ port: 0, host: '127.0.0.1' })),
  )
  alice = await withTrial(await signIn(service, 'alice'))
  client = await agents.connect(alice.token)
  await giveCredits(service.app, alice.caller.wallet, 60_000)
  const slots = { quantity: SLOTS - 1, periods: 1 }
  await alice.request('POST', '/subscriptions', slots)
  for (let index = 0; index < SLOTS; index++) {
    const provider = `0x${String(index + 1).padStart(40, '0')}`
    const watch = { type: 'provider-fsp', target: { provider } }
    expect((await alice.request('POST', '/watches', watch)).status).toBe(201)
  }
  for (let index = 0; index < SLOTS; index++) {
    const url = `https://hooks.example.org/${index}`
    const recipient = { channel: 'webhook', name: `Pager ${index}`, url }
    expect((await alice.request('POST', '/recipients', recipient)).status).toBe(201)
  }
  await addAlerts()
})
afterAll(async () => {
  await agents.close()
  await service.close()
})

/** Sixty alerts, of the events in turn. */
async function addAlerts(): Promise<void> {
  const examples = type?.signals.flatMap(({ examples }) => Object.entries(examples)) ?? []
  const rows = Array.from({ length: 60 }, (_, index) => {
    const [event, data] = examples[index % examples.length] ?? []
    return {
      wallet: alice.caller.wallet,
      watch_id: 1,
      watch_label: 'Alpha',
      type: 'provider-fsp',
      event: event ?? '',
      severity: 'warning',
      state: 'firing',
      data: JSON.stringify(data),
      fired_at: service.clock.now(),
      created_at: service.clock.now(),
      position: index,
      is_episode: false,
      incident_id: index + 1,
      opens_incident: true,
      reminders_sent: 0,
    }
  })
  await service.sql`insert into alerts ${service.sql(rows)}`
}

/** Tokens, secrets, and links with a code for one person. */
const RIGHTS = /whsec_|fwd_\w{12}|\/(a|confirm|connect|unsubscribe)\/\w|[?&]start(group)?=/

/** Arguments of the tools that have no route. */
const PUBLIC: Readonly<Record<string, object>> = {
  describeTool: { tool: 'createWatch' },
  lookUpAddressOrName: { text: '0x0000000000000000000000000000000000000001' },
  getUsualAlerts: { provider: '0x0000000000000000000000000000000000000001' },
  getFeedPrice: { feed: 'FLR' },
}

/** The watch of an example that names one. */
const WATCH_ID: Readonly<Record<string, object>> = { previewMessage: { watchId: 1 } }

const Schema = z.object({ properties: z.record(z.string(), z.unknown()).default({}) })

const lengthOf = (value: unknown) => JSON.stringify(value).length

test.each(LOCALES)('the list of all tools is short in %s', (locale) => {
  const caller = { wallet: '0x01' as never, scopes: SCOPES, via: 'http' } as const
  const most = TOOLS_LENGTH_MAX[locale === 'en' ? locale : 'others']
  expect(lengthOf({ tools: toolsFor(caller, locale) })).toBeLessThan(most)
})

describe('the answer of a tool', () => {
  test.each(
    WATCH_TYPES.flatMap(({ name }) => LOCALES.map((locale) => [name, locale] as const)),
  )('about the signals of %s is short in %s', async (name, locale) => {
    const reader = await agents.connect(alice.token, { 'accept-language': locale })
    const { isError, body } = await call(reader, 'getWatchType', { type: name })
    expect([isError, body['signals'].length]).toEqual([false, signalsOf(name)])
    expect(lengthOf(body)).toBeLessThan(ANSWER_LENGTH_MAX)
  })

  test('is short for what the tool requires, and has no right or secret that nobody agreed to', async () => {
    const unread = []
    const examples = examplesAt(service.app.publicUrl)
    for (const { name, inputSchema, annotations } of (await client.listTools()).tools) {
      const request = examples[name]?.request
      const has = (argument: string) => Object.hasOwn(inputSchema.properties ?? {}, argument)
      const body = has('body') && request && { body: { ...request, ...WATCH_ID[name] } }
      const id = has('id') && { id: 1 }
      const own = PUBLIC[name] ?? PARAMETERS[name]
      const answer = await call(client, name, { ...own, ...id, ...body })
      expect([name, lengthOf(answer.body) < ANSWER_LENGTH_MAX]).toEqual([name, true])
      expect(JSON.stringify(answer.body), name).not.toMatch(RIGHTS)
      if (annotations?.readOnlyHint === true && answer.isError) unread.push(name)
    }
    // Here is no chain, no voting round, and no top-up.
    expect(unread).toEqual(['getAlertEvidence', 'getEpochReport', 'getTopup'])
  })

  test('has the members that its schema names, and all that the list leaves out is in describeTool', async () => {
    const { tools } = await client.listTools()
    for (const { name, inputSchema, outputSchema } of tools) {
      const whole = (await call(client, 'describeTool', { tool: name })).body
      expect([name, lengthOf(whole) < ANSWER_LENGTH_MAX]).toEqual([name, true])
      const names = (schema: unknown) => Object.keys(Schema.parse(schema).properties)
      expect(names(whole['inputSchema'])).toEqual(names(inputSchema))
      if (outputSchema !== undefined) {
        const brief = names(outputSchema)
        expect(brief).toEqual(expect.arrayContaining(names(whole['outputSchema'])))
      }
    }
    const unknown = await call(client, 'describeTool', { tool: '__proto__' })
    expect(unknown.body['code']).toBe('not_found')
  })
})

function signalsOf(name: string): number | undefined {
  return WATCH_TYPES.find((one) => one.name === name)?.signals.length
}

test('a list whose rows are long is read twice at most, and each read counts', async () => {
  const counted: string[] = []
  const limits = {
    ...service.app.limits,
    admitWallet: async (rate: string) => void counted.push(rate),
  }
  const tool = findTool('listWatches')
  if (tool === undefined) throw new Error('there is no such tool')
  const person = { caller: alice.caller, locale: 'en', requestId: '1', isCounted: false } as const
  const toolCaller = { ...person, limits: { limitKey: 'agent' } }
  const ask = (args: object) => callTool({ ...service.app, limits }, toolCaller, tool, { ...args })
  expect((await ask({})).isError).toBeUndefined()
  expect(counted).toEqual(['read', 'read'])
  await ask({ limit: 10 })
  expect(counted).toHaveLength(3)
})

test('a list has ten rows, or as many as are short; with a limit it has that many', async () => {
  const rowsOf = async (name: string, input: Record<string, unknown> = {}) => {
    const { body } = await call(client, name, input)
    return { rows: body['data'].length, next: body['nextCursor'] }
  }
  expect(await rowsOf('listAlerts')).toMatchObject({ rows: 10 })
  expect(await rowsOf('listRecipients')).toMatchObject({ rows: 10 })
  expect(await rowsOf('listAlerts', { limit: 40 })).toMatchObject({ rows: 40 })
  expect(await rowsOf('listWatches', { limit: SLOTS })).toMatchObject({ rows: SLOTS })
  const seen = new Set<number>()
  let cursor: string | null | undefined
  for (let pages = 0; cursor !== null && pages < SLOTS; pages++) {
    const { body } = await call(client, 'listWatches', cursor ? { cursor } : {})
    expect(lengthOf(body)).toBeLessThan(ANSWER_LENGTH_MAX)
    for (const { id } of body['data']) seen.add(id)
    cursor = body['nextCursor']
  }
  expect(seen.size).toBe(SLOTS)
})
