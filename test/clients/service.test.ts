import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { type SignedIn, signIn, verifyWebhook } from '../../clients/typescript/src/index.ts'
import { giveCredits } from '../support/credits.ts'
import { harness, type World } from '../support/harness.ts'

/** The client against the service and its whole world, over HTTP. */

let world: World
let baseUrl: string
let domain: string
let alice: SignedIn

beforeAll(async () => {
  world = await harness()
  baseUrl = `${await world.server.listen({ port: 0, host: '127.0.0.1' })}/api/x402`
  domain = new URL(world.app.publicUrl).host
  const { account } = PEOPLE.alice
  alice = await signIn({ baseUrl, domain, account, scopes: ['write', 'spend'], label: 'test' })
})
afterAll(() => world.close())

describe('sign-in', () => {
  test('returns a client with the requested scopes', async () => {
    expect(alice.issued.scopes.toSorted()).toEqual(['read', 'spend', 'write'])
    const { wallet } = await alice.watchdog.getAccount()
    expect(wallet).toBe(PEOPLE.alice.account.address)
  })

  test('signs nothing that names another host or another wallet', async () => {
    const { account } = PEOPLE.bob
    let signatures = 0
    const counting = {
      address: account.address,
      signMessage: (input: { message: string }) => {
        signatures += 1
        return account.signMessage(input)
      },
    }
    const elsewhere = signIn({ baseUrl, domain: 'other.example.org', account: counting })
    await expect(elsewhere).rejects.toMatchObject({ code: 'unexpected_answer' })
    const swapped: typeof fetch = async (input, init) => {
      const answer = await (await fetch(input, init)).text()
      return new Response(answer.replaceAll(account.address, PEOPLE.carol.account.address))
    }
    const other = signIn({ baseUrl, domain, account: counting, fetch: swapped })
    await expect(other).rejects.toMatchObject({ code: 'unexpected_answer' })
    expect(signatures).toBe(0)
  })
})

test('a new watch fires an alert, which arrives by webhook and is in the list of alerts', async () => {
  const { watchdog } = alice
  const { currentVersion } = await watchdog.getTerms()
  await watchdog.acceptTerms({ version: currentVersion })
  await watchdog.startTrial()
  const { secret } = await watchdog.configureChannel('webhook', { url: world.receiver.url() })
  const { address } = PEOPLE.alice.account
  const created = await watchdog.createWatch({
    type: 'wallet-balance',
    target: { address, asset: 'FLR' },
    settings: { threshold: '100' },
  })
  await world.observe()
  await world.devnet.transfer(address, PEOPLE.bob.account.address, 10n ** 20n * 2n)
  await world.observe()
  await world.deliver()
  const delivery = world.receiver.deliveries[0]
  if (delivery === undefined || !secret) throw new Error('nothing was delivered')
  const { headers, rawBody } = delivery
  const nowSeconds = world.clock.now().getTime() / 1000
  const webhook = await verifyWebhook({ secret, headers, body: rawBody, nowSeconds })
  if (webhook.event !== 'wallet-balance.moved') throw new Error(webhook.event)
  expect(webhook.data.address).toBe(address)
  const alerts = []
  for await (const alert of watchdog.allAlerts({ watchId: created.id })) alerts.push(alert.id)
  expect(alerts).toEqual([webhook.alertId])
})

test('a purchase is charged once per idempotency key', async () => {
  const { watchdog } = alice
  await giveCredits(world.app, PEOPLE.alice.account.address, 50_000)
  const replays: (string | null)[] = []
  const options = {
    idempotencyKey: 'slots-1',
    onAnswer: ({ headers }: { headers: Headers }) =>
      void replays.push(headers.get('idempotent-replayed')),
  }
  const body = { quantity: 1, periods: 1 }
  const first = await watchdog.createSubscription(body, options)
  expect(await watchdog.createSubscription(body, options)).toEqual(first)
  expect(replays).toEqual([null, 'true'])
  const { balanceCredits } = await watchdog.getAccount()
  expect(balanceCredits).toBe(50_000 - first.totalCredits)
})

test('a change is refused if the watch was changed in the meantime', async () => {
  const { watchdog } = alice
  const tags: (string | null)[] = []
  const onAnswer = ({ headers }: { headers: Headers }) => void tags.push(headers.get('etag'))
  const { data } = await watchdog.listWatches()
  const id = data[0]?.id ?? 0
  await watchdog.getWatch(id, { onAnswer })
  const ifMatch = tags[0] ?? ''
  await watchdog.updateWatch(id, { label: 'first' }, { ifMatch })
  const second = watchdog.updateWatch(id, { label: 'second' }, { ifMatch })
  await expect(second).rejects.toMatchObject({ code: 'etag_mismatch', status: 412 })
})

test('the export is a stream of CSV', async () => {
  const stream = await alice.watchdog.exportAlerts()
  const [head = '', row] = (await new Response(stream).text()).trim().split('\r\n')
  expect(head).toContain('event')
  expect(row).toContain('wallet-balance.moved')
})
