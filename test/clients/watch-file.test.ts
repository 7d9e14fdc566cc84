import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { main } from '../../clients/typescript/src/cli/main.ts'
import { signIn, Watchdog } from '../../clients/typescript/src/index.ts'
import { giveCredits } from '../support/credits.ts'
import { harness, type World } from '../support/harness.ts'
import { signIn as signInFrom } from '../support/people.ts'
import { proxyOf } from './service-proxy.ts'

/** Watches in a file: `flare-watchdog plan`, `apply`, `test` and `import` against the service, over HTTP. */

const RUN = join(import.meta.dirname, '../../clients/typescript/src/cli/run.ts')
const CAROL = PEOPLE.carol.account.address
const HOOK = 'https://discord.com/api/webhooks/123456789012345678/abcdefghijklmnopqrstuvwxyz'

let world: World
let url: string
let token: string
let watchdog: Watchdog
let folder: string
let file: string

beforeAll(async () => {
  world = await harness({ TRUST_PROXY: '1' })
  url = `${await world.server.listen({ port: 0, host: '127.0.0.1' })}/api/x402`
  await useNewToken()
  const { currentVersion } = await watchdog.getTerms()
  await watchdog.acceptTerms({ version: currentVersion })
  await giveCredits(world.app, PEOPLE.alice.account.address, 1_000_000)
  await watchdog.createSubscription({ quantity: 6, periods: 1 })
  folder = await mkdtemp(join(tmpdir(), 'watch-file-'))
  file = join(folder, 'watches.yaml')
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await world.close()
})
beforeEach(async () => {
  if (started++ % TESTS_OF_A_TOKEN === 0) await useNewToken()
  for await (const { id } of watchdog.allWatches()) await watchdog.deleteWatch(id)
  for await (const { id } of watchdog.allRecipients()) await watchdog.deleteRecipient(id)
  await rm(join(folder, 'watches.secrets.env'), { force: true })
})

/** A token has 120 changes a minute, and a wallet 10 tokens. */
const TESTS_OF_A_TOKEN = 4
let started = 0

async function useNewToken(): Promise<void> {
  const client = await signInFrom(world, 'alice')
  token = client.token
  watchdog = new Watchdog({ baseUrl: url, token })
}

/** Runs the command with the file. @param address the service, or something between */
async function cli(args: readonly string[], over: Readonly<Record<string, string>> = {}) {
  const output: string[] = []
  const errors: string[] = []
  const code = await main(args, {
    environment: { WATCHDOG_URL: url, WATCHDOG_TOKEN: token, DISCORD: HOOK, ...over },
    out: (text) => void output.push(text),
    error: (text) => void errors.push(text),
  })
  return { code, out: output.join(''), error: errors.join('') }
}

const FILE = `
recipients:
  Team:
    channel: discord
    url: \${DISCORD}
watches:
  Treasury:
    type: wallet-balance
    target: { address: ${CAROL}, asset: FLR }
    settings: { threshold: '100' }
    recipients: [Team]
  Price:
    type: feed-move
    target: { feed: FLR/USD }
    settings: { below: '0.01' }
`

/** Lets a day pass, after which the service has forgotten the keys of earlier tests. */
const passDay = () => world.clock.advance(90_000)

const labels = async () => {
  const { data } = await watchdog.listWatches()
  return data.map(({ label }) => label).toSorted()
}

test('plan shows what apply does, and a second apply changes nothing', async () => {
  await writeFile(file, FILE)
  const plan = await cli(['plan', file])
  expect(plan).toMatchObject({ code: 2, error: '' })
  expect(plan.out).toContain('+ watch "Treasury"')
  expect(plan.out).toContain('3 to create, 0 to change, 0 to delete.')
  expect(plan.out).not.toContain(HOOK)
  expect(await labels()).toEqual([])
  const dry = await cli(['apply', file, '--dry-run'])
  expect(dry).toEqual(plan)
  const apply = await cli(['apply', file])
  expect(apply).toMatchObject({ code: 0, error: '' })
  expect(apply.out).toContain('created watch "Price"')
  const { data } = await watchdog.listWatches()
  const { data: recipients } = await watchdog.listRecipients()
  const treasury = data.find(({ label }) => label === 'Treasury')
  expect(treasury?.recipientIds).toEqual([recipients[0]?.id])
  const versions = data.map(({ version }) => version)
  const again = await cli(['apply', file])
  expect(again).toMatchObject({ code: 0, error: '' })
  expect(again.out).toContain('No change')
  expect((await watchdog.listWatches()).data.map(({ version }) => version)).toEqual(versions)
  expect((await cli(['plan', file])).code).toBe(0)
})

test('drift is shown field by field and ended, also where the file relies on defaults', async () => {
  await writeFile(file, FILE)
  await cli(['apply', file])
  const { data } = await watchdog.listWatches()
  const treasury = data.find(({ label }) => label === 'Treasury')
  const price = data.find(({ label }) => label === 'Price')
  await watchdog.updateWatch(treasury?.id ?? 0, {
    settings: { threshold: '7', floor: '3' },
    status: 'paused',
    recipientIds: null,
    signals: [{ id: 'balance-change', enabled: false }],
  })
  await watchdog.updateWatch(price?.id ?? 0, { cooldownSeconds: 60, minSeverity: 'critical' })
  const plan = await cli(['plan', file])
  expect(plan.code).toBe(2)
  for (const line of [
    'settings.threshold: 7 → 100',
    'settings.floor: 3 → none',
    'signals.balance-change.enabled: false → true',
    'recipients: [] → ["Team"]',
    'status: paused → active',
    'cooldownSeconds: 60 → 0',
    'minSeverity: critical → info',
  ]) {
    expect(plan.out).toContain(line)
  }
  expect(await cli(['apply', file])).toMatchObject({ code: 0, error: '' })
  expect((await cli(['plan', file])).out).toContain('No change')
})

test('a moved destination is noticed by what the service shows of it', async () => {
  await writeFile(file, FILE)
  await cli(['apply', file])
  const moved = { DISCORD: HOOK.replace('345678/', '349999/') }
  const plan = await cli(['plan', file], moved)
  expect(plan).toMatchObject({ code: 2 })
  expect(plan.out).toContain('url: discord …5678 → another destination')
  expect(await cli(['apply', file], moved)).toMatchObject({ code: 0 })
  expect((await watchdog.listRecipients()).data[0]?.target).toBe('discord …9999')
})

test('what the file does not name stays, and --prune deletes it; a new target needs --prune, too', async () => {
  await writeFile(file, FILE)
  await cli(['apply', file])
  const { data } = await watchdog.listWatches()
  const before = data.find(({ label }) => label === 'Treasury')?.id
  const other = FILE.replace(/ {2}Price:[\s\S]*/, '').replace(CAROL, PEOPLE.bob.account.address)
  await writeFile(file, other)
  const refused = await cli(['plan', file])
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.error).toContain('watch "Treasury" has another target')
  const plan = await cli(['plan', file, '--prune'])
  expect(plan.out).toContain('- watch "Price"')
  expect(plan.out).toContain('-/+ watch "Treasury"')
  expect(await cli(['apply', file, '--prune'])).toMatchObject({ code: 0, error: '' })
  const after = await watchdog.listWatches()
  expect(after.data.map(({ label }) => label)).toEqual(['Treasury'])
  expect(after.data[0]?.id).not.toBe(before)
  await writeFile(file, FILE)
  await cli(['apply', file, '--prune'])
  await writeFile(file, `recipients:\n  Team: { channel: discord, url: "\${DISCORD}" }\n`)
  const kept = await cli(['apply', file, '--prune'])
  expect(kept.out).toContain('No change')
  expect(await labels()).toEqual(['Price', 'Treasury'])
})

test('a watch that was deleted by hand is created again, with the same contents on the same day', async () => {
  await writeFile(file, FILE)
  for (let time = 0; time < 3; time++) {
    expect(await cli(['apply', file])).toMatchObject({ code: 0, error: '' })
    const { data } = await watchdog.listWatches()
    expect(data.length).toBe(2)
    for (const { id } of data) await watchdog.deleteWatch(id)
  }
})

test('two applies at once create each thing once, and both end well', async () => {
  passDay()
  await writeFile(file, FILE)
  const both = await Promise.all([cli(['apply', file]), cli(['apply', file]), cli(['apply', file])])
  expect(both.map(({ code, error }) => [code, error])).toEqual([
    [0, ''],
    [0, ''],
    [0, ''],
  ])
  expect(await labels()).toEqual(['Price', 'Treasury'])
  expect((await watchdog.listRecipients()).data.length).toBe(1)
})

test('two applies of different files leave one watch of each name', async () => {
  passDay()
  const second = join(folder, 'second.yaml')
  await writeFile(file, FILE)
  await writeFile(second, FILE.replace("threshold: '100'", "threshold: '200'"))
  await Promise.all([cli(['apply', file]), cli(['apply', second])])
  expect(await labels()).toEqual(['Price', 'Treasury'])
})

test('a change that somebody else makes between plan and apply is not overwritten', async () => {
  await writeFile(file, FILE)
  await cli(['apply', file])
  const { data } = await watchdog.listWatches()
  const id = data.find(({ label }) => label === 'Treasury')?.id ?? 0
  await watchdog.updateWatch(id, { cooldownSeconds: 90 })
  let isChanged = false
  const between = await proxyOf(url, async (method, path) => {
    if (isChanged || method !== 'GET' || path !== `/watches/${id}`) return
    isChanged = true
    await watchdog.updateWatch(id, { settings: { threshold: '5' } })
  })
  const apply = await cli(['apply', file], { WATCHDOG_URL: between.url })
  between.close()
  expect(isChanged).toBe(true)
  expect(apply).toMatchObject({ code: 1 })
  expect(apply.error).toContain('changed by somebody else')
  expect((await watchdog.getWatch(id)).settings).toMatchObject({ threshold: '5' })
})

test.each([
  ['before the request', false],
  ['after the service did it, before the answer', true],
])('an apply that is killed %s continues with the next one', async (_when, isDone) => {
  passDay()
  await writeFile(file, FILE)
  const control = new AbortController()
  const killed = Promise.withResolvers<void>()
  let creations = 0
  const between = await proxyOf(url, async (method, path, forward) => {
    if (method !== 'POST' || path !== '/watches') return
    creations += 1
    if (creations < 2) return
    if (isDone) await forward()
    control.abort()
    killed.resolve()
    await new Promise(() => undefined)
  })
  const child = spawn(process.execPath, [RUN, 'apply', file], {
    env: { ...process.env, WATCHDOG_URL: between.url, WATCHDOG_TOKEN: token, DISCORD: HOOK },
    signal: control.signal,
    killSignal: 'SIGKILL',
  })
  child.on('error', () => undefined)
  await killed.promise
  between.close()
  expect((await labels()).length).toBe(isDone ? 2 : 1)
  const plan = await cli(['plan', file])
  expect(plan.code).toBe(isDone ? 0 : 2)
  expect(await cli(['apply', file])).toMatchObject({ code: 0, error: '' })
  expect(await labels()).toEqual(['Price', 'Treasury'])
})

test('an apply without a free slot says what was done, and continues when there is one', async () => {
  const address = PEOPLE.bob.account
  const domain = new URL(world.app.publicUrl).host
  const bob = await signIn({ baseUrl: url, domain, account: address, scopes: ['write', 'spend'] })
  const { currentVersion } = await bob.watchdog.getTerms()
  await bob.watchdog.acceptTerms({ version: currentVersion })
  await bob.watchdog.startTrial()
  await writeFile(file, FILE)
  const over = { WATCHDOG_TOKEN: bob.issued.token }
  const first = await cli(['apply', file], over)
  expect(first.code).toBe(1)
  expect(first.out).toContain('created watch "Treasury"')
  expect(first.out).toContain('What is listed above was done.')
  expect(first.error).toContain('no_free_slot')
  await giveCredits(world.app, address.address, 100_000)
  await bob.watchdog.createSubscription({ quantity: 1, periods: 1 })
  expect(await cli(['apply', file], over)).toMatchObject({ code: 0, error: '' })
  expect((await bob.watchdog.listWatches()).data.length).toBe(2)
})

test('the secret of a new webhook goes into a file that only its owner reads; mail and chats wait', async () => {
  const hook = world.receiver.url()
  await writeFile(
    file,
    `recipients:
  On call: { channel: webhook, url: ${hook} }
  Mail: { channel: email, address: ops@example.org }
  Chat: { channel: telegram }
watches:
  Treasury:
    type: wallet-balance
    target: { address: ${CAROL}, asset: FLR }
    settings: { threshold: '100' }
    recipients: [On call, Chat]
`,
  )
  const nowhere = ['--secrets', join(folder, 'no/such/folder.env')]
  expect((await cli(['apply', file, ...nowhere])).error).toContain('cannot be written')
  expect((await watchdog.listRecipients()).data).toEqual([])
  const apply = await cli(['apply', file])
  expect(apply).toMatchObject({ code: 0, error: '' })
  expect(apply.out).toContain('recipient "Mail" waits: its reader must confirm o…@example.org')
  expect(apply.out).toMatch(/to link the chat "Chat", open within 15 minutes: https:\/\/t\.me\//)
  expect(apply.out).toContain('recipient "Chat" waits')
  const secrets = join(folder, 'watches.secrets.env')
  expect(await readFile(secrets, 'utf8')).toMatch(/^WATCHDOG_SECRET_ON_CALL=whsec_\S+\n$/)
  expect((await stat(secrets)).mode & 0o777).toBe(0o600)
  expect(apply.out).not.toContain('whsec_')
  expect((await cli(['plan', file])).code).toBe(0)
  const tests = await cli(['test', file])
  expect(tests.out).toContain('On call: delivered')
  expect(tests.out).toContain('Mail: waits: its reader must confirm it')
  expect(tests.out).toContain('Chat: waits: a person must link its chat')
  expect(tests.code).toBe(0)
  await writeFile(
    file,
    'recipients:\n  New: { channel: slack, url: https://hooks.slack.com/services/T/B/x }\n',
  )
  expect(await cli(['test', file])).toMatchObject({
    code: 1,
    out: 'New: does not exist: apply first\n',
  })
})

test('settings are changed by field, and a wallet of a file must be that of the token', async () => {
  await writeFile(file, 'settings:\n  timezone: Europe/Berlin\n  recoveries: false\n')
  const plan = await cli(['plan', file])
  expect(plan.out).toContain('timezone: UTC → Europe/Berlin')
  expect(await cli(['apply', file])).toMatchObject({ code: 0, error: '' })
  expect(await watchdog.getSettings()).toMatchObject({
    timezone: 'Europe/Berlin',
    recoveries: false,
    minSeverity: 'info',
  })
  await writeFile(file, `wallet: '${CAROL}'\nwatches: {}\n`)
  expect((await cli(['apply', file, '--prune'])).error).toContain('the token is of')
})

describe('mistakes are found before anything is sent, with their lines', () => {
  test.each([
    ['malformed YAML', 'watches:\n  A: [1, 2\n', /watches\.yaml:\d+: /],
    ['a key twice', 'watches:\n  A: {}\n  A: {}\n', /watches\.yaml:3: the name "A" is there twice/],
    [
      'a name twice',
      'watches:\n  1: { a: 1 }\n  "1": { a: 1 }\n',
      /:3: the name "1" is there twice/,
    ],
    ['an unknown section', 'watchs: {}\n', /:1: unknown key "watchs"; known are wallet,/],
    ['a list', 'watches:\n  - A\n', /:1: watches must be a map/],
    ['nothing', '', /:1: must have wallet, recipients/],
    [
      'a missing variable',
      `recipients:\n  T:\n    channel: discord\n    url: \${NO}\n`,
      /:4: the environment variable NO is not set/,
    ],
    [
      'an unknown key',
      watchWith("settings: { treshold: '1' }"),
      /:5: "A" › settings › treshold unknown key "treshold"; known: threshold,/,
    ],
    [
      'a number for a text',
      watchWith('settings: { threshold: 100 }'),
      /:5: "A" › settings › threshold must be a text: write "100" in quotes/,
    ],
    [
      'an unknown signal',
      watchWith("settings: { threshold: '1' }\n    signals: [{ id: x }]"),
      /:6: "A" › signals › 0 › id is no signal of this type/,
    ],
    [
      'an unknown recipient',
      watchWith("settings: { threshold: '1' }\n    recipients: [Nobody]"),
      /:6: "A" › recipients › 0 names "Nobody"/,
    ],
    [
      'an unknown type',
      'watches:\n  A: { type: x, target: {} }\n',
      /:2: "A" › type needs type: wallet-balance, feed-move/,
    ],
    [
      'a wrong address',
      watchWith("settings: { threshold: '1' }").replace(CAROL, '0x12'),
      /:4: "A" › target › address "0x12" does not have the form/,
    ],
    [
      'settings of the service',
      'settings: { timezon: UTC }\n',
      /:1: "settings" › timezon unknown key/,
    ],
  ])('%s', async (_what, text, expected) => {
    let calls = 0
    const between = await proxyOf(url, async (method) => {
      if (method !== 'GET') calls += 1
    })
    await writeFile(file, text)
    const outcome = await cli(['apply', file], { WATCHDOG_URL: between.url })
    between.close()
    expect(outcome.error).toMatch(expected)
    expect(outcome).toMatchObject({ code: 1, out: '' })
    expect(calls).toBe(0)
  })

  test('a file that does not exist, an unknown command, an unknown option, a refused token', async () => {
    expect((await cli(['plan', join(folder, 'none.yaml')])).error).toContain('cannot be read')
    expect((await cli(['destroy', file])).error).toContain('unknown command')
    expect((await cli(['plan', file, '--force'])).code).toBe(1)
    await writeFile(file, FILE)
    const refused = await cli(['plan', file], { WATCHDOG_TOKEN: 'fwd_wrong' })
    expect(refused.error).toContain('invalid_token')
    expect(refused.error).not.toContain('fwd_wrong')
  })
})

test('the settings of fsp-observer become a file that applies, without a secret in it', async () => {
  const env = join(folder, '.env')
  const target = join(folder, 'imported.yaml')
  const hooks = `${HOOK},${HOOK.replace('345678/', '349999/')}`
  await writeFile(
    env,
    [
      '# of the observer',
      `IDENTITY_ADDRESS=${CAROL}`,
      'RPC_BASE_URL=https://flare.example.org',
      `NOTIFICATION_DISCORD_WEBHOOK="${hooks}"`,
      `NOTIFICATION_GENERIC_WEBHOOK=${world.receiver.url()}`,
      'NOTIFICATION_TELEGRAM_BOT_TOKEN=4711:secret-of-a-bot',
      'NOTIFICATION_TELEGRAM_CHAT_ID=42',
      'FEE_THRESHOLD=40',
      'FALSE_POSITIVE_THRESHOLD=5',
      'SUPPRESS_FTSO_MISSING_FEED=true',
      'SOMETHING_ELSE=1',
      '',
    ].join('\n'),
  )
  const imported = await cli(['import', 'fsp-observer', env, '--out', target])
  expect(imported).toMatchObject({ code: 0, error: '' })
  expect(imported.out).toContain('line 3: RPC_BASE_URL is not taken over')
  expect(imported.out).toContain('line 11: SOMETHING_ELSE is not taken over: unknown here')
  const yaml = await readFile(target, 'utf8')
  for (const secret of ['abcdefgh', 'secret-of-a-bot', world.receiver.url()]) {
    expect(yaml + imported.out).not.toContain(secret)
  }
  const apply = await cli(['apply', target, '--env-file', env])
  expect(apply).toMatchObject({ code: 0, error: '' })
  const { data } = await watchdog.listWatches()
  const signal = (id: string) => data[0]?.signals.find((one) => one.id === id)?.parameters
  expect(data[0]?.type).toBe('provider-fsp')
  expect(signal('balance-low')).toMatchObject({ minimumFlr: 40 })
  expect(signal('fast-updates')).toMatchObject({ probability: 0.05 })
  const { data: recipients } = await watchdog.listRecipients()
  expect(recipients.map(({ target: shown }) => shown).slice(0, 2)).toEqual([
    'discord …5678',
    'discord …9999',
  ])
  expect((await cli(['test', target, '--env-file', env])).out).toContain('Webhook: delivered')
  const again = await cli(['import', 'fsp-observer', env, '--out', target])
  expect(again.error).toContain('cannot be written')
  await writeFile(env, 'IDENTITY_ADDRESS=address\nnonsense\n')
  const wrong = await cli(['import', 'fsp-observer', env, '--out', join(folder, 'x.yaml')])
  expect(wrong.error).toContain('.env:1: IDENTITY_ADDRESS must be an address')
  expect(wrong.error).toContain('.env:2: is not NAME=value')
})

function watchWith(rest: string): string {
  return `watches:\n  A:\n    type: wallet-balance\n    target: { address: ${CAROL}, asset: FLR }\n    ${rest}\n`
}
