import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createChallenge } from '#src/auth/service.ts'
import { isPlainSigner } from '#src/chain/signatures/signatures.ts'
import { listen } from '#src/db/listen.ts'
import type { Scope } from '#src/kernel/caller.ts'
import { AppError } from '#src/kernel/errors.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import {
  CONNECTS_CHANNEL,
  claimConnectCode,
  connectScopes,
  createConnectCode,
  findConnectOutcome,
  peekConnectCode,
  pruneConnectCodes,
  refuseConnectCode,
} from '#src/recipients/connect.ts'
import { openRoom, PUBLIC_URL, type Room, refusal } from './room.ts'

let room: Room
let deps: Room['deps'] & { chain: { verifyMessage: Verify } }
let wallet: PrivateKeyAccount
let chatId = 1000
let isChainDown = false

type Verify = Parameters<typeof claimConnectCode>[0]['chain']['verifyMessage']

beforeAll(async () => {
  room = await openRoom()
  const verifyMessage: Verify = async ({ address, message, signature }) => {
    if (isChainDown) throw new AppError('upstream', 'dependency_unavailable')
    return await isPlainSigner(address, message, signature as `0x${string}`)
  }
  deps = { ...room.deps, chain: { verifyMessage } }
})
beforeEach(() => {
  wallet = privateKeyToAccount(generatePrivateKey())
  chatId += 1
})
afterAll(() => room.close())

const NOT_VALID = { kind: 'not_found', code: 'link_not_valid' }

async function makeCode({
  spend = false,
  id = chatId,
  selected,
}: {
  spend?: boolean
  id?: number
  selected?: PrivateKeyAccount
} = {}) {
  const made = await createConnectCode(deps, {
    chat: { id, title: 'Ann Lee', username: 'annlee' },
    by: { id },
    locale: 'fr',
    spend,
    ...(selected !== undefined && { wallet: selected.address }),
  })
  return { ...made, code: made.url.replace(`${PUBLIC_URL}/connect/`, '') }
}

async function signed(scopes: readonly Scope[] = connectScopes(false), by = wallet) {
  const asked = { wallet: wallet.address, scopes: [...scopes], label: undefined }
  const { message } = await createChallenge(deps, asked)
  return { message, signature: await by.signMessage({ message }) }
}

const links = () => listChatLinks(room.deps, chatId)

describe('a code', () => {
  test('opens a page for 15 minutes that shows the chat and the same four digits', async () => {
    const { code, match, expiresAt } = await makeCode({ spend: true })
    expect(code).toMatch(/^[\w-]{22}$/)
    expect(match).toMatch(/^\d\d \d\d$/)
    expect(expiresAt.getTime() - room.clock.now().getTime()).toBe(15 * 60_000)
    expect(await peekConnectCode(deps, code)).toEqual({
      state: 'open',
      title: 'Ann Lee',
      username: 'annlee',
      locale: 'fr',
      spend: true,
      match,
      expiresAt,
      wallet: undefined,
    })
  })

  test('is stored as its hash only', async () => {
    const { code } = await makeCode()
    const rows = await room.database.sql`select * from connect_codes where chat_id = ${chatId}`
    expect(JSON.stringify(rows)).not.toContain(code)
  })

  test('ends when its chat gets another code, and after 15 minutes', async () => {
    const first = await makeCode()
    const second = await makeCode()
    expect(await refusal(peekConnectCode(deps, first.code))).toEqual(NOT_VALID)
    const consent = await signed()
    expect(await refusal(claimConnectCode(deps, { code: first.code, ...consent }))).toEqual(
      NOT_VALID,
    )
    room.clock.advance(15 * 60)
    expect(await refusal(peekConnectCode(deps, second.code))).toEqual(NOT_VALID)
    const late = await signed()
    expect(await refusal(claimConnectCode(deps, { code: second.code, ...late }))).toEqual(NOT_VALID)
    expect(await links()).toEqual([])
  })

  test('is deleted a day after its end', async () => {
    await makeCode()
    const count = async () => {
      const sql = room.database.sql
      return (await sql`select from connect_codes where chat_id = ${chatId}`).length
    }
    room.clock.advance(24 * 3600)
    await pruneConnectCodes(deps)
    expect(await count()).toBe(1)
    room.clock.advance(15 * 60)
    await pruneConnectCodes(deps)
    expect(await count()).toBe(0)
  })
})

describe('a signed challenge', () => {
  test('links the chat with the signed scopes and the time zone of the browser', async () => {
    const { code } = await makeCode()
    const consent = await signed()
    const claim = { code, ...consent, timezone: 'Asia/Kolkata' }
    const answer = { wallet: wallet.address, title: 'Ann Lee' }
    expect(await claimConnectCode(deps, claim)).toEqual(answer)
    expect(await links()).toMatchObject([
      {
        wallet: wallet.address,
        scopes: ['read', 'write'],
        name: 'Ann Lee',
        status: 'active',
        locale: 'fr',
        timezone: 'Asia/Kolkata',
        linkedBy: chatId,
      },
    ])
    expect(await peekConnectCode(deps, code)).toMatchObject({
      state: 'linked',
      wallet: wallet.address,
    })
    expect(await claimConnectCode(deps, claim)).toEqual(answer)
    expect(await links()).toHaveLength(1)
  })

  test('requests the right to spend for the wallet that the chat has selected', async () => {
    const wallets = [wallet, privateKeyToAccount(generatePrivateKey())]
    for (const ownWallet of wallets) {
      wallet = ownWallet
      const { code } = await makeCode()
      await claimConnectCode(deps, { code, ...(await signed()) })
    }
    for (const selected of wallets) {
      const { code } = await makeCode({ spend: true, selected })
      expect(await peekConnectCode(deps, code)).toMatchObject({ spendOf: selected.address })
    }
    const gone = privateKeyToAccount(generatePrivateKey())
    const { code } = await makeCode({ spend: true, selected: gone })
    expect(await peekConnectCode(deps, code)).toMatchObject({ spendOf: undefined })
  })

  test('gives the new rights to a chat that is already linked', async () => {
    const first = await makeCode()
    await claimConnectCode(deps, { code: first.code, ...(await signed()) })
    const second = await makeCode({ spend: true })
    const consent = await signed(connectScopes(true))
    await claimConnectCode(deps, { code: second.code, ...consent })
    expect((await links()).map(({ scopes }) => scopes)).toEqual([['read', 'write', 'spend']])
  })

  test('of another wallet links nothing, and the code stays valid', async () => {
    const { code } = await makeCode()
    const forged = await signed(connectScopes(false), privateKeyToAccount(generatePrivateKey()))
    expect(await refusal(claimConnectCode(deps, { code, ...forged }))).toMatchObject({
      code: 'invalid_signature',
    })
    expect(await links()).toEqual([])
    await claimConnectCode(deps, { code, ...(await signed()) })
    expect(await links()).toHaveLength(1)
  })

  test('that cannot be checked now stays valid', async () => {
    const { code } = await makeCode()
    const consent = await signed()
    isChainDown = true
    expect(await refusal(claimConnectCode(deps, { code, ...consent }))).toMatchObject({
      code: 'dependency_unavailable',
    })
    isChainDown = false
    await claimConnectCode(deps, { code, ...consent })
    expect(await links()).toHaveLength(1)
  })

  test('links only one chat, also in concurrent requests', async () => {
    const codes = await Promise.all(
      [1, 2, 3, 4].map((number) => makeCode({ id: chatId * 1000 + number })),
    )
    const consent = await signed()
    const claims = await Promise.allSettled(
      codes.map(({ code }) => claimConnectCode(deps, { code, ...consent })),
    )
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('of another wallet does not work with a code that is used', async () => {
    const { code } = await makeCode()
    await claimConnectCode(deps, { code, ...(await signed()) })
    wallet = privateKeyToAccount(generatePrivateKey())
    expect(await refusal(claimConnectCode(deps, { code, ...(await signed()) }))).toEqual(NOT_VALID)
    expect(await links()).toHaveLength(1)
  })
})

describe('the outcome of a code', () => {
  test('is open until a wallet signs, and names the wallet then', async () => {
    const { code, hash } = await makeCode()
    const of = { hash, chatId, by: chatId, locale: 'fr', spend: false, goesOn: undefined }
    expect(await findConnectOutcome(deps, hash)).toEqual({ ...of, end: 'open', wallet: undefined })
    await claimConnectCode(deps, { code, ...(await signed()) })
    const linked = { ...of, end: 'linked', wallet: wallet.address }
    expect(await findConnectOutcome(deps, hash)).toEqual(linked)
    room.clock.advance(15 * 60)
    expect(await findConnectOutcome(deps, hash)).toEqual(linked)
  })

  test('is that the reader of the page declined, and the code is no longer valid', async () => {
    const { code, hash } = await makeCode()
    await refuseConnectCode(deps, code)
    expect(await peekConnectCode(deps, code)).toMatchObject({ state: 'refused' })
    expect(await refusal(claimConnectCode(deps, { code, ...(await signed()) }))).toEqual(NOT_VALID)
    expect(await findConnectOutcome(deps, hash)).toMatchObject({
      end: 'refused',
      wallet: undefined,
    })
  })

  test('is that an unused code expired after 15 minutes, and unknown of a replaced code', async () => {
    const { hash } = await makeCode({ spend: true })
    room.clock.advance(15 * 60 - 1)
    expect(await findConnectOutcome(deps, hash)).toMatchObject({ end: 'open' })
    room.clock.advance(1)
    expect(await findConnectOutcome(deps, hash)).toMatchObject({ end: 'expired', spend: true })
    await makeCode()
    expect(await findConnectOutcome(deps, hash)).toBeUndefined()
  })

  test('notifies the bot, when it is committed, by the hash of the code', async () => {
    const payloads: string[] = []
    const stop = await listen(room.database.sql, CONNECTS_CHANNEL, (payload) =>
      payloads.push(payload),
    )
    const used = await makeCode()
    await claimConnectCode(deps, { code: used.code, ...(await signed()) })
    const declined = await makeCode()
    await refuseConnectCode(deps, declined.code)
    await refuseConnectCode(deps, declined.code)
    await vi.waitFor(() => expect(payloads).toEqual([used.hash, declined.hash]))
    await stop()
  })
})
