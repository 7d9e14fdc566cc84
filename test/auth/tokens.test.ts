import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DevPerson, PEOPLE } from '#sandbox/devnet/accounts.ts'
import { TokenList } from '#src/auth/model.ts'
import {
  authenticate,
  exchangeToken,
  listTokens,
  pruneSignIns,
  revokeToken,
} from '#src/auth/service.ts'
import { createToken } from '#src/auth/token.ts'
import { createChain } from '#src/chain/client.ts'
import { connect } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { codeOf, type Deps, signedChallenge, signIn } from './sign-in.ts'

const { alice, bob } = PEOPLE

/** In seconds, as the clock is moved. */
const MINUTE = 60
const MOMENT = 0.001
const DAY = 24 * 60 * MINUTE

let clock: TestClock
let deps: Deps
let database: FreshDatabase

const asCaller = ({ account }: DevPerson): Caller => ({
  wallet: account.address,
  scopes: ['read', 'write'],
  via: 'http',
})
const listed = async (person: DevPerson) => (await listTokens(deps, asCaller(person))).data
const idOf = async (token: string) => (await authenticate(deps, token)).tokenId ?? 0
const refused = { kind: 'unauthenticated', code: 'invalid_token' }

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`truncate tokens, challenges`
  clock = testClock()
  // Plain accounts only, so no endpoint is called.
  const chain = createChain({ rpcUrls: [], chainId: 14, log: silentLogger })
  deps = { db: database.db, clock, chain, publicUrl: 'https://watch.example' }
})

describe('a token', () => {
  test('is refused without a database query if it is malformed', async () => {
    const { token } = await signIn(deps, alice)
    const gone = connect(database.url)
    await gone.close()
    const without = { ...deps, db: gone.db }
    const mistyped = `${token.slice(0, 20)}${token[20] === 'a' ? 'b' : 'a'}${token.slice(21)}`
    for (const text of [
      '',
      'fwd_',
      mistyped,
      `${token} `,
      token.slice(0, -1),
      'a'.repeat(100_000),
    ]) {
      await expect(authenticate(without, text)).rejects.toMatchObject(refused)
    }
    await expect(authenticate(without, token)).rejects.not.toMatchObject(refused)
  })

  test('is refused if it is well-formed but was never issued', async () => {
    await expect(authenticate(deps, createToken())).rejects.toMatchObject(refused)
  })

  test('works for thirty days, however it is used', async () => {
    const { token } = await signIn(deps, alice)
    clock.advance(30 * DAY - MOMENT)
    expect(await authenticate(deps, token)).toMatchObject({ wallet: alice.account.address })
    clock.advance(MOMENT)
    await expect(authenticate(deps, token)).rejects.toMatchObject(refused)
    expect((await listed(alice))[0]?.status).toBe('expired')
  })

  test('shows the time of its last use, to the minute', async () => {
    const { token } = await signIn(deps, alice)
    expect((await listed(alice))[0]?.lastUsedAt).toBeNull()
    const firstUse = clock.now()
    await authenticate(deps, token)
    clock.advance(MINUTE - MOMENT)
    await authenticate(deps, token)
    expect((await listed(alice))[0]?.lastUsedAt).toEqual(firstUse)
    clock.advance(MOMENT)
    await authenticate(deps, token)
    expect((await listed(alice))[0]?.lastUsedAt).toEqual(clock.now())
  })

  test('causes no write while the stored time of its last use is recent', async () => {
    const { token } = await signIn(deps, alice)
    const version = async () => (await database.sql`select xmin::text as v from tokens`)[0]?.v
    await authenticate(deps, token)
    const written = await version()
    clock.advance(MINUTE - MOMENT)
    await Promise.all(Array.from({ length: 20 }, () => authenticate(deps, token)))
    expect(await version()).toBe(written)
  })
})

describe('the list of tokens', () => {
  test('shows the properties of each token, and no secret', async () => {
    const { token } = await signIn(deps, alice, { scopes: ['spend'], label: 'till' })
    const list = await listTokens(deps, asCaller(alice))
    const [entry] = list.data
    expect(TokenList.encode(list)).toEqual({
      data: [
        {
          id: entry?.id,
          label: 'till',
          scopes: ['read', 'spend'],
          prefix: token.slice(0, 8),
          status: 'active',
          createdAt: '2026-11-20T12:00:00.000Z',
          expiresAt: '2026-12-20T12:00:00.000Z',
          lastUsedAt: null,
          revokedAt: null,
        },
      ],
      nextCursor: null,
    })
  })

  test('has active tokens first, then the newest', async () => {
    const names: string[] = ['first', 'second', 'third', 'fourth']
    for (const label of names) {
      await signIn(deps, alice, { label })
      clock.advance(MINUTE)
    }
    const before = await listed(alice)
    expect(before.map(({ label }) => label)).toEqual(['fourth', 'third', 'second', 'first'])
    for (const { id, label } of before) {
      if (label === 'second' || label === 'fourth') await revokeToken(deps, asCaller(alice), { id })
    }
    expect((await listed(alice)).map(({ label, status }) => [label, status])).toEqual([
      ['third', 'active'],
      ['first', 'active'],
      ['fourth', 'revoked'],
      ['second', 'revoked'],
    ])
  })

  test('has at most fifty tokens, and always all active ones', async () => {
    const { token } = await signIn(deps, alice, { label: 'oldest' })
    for (let made = 0; made < 60; made += 1) {
      clock.advance(1)
      const { token: shortLived } = await signIn(deps, alice)
      await revokeToken(deps, asCaller(alice), { id: await idOf(shortLived) })
    }
    const tokens = await listed(alice)
    expect(tokens).toHaveLength(50)
    expect(tokens[0]).toMatchObject({ label: 'oldest', prefix: token.slice(0, 8) })
    expect(tokens.slice(1).every(({ status }) => status === 'revoked')).toBe(true)
  })

  test('has no tokens of other wallets', async () => {
    await signIn(deps, alice)
    expect(await listed(bob)).toEqual([])
  })
})

describe('revoking a token', () => {
  test('takes effect with the next request, in every process', async () => {
    const { token } = await signIn(deps, alice)
    const id = await idOf(token)
    const elsewhere = connect(database.url)
    await authenticate({ db: elsewhere.db, clock }, token)
    await revokeToken(deps, asCaller(alice), { id })
    await expect(authenticate({ db: elsewhere.db, clock }, token)).rejects.toMatchObject(refused)
    await elsewhere.close()
  })

  test('twice succeeds, and the time of the first stays', async () => {
    const { token } = await signIn(deps, alice)
    const id = await idOf(token)
    await revokeToken(deps, asCaller(alice), { id })
    const revokedAt = clock.now()
    clock.advance(MINUTE)
    await revokeToken(deps, asCaller(alice), { id })
    expect((await listed(alice))[0]).toMatchObject({ status: 'revoked', revokedAt })
  })

  test('finds neither a token of another wallet nor an unknown id', async () => {
    const { token } = await signIn(deps, alice)
    const id = await idOf(token)
    const notFound = { kind: 'not_found', code: 'not_found' }
    await expect(revokeToken(deps, asCaller(bob), { id })).rejects.toMatchObject(notFound)
    await expect(revokeToken(deps, asCaller(alice), { id: id + 1 })).rejects.toMatchObject(notFound)
    expect(await authenticate(deps, token)).toMatchObject({ wallet: alice.account.address })
  })
})

describe('pruning of tokens and challenges', () => {
  test('deletes tokens ninety days after they ended, and no others', async () => {
    const { token } = await signIn(deps, alice, { label: 'revoked' })
    await revokeToken(deps, asCaller(alice), { id: await idOf(token) })
    clock.advance(DAY)
    await signIn(deps, alice, { label: 'expired' })
    clock.advance(89 * DAY)
    await signIn(deps, alice, { label: 'active' })
    await pruneSignIns(deps)
    expect((await listed(alice)).map(({ label }) => label)).toEqual([
      'active',
      'expired',
      'revoked',
    ])

    clock.advance(MOMENT)
    await pruneSignIns(deps)
    expect((await listed(alice)).map(({ label }) => label)).toEqual(['active', 'expired'])

    clock.advance(31 * DAY)
    await pruneSignIns(deps)
    expect((await listed(alice)).map(({ label }) => label)).toEqual(['active'])
  })

  test('deletes challenges a day after they expired', async () => {
    const signed = await signedChallenge(deps, alice)
    clock.advance(DAY + 5 * MINUTE)
    await pruneSignIns(deps)
    expect(await codeOf(exchangeToken(deps, signed))).toBe('nonce_expired')
    clock.advance(MOMENT)
    await pruneSignIns(deps)
    expect(await codeOf(exchangeToken(deps, signed))).toBe('message_mismatch')
  })
})
