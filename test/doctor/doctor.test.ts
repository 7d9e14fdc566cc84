import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { startDevnet } from '#sandbox/devnet.ts'
import { startMailServer } from '#sandbox/inbox.ts'
import { startTelegramApi } from '#sandbox/telegram-api.ts'
import { loadConfig } from '#src/config.ts'
import { judgeDatabase } from '#src/doctor/database.ts'
import { examineDirectPayments } from '#src/doctor/direct-payments.ts'
import { examine, examineQuickly } from '#src/doctor/examine.ts'
import { lineOf } from '#src/doctor/finding.ts'
import { judgeMemory, judgeWebhook } from '#src/doctor/outside.ts'
import { testClock } from '../support/clock.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { testEnvironment } from '../support/environment.ts'
import { BOT_NAME, BOT_TOKEN } from '../support/harness.ts'
import { MIGRATIONS } from '../support/migrations.ts'

const clock = testClock()
let database: FreshDatabase
let world: Awaited<ReturnType<typeof startWorld>>
/** A server that can be told to answer anything. */
let liar: Server
let liarUrl: string
let lie: { status: number; text: string }

async function startWorld() {
  const [devnet, inbox, telegram] = await Promise.all([
    startDevnet({ contracts: true, startsAt: clock.now() }),
    startMailServer({ clock }),
    startTelegramApi({ token: BOT_TOKEN, username: BOT_NAME, clock }),
  ])
  return { devnet, inbox, telegram }
}

beforeAll(async () => {
  ;[database, world] = await Promise.all([freshDatabase(), startWorld()])
  liar = createServer((request, response) => {
    const isPage = request.url === '/robots.txt'
    response.statusCode = isPage ? 200 : lie.status
    response.end(isPage ? 'User-agent: *' : lie.text)
  }).listen(0, '127.0.0.1')
  await once(liar, 'listening')
  const address = liar.address()
  liarUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})
afterAll(async () => {
  liar.close()
  await Promise.all([
    database.drop(),
    world.devnet.close(),
    world.inbox.close(),
    world.telegram.close(),
  ])
})

/** Of an account with coins. */
const SETTLEMENT_KEY = PEOPLE.carol.privateKey

/** A configuration in which everything works, with changes. */
function environment(over: Readonly<Record<string, string>> = {}) {
  return testEnvironment({
    DATABASE_URL: database.nearUrl,
    PUBLIC_URL: liarUrl,
    FLARE_RPC_URLS: world.devnet.rpcUrl,
    SMTP_URL: world.inbox.url,
    EMAIL_FROM: 'watchdog@example.org',
    TELEGRAM_BOT_TOKEN: BOT_TOKEN,
    TELEGRAM_API_ROOT: world.telegram.url,
    NATIVE_PAY_TO: world.devnet.contracts.payTo,
    X402_SETTLEMENT_KEY: SETTLEMENT_KEY,
    PAYMENT_ROUTER: world.devnet.contracts.router,
    SERVICE_TOKEN_ADDRESS: world.devnet.contracts.serviceToken,
    SERVICE_TOKEN_USD_MICROS: '1000',
    PROVIDER_DATASET_URL: 'http://127.0.0.1:1/{epoch}/passes.json',
    REWARD_DATA_URLS: 'http://127.0.0.1:1/',
    P_CHAIN_RPC_URL: 'http://127.0.0.1:1',
    HEARTBEAT_URL: 'http://127.0.0.1:1/beat',
    SUPPORT_URL: 'https://support.example.org',
    ...over,
  })
}

const lines = async (over: Readonly<Record<string, string>> = {}) =>
  (
    await examine(loadConfig(environment(over)), {
      clock,
      databaseUrl: over['DATABASE_URL'] ?? database.nearUrl,
      migrations: MIGRATIONS,
    })
  ).map(lineOf)

test('finds nothing wrong in a healthy installation, and says what each part can', async () => {
  await world.devnet.mine(200)
  clock.set(new Date(Number((await world.devnet.client.getBlock()).timestamp) * 1000))
  const found = await lines()
  expect(found.filter((line) => line.startsWith('WRONG') && !line.includes('clock'))).toEqual([])
  for (const part of [
    'serves the chain, and has the registry',
    'newest block',
    'keeps the state of',
    'returns the logs of',
    'accepted 30 requests',
    `the bot is @${BOT_NAME}`,
    'takes the log-in',
    'takes payments for',
    'is accepted by the router',
    'x402 token: USD₮0 at',
    'x402 settlement account: ',
    'public address: answers',
    'PostgreSQL ',
    'is up to date',
    'can be written',
    'MiB',
  ]) {
    expect(found.join('\n')).toContain(part)
  }
})

const DEAD = 'http://127.0.0.1:1'
const OTHER = '0x00000000000000000000000000000000000000a1'
const EMPTY_KEY = `0x${'5e'.repeat(32)}`

test.each<[string, Readonly<Record<string, string>>, string]>([
  [
    'an endpoint that is dead',
    { FLARE_RPC_URLS: DEAD },
    'does not answer (no connection). To do: check its address',
  ],
  [
    'another chain',
    { CHAIN_ID: '19', X402_SETTLEMENT_KEY: '' },
    'serves Flare (14), not 19. To do: correct FLARE_RPC_URLS or CHAIN_ID',
  ],
  [
    'no registry',
    { FLARE_CONTRACT_REGISTRY: OTHER },
    'has no contract at 0x00000000000000000000000000000000000000A1',
  ],
  [
    'a wrong bot token',
    { TELEGRAM_BOT_TOKEN: `1:${'x'.repeat(35)}` },
    'Telegram: refuses the bot token. To do: put the token of BotFather',
  ],
  ['no Telegram', { TELEGRAM_API_ROOT: DEAD }, 'Telegram: does not answer'],
  ['no mail server', { SMTP_URL: 'smtp://127.0.0.1:1' }, 'WRONG e-mail:'],
  [
    'an account without gas for payments',
    { X402_SETTLEMENT_KEY: EMPTY_KEY },
    'holds 0 FLR, enough for 0 payments: no call can be paid. To do: send FLR to 0x',
  ],
  [
    'a facilitator that does not answer',
    { X402_SETTLEMENT_KEY: '', X402_FACILITATOR_URL: DEAD },
    'x402 facilitator: 127.0.0.1:1 does not answer. To do: correct X402_FACILITATOR_URL',
  ],
  [
    'no router',
    { PAYMENT_ROUTER: OTHER },
    'payment router: there is no router at 0x00000000000000000000000000000000000000A1',
  ],
  ['no token', { SERVICE_TOKEN_ADDRESS: OTHER }, 'token service: there is no token at'],
  [
    'nobody can pay',
    {
      NATIVE_PAY_TO: '',
      X402_SETTLEMENT_KEY: '',
      PAYMENT_ROUTER: '',
      SERVICE_TOKEN_ADDRESS: '',
      SERVICE_TOKEN_USD_MICROS: '',
    },
    'billing is on and nobody can pay',
  ],
  [
    'a public address that leads nowhere',
    { PUBLIC_URL: DEAD },
    'public address: http://127.0.0.1:1 cannot be reached',
  ],
  [
    'a database that is dead',
    { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c' },
    'WRONG database: cannot be used',
  ],
  ['a database that does not exist', { DATABASE_URL: 'missing' }, 'does not exist'],
  [
    'no channels',
    { TELEGRAM_BOT_TOKEN: '', SMTP_URL: '', EMAIL_FROM: '' },
    'warn Telegram: off: TELEGRAM_BOT_TOKEN is empty',
  ],
  ['no monitor', { HEARTBEAT_URL: '' }, 'nobody is told when this machine stops'],
])('names %s and what to do', async (_name, over, line) => {
  const url =
    over['DATABASE_URL'] === 'missing'
      ? database.nearUrl.replace(/watchdog_test_\w+/, 'watchdog_missing')
      : over['DATABASE_URL']
  const found = await lines({ ...over, ...(url !== undefined && { DATABASE_URL: url }) })
  expect(found.join('\n')).toContain(line)
  // No finding hides the others, and none has a secret.
  expect(found.length).toBeGreaterThan(8)
  expect(found.join('\n')).not.toContain(BOT_TOKEN)
})

test.each([
  ['an endpoint that limits', { status: 429, text: '' }, 'http 429'],
  ['an endpoint of HTML', { status: 200, text: '<html>' }, 'answer is no JSON-RPC'],
  [
    'an endpoint of garbage',
    { status: 200, text: '{"jsonrpc":"2.0","id":1,"result":{"a":1}}' },
    'serves an unknown chain',
  ],
  [
    'an endpoint that refuses',
    { status: 200, text: '{"error":{"code":-32601,"message":"no method"}}' },
    'rpc -32601: no method',
  ],
])('names %s without its key', async (_name, answer, words) => {
  lie = answer
  const found = (await lines({ FLARE_RPC_URLS: `${liarUrl}/key-4711-secret` })).join('\n')
  expect(found).toContain(words)
  expect(found).not.toContain('key-4711-secret')
})

test.each([
  ['eip155:14', 'serves eip155:14'],
  // Its id begins with that of Flare.
  ['eip155:143', 'does not serve eip155:14'],
])('of a facilitator of %s it says: %s', async (network, words) => {
  lie = { status: 200, text: JSON.stringify({ kinds: [{ scheme: 'exact', network }] }) }
  const over = { X402_SETTLEMENT_KEY: '', X402_FACILITATOR_URL: `${liarUrl}/x402` }
  const found = await examineDirectPayments(loadConfig(environment(over)))
  expect(found.map(lineOf).join('\n')).toContain(
    `x402 facilitator: ${new URL(liarUrl).host} ${words}`,
  )
})

test('the quick part of a start names what is off and endpoints that are wrong, and nothing else', async () => {
  const config = loadConfig(
    environment({
      ...{ CHAIN_ID: '19', SMTP_URL: '', EMAIL_FROM: '', X402_SETTLEMENT_KEY: '' },
    }),
  )
  const found = (await examineQuickly(config, clock)).filter(({ level }) => level !== 'ok')
  expect(found.map(({ subject }) => subject)).toEqual([
    'e-mail',
    expect.stringContaining('endpoint 127.0.0.1'),
  ])
})

test('judges versions, rights, clocks, webhooks and memory', () => {
  const facts = {
    version: '18.4',
    major: 18,
    connectionsMax: 100,
    isReadOnly: false,
    canCreate: true,
    aheadMs: 0,
  }
  const judged = (over: Partial<typeof facts>) =>
    judgeDatabase({ ...facts, ...over })
      .map(lineOf)
      .join('\n')
  expect(judged({})).not.toContain('WRONG')
  expect(judged({ version: '13.2', major: 13 })).toContain(
    'PostgreSQL 13.2 is too old. To do: use PostgreSQL 14 or newer',
  )
  expect(judged({ isReadOnly: true })).toContain('is read-only')
  expect(judged({ canCreate: false })).toContain('its user may create no tables')
  expect(judged({ connectionsMax: 20 })).toContain('allows 20 connections')
  expect(judged({ aheadMs: 3_600_000 })).toContain(
    'of this host is 3600 s ahead of that of the database',
  )
  const hook = (info: object, usesWebhook: boolean) =>
    lineOf(
      judgeWebhook(
        { pending_update_count: 0, ...info },
        { publicUrl: 'https://a.org', usesWebhook },
      ),
    )
  expect(hook({ url: 'https://b.org/x' }, false)).toContain('delivers updates to b.org')
  expect(hook({ url: 'https://b.org/x' }, true)).toContain('not to PUBLIC_URL')
  expect(hook({ url: 'https://a.org/x', last_error_message: 'certificate' }, true)).toContain(
    'cannot deliver updates: certificate',
  )
  expect(hook({ url: '' }, false)).toContain('ok')
  expect(lineOf(judgeMemory({ bytes: 256 * 2 ** 20, isEmbedded: true }))).toContain(
    '256 MiB is too little: 512',
  )
  expect(lineOf(judgeMemory({ bytes: 400 * 2 ** 20, isEmbedded: false }))).toContain('ok')
})
