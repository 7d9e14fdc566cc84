import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textsIn } from '#src/i18n/catalogue.ts'
import { translate, writeChainNames } from '#src/i18n/translate.ts'
import { CHAINS, serveChain } from '#src/kernel/chains.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { openApiDocument } from '#src/operations/openapi/openapi.ts'
import { confirmMailbox, linkChat } from '../support/destinations.ts'
import { harness, type World } from '../support/harness.ts'
import { request, signIn, withTrial } from '../support/people.ts'
import { someOfEachKind } from '../support/runs.ts'

/** Words that are wrong on every chain but Flare: not names of protocols, nor of a price feed. */
const WRONG = /\b(?:Flare(?! (?:Systems|Data Connector|Time Series))|W?FLR(?!\/))\b/

const OTHERS = CHAINS.filter(({ id }) => id !== 14)
/** Chains on which the journey is played: whole all of them, else a random one. */
const PLAYED = someOfEachKind(OTHERS)

describe.each(PLAYED)('on $name', (chain) => {
  let world: World
  beforeAll(async () => {
    world = await harness({ CHAIN_ID: String(chain.id) })
  })
  afterAll(async () => {
    await world.close()
    writeChainNames(serveChain(14))
  })

  test('an alert names the coin and the chain in chat, mail and webhook', async () => {
    const alice = await withTrial(await signIn(world, 'alice'))
    await alice.request('PUT', '/channels/email', { address: 'ops@example.org' })
    await confirmMailbox(world)
    await alice.request('PUT', '/channels/webhook', { url: world.receiver.url() })
    const ann = await linkChat(world, alice)
    await world.deliver()
    world.inbox.clear()
    const { bob, carol } = world.devnet.people
    const made = await alice.request('POST', '/watches', {
      type: 'wallet-balance',
      target: { address: bob.account.address, asset: 'FLR' },
      settings: { threshold: '100' },
    })
    expect(made.status, made.text).toBe(201)
    expect(made.body.label).toMatch(new RegExp(`^${chain.symbol} · 0x`))
    await world.observe()
    await world.devnet.transfer(carol.account.address, bob.account.address, 150n * 10n ** 18n)
    await world.observe()
    await world.deliver()

    const title = `150\u00a0${chain.symbol} arrived · ${chain.name}`
    const hook = await world.receiver.waitFor(({ hook }) => hook === 'main')
    expect(hook.json).toMatchObject({
      rendered: { title },
      renderedMessage: { chainId: chain.id, network: chain.key },
    })
    const { renderedMessage } = hook.json as { renderedMessage: { fields: { href?: string }[] } }
    const links = renderedMessage.fields.flatMap(({ href = [] }) => href)
    expect(links).not.toHaveLength(0)
    for (const link of links) expect(link).toContain(`https://${chain.key}-explorer.flare.network/`)
    const mail = await world.inbox.waitFor(() => true)
    const chat = world.telegram.lastMessage(ann.chat)
    const plain = (text = '') => text.replaceAll('\u00a0', ' ')
    for (const text of [mail.subject, mail.text, chat?.text].map(plain)) {
      expect(text).toContain(`received 150 ${chain.symbol} · ${chain.name}`)
      expect(text.replace(/https?:\S+/g, '')).not.toMatch(WRONG)
    }
  })

  test('its coin has its symbol in targets and data', async () => {
    const alice = await signIn(world, 'alice')
    const { bob, carol } = world.devnet.people
    const dave = alice.person
    const body = (asset: string) => ({
      type: 'wallet-balance',
      target: { address: dave.account.address, asset },
      settings: { threshold: '100' },
    })
    const { body: listed } = await alice.request('GET', '/watches')
    for (const { id } of listed.data) await alice.request('DELETE', `/watches/${id}`)
    const foreign = await alice.request('POST', '/watches', body('XYZ'))
    expect(foreign.status).toBe(400)
    const made = await alice.request('POST', '/watches', body(chain.symbol))
    expect([made.status, made.body.target?.asset]).toEqual([201, chain.symbol])
    const read = await alice.request('GET', `/watches/${made.body.id}`)
    expect(read.body.target.asset).toBe(chain.symbol)
    await world.observe()
    await world.devnet.transfer(carol.account.address, dave.account.address, 150n * 10n ** 18n)
    await world.observe()
    const { body: alerts } = await alice.request('GET', `/alerts?watchId=${made.body.id}`)
    expect(alerts.data).toMatchObject([{ data: { asset: chain.symbol, symbol: chain.symbol } }])
    await alice.request('DELETE', `/watches/${made.body.id}`)
    const before = await alice.request('POST', '/watches', {
      ...body('FLR'),
      target: { address: bob.account.address, asset: 'FLR' },
    })
    expect([before.status, before.body.target?.asset]).toEqual([201, chain.symbol])
  })

  test('a sign-in message has its chain id, and one with Flare’s is refused', async () => {
    const wallet = world.devnet.people.bob.account.address
    const asked = await request(world, 'POST', '/auth/challenge', { wallet, scopes: ['read'] })
    const { message } = asked.body
    expect(message).toContain(`Chain ID: ${chain.id}\n`)
    const foreign = message.replace(`Chain ID: ${chain.id}\n`, 'Chain ID: 14\n')
    const signature = await world.devnet.people.bob.account.signMessage({ message: foreign })
    const refused = await request(world, 'POST', '/auth/token', { message: foreign, signature })
    expect(refused.status).toBeGreaterThanOrEqual(400)
  })

  test('the pricing document and the API description name it', async () => {
    const pricing = await request(world, 'GET', '/pricing')
    expect(pricing.body).toMatchObject({ chainId: chain.id, network: chain.key })
    for (const locale of LOCALES) {
      const { info } = openApiDocument(world.app, locale)
      expect(JSON.stringify(info)).toContain(chain.name)
      expect(JSON.stringify(info)).not.toMatch(WRONG)
    }
  })

  test('pages of every locale name it instead of Flare', async () => {
    for (const locale of LOCALES) {
      const page = await world.server.inject({ url: `/?lang=${locale}` })
      expect(page.statusCode).toBe(200)
      expect(page.body).toContain(`· ${chain.name} · Watchdog</title>`)
    }
  })
})

test.each(OTHERS)('texts of every locale name $name instead of Flare', (chain) => {
  writeChainNames(serveChain(chain.id))
  try {
    for (const locale of LOCALES) {
      const start = translate(locale, 'bot:profile.short')
      expect(start).toContain(chain.name)
      expect(start).not.toMatch(WRONG)
    }
  } finally {
    writeChainNames(serveChain(14))
  }
})

test('on Flare the texts are those of the locale files', () => {
  for (const locale of LOCALES)
    expect(translate(locale, 'bot:profile.short')).toBe(textsIn(locale)['bot']?.['profile.short'])
})
