import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLogger } from '#src/log.ts'
import { linkChat } from '../support/destinations.ts'
import { BOT_TOKEN, harness, type World } from '../support/harness.ts'
import { signIn, withTrial } from '../support/people.ts'

/** No log line contains a secret. */

const FLR = 10n ** 18n
const HOOK_PATH = 'secret-part-of-the-hook'
const MAILBOX = 'very.private@example.org'

let world: World
const lines: string[] = []

beforeAll(async () => {
  const log = createLogger('debug', { write: (line) => lines.push(line) })
  world = await harness({ SMTP_URL: 'smtp://user:mail-password@127.0.0.1:1' }, log)
})
afterAll(() => world.close())

test('nothing secret is logged, also when everything fails', async () => {
  const alice = await withTrial(await signIn(world, 'alice'))
  const secrets = new Map([
    ['API token', alice.token],
    ['bot token', BOT_TOKEN],
  ])

  const hook = await alice.request('PUT', '/channels/webhook', {
    url: world.receiver.url(HOOK_PATH),
  })
  secrets.set('webhook secret', hook.body.secret)
  secrets.set('webhook address', HOOK_PATH)
  await alice.request('PUT', '/channels/email', { address: MAILBOX })
  secrets.set('mailbox', MAILBOX)
  secrets.set('password of the mail server', 'mail-password')
  await world.sendConfirmations()
  const link = await alice.request('POST', '/recipients/telegram-link', {})
  secrets.set('link code', new URL(link.body.url).searchParams.get('start') ?? '')
  await linkChat(world, alice)

  await alice.request('POST', '/watches', {
    type: 'wallet-balance',
    label: 'Private label',
    target: { address: world.devnet.people.bob.account.address, asset: 'FLR' },
    settings: { threshold: '1' },
  })
  await world.observe()
  const { carol, bob } = world.devnet.people
  await world.devnet.transfer(carol.account.address, bob.account.address, 5n * FLR)
  await world.observe()
  world.receiver.answerAlways(500)
  await world.telegram.down()
  await world.deliver()
  await world.telegram.up()
  world.receiver.answerAlways('reset')
  world.clock.advance(10)
  await world.deliver()
  await world.rpc.down()
  await world.observe().catch(() => undefined)
  await world.rpc.up()

  // Bad requests that carry secrets where none belong.
  await alice.request('POST', '/watches', { token: alice.token, nonsense: hook.body.secret })
  await alice.request('GET', `/pricing?token=${alice.token}`)
  await alice.request('POST', '/auth/token', { message: 'x', signature: `0x${'ab'.repeat(65)}` })
  secrets.set('signature', 'ab'.repeat(65))

  expect(lines.length).toBeGreaterThan(0)
  const text = lines.join('')
  const leaked = [...secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name)
  expect(leaked).toEqual([])
})

test('a secret that is logged by mistake is redacted', () => {
  const seen: string[] = []
  const log = createLogger('info', { write: (line) => seen.push(line) })
  const token = `fwd_${'a'.repeat(49)}`
  log.info({ token, nested: { authorization: `Bearer ${token}` } }, 'fields')
  log.error({ error: `POST https://api.telegram.org/bot${BOT_TOKEN}/sendMessage failed` }, 'url')
  log.error({ error: `whsec_${'b'.repeat(44)} smtp://user:password@mail.example.org` }, 'text')
  log.error(
    { error: `550 <${MAILBOX}>: unknown, POST https://hooks.slack.com/services/T1/B2/cccc` },
    'x',
  )
  log.error({ error: `https://discord.com/api/v10/webhooks/1/dddd and /api/webhooks/1/dddd` }, 'x')
  log.error({ error: `${world.app.publicUrl}/confirm/${'e'.repeat(40)}?x t.me/b?start=ffff` }, 'x')
  expect(seen.join('')).not.toMatch(/aaaa|test-token|bbbb|password|private|cccc|dddd|eeee|ffff/)
  expect(seen[3]).toContain('@example.org')
  expect(seen).toHaveLength(6)
})
