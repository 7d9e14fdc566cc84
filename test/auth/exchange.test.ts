import { randomBytes } from 'node:crypto'
import { type Address, getAddress, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DevPerson, PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type RpcProxy, startRpcProxy } from '#sandbox/devnet/rpc-proxy.ts'
import { type Devnet, startDevnet } from '#sandbox/devnet.ts'
import { readMessage, writeMessage } from '#src/auth/message.ts'
import { ChallengeRequest, TokenRequest } from '#src/auth/model.ts'
import {
  authenticate,
  createChallenge,
  exchangeToken,
  listTokens,
  revokeToken,
  signIn as signInAnd,
} from '#src/auth/service.ts'
import { lockTokens } from '#src/auth/store.ts'
import { createChain } from '#src/chain/client.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { walletCode } from '../chain/contracts.ts'
import { type TestClock, testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { codeOf, type Deps, signedChallenge, signIn } from './sign-in.ts'

const { alice, bob, carol } = PEOPLE
const WALLET: Address = getAddress(numberToHex(0x1001, { size: 20 }))

/** In seconds, as the clock is moved. */
const MINUTE = 60
const MOMENT = 0.001

let devnet: Devnet
let proxy: RpcProxy
let clock: TestClock
let deps: Deps
let database: FreshDatabase

const callerOf = (wallet: Address): Caller => ({ wallet, scopes: ['read', 'write'], via: 'http' })
const tokensOf = async (wallet: Address) => (await listTokens(deps, callerOf(wallet))).data

beforeAll(async () => {
  database = await freshDatabase()
  devnet = await startDevnet({ startsAt: testClock().now() })
  await devnet.client.setCode({ address: WALLET, bytecode: walletCode(alice.account.address) })
})
afterAll(async () => {
  await devnet.close()
  await database.drop()
})
beforeEach(async () => {
  proxy = await startRpcProxy(devnet.rpcUrl)
  await database.sql`truncate tokens, challenges`
  clock = testClock()
  const rpcUrls = [proxy.url]
  const chain = createChain({ rpcUrls, chainId: 14, log: silentLogger, timeoutMs: 1000 })
  deps = { db: database.db, clock, chain, publicUrl: 'https://watch.example' }
})
afterEach(() => proxy.close())

describe('a challenge', () => {
  test('is the exact text to sign, with its nonce and the time of issue', async () => {
    const input = ChallengeRequest.decode({
      wallet: alice.account.address.toLowerCase(),
      scopes: ['spend', 'write', 'spend'],
    })
    const challenge = await createChallenge(deps, input)
    expect(challenge.wallet).toBe(alice.account.address)
    expect(challenge.issuedAt).toEqual(clock.now())
    expect(await readMessage(challenge.message)).toEqual({
      publicUrl: 'https://watch.example',
      wallet: alice.account.address,
      scopes: ['read', 'write', 'spend'],
      nonce: challenge.nonce,
      issuedAt: clock.now(),
      expiresAt: new Date(clock.now().getTime() + 300_000),
    })
  })

  test('is different each time', async () => {
    const input = ChallengeRequest.decode({ wallet: alice.account.address })
    const made = [await createChallenge(deps, input), await createChallenge(deps, input)]
    expect(new Set(made.map(({ nonce }) => nonce)).size).toBe(2)
  })

  test.each([
    ['no wallet', {}],
    ['half a wallet', { wallet: '0x1234' }],
    ['an unknown scope', { wallet: WALLET, scopes: ['admin'] }],
    ['a label of 41 characters', { wallet: WALLET, label: '🙂'.repeat(41) }],
    ['a label that turns the text around', { wallet: WALLET, label: 'a\u202eb' }],
    ['a label of two lines', { wallet: WALLET, label: 'a\nb' }],
    ['another property', { wallet: WALLET, admin: true }],
  ])('is not created with %s', (_, body) => {
    expect(ChallengeRequest.safeParse(body).success).toBe(false)
  })

  test('may have a label of 40 characters, however many bytes each has', () => {
    const body = { wallet: WALLET, label: '🙂'.repeat(40) }
    expect(ChallengeRequest.safeParse(body).success).toBe(true)
  })
})

describe('an exchange', () => {
  test('returns a token of the wallet with the signed scopes, valid for 30 days', async () => {
    const issued = await signIn(deps, alice, { scopes: ['write'], label: 'deploy script' })
    expect(issued.wallet).toBe(alice.account.address)
    expect(issued.scopes).toEqual(['read', 'write'])
    expect(issued.expiresAt).toEqual(new Date('2026-12-20T12:00:00.000Z'))
    expect(await authenticate(deps, issued.token)).toEqual({
      wallet: alice.account.address,
      scopes: ['read', 'write'],
      via: 'http',
      tokenId: expect.any(Number),
    })
    const [listed] = await tokensOf(alice.account.address)
    expect(listed).toMatchObject({ label: 'deploy script', prefix: issued.token.slice(0, 8) })
  })

  test('calls no RPC endpoint for a plain account', async () => {
    await proxy.down()
    expect((await signIn(deps, alice)).scopes).toEqual(['read'])
  })

  test('works once', async () => {
    const signed = await signedChallenge(deps, alice)
    await exchangeToken(deps, signed)
    await expect(exchangeToken(deps, signed)).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'nonce_used',
    })
    expect(await tokensOf(alice.account.address)).toHaveLength(1)
  })

  test('works until five minutes have passed', async () => {
    const early = await signedChallenge(deps, alice)
    const late = await signedChallenge(deps, alice)
    clock.advance(5 * MINUTE - MOMENT)
    expect(await exchangeToken(deps, early)).toMatchObject({ scopes: ['read'] })
    clock.advance(MOMENT)
    await expect(exchangeToken(deps, late)).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'nonce_expired',
    })
  })

  test('of one nonce, a hundred times at once, returns exactly one token', async () => {
    const signed = await signedChallenge(deps, alice)
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, () => codeOf(exchangeToken(deps, signed))),
    )
    expect(outcomes.filter((outcome) => outcome === 'nonce_used')).toHaveLength(99)
    const [issued] = outcomes.filter((outcome) => outcome !== 'nonce_used')
    expect(issued).toMatchObject({ wallet: alice.account.address })
    expect(await tokensOf(alice.account.address)).toHaveLength(1)
  })

  test.each([
    ['a blank more', (text: string) => `${text} `],
    ['a line feed more', (text: string) => `${text}\n`],
    ['Windows line ends', (text: string) => text.replaceAll('\n', '\r\n')],
    ['more permissions', (text: string) => text.replace('scope:read', 'scope:spend')],
    ['another domain', (text: string) => text.replace('watch.example', 'evil.example')],
    ['other words', () => 'Let me in'],
    [
      'a nonce that was never given',
      (text: string) => text.replace(/[0-9a-f]{32}/, 'a'.repeat(32)),
    ],
  ])('refuses a message with %s, even if its signature is valid, and does not spend the challenge', async (_, change) => {
    const signed = await signedChallenge(deps, alice)
    const message = change(signed.message)
    const signature = await alice.account.signMessage({ message })
    await expect(exchangeToken(deps, { message, signature })).rejects.toMatchObject({
      kind: 'unauthenticated',
      code: 'message_mismatch',
    })
    expect(await exchangeToken(deps, signed)).toMatchObject({ wallet: alice.account.address })
  })

  test('refuses a message of the same form that the service did not issue', async () => {
    const issuedAt = clock.now()
    const message = await writeMessage({
      publicUrl: deps.publicUrl,
      wallet: alice.account.address,
      scopes: ['read', 'write', 'spend'],
      nonce: randomBytes(16).toString('hex'),
      issuedAt,
      expiresAt: new Date(issuedAt.getTime() + 300_000),
    })
    const signature = await alice.account.signMessage({ message })
    expect(await codeOf(exchangeToken(deps, { message, signature }))).toBe('message_mismatch')
  })

  test.each([
    ['somebody else’s', (message: string) => bob.account.signMessage({ message })],
    ['one of another text', () => alice.account.signMessage({ message: 'other' })],
    ['no signature at all', async () => 'signature'],
    ['an empty one', async () => '0x'],
    ['zeros', async () => `0x${'00'.repeat(65)}`],
  ])('refuses %s, and spends the challenge', async (_, sign) => {
    const signed = await signedChallenge(deps, alice)
    const signature = await sign(signed.message)
    await expect(exchangeToken(deps, { message: signed.message, signature })).rejects.toMatchObject(
      { kind: 'unauthenticated', code: 'invalid_signature' },
    )
    expect(await codeOf(exchangeToken(deps, signed))).toBe('nonce_used')
    expect(await tokensOf(alice.account.address)).toEqual([])
  })

  test('refuses the signature with any byte changed', async () => {
    for (let at = 0; at < 65; at += 8) {
      const { message, signature } = await signedChallenge(deps, alice)
      const bytes = Buffer.from(signature.slice(2), 'hex')
      bytes[at] = (bytes[at] ?? 0) ^ 0x20
      const changed = `0x${bytes.toString('hex')}`
      expect(await codeOf(exchangeToken(deps, { message, signature: changed }))).toBe(
        'invalid_signature',
      )
    }
  })

  test('refuses a message or signature that is too long', () => {
    const parses = (message: string, signature: string) =>
      TokenRequest.safeParse({ message, signature }).success
    expect(parses('m'.repeat(4096), `0x${'ab'.repeat(4096)}`)).toBe(true)
    expect(parses('m'.repeat(4097), '0xab')).toBe(false)
    expect(parses('m', `0x${'ab'.repeat(4097)}`)).toBe(false)
  })

  test('does not store the secret of the token', async () => {
    const { token } = await signIn(deps, alice)
    const rows = await database.sql`select * from tokens`
    const secret = token.slice(8)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(secret)
  })
})

describe('a contract wallet', () => {
  test('signs in with its owner’s key', async () => {
    const { message, signature } = await signedChallenge(deps, alice, { wallet: WALLET })
    const issued = await exchangeToken(deps, { message, signature })
    expect(issued.wallet).toBe(WALLET)
  })

  test('is called once for a challenge that is exchanged many times at once', async () => {
    const signed = await signedChallenge(deps, alice, { wallet: WALLET })
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, () => codeOf(exchangeToken(deps, signed))),
    )
    expect(outcomes.filter((outcome) => outcome === 'nonce_used')).toHaveLength(49)
    expect(proxy.counts()['eth_call']).toBe(1)
    expect(await tokensOf(WALLET)).toHaveLength(1)
  })

  test('is refused with a signature of another key', async () => {
    const signed = await signedChallenge(deps, bob, { wallet: WALLET })
    expect(await codeOf(exchangeToken(deps, signed))).toBe('invalid_signature')
  })

  test.each([
    ['cannot be reached', (rpc: RpcProxy) => rpc.down()],
    ['does not answer', (rpc: RpcProxy) => rpc.hang()],
    ['is overloaded', (rpc: RpcProxy) => rpc.failNext(9, { status: 503 })],
  ])('can repeat its request after the chain %s', async (_, fail) => {
    const signed = await signedChallenge(deps, alice, { wallet: WALLET })
    await fail(proxy)
    await expect(exchangeToken(deps, signed)).rejects.toMatchObject({
      kind: 'upstream',
      code: 'dependency_unavailable',
      details: { retryAfterSeconds: expect.any(Number) },
    })
    await proxy.up()
    expect(await exchangeToken(deps, signed)).toMatchObject({ wallet: WALLET })
    expect(await codeOf(exchangeToken(deps, signed))).toBe('nonce_used')
  })
})

describe('the eleventh active token', () => {
  test('is refused, and issued for the same message once another token is revoked', async () => {
    for (let made = 0; made < 10; made += 1) await signIn(deps, alice)
    const signed = await signedChallenge(deps, alice)
    await expect(exchangeToken(deps, signed)).rejects.toMatchObject({
      kind: 'conflict',
      code: 'token_limit_reached',
      details: { values: { count: 10 } },
    })
    const [newest] = await tokensOf(alice.account.address)
    await revokeToken(deps, callerOf(alice.account.address), { id: newest?.id ?? 0 })
    expect(await exchangeToken(deps, signed)).toMatchObject({ wallet: alice.account.address })
  })

  test('is not issued to thirty requests at once', async () => {
    const signed = await Promise.all(Array.from({ length: 30 }, () => signedChallenge(deps, alice)))
    const outcomes = await Promise.all(
      signed.map((message) => codeOf(exchangeToken(deps, message))),
    )
    expect(outcomes.filter((outcome) => outcome === 'token_limit_reached')).toHaveLength(20)
    const tokens = await tokensOf(alice.account.address)
    expect(tokens.filter(({ status }) => status === 'active')).toHaveLength(10)
  })

  test('counts neither other wallets’ tokens nor expired ones', async () => {
    for (let made = 0; made < 10; made += 1) await signIn(deps, alice)
    expect(await signIn(deps, bob)).toMatchObject({ wallet: bob.account.address })
    clock.advance(30 * 24 * 60 * MINUTE)
    expect(await signIn(deps, alice)).toMatchObject({ wallet: alice.account.address })
  })
})

describe('challenges of several wallets, exchanged at the same time,', () => {
  const walletOf = (owner: DevPerson) => owner.account.address

  test('each have a result of their own', async () => {
    for (let made = 0; made < 10; made += 1) await signIn(deps, alice)
    const label = '{"a", b\\}'
    const [full, wrong, fitting] = await Promise.all([
      signedChallenge(deps, alice),
      signedChallenge(deps, bob),
      signedChallenge(deps, carol, { scopes: ['write'], label }),
    ])
    const outcomes = await Promise.all(
      [full, { ...wrong, signature: fitting.signature }, fitting].map((message) =>
        codeOf(exchangeToken(deps, message)),
      ),
    )
    expect(outcomes).toEqual([
      'token_limit_reached',
      'invalid_signature',
      expect.objectContaining({ wallet: walletOf(carol), scopes: ['read', 'write'] }),
    ])
    expect(await tokensOf(walletOf(bob))).toEqual([])
    expect(await tokensOf(walletOf(carol))).toMatchObject([{ label }])
    expect(await codeOf(exchangeToken(deps, wrong))).toBe('nonce_used')
  })

  test('do not wait for a wallet whose tokens another process has locked', async () => {
    const [first, second] = await Promise.all([
      signedChallenge(deps, alice),
      signedChallenge(deps, bob),
    ])
    const held = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const other = database.db.transaction(async (tx) => {
      await lockTokens(tx, [walletOf(alice)], { isPatient: true })
      holding.resolve()
      await held.promise
    })
    await holding.promise
    const waiting = exchangeToken(deps, first)
    expect(await exchangeToken(deps, second)).toMatchObject({ wallet: walletOf(bob) })
    held.resolve()
    await other
    expect(await waiting).toMatchObject({ wallet: walletOf(alice) })
  })

  test('do not fail because the token of one wallet cannot be stored', async () => {
    await database.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$
      begin raise exception 'no room'; end $$;
      create trigger refuse before insert on tokens for each row
      when (new.wallet = '${walletOf(alice)}') execute function refuse()`)
    try {
      const signed = await Promise.all([alice, bob].map((owner) => signedChallenge(deps, owner)))
      const [failed, made] = await Promise.allSettled(
        signed.map((message) => exchangeToken(deps, message)),
      )
      expect(failed).toMatchObject({ status: 'rejected' })
      expect(made).toMatchObject({ value: { wallet: walletOf(bob) } })
    } finally {
      await database.sql.unsafe('drop trigger refuse on tokens; drop function refuse()')
    }
  })
})

describe('signing in for a purpose other than a token', () => {
  test('runs its work in the transaction that spends the challenge', async () => {
    const signed = await signedChallenge(deps, alice, { scopes: ['write'], label: 'my chat' })
    const done = await signInAnd(deps, signed, async (_tx, { wallet, scopes, label }) => ({
      wallet,
      scopes,
      label,
    }))
    expect(done).toEqual({
      wallet: alice.account.address,
      scopes: ['read', 'write'],
      label: 'my chat',
    })
    expect(await codeOf(exchangeToken(deps, signed))).toBe('nonce_used')
    expect(await tokensOf(alice.account.address)).toEqual([])
  })

  test('does not spend the challenge if that work fails', async () => {
    const signed = await signedChallenge(deps, alice)
    const failing = signInAnd(deps, signed, () => Promise.reject(new Error('no room')))
    await expect(failing).rejects.toThrow('no room')
    expect(await exchangeToken(deps, signed)).toMatchObject({ wallet: alice.account.address })
  })
})
