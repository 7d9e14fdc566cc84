import { setImmediate } from 'node:timers/promises'
import { fastify } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import type { Chain } from '#src/chain/chain.ts'
import { translate, translator, typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { directionOf, LOCALES } from '#src/kernel/locale.ts'
import { RATE_CLASSES } from '#src/operations/gate/limits.ts'
import { registerPages } from '#src/pages/index.ts'
import { providerTexts } from '#src/pictures/look-up-text.ts'
import { watchStart } from '#src/telegram/links.ts'
import { createLookUps } from '#src/watches/look-up.ts'
import { type WatchWorld, watchWorld } from '../watches/world.ts'
import { textOf } from './site.ts'

/** The box of the home page answers a typed text without sign-in. */

let world: WatchWorld
/** A client of its own for each test, because look-ups are counted by client. */
let client = 1

beforeAll(async () => {
  const providers = [
    { name: 'Anchor', stake: 3_000_000_000 },
    { name: 'Alpha Oracle' },
    { name: 'Alpine' },
    { name: '<i>Sly</i>' },
  ]
  world = await watchWorld({ simulation: { providers }, isAlone: true })
  const simulation = world.simulation()
  await simulation.playRounds(3)
  await simulation.behave('Alpha Oracle', 'no-commit')
  await simulation.playRounds(4)
  await setPrice()
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  const tip = await chain.confirmedBlock(confirmations, signal)
  await facts.publications.fetch(tip, signal)
  await facts.rounds.advance(tip, signal)
}, 60_000)
afterAll(() => world.close())
afterEach(async () => {
  await world.primary.up()
  client += 1
  // The cached answer of another test has expired.
  world.clock.advance(31)
})

/** Sets the coin's price, as of now. */
async function setPrice() {
  await world.devnet.contracts.setFeed('FLR/USD', 213_500n, 7)
  await world.devnet.mine(2, 1)
}

const accounts = (name: string) => world.simulation().provider(name).accounts

async function ask(q: string, lang?: string) {
  const query = new URLSearchParams({ q, ...(lang !== undefined && { lang }) })
  const { statusCode, payload, headers } = await world.server.inject({
    url: `/?${query}`,
    remoteAddress: `192.0.2.${client}`,
  })
  return { status: statusCode, html: payload, text: textOf(payload), headers }
}

describe('a data provider', () => {
  test('is found by its name, with picture, missed rounds and registration', async () => {
    const { status, text, html, headers } = await ask('alpha oracle')
    expect(status).toBe(200)
    expect(headers['cache-control']).toBe('no-store')
    expect(text).toContain(`Alpha Oracle ${accounts('Alpha Oracle').identity.address}`)
    expect(text).toMatch(/Last \d+ rounds: \d+ OK, \d+ with problems/)
    expect(text).toMatch(/Reward epoch \d+: registered, in the signing policy, weight [\d.]+%/)
    expect(html).toContain('<svg ')
    expect(text).toContain('FTSO commit')
    expect(html).toContain('href="/docs/watches/provider-fsp"')
  })
  test('is found by each of its addresses', async () => {
    const { identity, submit, signingPolicy, delegation } = accounts('Alpha Oracle')
    for (const { address } of [identity, submit, signingPolicy, delegation]) {
      const { text } = await ask(address.toLowerCase())
      expect(text, address).toContain(`Alpha Oracle ${identity.address}`)
    }
  })
  test('can be chosen among several that match', async () => {
    const { text, html } = await ask('alp', 'en')
    expect(text).toContain('Several providers match “alp”.')
    const { address } = accounts('Alpine').identity
    expect(html).toContain(`href="/?q=${address}&amp;lang=en"`)
  })
  test('with a hostile name is escaped', async () => {
    const { text, html } = await ask('Sly')
    expect(text).toContain('<i>Sly</i>')
    expect(html).not.toContain('<i>Sly')
  })
  test('has links that start the bot’s form of a watch', async () => {
    const app = { ...world.app, botUsername: () => 'watchdog_test_bot' }
    const pages = fastify()
    await pages.register(registerPages, { app })
    const { payload } = await pages.inject('/?q=alpha+oracle')
    await pages.close()
    const { address } = accounts('Alpha Oracle').identity
    for (const type of ['provider-fsp', 'provider-eligibility', 'reward-signing']) {
      const start = watchStart(type, address)
      // Telegram's upper limit.
      expect(start).toMatch(/^[\w-]{1,64}$/)
      expect(payload).toContain(`href="https://t.me/watchdog_test_bot?start=${start}"`)
    }
  })
})

describe('another address', () => {
  test('is shown with its balance, its kind and a watch for it', async () => {
    const { text, html } = await ask(PEOPLE.bob.account.address)
    expect(text).toContain(PEOPLE.bob.account.address)
    expect(text).toContain('Balance 10,000 FLR 213.50 USD')
    expect(text).toContain('Wallet')
    expect(html).toContain('href="/docs/watches/wallet-balance"')
    const contract = await ask(world.devnet.contracts.wflr)
    expect(contract.text).toContain('Kind Contract')
  })
  test('has no dollars beside an empty balance', async () => {
    const { text } = await ask('0x00000000000000000000000000000000000000ee')
    expect(text).toContain('Balance 0 FLR Kind')
  })
  test('is shown without dollars while the price feed is out of date', async () => {
    const { client } = world.devnet
    const { timestamp } = await client.getBlock()
    const old = new Date((Number(timestamp) - 601) * 1000)
    await world.devnet.contracts.setFeed('FLR/USD', 213_500n, 7, old)
    await world.devnet.mine(2, 1)
    const { text } = await ask(PEOPLE.carol.account.address)
    await setPrice()
    expect(text).toContain('Balance 10,000 FLR Kind')
  })
  test('with a typing error, or beside a second one, is refused', async () => {
    const [first, second] = [PEOPLE.bob.account.address, PEOPLE.carol.account.address]
    const mistyped = first.replace(/[A-F]/, (letter) => letter.toLowerCase())
    expect((await ask(mistyped)).text).toContain('One character of this address seems wrong.')
    expect((await ask(`${first} ${second}`)).text).toContain('These are two addresses.')
  })
})

describe('nonsense', () => {
  const NONSENSE = `<script>alert("1")</script>'&`

  test.each(LOCALES)('is answered in %s with a sentence that repeats it', async (locale) => {
    const { status, text, html } = await ask(NONSENSE, locale)
    expect(status).toBe(200)
    expect(html).toContain(`<html lang="${locale}" dir="${directionOf(locale)}">`)
    const sentence = translate(locale, 'pages:home.answer.nothing', { input: typed(NONSENSE) })
    expect(text).toContain(sentence.replaceAll(/[\u2066-\u2069]/gu, '').replaceAll(/\s+/gu, ' '))
    expect(html).toContain('value="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;"')
    expect(html).not.toContain('<script>alert')
  })
  test.each([
    ['control characters', '\0\u0007 \ud800 x'],
    ['a very long text', '0x'.repeat(5000)],
    ['half an address', PEOPLE.bob.account.address.slice(0, 30), 'this has 28'],
  ])('of %s is answered too', async (_what, q, answer = 'Nothing found for') => {
    const { status, text } = await ask(q)
    expect(status).toBe(200)
    expect(text).toContain(answer)
  })
  test('of blanks shows the home page', async () => {
    const { text, headers } = await ask('   ')
    expect(text).not.toContain('Nothing found')
    expect(headers['cache-control']).toBe('public, max-age=300')
  })
})

describe('a chain that does not answer', () => {
  const unknown = '0x00000000000000000000000000000000000000aa'

  test.each([
    ['is down', () => world.primary.down()],
    ['hangs', async () => world.primary.hang()],
  ])('because it %s is said so, and stored rounds are shown', async (_how, fail) => {
    await fail()
    const { status, text, html } = await ask(unknown)
    expect(status).toBe(200)
    expect(text).toContain('The chain is not responding right now. Try again in a minute.')
    expect(html).toContain(`value="${unknown}"`)
    const stored = await ask('Alpha Oracle')
    expect(stored.text).toContain('These are the last stored values.')
    expect(stored.text).toMatch(/Last \d+ rounds: \d+ OK, \d+ with problems/)
    expect((await ask('')).status).toBe(200)
  })
  test.each<[string, Chain['feedPrices']]>([
    [
      'hangs',
      (_feeds, _block, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
        }),
    ],
    ['is refused', () => Promise.reject(new AppError('upstream', 'dependency_unavailable'))],
    ['is unknown', () => Promise.resolve([undefined])],
  ])('for the price, because it %s, still has the balance', async (_how, feedPrices) => {
    const { find } = createLookUps({ ...world.app, chain: { ...world.app.chain, feedPrices } })
    const { address } = PEOPLE.carol.account
    const balanceWei = 10_000n * 10n ** 18n
    expect(await find(address)).toMatchObject({ kind: 'account', balanceWei, usdCents: null })
  })
  test('is asked again half a minute later', async () => {
    await world.primary.down()
    expect((await ask(unknown)).text).toContain('The chain is not responding right now.')
    await world.primary.up()
    world.clock.advance(31)
    expect((await ask(unknown)).text).toContain('Balance 0 FLR')
  })
})

describe('whether the chain responds', () => {
  const t = translator('en')
  const NOT_RESPONDING = 'The chain is not responding right now.'

  /** The words about a provider in look-ups with other dependencies. */
  async function wordsOf(over: Partial<WatchWorld['app']>) {
    const answer = await createLookUps({ ...world.app, ...over }).find('Alpha Oracle')
    if (answer.kind !== 'provider') throw new Error(answer.kind)
    const { rounds, lines } = providerTexts(t, answer.view)
    return [rounds, ...lines].join(' ')
  }
  /** Facts before the first round is stored. */
  const noRounds = () => ({
    ...world.app.facts,
    rounds: {
      ...world.app.facts.rounds,
      newest: () => Promise.resolve([]),
      progress: () => Promise.resolve(undefined),
    },
  })

  test('is not doubted before the first round is seen', async () => {
    const words = await wordsOf({ facts: noRounds() })
    expect(words).toContain('No voting rounds seen for this provider yet.')
    expect(words).toMatch(/Reward epoch \d+: registered/)
    expect(words).not.toContain(NOT_RESPONDING)
    expect(words).not.toContain('stored')
  })
  test('is not doubted while only the stored rounds are old', async () => {
    const later = new Date(world.clock.now().getTime() + 400_000)
    const words = await wordsOf({ clock: { ...world.app.clock, now: () => later } })
    expect(words).toContain(
      'These are the last stored values. Newer ones cannot be read right now.',
    )
    expect(words).not.toContain(NOT_RESPONDING)
  })
  test('is denied without rounds while it does not', async () => {
    await world.primary.down()
    const words = await wordsOf({ facts: noRounds() })
    expect(words).toContain(`${NOT_RESPONDING} Try again in a minute.`)
    expect(words).not.toContain('stored')
  })
})

describe('many look-ups', () => {
  const numbered = (number: number) => `0x${(0xbb_0000 + number).toString(16).padStart(40, '0')}`
  const lookUps = () => world.primary.count('eth_getCode')

  test('of the same address at once ask the chain once, and for half a minute no more', async () => {
    world.primary.resetCounts()
    const asked = numbered(1)
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(asked)))
    for (const { text } of answers) expect(text).toContain('Balance 0 FLR')
    await ask(asked)
    expect(lookUps()).toBe(1)
    world.clock.advance(31)
    await ask(asked)
    expect(lookUps()).toBe(2)
  })
  test('of different addresses wait in a queue, and those beyond it are refused', async () => {
    const found: string[] = []
    const all = Array.from({ length: 100 }, async (_, index) => {
      const { kind } = await world.app.lookUps.find(numbered(100 + index))
      found.push(kind)
    })
    // Six run and sixty wait: the others are refused before the chain has answered anything.
    await setImmediate()
    expect(found).toEqual(Array.from({ length: 34 }, () => 'unavailable'))
    await Promise.all(all)
  })
  test('of a thousand names are answered without the chain', async () => {
    world.primary.resetCounts()
    for (let index = 0; index < 1000; index += 1) {
      const { kind } = await world.app.lookUps.find(`nobody ${index}`)
      expect(kind).toBe('nothing')
    }
    expect(world.primary.counts()).toEqual({})
  })
  test('of many addresses are kept up to a number: the first is forgotten', async () => {
    const { find } = createLookUps(world.app, { cachedMax: 20 })
    world.primary.resetCounts()
    // One after another: on a busy machine one of many at once may be refused for waiting too long.
    for (let index = 0; index <= 20; index += 1) await find(numbered(1000 + index))
    expect(lookUps()).toBe(21)
    await find(numbered(1020))
    expect(lookUps()).toBe(21)
    await find(numbered(1000))
    expect(lookUps()).toBe(22)
  })
  test('of one client are limited, with a page in the reader’s language', async () => {
    for (let index = 0; index < RATE_CLASSES.preview.requests; index += 1) {
      expect((await ask('nobody')).status).toBe(200)
    }
    const { status, text, headers } = await ask('nobody', 'de')
    expect(status).toBe(429)
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(text).toContain(translate('de', 'errors:rate_limited.title'))
    expect((await ask('')).status).toBe(200)
  })
})
