import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { serviceOnly } from '../support/harness.ts'
import { request, signIn } from '../support/people.ts'

/** Journey from a challenge to a token, and to its end. */

let service: Awaited<ReturnType<typeof serviceOnly>>
const { account } = PEOPLE.alice

beforeAll(async () => {
  service = await serviceOnly()
})
afterAll(() => service.close())

async function challenge(scopes: readonly string[] = ['write']) {
  const body = { wallet: account.address.toLowerCase(), scopes, label: 'laptop' }
  return request(service, 'POST', '/auth/challenge', body)
}

async function exchange(message: string, signature?: string) {
  return request(service, 'POST', '/auth/token', {
    message,
    signature: signature ?? (await account.signMessage({ message })),
  })
}

test('a wallet signs a message and gets a token that works', async () => {
  const asked = await challenge(['write', 'spend'])
  expect(asked).toMatchObject({ status: 200, body: { wallet: account.address } })
  expect(asked.headers['cache-control']).toBe('no-store')
  expect(asked.body.message).toContain('Chain ID: 14')
  expect(asked.body.message).toContain(`Nonce: ${asked.body.nonce}`)

  const issued = await exchange(asked.body.message)
  expect(issued).toMatchObject({
    status: 200,
    body: {
      wallet: account.address,
      scopes: ['read', 'write', 'spend'],
      expiresAt: '2026-12-20T12:00:00.000Z',
    },
  })
  expect(issued.headers['cache-control']).toBe('no-store')
  expect(issued.body.token).toMatch(/^fwd_[0-9A-Za-z]{49}$/)

  const authorization = `Bearer ${issued.body.token}`
  const list = await request(service, 'GET', '/auth/tokens', undefined, { authorization })
  expect(list.body.data).toMatchObject([
    {
      label: 'laptop',
      scopes: ['read', 'write', 'spend'],
      status: 'active',
      prefix: issued.body.token.slice(0, 8),
    },
  ])
  expect(list.text).not.toContain(issued.body.token)
})

test('a message works once', async () => {
  const { body } = await challenge()
  expect((await exchange(body.message)).status).toBe(200)
  expect(await exchange(body.message)).toMatchObject({ status: 401, body: { code: 'nonce_used' } })
})

test('a message works for five minutes', async () => {
  const { body } = await challenge()
  service.clock.advance(301)
  expect(await exchange(body.message)).toMatchObject({
    status: 401,
    body: { code: 'nonce_expired' },
  })
})

test('a message is refused when it was changed', async () => {
  const { body } = await challenge()
  expect(await exchange(`${body.message} `)).toMatchObject({
    status: 401,
    body: { code: 'message_mismatch' },
  })
})

test('the signature of another wallet is refused while the chain does not answer, and the message stays valid', async () => {
  const { body } = await challenge()
  const { message } = body
  const signature = await PEOPLE.bob.account.signMessage({ message })
  // The local check fails and the chain does not answer, so the message stays usable.
  const answer = await exchange(message, signature)
  expect(answer).toMatchObject({ status: 503, body: { code: 'dependency_unavailable' } })
  expect((await exchange(message)).status).toBe(200)
})

test('a token can be revoked only by its own wallet, and is refused from the next request on', async () => {
  const alice = await signIn(service, 'alice')
  const bob = await signIn(service, 'bob')
  const { body } = await alice.request('GET', '/auth/tokens')
  const newest = Math.max(...body.data.map(({ id }: { id: number }) => id))
  expect((await bob.request('DELETE', `/auth/tokens/${newest}`)).status).toBe(404)
  expect((await alice.request('DELETE', `/auth/tokens/${newest}`)).status).toBe(204)
  expect(await alice.request('GET', '/auth/tokens')).toMatchObject({
    status: 401,
    body: { code: 'invalid_token' },
  })
})
