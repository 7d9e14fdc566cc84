import { afterAll, beforeAll, expect, test } from 'vitest'
import { pruneTargets } from '#src/watches/manage/retention.ts'
import { alertWorld } from '../alerts/alert-world.ts'
import { codeOf, signIn } from '../auth/sign-in.ts'
import { request, signIn as signInOverRest } from '../support/people.ts'
import { WALLET_TABLES } from '../support/wallet-tables.ts'
import { admin, refusalOf } from './run-admin.ts'

let world: Awaited<ReturnType<typeof alertWorld>>
let wallet: string
let watchId: number
let alertId: number
beforeAll(async () => {
  world = await alertWorld()
  wallet = world.alice.caller.wallet
  watchId = await world.watch('Reserve')
  await world.record(watchId, { event: 'credits.low-balance' })
  await world.deliver()
  alertId = (await world.alice.request('GET', '/alerts')).body.data[0].id
})
afterAll(() => world.close())

const recipients = () => world.sql<{ id: number; channel: string; status: string }[]>`
  select id, channel, status from recipients where wallet = ${wallet} order by id`
const recipientOf = async (channel: string) =>
  String((await recipients()).find((row) => row.channel === channel)?.id)

test('“wallet” tells all about one wallet', async () => {
  const text = (await admin(world, 'wallet', wallet)).lines.join('\n')
  for (const part of [
    'credits, ',
    'slots: 10 bought',
    'watch ',
    '“Reserve”',
    ': telegram ',
    ': email ',
    ': webhook ',
    'token ',
    'entry 2: ',
    `alert ${alertId}: `,
  ]) {
    expect(text).toContain(part)
  }
})

test('“export” writes everything of a wallet as one document', async () => {
  const { document } = await admin(world, 'export', wallet)
  expect(document).toMatchObject({
    wallet,
    watches: [{ label: 'Reserve' }],
    alerts: [{ id: alertId }],
    ledger: expect.arrayContaining([expect.objectContaining({ type: 'subscription' })]),
  })
  expect(JSON.stringify(document)).not.toContain(world.alice.token)
})

test('“resend” sends an alert to one recipient again, and refuses what it cannot', async () => {
  world.forgetMessages()
  const hook = await recipientOf('webhook')
  await admin(world, 'resend', String(alertId), hook)
  await world.deliver()
  expect(world.receiver.deliveries).toEqual([])
  await admin(world, 'resend', String(alertId), hook, '--yes')
  await world.deliver()
  expect(world.receiver.deliveries).toHaveLength(1)
  expect(await refusalOf(admin(world, 'resend', String(alertId), '999', '--yes'))).toContain(
    'no recipient 999',
  )
  expect(await refusalOf(admin(world, 'resend', '999', hook, '--yes'))).toContain('no alert 999')
})

test('a recipient that is off is explained, woken, and gets what it missed', async () => {
  const hook = await recipientOf('webhook')
  await world.alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
  await world.sql`update recipients set status = 'disabled', status_reason = 'status_500' where id = ${hook}`
  await world.record(watchId, { event: 'credits.recovered' })
  await world.record(watchId, { event: 'credits.low-balance' })
  await world.deliver()
  const [newest] = (await world.alice.request('GET', '/alerts')).body.data
  const explained = (await admin(world, 'explain', String(newest.id), hook)).lines.join('\n')
  expect(explained).toContain('disabled (status_500)')
  expect(explained).toContain('was not sent: the recipient was off')
  expect(await refusalOf(admin(world, 'resend', String(newest.id), hook, '--yes'))).toContain(
    'wake it first',
  )
  world.forgetMessages()
  const woken = await admin(world, 'wake-recipient', hook, '--yes')
  expect(woken.lines.join()).toMatch(/is active; [1-9]\d* messages/)
  await world.deliver()
  expect(world.receiver.deliveries.length).toBeGreaterThan(0)
})

test('an announcement reaches each owner in the own language once, also when it is repeated', async () => {
  const { writeFile, mkdtemp } = await import('node:fs/promises')
  const folder = await mkdtemp('/tmp/announce-')
  const locales = ['en', 'de', 'fr', 'bn', 'zh', 'hi', 'ar']
  const texts = Object.fromEntries(
    locales.map((locale) => [locale, { title: `title ${locale}`, lines: [`line ${locale}`] }]),
  )
  await writeFile(`${folder}/all.json`, JSON.stringify(texts))
  await writeFile(`${folder}/six.json`, JSON.stringify({ ...texts, hi: undefined }))
  const announce = (file: string, ...more: readonly string[]) =>
    admin(world, 'announce', 'maintenance-1', `${folder}/${file}`, ...more)
  expect(await refusalOf(announce('six.json', '--yes'))).toContain('hi')
  expect(await refusalOf(announce('none.json', '--yes'))).toContain('cannot be read')
  world.forgetMessages()
  expect((await announce('all.json')).lines.join()).toContain('1 readers')
  await world.deliver()
  expect(world.telegram.messages(world.chat).at(-1)?.text).not.toContain('title en')
  await announce('all.json', '--yes')
  await announce('all.json', '--yes')
  await world.deliver()
  const notified = world.telegram
    .messages(world.chat)
    .filter(({ text }) => text?.includes('title en'))
  expect(notified).toHaveLength(1)
})

test('a banned wallet cannot sign in, call, or act in a chat, and its messages stop until the ban ends', async () => {
  const bob = await signInOverRest(world, 'bob')
  const active = (await recipients()).filter(({ status }) => status === 'active').length
  await admin(world, 'ban', wallet, '--reason', 'sends webhooks to others')
  expect((await world.alice.request('GET', '/account')).status).toBe(200)
  await admin(world, 'ban', wallet, '--reason', 'sends webhooks to others', '--yes')
  expect((await world.alice.request('GET', '/account')).status).toBe(401)
  expect(await codeOf(signIn({ ...world.app }, world.alice.person))).toBe('wallet_banned')
  expect((await recipients()).filter(({ status }) => status === 'active')).toEqual([])
  const [chat] =
    await world.sql`select chat_scopes as scopes from recipients where wallet = ${wallet} and chat_id is not null`
  expect(chat?.['scopes']).toEqual([])
  expect((await bob.request('GET', '/account')).status).toBe(200)

  await admin(world, 'unban', wallet, '--yes')
  expect((await recipients()).filter(({ status }) => status === 'active')).toHaveLength(active)
  expect(await codeOf(signIn({ ...world.app }, world.alice.person))).toMatchObject({ wallet })
})

test('of a ban and sign-ins at once, no token is left that works', async () => {
  const bob = world.devnet.people.bob
  const address = bob.account.address
  const signIns = [1, 2, 3, 4].map(() => codeOf(signIn({ ...world.app }, bob)))
  await Promise.all([...signIns, admin(world, 'ban', address, '--reason', 'a race', '--yes')])
  const [row] = await world.sql`
    select count(*)::int as active from tokens where wallet = ${address} and revoked_at is null`
  expect(row?.['active']).toBe(0)
  await admin(world, 'unban', address, '--yes')
})

test('a deleted account leaves its name in no table, and the books whole', async () => {
  world.alice = await signInOverRest(world, 'alice')
  const account = async () => (await world.alice.request('GET', '/account')).body
  const { balanceCredits, ledger } = await account()
  const path = (of: string, credits: number) => `/account?wallet=${of}&forfeitCredits=${credits}`
  const other = await world.alice.request('DELETE', path(wallet, balanceCredits + 1))
  expect(other).toMatchObject({
    status: 409,
    body: { code: 'account_not_confirmed', balanceCredits },
  })
  const stranger = world.devnet.people.bob.account.address
  expect((await world.alice.request('DELETE', path(stranger, balanceCredits))).status).toBe(409)
  const readOnly = await signInOverRest(world, 'alice', ['read'])
  expect((await readOnly.request('DELETE', path(wallet, balanceCredits))).status).toBe(403)
  expect((await world.alice.request('DELETE', path(wallet, balanceCredits))).status).toBe(204)

  expect((await world.alice.request('GET', '/account')).status).toBe(401)
  // Targets that nobody watches any more go with the next pruning.
  await pruneTargets(world.app)
  const named = await Promise.all(
    [...WALLET_TABLES.keys()].map(async (table) => {
      const [row] = await world.sql`
        select count(*)::int as rows from ${world.sql(table)} t where lower(t::text) like ${`%${wallet.toLowerCase()}%`}`
      return row?.['rows'] === 0 ? [] : [table]
    }),
  )
  // The audit names whom an operator acted on, and counts of requests end within the hour.
  expect(
    named.flat().filter((table) => table !== 'operator_acts' && table !== 'rate_counts'),
  ).toEqual([])
  const [books] = await world.sql`
    select balance_credits::int as balance, entry_count::int as entries,
      (select sum(delta_credits)::int from ledger_entries e where e.wallet = a.wallet) as sum
    from accounts a where balance_credits = ${balanceCredits}`
  expect(books).toMatchObject({
    balance: balanceCredits,
    sum: balanceCredits,
    entries: ledger.data.length,
  })

  // The same wallet begins anew, without the trial and the credits that it had.
  const again = await signInOverRest(world, 'alice')
  expect((await again.request('GET', '/account')).body).toMatchObject({ balanceCredits: 0 })
  expect(
    (await request(world, 'GET', '/alerts', undefined, { authorization: `Bearer ${again.token}` }))
      .body.data,
  ).toEqual([])
})

test('“delete-account” asks for the credits that are lost', async () => {
  const { wallet: carol } = (await signInOverRest(world, 'carol')).caller
  await admin(world, 'credit', carol, '90', '--reference', 'c', '--note', 'goodwill', '--yes')
  expect(
    await refusalOf(admin(world, 'delete-account', carol, '--forfeit', '0', '--yes')),
  ).toContain('--forfeit 90')
  const { lines } = await admin(world, 'delete-account', carol, '--forfeit', '90', '--yes')
  expect(lines.join('\n')).toContain(`${carol} is deleted: 90 credits lost`)
})
