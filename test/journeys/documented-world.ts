import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { insertRound } from '#src/fsp/indexer/daily-store.ts'
import { translator } from '#src/i18n/translate.ts'
import {
  ALERT_ID,
  HANDLE,
  MAINTENANCE,
  PROVIDER,
  RECIPIENT,
  SUBSCRIPTION,
  TOKEN_ID,
  WALLET,
  WATCH,
} from '#src/operations/examples/story.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { readApiReference } from '#src/pages/docs/api-reference.ts'
import type { CallExample } from '#src/pages/docs/calls.ts'
import { findOfferedType, typeDoc, watchTypes } from '#src/pages/docs/watches.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { confirmEmail } from '#src/recipients/consent.ts'
import { walletBalance } from '#src/watches/types/wallet-balance.ts'
import { giveCredits } from '../support/credits.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { watchWorld } from '../watches/world.ts'

/** Languages of the examples in the docs. */
export type Language = 'curl' | 'ts' | 'py' | 'go'

const run = promisify(execFile)

/** A service whose rows get the numbers of the examples, and what runs the examples against it. */
interface DocumentedWorld {
  readonly world: Awaited<ReturnType<typeof watchWorld>>
  readonly inbox: Awaited<ReturnType<typeof startMailServer>>
  /** Wallet whose token the examples get. */
  readonly bob: Client
  /** Runs an example and returns the HTTP status that it reports. */
  statusOf(calls: readonly CallExample[], change?: (text: string) => string): Promise<number>
  close(): Promise<void>
}

async function documentedWorld(language: Language): Promise<DocumentedWorld> {
  const [inbox, telegram, folder] = await Promise.all([
    startMailServer(),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME }),
    mkdtemp(join(tmpdir(), 'watchdog-requests-')),
  ])
  const world = await watchWorld({
    simulation: { providers: [{ name: 'Alpha' }] },
    env: {
      NATIVE_PAY_TO: '0x00000000000000000000000000000000000F1A03',
      SMTP_URL: inbox.url,
      EMAIL_FROM: 'Watchdog <watchdog@example.org>',
      TELEGRAM_BOT_TOKEN: BOT_TOKEN,
      TELEGRAM_API_ROOT: telegram.url,
    },
  })
  const { bot } = world.service
  await bot?.start()
  await telegram.waitFor(() => bot?.username())
  const base = await world.server.listen({ host: '127.0.0.1', port: 0 })
  const bob = await signIn(world, 'bob')
  const next = { tokens: TOKEN_ID, recipients: RECIPIENT.id, subscriptions: SUBSCRIPTION.id }
  for (const [table, id] of Object.entries({ ...next, watches: WATCH.id })) {
    await world.database.sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${id}, false)`
  }
  return {
    world,
    inbox,
    bob,
    statusOf: (calls, change = (text) => text) => {
      const code = calls.find(({ id }) => id === language)?.code ?? ''
      const text = change(code.replaceAll(world.app.publicUrl, base))
      return runExample(language, text, { folder, token: bob.token })
    },
    close: async () => {
      await world.close()
      await Promise.all([inbox.close(), telegram.close(), rm(folder, { recursive: true })])
    },
  }
}

async function runExample(
  language: Language,
  text: string,
  { folder, token }: { readonly folder: string; readonly token: string },
): Promise<number> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TOKEN: token }
  if (language === 'curl') {
    const { stdout } = await run('sh', ['-c', `${text} -sw '\\n%{http_code}'`], { env })
    return Number(stdout.split('\n').at(-1))
  }
  const [file, program, ...args] = {
    ts: ['call.mts', process.execPath],
    py: ['call.py', 'python3'],
    go: ['call.go', 'go', 'run'],
  }[language]
  const path = join(folder, file ?? '')
  await writeFile(path, text)
  const { stdout } = await run(program ?? '', [...args, path], {
    env: { ...env, GOFLAGS: '-mod=mod' },
  })
  return Number(stdout.split(/\s/)[0])
}

async function confirmMailbox({ world, inbox }: DocumentedWorld) {
  await sendDueConfirmations(world.app, new AbortController().signal)
  const mail = inbox.mails.at(-1)
  const { pathname } = new URL((mail && confirmLinkOf(mail)) ?? 'no mail has arrived')
  await confirmEmail(world.app, pathname.replace('/confirm/', ''))
}

async function recordAlert({ world, bob }: DocumentedWorld) {
  const row = {
    id: ALERT_ID,
    wallet: bob.caller.wallet,
    watch_id: WATCH.id,
    watch_label: WATCH.label,
    type: 'wallet-balance',
    signal: 'balance-change',
    group: 'alerts',
    event: 'wallet-balance.moved',
    severity: 'info',
    state: 'firing',
    is_episode: true,
    incident_id: 1,
    opens_incident: true,
    notified_at: world.clock.now(),
    reminders_sent: 0,
    data: JSON.stringify(walletBalance.signals[0]?.examples['wallet-balance.moved']),
    position: 1,
    fired_at: world.clock.now(),
    created_at: world.clock.now(),
  }
  await world.database.sql`insert into alerts ${world.database.sql(row)}`
}

/** Puts what a wallet signed in place of what the example of an exchange contains. */
function signed(own: Readonly<Record<string, string>>) {
  return (text: string) =>
    Object.entries(own).reduce(
      (changed, [name, value]) =>
        changed.replace(
          new RegExp(`"${name}": "[^"]*"`),
          () => `"${name}": ${JSON.stringify(value)}`,
        ),
      text,
    )
}

/** The operation whose example is sent after all others. */
const LAST = 'deleteAccount'

/** Sends the example of every operation, in an order in which each has what it needs. */
async function sendEveryExample(documented: DocumentedWorld): Promise<void> {
  const { world, bob, statusOf } = documented
  const reference = readApiReference(world.app, translator('en')).operations
  const sent = new Set<string>()
  const send = async (id: string, change?: (text: string) => string) => {
    sent.add(id)
    const { calls = [] } = reference.find((operation) => operation.id === id) ?? {}
    const answered = await statusOf(calls, change)
    const { status, queued } = REGISTRY.find((operation) => operation.id === id) ?? {}
    expect([id, answered]).toEqual([id, expect.toBeOneOf([status, queued?.status])])
  }
  const story = async (...ids: readonly string[]) => {
    for (const id of ids) await send(id)
  }
  await story('getPricing', 'getWatchType', 'getStats', 'getOpenApi', 'createChallenge')
  const wallet = bob.person.account.address
  const asked = await bob.request('POST', '/auth/challenge', { wallet, scopes: ['write'] })
  const { message } = asked.body
  const signature = await bob.person.account.signMessage({ message })
  await send('exchangeToken', signed({ message, signature }))
  await story('listTokens', 'revokeToken', 'getTerms', 'acceptTerms', 'startTrial')
  await giveCredits(world.app, bob.caller.wallet, 20_000)
  await story('getAccount', 'quoteSubscription', 'createSubscription', 'listSubscriptions')
  await story('quoteRenewal', 'renewSubscription', 'updateSubscriptions', 'createTopup')
  const draft = await bob.request('POST', '/topup', { asset: 'FLR', credits: 20_000 })
  for (const id of ['getTopup', 'confirmTopup']) {
    await send(id, (text) => text.replace(HANDLE, draft.body.handle))
  }
  await story(
    'getSettings',
    'replaceSettings',
    'backtestWatch',
    'createWatch',
    'listWatches',
    'getWatch',
  )
  await story('updateWatch', 'previewMessage', 'getProviderFsp', 'createMaintenance')
  const planned = await bob.request('GET', '/settings')
  const windowId = planned.body.maintenance[0].id
  await send('deleteMaintenance', (text) => text.replace(MAINTENANCE.id, windowId))
  const watched = { type: 'provider-fsp', target: { provider: PROVIDER }, settings: {} }
  const { body: own } = await bob.request('POST', '/watches', watched)
  await story('getProviderMetrics')
  const startsAt = world.clock.now()
  await insertRound(world.app.db, {
    ...{ round: 1, rewardEpoch: 451, startsAt, blockNumber: 1, blockAt: startsAt },
    blockHash: `0x${'00'.repeat(32)}`,
    providers: { [PROVIDER]: { c: 'g' } },
  })
  await story('getEpochReport')
  await bob.request('DELETE', `/watches/${own.id}`)
  await story('createRecipient')
  await story('listRecipients', 'updateRecipient', 'testRecipient', 'deleteRecipient')
  await story('createTelegramLink', 'configureChannel', 'listChannels')
  await confirmMailbox(documented)
  await story('testChannel', 'removeChannel')
  await recordAlert(documented)
  await story('listAlerts', 'exportAlerts', 'getAlertEvidence', 'acknowledge', 'deleteAlert')
  await recordAlert(documented)
  await story('deleteAlerts', 'deleteWatch')
  const others = reference.filter(({ id }) => id !== LAST)
  expect([...sent].toSorted()).toEqual(others.map(({ id }) => id).toSorted())
}

/** Sends the example that takes the account away, and with it the token of all others. */
async function sendLast({ world, bob, statusOf }: DocumentedWorld): Promise<void> {
  const { operations } = readApiReference(world.app, translator('en'))
  const { calls = [] } = operations.find(({ id }) => id === LAST) ?? {}
  const { balanceCredits } = (await bob.request('GET', '/account')).body
  const own = (text: string) =>
    text
      .replace(WALLET, bob.caller.wallet)
      .replace(/forfeitCredits=\d+/, `forfeitCredits=${balanceCredits}`)
  expect(await statusOf(calls, own)).toBe(204)
}

/** Declares what holds for the examples in every language. */
export function documentedTests(language: Language): void {
  let documented: DocumentedWorld

  beforeAll(async () => {
    documented = await documentedWorld(language)
  })
  afterAll(() => documented.close())

  test('every example request is answered as its page says', () => sendEveryExample(documented))

  test('the example of every watch type creates a watch', async () => {
    const { world, bob, statusOf } = documented
    const t = translator('en')
    const types = watchTypes(world.app, t)
    expect(types.length).toBeGreaterThan(5)
    for (const { name } of types) {
      const type = findOfferedType(world.app, name)
      if (type === undefined) throw new Error(`no watch type ${name}`)
      expect([name, await statusOf(typeDoc(world.app, t, type).calls)]).toEqual([name, 201])
      const { body } = await bob.request('GET', '/watches')
      expect(body.data).toMatchObject([{ type: name, status: 'active' }])
      await bob.request('DELETE', `/watches/${body.data[0].id}`)
    }
  })

  test('the example that deletes the account is answered as its page says', () =>
    sendLast(documented))
}
