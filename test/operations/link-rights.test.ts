import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type Caller, LINK_KINDS, type LinkKind } from '#src/kernel/caller.ts'
import * as chatAlerts from '#src/operations/chat/alerts.ts'
import * as chat from '#src/operations/chat/chat.ts'
import * as chatDestinations from '#src/operations/chat/destinations.ts'
import * as previews from '#src/operations/chat/previews.ts'
import * as chatStatus from '#src/operations/chat/status.ts'
import type { OperationWith } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { REGISTRY } from '#src/operations/index.ts'
import * as links from '#src/operations/pages/links.ts'
import * as lookUps from '#src/operations/pages/look-ups.ts'
import * as receiver from '#src/operations/pages/receiver.ts'
import * as tokens from '#src/operations/pages/tokens.ts'
import { serviceOnly } from '../support/harness.ts'

/** A link allows the operations of its kind only. */

let service: Awaited<ReturnType<typeof serviceOnly>>

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

const isOperation = (value: object | string): value is OperationWith<unknown> =>
  typeof value === 'object' && 'handle' in value && 'scope' in value
const linkOperations: readonly OperationWith<unknown>[] = Object.values(links)
const operations: readonly OperationWith<unknown>[] = [
  ...REGISTRY,
  ...[chat, chatAlerts, chatDestinations, chatStatus, lookUps, previews, receiver, tokens].flatMap(
    (room) => Object.values(room).filter(isOperation),
  ),
  ...linkOperations,
]

const ask = (operation: OperationWith<unknown>, link: LinkKind) =>
  invoke(service.app, operation, { link, code: 'AAAAAAAAAAAAAAAAAAAAAA' }, {})

const refused = { kind: 'forbidden', code: 'insufficient_scope' }

test('operation ids are unique', () => {
  const ids = operations.map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(70)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

describe.each(LINK_KINDS)('a link of kind %s', (link) => {
  const own = (operation: OperationWith<unknown>) => operation.scope === `link:${link}`

  test('cannot invoke operations of the API, of chats and of other links', async () => {
    const others = operations.filter((operation) => !own(operation))
    for (const operation of others) {
      await expect(ask(operation, link), operation.id).rejects.toMatchObject(refused)
    }
    expect(others.length).toBe(operations.length - linkOperations.filter(own).length)
  })

  test('can invoke the operations of its kind', async () => {
    expect(linkOperations.filter(own).length).toBeGreaterThan(1)
    for (const operation of linkOperations.filter(own)) {
      const code = await ask(operation, link).then(
        () => undefined,
        ({ code }: { readonly code: string }) => code,
      )
      expect([undefined, 'not_found', 'link_not_valid', 'validation_failed']).toContain(code)
    }
  })
})

test('neither a token with all scopes nor an anonymous caller can invoke link operations', async () => {
  const wallet = PEOPLE.alice.account.address
  const caller: Caller = { wallet, scopes: ['read', 'write', 'spend'], via: 'http' }
  for (const operation of linkOperations) {
    await expect(invoke(service.app, operation, caller, {})).rejects.toMatchObject(refused)
    await expect(invoke(service.app, operation, undefined, {})).rejects.toMatchObject({
      code: 'missing_token',
    })
  }
})
