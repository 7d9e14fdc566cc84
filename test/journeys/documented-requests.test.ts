import { execFile, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { confirmLinkOf } from '#sandbox/inbox/mail.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { translator } from '#src/i18n/translate.ts'
import {
  ALERT_ID,
  HANDLE,
  PROVIDER,
  RECIPIENT,
  SUBSCRIPTION,
  TOKEN_ID,
  WATCH,
} from '#src/operations/examples/story.ts'
import { REGISTRY } from '#src/operations/index.ts'
import { readApiReference } from '#src/pages/api-reference.ts'
import type { CallExample } from '#src/pages/docs-calls.ts'
import { findOfferedType, typeDoc, watchTypes } from '#src/pages/docs-watches.ts'
import { sendDueConfirmations } from '#src/recipients/confirmations.ts'
import { confirmEmail } from '#src/recipients/consent.ts'
import { walletBalance } from '#src/watches/types/wallet-balance.ts'
import { giveCredits } from '../support/credits.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { type Client, signIn } from '../support/people.ts'
import { isWhole } from '../support/runs.ts'
import { watchWorld } from '../watches/world.ts'

/** Every example request of the docs, sent as it stands, by the programs that the docs show. */

const run = promisify(execFile)

let world: Awaited<ReturnType<typeof watchWorld>>
let inbox: Awaited<ReturnType<typeof startMailServer>>
let telegram: Awaited<ReturnType<typeof startTelegramApi>>
let folder: string
let base: string
let bob: Client

beforeAll(async () => {
  ;[inbox, telegram, folder] = await Promise.all([
    startMailServer(),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME }),
    mkdtemp(join(tmpdir(), 'watchdog-requests-')),
  ])
  world = await watchWorld({
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
  base = await world.server.listen({ host: '127.0.0.1', port: 0 })
  bob = await signIn(world, 'bob')
  await numberRowsAsInTheExamples()
})
afterAll(async () => {
  await world.close()
  await Promise.all([inbox.close(), telegram.close(), rm(folder, { recursive: true })])
})

async function numberRowsAsInTheExamples() {
  const next = { tokens: TOKEN_ID, recipients: RECIPIENT.id, subscriptions: SUBSCRIPTION.id }
  for (const [table, id] of Object.entries({ ...next, watches: WATCH.id })) {
    await world.database.sql`select setval(pg_get_serial_sequence(${table}, 'id'), ${id}, false)`
  }
}

const reference = () => readApiReference(world.app, 'en').operations
const operation = (id: string) => {
  const found = reference().find((operation) => operation.id === id)
  if (found === undefined) throw new Error(`no operation ${id}`)
  return found
}

/** Runs an example and returns the HTTP status it reports. */
async function statusOf(
  calls: readonly CallExample[],
  language: string,
  change = (text: string) => text,
) {
  const code = calls.find(({ id }) => id === language)?.code ?? ''
  const text = change(code.replaceAll(world.app.publicUrl, base))
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], TOKEN: bob.token }
  if (language === 'curl') {
    const { stdout } = await run('sh', ['-c', `${text} -sw '\\n%{http_code}'`], { env })
    return Number(stdout.split('\n').at(-1))
  }
  const file = join(folder, { ts: 'call.mts', py: 'call.py', go: 'call.go' }[language] ?? '')
  await writeFile(file, text)
  const [program, ...args] = {
    ts: [process.execPath, file],
    py: ['python3', file],
    go: ['go', 'run', file],
  }[language] ?? ['false']
  const { stdout } = await run(program ?? '', args, { env: { ...env, GOFLAGS: '-mod=mod' } })
  return Number(stdout.split(/\s/)[0])
}

/** Sends an example with curl and expects a status of its operation. */
async function send(id: string, change?: (text: string) => string) {
  const answered = await statusOf(operation(id).calls, 'curl', change)
  const { status, queued } = REGISTRY.find((operation) => operation.id === id) ?? {}
  expect([id, answered]).toEqual([id, expect.toBeOneOf([status, queued?.status])])
}

const has = (tool: string) => spawnSync(tool, ['--help']).error === undefined

async function confirmMailbox() {
  await sendDueConfirmations(world.app, new AbortController().signal)
  const mail = inbox.mails.at(-1)
  const { pathname } = new URL((mail && confirmLinkOf(mail)) ?? 'no mail has arrived')
  await confirmEmail(world.app, pathname.replace('/confirm/', ''))
}

async function recordAlert() {
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
    told_at: world.clock.now(),
    reminders_sent: 0,
    data: JSON.stringify(walletBalance.signals[0]?.examples['wallet-balance.moved']),
    position: 1,
    fired_at: world.clock.now(),
    created_at: world.clock.now(),
  }
  await world.database.sql`insert into alerts ${world.database.sql(row)}`
}

test('every example request is answered as its page says', async () => {
  const sent = new Set<string>()
  const story = async (...ids: readonly string[]) => {
    for (const id of ids) {
      sent.add(id)
      await send(id)
    }
  }
  await story('getPricing', 'getStats', 'getOpenApi', 'createChallenge')
  sent.add('exchangeToken')
  const wallet = bob.person.account.address
  const asked = await bob.request('POST', '/auth/challenge', { wallet, scopes: ['write'] })
  const { message } = asked.body
  const signature = await bob.person.account.signMessage({ message })
  await send('exchangeToken', (text) =>
    text.replace(/-d '[^']*'/, `-d '${JSON.stringify({ message, signature })}'`),
  )
  await story('listTokens', 'revokeToken', 'getTerms', 'acceptTerms', 'startTrial')
  await giveCredits(world.app, bob.caller.wallet, 20_000)
  await story('getAccount', 'quoteSubscription', 'createSubscription', 'listSubscriptions')
  await story('updateSubscriptions', 'createTopup')
  const draft = await bob.request('POST', '/topup', { asset: 'FLR', credits: 20_000 })
  for (const id of ['getTopup', 'confirmTopup']) {
    sent.add(id)
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
  await story('updateWatch', 'previewMessage', 'getProviderFsp')
  const watched = { type: 'provider-fsp', target: { provider: PROVIDER }, settings: {} }
  const { body: own } = await bob.request('POST', '/watches', watched)
  await story('getProviderMetrics')
  await bob.request('DELETE', `/watches/${own.id}`)
  await story('createRecipient')
  await story('listRecipients', 'updateRecipient', 'testRecipient', 'deleteRecipient')
  await story('createTelegramLink', 'configureChannel', 'listChannels')
  await confirmMailbox()
  await story('testChannel', 'removeChannel')
  await recordAlert()
  await story('listAlerts', 'exportAlerts', 'getAlertEvidence', 'acknowledge', 'deleteAlert')
  await recordAlert()
  await story('deleteAlerts', 'deleteWatch')
  expect([...sent].toSorted()).toEqual(
    reference()
      .map(({ id }) => id)
      .toSorted(),
  )
})

describe('the example of a watch type', () => {
  const LANGUAGES = ['curl', 'ts', 'py'] as const
  const first = randomInt(LANGUAGES.length)
  /** Languages in which the example of a type is sent: whole all, else one, a different one for the next type. */
  const languagesOf = (type: number) =>
    isWhole ? LANGUAGES : LANGUAGES.filter((_, at) => at === (first + type) % LANGUAGES.length)
  const t = translator('en')
  const callsOf = (name: string) => {
    const type = findOfferedType(world.app, name)
    if (type === undefined) throw new Error(`no watch type ${name}`)
    return typeDoc(world.app, t, type).calls
  }

  test.skipIf(!has('python3'))('creates a watch, with curl, TypeScript and Python', async () => {
    const types = watchTypes(world.app, t).map(({ name }) => name)
    expect(types.length).toBeGreaterThan(5)
    for (const name of types) {
      for (const language of languagesOf(types.indexOf(name))) {
        const status = await statusOf(callsOf(name), language)
        expect([name, language, status]).toEqual([name, language, 201])
        const { body } = await bob.request('GET', '/watches')
        expect(body.data).toMatchObject([{ type: name, status: 'active' }])
        await bob.request('DELETE', `/watches/${body.data[0].id}`)
      }
    }
  })

  test.skipIf(!has('go'))('creates a watch with Go', async () => {
    expect(await statusOf(callsOf('feed-move'), 'go')).toBe(201)
  })
})

describe('every example', () => {
  const write = async (language: string, ending: string) => {
    const codes = reference().flatMap(({ id, calls }) =>
      calls.filter((call) => call.id === language).map(({ code }) => ({ id, code })),
    )
    return Promise.all(
      codes.map(async ({ id, code }) => {
        const file = join(folder, `${id}.${ending}`)
        await writeFile(file, `${code}\n`)
        return file
      }),
    )
  }

  test.skipIf(!has('python3'))('compiles as Python', async () => {
    const files = await write('py', 'py')
    await run('python3', ['-m', 'py_compile', ...files])
  })

  test.skipIf(!has('gofmt'))('is formatted by gofmt', async () => {
    const files = await write('go', 'go')
    const { stdout } = await run('gofmt', ['-l', ...files])
    expect(stdout).toBe('')
  })

  test('parses as TypeScript', () => {
    for (const { id, calls } of reference()) {
      const code = calls.find((call) => call.id === 'ts')?.code ?? ''
      expect(() => stripTypeScriptTypes(code), id).not.toThrow()
    }
  })
})
