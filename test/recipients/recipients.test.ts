import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebhookDestination } from '#src/channels/hooks/webhook.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { getDestination } from '#src/recipients/destination-list.ts'
import { decryptDestinations, recordOutcomes } from '#src/recipients/destinations.ts'
import { NewRecipient, RECIPIENTS_MAX, RecipientChanges } from '#src/recipients/model.ts'
import {
  chooseRecipientsOfEach,
  createRecipient,
  deleteRecipient,
  findRecipient,
  listRecipients,
  listUnknownRecipients,
  updateRecipient,
} from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, replaceSettings } from '#src/recipients/settings.ts'
import { openRoom, type Room, refusal, stranger } from './room.ts'

let room: Room
beforeAll(async () => {
  room = await openRoom()
})
afterAll(() => room.close())

const HOOK = { name: 'Pager', channel: 'webhook', url: 'https://hooks.example.org/a/f3a1' } as const

async function hook(caller: Caller, over: Partial<NewRecipient> = {}) {
  return await createRecipient(room.deps, caller, { ...HOOK, ...over })
}

async function stored(id: number) {
  const opened = (await decryptDestinations(room.deps, [id])).get(id)
  return WebhookDestination.parse(opened?.destination)
}

describe('a webhook recipient', () => {
  test('is active at once, and shows its secret only when it is created', async () => {
    const caller = stranger()
    const { secret, ...shown } = await hook(caller)
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toEqual({
      id: expect.any(Number),
      name: 'Pager',
      channel: 'webhook',
      target: 'hooks.example.org/…f3a1',
      locale: 'en',
      timezone: 'UTC',
      status: 'active',
      statusReason: null,
      minSeverity: 'info',
      default: true,
      createdAt: room.clock.now(),
      verifiedAt: null,
      lastSuccessAt: null,
      lastFailureAt: null,
    })
    expect(await findRecipient(room.deps, caller, shown.id)).toEqual(shown)
    expect((await stored(shown.id)).secret).toBe(secret)
  })
  test('has the time of its last switch, which no other change alters', async () => {
    const caller = stranger()
    const { id } = await hook(caller)
    const since = async () => (await getDestination(room.deps, caller, id)).switchedAt
    const made = room.clock.now()
    const later = () => {
      room.clock.advance(60)
      return room.clock.now()
    }
    later()
    await updateRecipient(room.deps, caller, { id, changes: { name: 'Other', status: 'active' } })
    expect(await since()).toEqual(made)
    const off = later()
    await updateRecipient(room.deps, caller, { id, changes: { status: 'disabled' } })
    later()
    await updateRecipient(room.deps, caller, { id, changes: { minSeverity: 'critical' } })
    expect(await since()).toEqual(off)
    const on = later()
    await updateRecipient(room.deps, caller, { id, changes: { status: 'active' } })
    expect(await since()).toEqual(on)
    const failing = later()
    const failed = { recipientId: id, at: failing, ok: false, reason: 'gone' } as const
    await recordOutcomes(room.deps, [{ ...failed, disable: 'disabled' }])
    later()
    await recordOutcomes(room.deps, [{ ...failed, at: room.clock.now() }])
    expect(await since()).toEqual(failing)
  })
  test('has no readable destination or secret in the table', async () => {
    const { id, secret = '' } = await hook(stranger())
    const [row] = await room.database.sql`select * from recipients where id = ${id}`
    expect(JSON.stringify(row)).not.toContain(secret)
    expect(JSON.stringify(row)).not.toContain('hooks.example.org/a')
  })
  test('uses the language and time zone of its wallet by default', async () => {
    const caller = stranger()
    const settings = { ...DEFAULT_SETTINGS, locale: 'de', timezone: 'Europe/Berlin' } as const
    await replaceSettings(room.deps, caller, { settings })
    expect(await hook(caller)).toMatchObject({ locale: 'de', timezone: 'Europe/Berlin' })
    const notified = await hook(caller, { locale: 'ar', timezone: 'Asia/Dubai' })
    expect(notified).toMatchObject({ locale: 'ar', timezone: 'Asia/Dubai' })
  })
  test('signs with both secrets after a rotation', async () => {
    const caller = stranger()
    const { id, secret } = await hook(caller)
    const changes = { rotateSecret: true }
    const { secret: next } = await updateRecipient(room.deps, caller, { id, changes })
    expect(next).toMatch(/^whsec_/)
    expect(await stored(id)).toEqual({
      url: HOOK.url,
      secret,
      nextSecret: next,
      rotatedAt: room.clock.now().toISOString(),
    })
  })
  test('changes nothing and shows no secret if the same address is set', async () => {
    const caller = stranger()
    const { id } = await hook(caller)
    const before = await stored(id)
    const same = { id, changes: { url: 'https://HOOKS.example.org:443/a/f3a1' } }
    const shown = await updateRecipient(room.deps, caller, same)
    expect(shown).not.toHaveProperty('secret')
    expect(await stored(id)).toEqual(before)
  })
  test('gets a new secret if another address is set', async () => {
    const caller = stranger()
    const { id, secret } = await hook(caller)
    const changes = { url: 'https://other.example.org/b' }
    const moved = await updateRecipient(room.deps, caller, { id, changes })
    expect(moved.secret).toMatch(/^whsec_/)
    expect(moved.secret).not.toBe(secret)
    expect(moved.target).toBe('other.example.org/…')
    expect(await stored(id)).toEqual({ url: changes.url, secret: moved.secret })
  })
  test.each([
    'http://hooks.example.org/',
    'https://hooks.example.org:22/',
    'https://127.0.0.1/',
    'https://[::ffff:10.0.0.1]/',
    'https://a:b@hooks.example.org/',
    'not a url',
  ])('refuses %s', async (url) => {
    expect(await refusal(hook(stranger(), { url }))).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/url', code: 'url' }],
    })
  })
})

describe('request bodies', () => {
  test.each([
    [{ channel: 'webhook' }, [{ pointer: '/url', code: 'required' }]],
    [
      { channel: 'webhook', url: HOOK.url, address: 'a@example.org' },
      [{ pointer: '/address', code: 'unknown' }],
    ],
    [{ channel: 'email' }, [{ pointer: '/address', code: 'required' }]],
    [
      { channel: 'email', address: 'a@example.org', url: HOOK.url },
      [{ pointer: '/url', code: 'unknown' }],
    ],
  ] as const)('name what a channel needs: %j', async (body, errors) => {
    const work = createRecipient(room.deps, stranger(), { name: 'A', ...body })
    expect(await refusal(work)).toMatchObject({ kind: 'invalid', errors })
  })
  test.each([
    'a@b',
    'a b@example.org',
    'a@example.org\r\nBcc: x@example.org',
    'a@example.org,b@example.org',
    '"a"@example.org',
    `${'a'.repeat(65)}@example.org`,
    'a@example.org\u0000',
  ])('with the address %j are refused', (address) => {
    const body = { name: 'A', channel: 'email', address }
    expect(NewRecipient.safeParse(body).error?.issues[0]).toMatchObject({
      path: ['address'],
      params: { code: 'email' },
    })
  })
  test('with unknown properties, languages, time zones or statuses are refused', () => {
    const wrong = [{ a: 1 }, { locale: 'xx' }, { timezone: 'Mars/Base' }, { status: 'blocked' }]
    for (const changes of wrong) expect(RecipientChanges.safeParse(changes).success).toBe(false)
    expect(RecipientChanges.safeParse({ timezone: 'Asia/Kathmandu' }).success).toBe(true)
  })
  test('for Telegram or for a channel that is unavailable are refused, each with its own code', async () => {
    const caller = stranger()
    const telegram = { name: 'A', channel: 'telegram' } as const
    expect(await refusal(createRecipient(room.deps, caller, telegram))).toMatchObject({
      kind: 'conflict',
      code: 'use_telegram_link',
    })
    const { channels } = room
    const off = { ...channels, email: { ...channels.email, available: () => false } }
    const email = { name: 'A', channel: 'email', address: 'a@example.org' } as const
    expect(
      await refusal(createRecipient({ ...room.deps, channels: off }, caller, email)),
    ).toMatchObject({ kind: 'upstream', code: 'channel_unavailable' })
  })
})

describe('a wallet’s recipients', () => {
  test('are at most twenty, also in concurrent requests', async () => {
    const caller = stranger()
    const wishes = Array.from({ length: 40 }, () => refusal(hook(caller)))
    const refused = (await Promise.all(wishes)).filter((answer) => answer !== 'nothing was refused')
    expect(refused).toHaveLength(20)
    expect(refused[0]).toMatchObject({
      kind: 'conflict',
      code: 'recipient_limit_reached',
      values: { count: 20 },
    })
    const { data } = await listRecipients(room.deps, caller, {})
    expect(data).toHaveLength(RECIPIENTS_MAX)
    const [first] = data
    await deleteRecipient(room.deps, caller, first?.id ?? 0)
    expect(await hook(caller)).toMatchObject({ name: 'Pager' })
  })
  test('are listed by id, page by page', async () => {
    const caller = stranger()
    const made = [await hook(caller), await hook(caller), await hook(caller)]
    const first = await listRecipients(room.deps, caller, { limit: 2 })
    const cursor = first.nextCursor ?? ''
    const second = await listRecipients(room.deps, caller, { limit: 2, cursor })
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(made.map(({ id }) => id))
    expect(second.nextCursor).toBeNull()
    expect(await refusal(listRecipients(room.deps, caller, { cursor: 'x.y' }))).toMatchObject({
      errors: [{ pointer: '/cursor', code: 'cursor' }],
    })
  })
  test('are not visible to other wallets', async () => {
    const { id } = await hook(stranger())
    const other = stranger()
    expect(await findRecipient(room.deps, other, id)).toBeUndefined()
    expect((await listRecipients(room.deps, other, {})).data).toEqual([])
    const notFound = { kind: 'not_found', code: 'not_found' }
    const changes = { name: 'Mine' }
    expect(await refusal(updateRecipient(room.deps, other, { id, changes }))).toMatchObject(
      notFound,
    )
    expect(await refusal(deleteRecipient(room.deps, other, id))).toMatchObject(notFound)
    expect(await listUnknownRecipients(room.deps, other, [id, 999_999])).toEqual([id, 999_999])
  })
  test('change only in the given fields', async () => {
    const caller = stranger()
    const { secret: _, ...before } = await hook(caller)
    room.clock.advance(60)
    const changes = { name: 'Desk', minSeverity: 'warning', default: true } as const
    const after = await updateRecipient(room.deps, caller, { id: before.id, changes })
    expect(after).toEqual({ ...before, name: 'Desk', minSeverity: 'warning', default: true })
  })
  test('are removed from watches when they are deleted', async () => {
    const caller = stranger()
    const [first, second] = [await hook(caller), await hook(caller)]
    const { sql } = room.database
    const [target] = await sql`insert into targets (type, key, target, watch_count, must_judge)
      values ('wallet-balance', ${caller.wallet}, '{}', 2, false) returning id`
    for (const ids of [[first.id], [first.id, second.id]]) {
      await sql`insert into watches (wallet, type, target_id, label, settings, signals, recipient_ids,
          min_severity, cooldown_seconds, status, version, created_at, updated_at)
        values (${caller.wallet}, 'wallet-balance', ${target?.id}, 'A', '{}', '[]', ${`{${ids}}`}, 'info', 0,
          'active', 1, ${room.clock.now()}, ${room.clock.now()})`
    }
    await deleteRecipient(room.deps, caller, first.id)
    const rows =
      await sql`select recipient_ids from watches where wallet = ${caller.wallet} order by id`
    expect(rows.map((row) => row.recipient_ids)).toEqual([null, [second.id]])
  })
  test('can be switched off and on by their owner', async () => {
    const caller = stranger()
    const { id } = await hook(caller)
    const set = (status: 'active' | 'disabled') =>
      updateRecipient(room.deps, caller, { id, changes: { status } })
    expect(await set('disabled')).toMatchObject({ status: 'disabled', statusReason: 'by_owner' })
    expect(await set('active')).toMatchObject({ status: 'active', statusReason: null })
  })
})

describe('the recipients of an alert', () => {
  test('are returned for many wallets at once, in the requested order', async () => {
    const [alice, bob] = [stranger(), stranger()]
    const recipient = await hook(alice, { default: true })
    const two = await hook(alice, { minSeverity: 'critical' })
    const three = await hook(bob, { default: true, locale: 'fr', timezone: 'Europe/Paris' })
    const notified = await chooseRecipientsOfEach(room.db, [
      { wallet: bob.wallet, recipientIds: null, severity: 'info' },
      { wallet: alice.wallet, recipientIds: [two.id], severity: 'critical' },
      { wallet: alice.wallet, recipientIds: [two.id], severity: 'info' },
      { wallet: alice.wallet, recipientIds: [three.id], severity: 'info' },
      { wallet: stranger().wallet, recipientIds: null, severity: 'critical' },
    ])
    expect(notified.map((all) => all.map(({ id }) => id))).toEqual([
      [three.id],
      [two.id],
      [],
      [recipient.id],
      [],
    ])
    expect(notified[0]).toEqual([
      {
        id: three.id,
        channel: 'webhook',
        partitionKey: 'hooks.example.org',
        locale: 'fr',
        timezone: 'Europe/Paris',
        mutedUntil: null,
        isGroup: false,
        isFollower: false,
        isOff: false,
      },
    ])
  })
  test('take one query for 5,000 wallets, and equal results are shared', async () => {
    const caller = stranger()
    await hook(caller, { default: true })
    const wallets = Array.from({ length: 4_999 }, () => stranger().wallet)
    const requests = [caller.wallet, ...wallets, caller.wallet].map((wallet) => ({
      wallet,
      recipientIds: null,
      severity: 'warning' as const,
    }))
    let queries = 0
    const counted = new Proxy(room.db, {
      get: (target, name, receiver) => {
        if (name === 'select') queries += 1
        return Reflect.get(target, name, receiver)
      },
    })
    const notified = await chooseRecipientsOfEach(counted, requests)
    expect(queries).toBe(1)
    expect(notified[0]).toHaveLength(1)
    expect(notified.at(-1)).toBe(notified[0])
  })
})
