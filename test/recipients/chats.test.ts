import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { forgetMessageIds } from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { LABEL_LENGTH_MAX, Label } from '#src/kernel/label.ts'
import {
  blockChat,
  listChatLinks,
  moveChat,
  unblockChat,
  unlinkChat,
  updateChat,
} from '#src/recipients/chats.ts'
import { decryptDestinations } from '#src/recipients/destinations.ts'
import { chooseRecipientsOfEach, createRecipient, listRecipients } from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, replaceSettings } from '#src/recipients/settings.ts'
import {
  claimTelegramLink,
  createTelegramLink,
  findRecipientIdOfLinkCode,
  peekTelegramLink,
  pruneLinkCodes,
  refuseTelegramLink,
} from '#src/recipients/telegram-link.ts'
import { runningClock } from '../support/clock.ts'
import { openRoom, type Room, refusal, stranger } from './room.ts'

let room: Room
let caller: Caller
let chatId = 1000
beforeAll(async () => {
  room = await openRoom()
})
beforeEach(() => {
  caller = stranger()
  chatId += 1
})
afterAll(() => room.close())

type Request = Parameters<typeof createTelegramLink>[2]

async function makeCode(request: Request = {}, by = caller): Promise<string> {
  const { url } = await createTelegramLink(room.deps, by, request)
  return codeIn(url, 'start')
}

async function makeGroupCode(): Promise<string> {
  const { groupUrl } = await createTelegramLink(room.deps, caller, {})
  return codeIn(groupUrl, 'startgroup')
}

function codeIn(url: string, name: 'start' | 'startgroup'): string {
  return new URL(url).searchParams.get(name) ?? ''
}

const sentMessages = { forgetIds: forgetMessageIds }
const claim = (code: string, over: { id?: number; threadId?: number; title?: string } = {}) =>
  claimTelegramLink(room.deps, {
    code,
    chat: { id: chatId, title: 'Ann Lee', ...over },
    by: { id: 77 },
    locale: 'fr',
  })
const peek = (code: string, id = chatId) => peekTelegramLink(room.deps, { code, chat: { id } })
const refuse = (code: string, id = chatId) => refuseTelegramLink(room.deps, { code, chat: { id } })
const link = async (request: Request = {}, by = caller) => claim(await makeCode(request, by))
const links = () => listChatLinks(room.deps, chatId)
const NOT_VALID = { kind: 'not_found', code: 'link_not_valid' }

describe('a link code', () => {
  test('has links to the bot for a private chat and for a group, for 15 minutes', async () => {
    const made = await createTelegramLink(room.deps, caller, {})
    const code = made.url.replace('https://t.me/watchdog_test_bot?start=', '')
    expect(code).toMatch(/^[\w-]{22}$/)
    const groupCode = made.groupUrl.replace('https://t.me/watchdog_test_bot?startgroup=', '')
    expect(groupCode).toMatch(/^[\w-]{22}$/)
    expect(groupCode).not.toBe(code)
    expect(made.expiresAt.getTime() - room.clock.now().getTime()).toBe(15 * 60_000)
  })
  test('is stored as a hash', async () => {
    const code = await makeCode()
    const rows = await room.database.sql`select * from link_codes where wallet = ${caller.wallet}`
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain(code)
  })
  test('shows its rights, and is not used up by that', async () => {
    const code = await makeCode({ name: 'Phone', scopes: ['spend'] })
    const offer = {
      wallet: caller.wallet,
      name: 'Phone',
      scopes: ['read', 'write', 'spend'],
      madeBy: null,
      createdAt: room.clock.now(),
    }
    expect(await peek(code)).toMatchObject(offer)
    expect(await peek(code)).toMatchObject(offer)
  })
  test('shows times in the zone that the chat has, or will get', async () => {
    const settings = { ...DEFAULT_SETTINGS, timezone: 'Asia/Tokyo' }
    const { version: _, ...tokyo } = settings
    expect(await peek(await makeCode())).toMatchObject({ timezone: 'UTC' })
    await link()
    await replaceSettings(room.deps, caller, { settings: tokyo })
    expect(await peek(await makeCode())).toMatchObject({ timezone: 'UTC' })
    expect(await peek(await makeCode(), chatId + 700_000)).toMatchObject({ timezone: 'Asia/Tokyo' })
  })
  test('is not created with rights that its creator lacks, or without a bot', async () => {
    const writer: Caller = { ...caller, scopes: ['read', 'write'] }
    const spend = createTelegramLink(room.deps, writer, { scopes: ['spend'] })
    expect(await refusal(spend)).toMatchObject({
      kind: 'forbidden',
      code: 'insufficient_scope',
      values: { scope: 'spend' },
    })
    const deps = { ...room.deps, botUsername: () => undefined }
    expect(await refusal(createTelegramLink(deps, caller, {}))).toMatchObject({
      kind: 'upstream',
      code: 'channel_unavailable',
    })
  })
  test('works once, and not after 15 minutes or after a refusal', async () => {
    const used = await makeCode()
    await claim(used, { id: chatId + 500_000 })
    const late = await makeCode()
    room.clock.advance(15 * 60)
    const refused = await makeCode()
    await refuse(refused)
    await refuse(refused)
    for (const code of [used, late, refused, 'AAAAAAAAAAAAAAAAAAAAAA', '']) {
      expect(await refusal(claim(code))).toMatchObject(NOT_VALID)
      expect(await refusal(peek(code))).toMatchObject(NOT_VALID)
    }
  })
  test('returns the same result if the same request is repeated, at once or later', async () => {
    const code = await makeCode({ scopes: ['read'] })
    const answers = await Promise.all([claim(code), claim(code), claim(code)])
    room.clock.advance(16 * 60)
    answers.push(await claim(code))
    for (const answer of answers) {
      expect(answer).toMatchObject({ wallet: caller.wallet, scopes: ['read'], again: false })
    }
    expect(await links()).toHaveLength(1)
    expect(await refusal(peek(code))).toMatchObject(NOT_VALID)
  })
  test('returns in a repetition, too, that the chat had been linked before', async () => {
    await link()
    room.clock.advance(1)
    const code = await makeCode()
    expect([(await claim(code)).again, (await claim(code)).again]).toEqual([true, true])
  })
  test('is recognized as used by its chat while the clock runs on', async () => {
    const deps = { ...room.deps, clock: runningClock(room.clock) }
    const claimNow = (code: string) =>
      claimTelegramLink(deps, {
        code,
        chat: { id: chatId, title: 'Ann Lee' },
        by: { id: 77 },
        locale: 'fr',
      })
    for (const again of [false, true]) {
      const { url, expiresAt } = await createTelegramLink(deps, caller, {})
      const code = codeIn(url, 'start')
      expect(await findRecipientIdOfLinkCode(deps, caller, { expiresAt })).toBeUndefined()
      const { recipient } = await claimNow(code)
      expect(await claimNow(code)).toMatchObject({ again, recipient: { id: recipient.id } })
      expect(await findRecipientIdOfLinkCode(deps, caller, { expiresAt })).toBe(recipient.id)
    }
  })
  test('that was used works for no other caller, and for nobody after the chat is unlinked', async () => {
    const code = await makeCode()
    await claim(code)
    expect(await refusal(claim(code, { id: chatId + 1 }))).toMatchObject(NOT_VALID)
    const chat = { id: chatId, title: 'Ann Lee' }
    const other = { code, chat, by: { id: 78 }, locale: 'fr' } as const
    expect(await refusal(claimTelegramLink(room.deps, other))).toMatchObject(NOT_VALID)
    await unlinkChat(room.deps, { chatId })
    expect(await refusal(claim(code))).toMatchObject(NOT_VALID)
    expect(await links()).toEqual([])
  })
  test('that was refused does not count as one that linked the chat', async () => {
    await link()
    room.clock.advance(1)
    const code = await makeCode()
    await refuse(code)
    expect(await refusal(claim(code))).toMatchObject(NOT_VALID)
  })
  test('links one chat if many persons press at once', async () => {
    const code = await makeCode()
    const works = Array.from({ length: 10 }, (_, index) =>
      refusal(claim(code, { id: 9000 + index })),
    )
    const done = (await Promise.all(works)).filter((answer) => answer === 'nothing was refused')
    expect(done).toHaveLength(1)
    expect((await listRecipients(room.deps, caller, {})).data).toHaveLength(1)
  })
  test('stays valid if the wallet has twenty recipients', async () => {
    const hook = { name: 'A', channel: 'webhook', url: 'https://example.org/a' } as const
    for (let made = 0; made < 20; made += 1) await createRecipient(room.deps, caller, hook)
    const code = await makeCode()
    expect(await refusal(claim(code))).toMatchObject({ code: 'recipient_limit_reached' })
    expect(await peek(code)).toMatchObject({ wallet: caller.wallet })
  })
  test('for a group works only in the group in which it was opened first', async () => {
    const [crew, other] = [-chatId, -chatId - 500_000]
    const code = await makeGroupCode()
    expect(await refusal(peek(code))).toMatchObject(NOT_VALID)
    expect(await peek(code, crew)).toMatchObject({ wallet: caller.wallet })
    await refuse(code, other)
    await refuse(code)
    for (const id of [chatId, other]) {
      expect(await refusal(peek(code, id))).toMatchObject(NOT_VALID)
      expect(await refusal(claim(code, { id }))).toMatchObject(NOT_VALID)
    }
    expect(await claim(code, { id: crew })).toMatchObject({ wallet: caller.wallet })
  })
  test('for a group is bound to one group if it is opened in many groups at once', async () => {
    const code = await makeGroupCode()
    const groups = Array.from({ length: 10 }, (_, index) => -(chatId * 100 + index))
    const shown = await Promise.all(groups.map((id) => refusal(peek(code, id))))
    expect(shown.filter((answer) => answer === 'nothing was refused')).toHaveLength(1)
  })
  test('for a private chat is used up if it is opened in a group', async () => {
    const code = await makeCode()
    expect(await refusal(peek(code, -chatId))).toMatchObject(NOT_VALID)
    expect(await refusal(claim(code))).toMatchObject(NOT_VALID)
  })
  test('links one chat, although it has a code for each kind of chat', async () => {
    const made = await createTelegramLink(room.deps, caller, {})
    const code = codeIn(made.url, 'start')
    const groupCode = codeIn(made.groupUrl, 'startgroup')
    const claims = [claim(code), claim(groupCode, { id: -chatId })]
    const done = (await Promise.all(claims.map(refusal))).filter(
      (answer) => answer === 'nothing was refused',
    )
    expect(done).toHaveLength(1)
  })
  test('works in the supergroup that the group became before the link was confirmed', async () => {
    const code = await makeGroupCode()
    await peek(code, -chatId)
    await moveChat(
      { ...room.deps, sentMessages },
      { from: -chatId, to: -1_000_000_000_000 - chatId },
    )
    expect(await refusal(claim(code, { id: -chatId }))).toMatchObject(NOT_VALID)
    expect(await claim(code, { id: -1_000_000_000_000 - chatId })).toMatchObject({ again: false })
  })
  test('is deleted a day after it ended', async () => {
    await makeCode()
    const count = async () => (await room.database.sql`select 1 from link_codes`).length
    room.clock.advance(86_400)
    await pruneLinkCodes(room.deps)
    expect(await count()).toBeGreaterThan(0)
    room.clock.advance(901)
    await pruneLinkCodes(room.deps)
    expect(await count()).toBe(0)
  })
})

describe('a linked chat', () => {
  test('is a default recipient, in its own language and the wallet’s time zone', async () => {
    const settings = { ...DEFAULT_SETTINGS, timezone: 'Africa/Cairo' }
    await replaceSettings(room.deps, caller, { settings })
    const { recipient, wallet, scopes, again } = await link()
    expect({ wallet, scopes, again }).toEqual({
      wallet: caller.wallet,
      scopes: ['read', 'write'],
      again: false,
    })
    expect(recipient).toMatchObject({
      name: 'Ann Lee',
      channel: 'telegram',
      locale: 'fr',
      timezone: 'Africa/Cairo',
      status: 'active',
      default: true,
      verifiedAt: room.clock.now(),
    })
    const request = { wallet: caller.wallet, recipientIds: null, severity: 'info' as const }
    expect(await chooseRecipientsOfEach(room.db, [request])).toMatchObject([
      [{ id: recipient.id, channel: 'telegram', partitionKey: String(chatId) }],
    ])
  })
  test('has the same recipient and gets the new rights when it is linked again', async () => {
    const first = await link({ name: 'Phone' })
    await blockChat(room.deps, chatId, room.clock.now())
    const again = await link({ scopes: ['read'] })
    expect(again).toMatchObject({ again: true, scopes: ['read'] })
    expect(again.recipient).toMatchObject({
      id: first.recipient.id,
      name: 'Phone',
      status: 'active',
    })
    expect(await links()).toMatchObject([{ scopes: ['read'], name: 'Phone', linkedBy: 77 }])
  })
  test('may be linked to several wallets, and be unlinked from one or all', async () => {
    const other = stranger()
    await link()
    await link({}, other)
    expect((await links()).map(({ wallet }) => wallet)).toEqual([caller.wallet, other.wallet])
    expect(await unlinkChat(room.deps, { chatId, wallet: caller.wallet })).toBe(1)
    expect((await links()).map(({ wallet }) => wallet)).toEqual([other.wallet])
    expect(await unlinkChat(room.deps, { chatId })).toBe(1)
    expect(await unlinkChat(room.deps, { chatId })).toBe(0)
  })
  test('gets nothing while it blocks the bot', async () => {
    await link()
    await blockChat(room.deps, chatId, room.clock.now())
    const request = { wallet: caller.wallet, recipientIds: null, severity: 'critical' as const }
    expect(await chooseRecipientsOfEach(room.db, [request])).toMatchObject([[{ isOff: true }]])
    expect(await links()).toMatchObject([{ status: 'blocked' }])
    await unblockChat(room.db, chatId, room.clock.now())
    expect(await links()).toMatchObject([{ status: 'active' }])
  })
  test('is not switched on automatically when its owner switched it off', async () => {
    await link()
    await room.database.sql`update recipients set status = 'disabled' where chat_id = ${chatId}`
    await blockChat(room.deps, chatId, room.clock.now())
    await unblockChat(room.db, chatId, room.clock.now())
    expect(await links()).toMatchObject([{ status: 'disabled' }])
  })
  test('has one language, time zone and topic for all its wallets', async () => {
    const linked = await link()
    await link({}, stranger())
    const input = { chatId, locale: 'ar', timezone: 'Asia/Dubai', threadId: 12 } as const
    await updateChat(room.deps, input)
    const chosen = { locale: 'ar', timezone: 'Asia/Dubai', threadId: 12 }
    expect(await links()).toMatchObject([chosen, chosen])
    await updateChat(room.deps, { chatId, threadId: null })
    const { id } = linked.recipient
    const opened = (await decryptDestinations(room.deps, [id])).get(id)
    expect(opened?.destination).toEqual({ chatId })
    expect(await links()).toMatchObject([{ locale: 'ar', threadId: null }, { locale: 'ar' }])
  })
  test('stays linked when the group becomes a supergroup', async () => {
    const [from, to] = [-chatId, -1_000_000_000_000 - chatId]
    await claim(await makeGroupCode(), { id: from, threadId: 3 })
    await moveChat({ ...room.deps, sentMessages }, { from, to })
    expect(await listChatLinks(room.deps, from)).toEqual([])
    const moved = await listChatLinks(room.deps, to)
    expect(moved).toMatchObject([{ wallet: caller.wallet, threadId: null }])
  })
  test.each([
    ['x'.repeat(100), 'x'.repeat(LABEL_LENGTH_MAX)],
    ['\u202eevil\u0000 crew\n', 'evil crew'],
    ['\u200f', 'Telegram'],
    ['\u2800', 'Telegram'],
    ['👩‍🚀'.repeat(30), expect.any(String)],
  ])('titled %j gets a valid name', async (title, name) => {
    const { recipient } = await claim(await makeCode(), { title })
    expect(recipient.name).toEqual(name)
    expect(Label.safeParse(recipient.name).success).toBe(true)
  })
})
