import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { WebhookDestination } from '#src/channels/hooks/webhook.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { linkChat } from '#src/recipients/chats.ts'
import { confirmEmail } from '#src/recipients/consent.ts'
import {
  configureChannel,
  decryptDestinations,
  getChannelRecipientId,
  listChannels,
  recordOutcomes,
  removeChannel,
} from '#src/recipients/destinations.ts'
import { ChannelSetup } from '#src/recipients/model.ts'
import type { AttemptOutcome } from '#src/recipients/rules.ts'
import { chooseRecipientsOfEach, createRecipient, findRecipient } from '#src/recipients/service.ts'
import {
  DEFAULT_SETTINGS,
  getSettings,
  listSettings,
  NewSettings,
  replaceSettings,
  type Settings,
} from '#src/recipients/settings.ts'
import { openRoom, type Room, refusal, stranger } from './room.ts'

let room: Room
let caller: Caller
beforeAll(async () => {
  room = await openRoom()
})
beforeEach(() => {
  caller = stranger()
  room.clock.advance(86_400)
})
afterAll(() => room.close())

const URL_A = 'https://hooks.example.org/a/f3a1'
const put = (key: string, setup: ChannelSetup) =>
  configureChannel(room.deps, caller, { key, setup })
const notified = async (recipientIds: number[] | null = null) => {
  const request = { wallet: caller.wallet, recipientIds, severity: 'info' as const }
  const [all] = await chooseRecipientsOfEach(room.db, [request])
  return all?.flatMap(({ channel, isOff }) => (isOff ? [] : [channel]))
}

describe('the wallet’s channels', () => {
  test('are all listed, configured or not', async () => {
    const nothing = {
      configured: false,
      target: null,
      status: null,
      statusReason: null,
      lastSuccessAt: null,
      lastFailureAt: null,
    }
    expect(await listChannels(room.deps, caller)).toEqual([
      { key: 'telegram', kind: 'link', available: false, ...nothing },
      { key: 'email', kind: 'input', available: true, ...nothing },
      { key: 'webhook', kind: 'input', available: true, ...nothing },
      { key: 'discord', kind: 'input', available: true, ...nothing },
      { key: 'slack', kind: 'input', available: true, ...nothing },
      { key: 'ntfy', kind: 'input', available: true, ...nothing },
      { key: 'pagerduty', kind: 'input', available: true, ...nothing },
    ])
  })
  test('show the secret of a webhook when it is created and never again', async () => {
    const made = await put('webhook', { url: URL_A })
    expect(made).toMatchObject({ configured: true, status: 'active', target: expect.any(String) })
    expect(made.secret).toMatch(/^whsec_/)
    const again = await put('webhook', { url: URL_A })
    expect(again).toEqual({ ...made, secret: undefined })
    expect(again).not.toHaveProperty('secret')
    const listed = await listChannels(room.deps, caller)
    expect(listed[2]).toEqual(again)
  })
  test('keep the signing secret if the same address is set again', async () => {
    const { secret } = await put('webhook', { url: URL_A })
    await put('webhook', { url: URL_A })
    const id = await getChannelRecipientId(room.deps, caller, { key: 'webhook' })
    const opened = (await decryptDestinations(room.deps, [id])).get(id)
    expect(opened).toMatchObject({ wallet: caller.wallet, own: true, name: null, status: 'active' })
    expect(WebhookDestination.parse(opened?.destination).secret).toBe(secret)
    const rotated = await put('webhook', { url: URL_A, rotateSecret: true })
    expect(rotated.secret).not.toBe(secret)
    const after = (await decryptDestinations(room.deps, [id])).get(id)?.destination
    expect(after).toMatchObject({ secret, nextSecret: rotated.secret })
  })
  test('have one recipient each, also after concurrent requests', async () => {
    const works = Array.from({ length: 10 }, () => put('webhook', { url: URL_A }))
    const shown = (await Promise.all(works)).filter(({ secret }) => secret !== undefined)
    expect(shown).toHaveLength(1)
  })
  test('are default recipients; a mailbox is one after its reader has agreed', async () => {
    await put('webhook', { url: URL_A })
    expect(await put('email', { address: 'own@example.org' })).toMatchObject({ status: 'pending' })
    expect(await notified()).toEqual(['webhook'])
    await room.sendMails()
    await confirmEmail(room.deps, room.newestCode())
    expect(await notified()).toEqual(['webhook', 'email'])
    expect(await notified([123])).toEqual(['webhook', 'email'])
  })
  test('are not in the list of named recipients', async () => {
    await put('webhook', { url: URL_A })
    const id = await getChannelRecipientId(room.deps, caller, { key: 'webhook' })
    expect(await findRecipient(room.deps, caller, id)).toBeUndefined()
  })
  test('follow the wallet’s language and time zone', async () => {
    await put('webhook', { url: URL_A })
    const settings = { ...DEFAULT_SETTINGS, locale: 'hi', timezone: 'Asia/Kolkata' } as const
    await replaceSettings(room.deps, caller, { settings })
    const request = { wallet: caller.wallet, recipientIds: null, severity: 'info' as const }
    const [all] = await chooseRecipientsOfEach(room.db, [request])
    expect(all).toMatchObject([{ locale: 'hi', timezone: 'Asia/Kolkata' }])
  })
  test('can be removed once', async () => {
    await put('webhook', { url: URL_A })
    await removeChannel(room.deps, caller, { key: 'webhook' })
    expect(await notified()).toEqual([])
    const gone = { kind: 'not_found', code: 'not_found' }
    for (const key of ['webhook', 'email', 'telegram', 'fax', 'toString']) {
      expect(await refusal(removeChannel(room.deps, caller, { key }))).toMatchObject(gone)
    }
  })
  test('refuse requests that their kind does not have', async () => {
    expect(await refusal(put('telegram', {}))).toMatchObject({ code: 'use_telegram_link' })
    expect(await refusal(put('fax', { url: URL_A }))).toMatchObject({ code: 'not_found' })
    expect(await refusal(put('webhook', { rotateSecret: true }))).toMatchObject({
      errors: [{ pointer: '/url', code: 'required' }],
    })
    expect(
      await refusal(put('email', { address: 'a@example.org', rotateSecret: true })),
    ).toMatchObject({ errors: [{ pointer: '/rotateSecret', code: 'unknown' }] })
    expect(ChannelSetup.safeParse({ url: URL_A, secret: 'whsec_mine' }).success).toBe(false)
  })
  test('show the active linked chat, which can be removed', async () => {
    const link = (id: number) =>
      linkChat(room.deps, {
        wallet: caller.wallet,
        scopes: ['read'],
        name: null,
        chat: { id, title: `Chat ${id}` },
        by: { id: 5 },
        locale: 'en',
        at: room.clock.now(),
      })
    const first = await link(7001)
    const second = await link(7002)
    await record([failed(first.recipient.id, 0, { disable: 'blocked', reason: 'blocked' })])
    const [telegram] = await listChannels(room.deps, caller)
    expect(telegram).toMatchObject({ configured: true, target: 'chat …7002', status: 'active' })
    expect(await getChannelRecipientId(room.deps, caller, { key: 'telegram' })).toBe(
      second.recipient.id,
    )
    await removeChannel(room.deps, caller, { key: 'telegram' })
    const [left] = await listChannels(room.deps, caller)
    expect(left).toMatchObject({ target: 'chat …7001', status: 'blocked' })
  })
})

const at = (hours: number) => new Date(Date.UTC(2026, 10, 1) + hours * HOUR_MS)
const ok = (recipientId: number, hours: number): AttemptOutcome => ({
  recipientId,
  at: at(hours),
  ok: true,
})
const failed = (
  recipientId: number,
  hours: number,
  over: Partial<AttemptOutcome> = {},
): AttemptOutcome => ({
  recipientId,
  at: at(hours),
  ok: false,
  reason: 'timeout',
  ...over,
})
const record = (outcomes: readonly AttemptOutcome[]) => recordOutcomes(room.deps, outcomes)

describe('results of deliveries', () => {
  const hook = () =>
    createRecipient(room.deps, caller, { name: 'Pager', channel: 'webhook', url: URL_A })
  const read = (id: number) => findRecipient(room.deps, caller, id)

  test('are shown as the last success and the last failure', async () => {
    const { id } = await hook()
    await record([failed(id, 1), ok(id, 2)])
    await record([failed(id, 0)])
    expect(await read(id)).toMatchObject({
      status: 'active',
      lastSuccessAt: at(2),
      lastFailureAt: at(1),
    })
  })
  test('of a former address are not shown for the new address', async () => {
    await put('webhook', { url: URL_A })
    const id = await getChannelRecipientId(room.deps, caller, { key: 'webhook' })
    await record([failed(id, 1), ok(id, 2)])
    const shown = async () =>
      (await listChannels(room.deps, caller)).find(({ key }) => key === 'webhook')
    await put('webhook', { url: URL_A, rotateSecret: true })
    expect(await shown()).toMatchObject({ lastSuccessAt: at(2), lastFailureAt: at(1) })
    await put('webhook', { url: `${URL_A}/next` })
    expect(await shown()).toMatchObject({ lastSuccessAt: null, lastFailureAt: null })
  })
  test('switch a recipient off after 120 hours of failures only, with one notice', async () => {
    const { id } = await hook()
    expect(await record([failed(id, 0), failed(id, 119)])).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'active' })
    expect(await record([failed(id, 120, { reason: 'status_500' })])).toMatchObject([
      { id, wallet: caller.wallet, name: 'Pager', status: 'disabled', statusReason: 'status_500' },
    ])
    expect(await record([failed(id, 121)])).toEqual([])
  })
  test('count failures from the last success, also from one that is recorded late', async () => {
    const { id } = await hook()
    await record([failed(id, 0)])
    await record([ok(id, 60)])
    await record([failed(id, 50)])
    expect(await record([failed(id, 170)])).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'active' })
    expect(await record([failed(id, 290)])).toMatchObject([{ id, status: 'disabled' }])
  })
  test('switch off a destination at once if it no longer exists, and mark a chat that blocked the bot', async () => {
    const [first, second] = [await hook(), await hook()]
    const stopped = await record([
      failed(first.id, 0, { reason: 'gone', disable: 'disabled' }),
      failed(second.id, 0, { reason: 'blocked', disable: 'blocked' }),
    ])
    expect(stopped.map(({ status, statusReason }) => [status, statusReason])).toEqual([
      ['disabled', 'gone'],
      ['blocked', 'blocked'],
    ])
    await record([ok(second.id, 1), ok(first.id, 1)])
    expect(await read(second.id)).toMatchObject({ status: 'active', statusReason: null })
    expect(await read(first.id)).toMatchObject({ status: 'disabled', statusReason: 'gone' })
  })
  test('skip deleted recipients', async () => {
    expect(await record([ok(999_999, 0), failed(999_998, 0)])).toEqual([])
  })
  test('of many recipients are recorded concurrently without a deadlock', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, async () => (await hook()).id))
    const rounds = Array.from({ length: 20 }, (_, round) => {
      const order = round % 2 === 0 ? ids : ids.toReversed()
      const outcomes = order.map((id) => (round % 3 === 0 ? failed(id, round) : ok(id, round)))
      return room.db.transaction((tx) => recordOutcomes({ ...room.deps, db: tx }, outcomes))
    })
    await Promise.all(rounds)
    expect(await read(ids[0] ?? 0)).toMatchObject({ lastSuccessAt: at(19), lastFailureAt: at(18) })
  })
  test('store the new id of a chat that moved', async () => {
    const chat = { wallet: caller.wallet, scopes: ['read'], name: 'Crew', by: { id: 5 } } as const
    const linkedAt = room.clock.now()
    const group = (id: number) =>
      linkChat(room.deps, { ...chat, chat: { id, title: 'Crew' }, locale: 'en', at: linkedAt })
    const { recipient } = await group(-500)
    const movedTo = { chatId: -100_500 }
    await record([{ ...ok(recipient.id, 1), movedTo }])
    const opened = (await decryptDestinations(room.deps, [recipient.id])).get(recipient.id)
    expect(opened?.destination).toEqual(movedTo)
    const old = await group(-501)
    await record([{ ...ok(old.recipient.id, 1), movedTo }])
    expect(await read(old.recipient.id)).toMatchObject({
      status: 'disabled',
      statusReason: 'moved',
    })
  })
})

describe('settings', () => {
  const { version: _, ...defaults } = DEFAULT_SETTINGS
  const replace = (settings: NewSettings, ...ifVersions: readonly number[]) =>
    replaceSettings(room.deps, caller, {
      settings,
      ...(ifVersions.length > 0 && { ifVersions }),
    })

  test('have defaults before the first change', async () => {
    expect(await getSettings(room.deps, caller)).toEqual({
      locale: 'en',
      timezone: 'UTC',
      minSeverity: 'info',
      recoveries: true,
      quietHours: { enabled: false, from: '22:00', to: '07:00', criticalBypass: true },
      digest: 'off',
      digestAt: '09:00',
      repeat: { critical: [15, 60, 240] },
      maintenance: [],
      weeklyCard: false,
      epochReport: false,
      version: 1,
    })
  })
  test('are replaced as a whole, and each change increases the version', async () => {
    const mine: Settings = {
      ...DEFAULT_SETTINGS,
      locale: 'bn',
      timezone: 'Asia/Dhaka',
      minSeverity: 'warning',
      recoveries: false,
      quietHours: { enabled: true, from: '23:30', to: '06:00', criticalBypass: false },
      digest: 'daily',
      digestAt: '08:00',
      repeat: { critical: [60, 5] },
    }
    expect(await replace(mine)).toEqual({ ...mine, repeat: { critical: [5, 60] }, version: 2 })
    expect(await getSettings(room.deps, caller)).toMatchObject({ locale: 'bn', version: 2 })
    expect(await replace(defaults)).toEqual({ ...DEFAULT_SETTINGS, version: 3 })
  })
  test('refuse a change that names an outdated version', async () => {
    await replace(defaults, 1)
    expect(await refusal(replace(defaults, 1))).toMatchObject({
      kind: 'stale',
      code: 'etag_mismatch',
    })
    expect(await refusal(replace({ ...defaults, version: 1 }))).toMatchObject({ kind: 'stale' })
    expect(await replace({ ...defaults, version: 2 }, 2)).toMatchObject({ version: 3 })
  })
  test('accept one of many concurrent changes of a version', async () => {
    const works = Array.from({ length: 8 }, () => refusal(replace(defaults, 1)))
    const done = (await Promise.all(works)).filter((answer) => answer === 'nothing was refused')
    expect(done).toHaveLength(1)
  })
  test('are listed for many wallets in one call', async () => {
    await replace({ ...defaults, locale: 'zh' })
    const found = await listSettings(room.db, [caller.wallet, stranger().wallet])
    expect([...found]).toMatchObject([[caller.wallet, { locale: 'zh' }]])
  })
  test.each([
    ['a part left out', { locale: undefined }, '/locale'],
    ['an unknown part', { theme: 'dark' }, ''],
    ['an unknown zone', { timezone: 'Mars/Base' }, '/timezone'],
    ['no time of day', { digestAt: '24:00' }, '/digestAt'],
    ['quiet hours without length', quiet('07:00', '07:00'), '/quietHours/to'],
    ['a reminder at once', { repeat: { critical: [0] } }, '/repeat/critical/0'],
    ['the same reminder twice', { repeat: { critical: [5, 5] } }, '/repeat/critical'],
  ])('refuse %s', (_what, over, pointer) => {
    const result = NewSettings.safeParse({ ...defaults, ...over })
    const path = result.error?.issues[0]?.path.map((part) => `/${String(part)}`).join('')
    expect(path).toBe(pointer)
  })
  test('refuse quiet hours whose start and end are equal', () => {
    const result = NewSettings.safeParse({ ...defaults, ...quiet('07:00', '07:00') })
    expect(result.error?.issues[0]).toMatchObject({ params: { code: 'same_time' } })
  })
  test('accept equal ends of quiet hours that are off', () => {
    const { quietHours } = quiet('07:00', '07:00')
    const off = { ...defaults, quietHours: { ...quietHours, enabled: false } }
    expect(NewSettings.safeParse(off).error).toBeUndefined()
  })
})

function quiet(from: string, to: string) {
  return { quietHours: { enabled: true, from, to, criticalBypass: true } }
}
