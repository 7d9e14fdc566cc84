import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { AnyOperation } from '#src/operations/define.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { anyUrlCharacter } from '../support/any-character.ts'
import { serviceOnly } from '../support/harness.ts'
import { type Client, request, signIn } from '../support/people.ts'
import { runs } from '../support/runs.ts'

/** For any input, every operation answers with success or a named problem, never a 500. */

const RUNS = runs(25)

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

/** Values that schemas accept, and values that break programs. */
const scalar = fc.oneof(
  fc.constantFrom(
    'wallet-balance',
    'feed-move',
    'wallet-balance.moved',
    'email',
    'webhook',
    'ops@example.org',
    'https://example.org/hook',
    '2026-11-20T12:00:00.000Z',
    PEOPLE.bob.account.address,
    'FLR',
    '0',
    '-1',
    '\u0000',
    '\ud800',
    '__proto__',
    1e308,
    2 ** 53,
    -0,
  ),
  fc.string(),
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.boolean(),
  fc.constant(null),
)

/** Bodies of the operation's own fields with any values, and bodies of any shape. */
function bodies(operation: AnyOperation): fc.Arbitrary<unknown> {
  const schema =
    operation.body && z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' })
  const names = new Set<string>()
  for (const [, name] of JSON.stringify(schema ?? {}).matchAll(/"(\w+)":\{/g))
    if (name) names.add(name)
  const known = ['address', 'asset', 'threshold', 'type', 'target', 'settings', ...names]
  const value = fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...known), scalar, { maxKeys: 4 }),
  )
  return fc.oneof(fc.dictionary(fc.constantFrom(...known), value, { maxKeys: 6 }), fc.jsonValue())
}

const idText = fc.oneof(
  fc.constantFrom(
    '0',
    '-1',
    '1',
    'abc',
    '1e9',
    '99999999999999999999',
    '%00',
    '..',
    'email',
    'telegram',
  ),
  fc.nat().map(String),
)

const queries = fc.oneof(
  fc.constant(''),
  fc.string({ unit: anyUrlCharacter, size: 'small' }).map((query) => `?${query}`),
  fc
    .dictionary(
      fc.constantFrom('limit', 'cursor', 'from', 'to', 'ids', 'before', 'all', 'watchId', 'locale'),
      fc.oneof(scalar.map(String), idText),
      { maxKeys: 3 },
    )
    .map((query) => `?${new URLSearchParams(query as Record<string, string>)}`),
)

describe('any input', () => {
  test.each(
    REGISTRY.map(
      (operation, index) => [`${operation.method} ${operation.path}`, operation, index] as const,
    ),
  )('%s never causes a 500, and every refusal has a code', async (_name, operation, index) => {
    const remoteAddress = `10.0.0.${index + 1}`
    const client: Client = await signIn(service, 'alice', ['write', 'spend'], remoteAddress)
    const send = (path: string, body: unknown) =>
      operation.scope === 'none'
        ? request(service, operation.method, path, body, {}, remoteAddress)
        : client.request(operation.method, path, body)
    await fc.assert(
      fc.asyncProperty(idText, queries, bodies(operation), async (id, query, body) => {
        const path = (operation.path ?? '').replace(/\{\w+\}/, encodeURIComponent(id)) + query
        const hasBody = operation.method !== 'GET'
        const answer = await send(path, hasBody ? body : undefined)
        expect(answer.status, `${path} ${JSON.stringify(body)} ${answer.text}`).not.toBe(500)
        if (answer.status >= 400) expect(answer.body.code).toMatch(/^[a-z_]+$/)
      }),
      { numRuns: RUNS },
    )
    await revokeAll(client)
  })
})

/** Revokes all tokens, so that the next operation is below the limit of tokens. */
async function revokeAll(client: Client): Promise<void> {
  const { body } = await client.request('GET', '/auth/tokens')
  const active = (body?.data ?? []).filter(({ status }: { status: string }) => status === 'active')
  for (const { id } of active) await client.request('DELETE', `/auth/tokens/${id}`)
}
