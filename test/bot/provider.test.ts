import { encodeFunctionData, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { providerCaption, providerWithoutPicture } from '#bot/features/provider/view.ts'
import { walletName } from '#bot/views/view.ts'
import {
  createProviderSimulation,
  type ProviderSimulation,
} from '#sandbox/devnet/provider-simulation.ts'
import { createSender } from '#sandbox/devnet/sending.ts'
import { type DevnetWithContracts, startDevnet } from '#sandbox/devnet.ts'
import { type ProtocolData, startProtocolData } from '#sandbox/world/protocol-data.ts'
import { packed } from '#src/actions/codec.ts'
import { formatChance } from '#src/i18n/chance.ts'
import { formatAmount } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { watchStart } from '#src/telegram/links.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { connectWallet } from '../support/connect-page.ts'

/** A provider's rounds in the chat: as a picture with a caption, or as text without a picture. */

const AT = new Date('2026-11-20T12:00:00Z')

let devnet: DevnetWithContracts
let simulation: ProviderSimulation
let data: ProtocolData
let world: BotWorld
let chat: TestChat

beforeAll(async () => {
  devnet = await startDevnet({ contracts: true, startsAt: AT })
  let setClock = (_at: Date): void => undefined
  simulation = await createProviderSimulation(devnet, {
    providers: [
      { name: 'Anchor', stake: 3_000_000_000 },
      { name: 'Alpha Oracle' },
      { name: 'Alpine' },
    ],
    onTime: (seconds) => setClock(new Date(seconds * 1000)),
  })
  data = await startProtocolData({ simulation, clock: { now: () => world.clock.now() } })
  world = await botWorld({
    FLARE_RPC_URLS: devnet.rpcUrl,
    FLARE_CONTRACT_REGISTRY: devnet.contracts.registry,
    PROVIDER_DATASET_URL: data.passesUrl,
    PUBLIC_URL: 'https://watchdog.example.org',
  })
  setClock = (at) => world.clock.set(at)
  await simulation.playRounds(3)
  await simulation.behave('Alpha Oracle', 'no-commit')
  await simulation.playRounds(4)
  await devnet.mine(2, 1)
  await readRounds()
  await world.giveSlots('alice', 5)
  chat = await world.linked('alice')
}, 60_000)

afterAll(async () => {
  await world.close()
  await data.close()
  await devnet.close()
})

async function readRounds(): Promise<void> {
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  const tip = await chain.confirmedBlock(confirmations, signal)
  await facts.publications.fetch(tip, signal)
  await facts.rounds.advance(tip, signal)
}

const identity = (name: string) => simulation.provider(name).accounts.identity.address
const open = (name: string) => packed('status.provider', { address: identity(name) })
/** Presses the button of a provider, which stands on some screen. */
async function show(name: string): Promise<void> {
  world.telegram.pressRaw(chat.id, chat.last().id, open(name))
  await world.settle()
}
const calls = (method: string) => world.telegram.calls.filter((call) => call.method === method)

describe('a provider that a text names', () => {
  test('finds it by name, and shows its picture with its problems in words', async () => {
    await chat.say('alpha o')
    const { text, file } = chat.last()
    expect(file).toMatchObject({ kind: 'photo', width: 1280, height: 874 })
    expect(text).toContain(`Alpha Oracle\u2069 · ${identity('Alpha Oracle')}`)
    expect(text).toMatch(/🔴 FTSO commit missing since 12:\d\d\sUTC \(2 voting rounds\)/)
    expect(text).toContain('🔴 Last 20 rounds: 2 OK, 2 with problems · 16 without data')
    expect(text).toMatch(/Reward epoch 452: registered, in the signing policy, weight 3\.\d+%/)
    expect(text).toMatch(/^Balances: submit [\d,.]+\sFLR · /m)
    expect(chat.labels()).toEqual([
      ['Follow', 'Watch…'],
      ['‹ Menu', 'Share ↪️'],
    ])
  })

  test('is shown by a button, too', async () => {
    await show('Alpine')
    expect(chat.last().text).toContain('Alpine')
    expect(chat.last().text).toContain('⚪ Last 20 rounds: 4 OK, 0 with problems · 16 without data')
  })

  test('offers a choice when a name matches several', async () => {
    await chat.say('alp')
    expect(chat.last().text).toContain('Several providers match')
    expect(chat.labels().slice(0, 1)).toEqual([['Alpha Oracle', 'Alpine']])
    await chat.press('Alpine')
    expect(chat.last().text).toContain(identity('Alpine'))
    // The question is not left behind above the picture.
    expect(chat.all().filter(({ text }) => text.includes('Several providers match'))).toEqual([])
    await chat.say('/menu')
    await chat.press('Provider…')
    expect(chat.last().text).toContain('Which provider?')
    await chat.press('Alpine')
    expect(chat.all().filter(({ text }) => text.includes('Which provider?'))).toEqual([])
  })

  test('the wizard lists all providers, and not a wallet that is not a provider', async () => {
    await chat.say('/new')
    await chat.press(
      chat
        .labels()
        .flat()
        .find((label) => label.includes('Data provider')) ?? '',
    )
    expect(chat.labels().flat()).not.toContain('My wallet')
    const all = chat
      .labels()
      .flat()
      .find((label) => /^All \d+ providers/.test(label))
    await chat.press(all ?? '')
    expect(chat.labels().flat()).toEqual(
      expect.arrayContaining(['\u2068Alpha Oracle\u2069', '\u2068Alpine\u2069']),
    )
    await chat.say('/cancel')
  })

  test('a name without the command is enough', async () => {
    await chat.say('alpine')
    expect(chat.last().text).toContain(identity('Alpine'))
    await chat.say('alp')
    expect(chat.labels()[0]).toEqual(['Alpha Oracle', 'Alpine'])
    await chat.press('Alpha Oracle')
    expect(chat.last().text).toContain(identity('Alpha Oracle'))
    await chat.say('al')
    expect(chat.last().text).toMatch(/^Not understood/)
  })

  test('asks again after an unknown name, and takes the answer', async () => {
    await chat.say('provider')
    for (const nonsense of ['nobody', `0x${'12'.repeat(20)}`]) {
      await chat.say(nonsense)
      expect(chat.last().text).toContain('No data provider is known as')
    }
    await chat.say('Alpine')
    expect(chat.last().file?.kind).toBe('photo')
    expect(chat.last().text).toContain(identity('Alpine'))
  })

  test('says that an address is not a provider’s, from a text, a button and a link', async () => {
    const { address } = devnet.people.bob.account
    await chat.say(address)
    expect(chat.last().text).toContain('Data provider: none known')
    expect(chat.labels()).toEqual([['Watch its balance'], ['‹ Menu']])
    world.telegram.pressRaw(chat.id, chat.last().id, packed('status.provider', { address }))
    await world.settle()
    expect(chat.last().text).toContain('No data provider is known as')
    await chat.say(`/start p${address.slice(2)}`)
    expect(chat.last().text).toContain('No data provider is known as')
    await chat.say('/cancel')
  })

  test('a link with its address opens it', async () => {
    await chat.say(`/start p${identity('Alpine').slice(2).toLowerCase()}`)
    expect(chat.last().text).toContain(identity('Alpine'))
  })
})

describe('a chat without a wallet', () => {
  test('gets the price of a feed, connects to watch it, and accepts newer terms before the trial', async () => {
    const ann = world.person()
    for (const text of ['FLR/USD', 'flr', 'price of flr']) {
      await ann.say(text)
      expect(ann.last().text).toContain('FLR/USD')
      expect(ann.last().text).toMatch(/\d\sUSD/)
      expect(ann.labels()).toEqual([['Watch this price'], ['Connect wallet'], ['‹ Menu']])
    }
    await ann.press('Watch this price')
    await ann.press('New code')
    await connectWallet(world, ann, 'carol')
    expect(ann.labels()[0]).toEqual(['Trial: FLR/USD'])
    const old = packed('trial.feed', { feed: 'FLR/USD', terms: '00000000' })
    world.telegram.pressRaw(ann.id, ann.last().id, old)
    await world.settle()
    expect(ann.last().text).toContain('By starting it, you accept the terms')
    await ann.press('Start the free trial')
    expect(ann.last().text).toMatch(/^New watch · /)
    expect(ann.last().text).toContain('FLR/USD')
    // Another press starts no second trial, and goes on with the watch.
    const again = world.telegram.pressRaw(ann.id, ann.last().id, old)
    await world.settle()
    expect((await again.answer()).text).toContain('trial')
    expect(ann.last().text).toMatch(/^New watch · /)
    await ann.say('/cancel')
    await ann.say('FLR/USD')
    expect(ann.labels()).toEqual([['Watch this price'], ['‹ Menu']])
    await ann.press('Watch this price')
    expect(ann.last().text).toMatch(/^New watch · /)
  })

  test('gets the facts of the start page about an account, and connects to watch it', async () => {
    const { address } = devnet.people.bob.account
    const ann = world.person()
    await ann.say(address)
    expect(ann.last().text.split('\n')[0]).toBe(address)
    expect(ann.last().text).toMatch(
      /\nBalance: [\d,.]+\sFLR( · [\d,.]+\sUSD)?\nKind: Wallet\nData provider: none known\nDelegation: none\n/,
    )
    expect(ann.labels()).toEqual([['Watch its balance'], ['Connect wallet'], ['‹ Menu']])
    await ann.press('Watch its balance')
    await world.giveSlots('carol', 1)
    await connectWallet(world, ann, 'carol')
    const goOn = `Continue: ${walletName(address)}`
    expect(ann.labels()[0]).toEqual([goOn])
    await ann.press(goOn)
    expect(ann.last().text).toContain(address)
  })

  test('sees the providers behind a wallet, and follows one of them with one press', async () => {
    const { address } = devnet.people.carol.account
    await createSender(
      devnet.client,
      true,
    )({
      from: address,
      to: devnet.contracts.wflr,
      data: encodeFunctionData({
        abi: parseAbi(['function delegate(address to, uint256 bips)']),
        args: [identity('Alpha Oracle'), 5000n],
      }),
    })
    await devnet.mine(2, 1)
    const ann = world.person()
    await ann.say(address)
    expect(ann.last().text).toMatch(
      /\nDelegation: \u2068Alpha Oracle\u2069 · 50% · [\d,.]+\sWFLR · /,
    )
    const labels = ann.labels().flat()
    const follow = labels.find((label) => /^Follow \u2068?Alpha O/.test(label))
    expect(labels.some((label) => /^Watch \u2068?Alpha O/.test(label))).toBe(true)
    await ann.press(follow ?? '')
    expect(ann.last().text).toContain('You now follow')
  })

  test('gets them about a provider, by an address and by its name', async () => {
    const ann = world.person()
    const { address } = simulation.provider('Alpha Oracle').accounts.submit
    for (const text of ['alpha o', address]) {
      await ann.say(text)
      expect(ann.last().text).toContain(`Alpha Oracle\u2069 · ${identity('Alpha Oracle')}`)
      expect(ann.last().text).toContain('Last 20 rounds: 2 OK, 2 with problems')
      expect(ann.last().text).toMatch(/Reward epoch 452: registered, in the signing policy/)
      expect(ann.labels()).toEqual([['Follow', 'Watch…'], ['Connect wallet'], ['‹ Menu']])
    }
  })

  test('connects to watch a provider, and one press starts the free trial with that watch', async () => {
    const ann = world.person()
    await ann.say('alpha o')
    await ann.press('Watch…')
    await connectWallet(world, ann, 'bob')
    expect(ann.last().text).toContain('Free trial: 1 watch for 14 days')
    expect(ann.last().text).toContain('By starting it, you accept the terms')
    expect(ann.labels()[0]).toEqual(['Trial: Alpha Oracle'])
    const { text } = await ann.press('Trial: Alpha Oracle')
    expect(text).toContain('Your trial runs until')
    expect(ann.last().text).toMatch(/^New watch · /)
    expect(ann.last().text).toContain(identity('Alpha Oracle'))
  })

  test('chooses when a name matches several', async () => {
    const ann = world.person()
    await ann.say('alp')
    expect(ann.last().text).toContain('Several providers match')
    expect(ann.labels()[0]).toEqual(['Alpha Oracle', 'Alpine'])
    await ann.press('Alpine')
    expect(ann.last().text).toContain(identity('Alpine'))
    await ann.press('Watch…')
    expect(ann.last().text).toMatch(/\d\d\u00a0\d\d/)
  })

  test('is connected first by a link of the start page to a watch, and goes on with that watch', async () => {
    const ann = world.person()
    await ann.say(`/start ${watchStart('provider-eligibility', identity('Alpine'))}`)
    await ann.press('New code')
    await connectWallet(world, ann, 'carol')
    expect(ann.labels()[0]).toEqual(['Continue: Alpine'])
  })
})

test.each([
  'alpha o',
  'p ',
])('the shared result for “%s” has the provider’s name and its problem', async (typed) => {
  const query = typed === 'p ' ? `p ${identity('Alpha Oracle')}` : typed
  const question = world.telegram.inlineQuery(chat.id, query)
  await world.settle()
  const { results } = await question.answer()
  expect(results.map(({ title }) => title)).toEqual(['Alpha Oracle · FTSO commit missing'])
})

describe('the picture', () => {
  test('is changed in its message, and each one is uploaded to Telegram once', async () => {
    await chat.say('alpine')
    const { id } = chat.last()
    await show('Alpha Oracle')
    expect(chat.last().id).toBe(id)
    expect(chat.last().text).toContain('Alpha Oracle')
    const uploads = () =>
      calls('editMessageMedia').filter(({ payload }) => JSON.stringify(payload).includes('attach'))
    const before = uploads().length
    await show('Alpine')
    await show('Alpha Oracle')
    expect(uploads().length).toBe(before)
    expect(calls('editMessageMedia').every(({ refused }) => refused === undefined)).toBe(true)
  })

  test('leads to the wizard with its provider, and to the watch once there is one', async () => {
    await chat.say('alpine')
    await chat.press('Watch…')
    expect(chat.last().text).toContain(identity('Alpine'))
    await world.addWatch('alice', {
      label: 'My node',
      type: 'provider-fsp',
      target: { provider: identity('Alpine') },
      settings: {},
    })
    await chat.say('alpine')
    expect(chat.last().text).toContain('My node')
    await chat.press('Open watch')
    expect(chat.last().text).toContain('My node')
    // And the watch leads to the picture.
    await chat.press('More')
    await chat.press('Picture')
    expect(chat.last().file).toMatchObject({ kind: 'photo' })
    expect(chat.last().text).toContain(identity('Alpine'))
    await chat.say('/menu')
    await chat.press('Provider…')
    expect(chat.labels().flat()).toContain('My node')
  })

  test('is found by name in the wizard too, and its watch has that name on every screen', async () => {
    const other = await world.linked('alice')
    await other.say('/new provider-fsp')
    expect(other.last().text).toContain('Send its name or any of its five addresses')
    await other.say('al')
    expect(other.last().text).toMatch(/^⚠️ Several providers match “.*al.*”\. Choose one:/)
    expect(other.labels().flat()).toEqual(
      expect.arrayContaining(['\u2068Alpha Oracle\u2069', '\u2068Alpine\u2069']),
    )
    await other.say('nobody at all')
    expect(other.last().text).toContain('No data provider is known as')
    await other.say('alpha')
    const line = `Provider: \u2068Alpha Oracle\u2069 · ${identity('Alpha Oracle')}`
    expect(other.last().text).toContain(line)
    expect(other.last().text).not.toContain('No data provider')
    await other.press('Next')
    expect(other.last().text).toContain('Name: \u2068Alpha Oracle\u2069')
    await other.press('Create')
    expect(other.last().text).toContain('Alpha Oracle')
    await other.press('Open watch')
    expect(other.last().text).toContain(line)
    await other.say('/watches')
    expect(other.last().text).toContain('Alpha Oracle')
  })

  test('that is not registered can be watched, after a warning', async () => {
    const other = await world.linked('alice')
    const stranger = walletOf('bob')
    for (const type of ['provider-fsp', 'provider-eligibility', 'reward-signing']) {
      await other.say(`/new ${type}`)
      await other.say(stranger)
      expect(other.last().text).toContain('⚠️ No data provider is registered at this address.')
      expect(other.last().text).toContain(`Provider: ${stranger}`)
      expect(other.labels().flat()).toContain('Next')
    }
  })

  test('leads back to the menu', async () => {
    await chat.say('alpine')
    await chat.press('‹ Menu')
    expect(chat.last().file).toBeUndefined()
    expect(chat.labels().flat()).toContain('Provider…')
  })

  test('is replaced by text when Telegram refuses the picture', async () => {
    world.telegram.failNext(
      { method: 'sendPhoto' },
      { error_code: 400, description: 'Bad Request: IMAGE_PROCESS_FAILED' },
    )
    await chat.say('Alpha Oracle')
    const { text, file } = chat.last()
    expect(file).toBeUndefined()
    expect(text).toContain('commit  ✓✓✕✕')
    expect(text).toContain('FTSO commit missing')
  })

  test('says of which time it is when the chain does not answer', async () => {
    world.clock.advance(900)
    await chat.say('alpine')
    expect(chat.last().text).toContain('⚪ As of')
  })
})

describe.each(LOCALES)('in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'Asia/Kolkata', isGroup: true, bot: 'bot' }
  const asOf = new Date('2026-11-20T21:05:12Z')
  const budget = {
    ...{ used: 4.3, roundsToMiss: 0, roundsLeft: 1234 },
    ...{ epochEndsAt: asOf, budgetEndsAt: asOf },
  }
  const view: ProviderView = {
    provider: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
    addresses: null,
    rewardEpoch: 452,
    registered: false,
    registeredNext: false,
    registrationOpensAt: null,
    inPolicy: false,
    weight: null,
    currentRound: 1_519_402,
    rounds: Array.from({ length: 100 }, (_, index) => ({
      id: 1_519_400 - index,
      startsAt: asOf,
      ftso: { commit: 'mismatch', reveal: 'offence', signature: 'mismatch' },
      fdc: { bitvote: 'mismatch', signature: 'mismatch' },
    })),
    last30Days: { days: 30, rounds: 28_800, badRounds: 28_799, rate: 0 },
    others: null,
    fastUpdates: { lastUpdateBlock: 1, blocksSinceUpdate: 250_000, probabilityOfSilence: 1e-300 },
    minimalConditions: {
      anchor: { rate: 0.1234, minimum: 0.8, ...budget },
      fdc: { rate: 0.1234, minimum: 0.6, ...budget },
      uptime: { rate: 0.1234, minimum: 0.8, ...budget },
      fastUpdates: { rate: 0.1234, minimum: 0.8, ...budget },
    },
    validators: Array.from({ length: 12 }, (_, index) => ({
      nodeId: `NodeID-${'EPLACd344ouymyJAQYXZBvbmU3NJ6ooeB'.slice(0, -1)}${index % 10}`,
      listed: index === 0,
    })),
    balances: ['submit', 'submitSignatures', 'signingPolicy', 'fastUpdates', 'fastUpdates'].map(
      (role) => ({
        role,
        address: '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE',
        balanceWei: 123_456_789_012_345_678_901_234_567n,
      }),
    ),
    asOf,
    stale: true,
  }
  const shown = {
    view,
    name: 'ওয়ালেট <b>&"\'_*[]()~` Ж'.repeat(2),
    watchId: 1,
    rounds: 100,
  } as const
  const options = { now: new Date(asOf.getTime() + 86_400_000), buttons: true, canShare: true }

  test('validators that are not listed are named', () => {
    const linesOf = (validators: ProviderView['validators']) => {
      const { html } = providerWithoutPicture(
        reader,
        { ...shown, view: { ...view, validators } },
        options,
      )
      return html.split('\n').filter((line) => line.includes('NodeID-'))
    }
    const node = (nodeId: string, listed: boolean) => ({ nodeId, listed })
    expect(linesOf(null)).toEqual([])
    expect(linesOf([node('NodeID-Fine', true)])).toEqual([])
    const [line, ...more] = linesOf([node('NodeID-Fine', true), node('NodeID-Gone', false)])
    expect(line).toMatch(/^🔴 .*NodeID-Gone/u)
    expect(more).toEqual([])
  })

  test('every failed duty is named, and every low balance is marked', () => {
    const balances = view.balances.map((balance, index) => ({
      ...balance,
      balanceWei: [3n, 24n, 25n, 0n][index] ?? 100n,
    }))
    const low = balances.map((balance) => ({
      ...balance,
      balanceWei:
        balance.balanceWei * 10n ** 18n + (balance.balanceWei === 24n ? 999n : 600n) * 10n ** 15n,
    }))
    const { html } = providerWithoutPicture(
      reader,
      { ...shown, view: { ...view, balances: low } },
      options,
    )
    const lines = html.split('\n')
    const { t } = reader
    for (const duty of ['commit', 'reveal', 'signature', 'bitvote', 'fdcSignature'] as const) {
      const name = t(`pages:alert.duty.${duty}`)
      expect(
        lines.some((line) => line.startsWith('🔴') && line.includes(name)),
        name,
      ).toBe(true)
    }
    const money = lines.find((line) => line.includes('FLR')) ?? ''
    expect(money.match(/🔴|🟠/gu)).toEqual(['🔴', '🟠', '🔴'])
    // Rounded as in alerts; never to a limit that a balance misses.
    const flr = (milli: bigint) =>
      formatAmount({ units: milli * 10n ** 15n, decimals: 18, symbol: 'FLR' }, locale)
    for (const milli of [3600n, 24_999n, 25_600n, 600n]) expect(money).toContain(flr(milli))
  })

  test('a silence that chance does not explain has a probability that people can read', () => {
    const { html } = providerWithoutPicture(reader, shown, options)
    expect(html).not.toMatch(/\de-\d/)
    expect(html).toContain(formatChance(1e-300, locale))
  })

  test('the caption fits a picture and the text a message, with the longest values', () => {
    const plain = (html: string) => html.replaceAll(/<[^>]*>/g, '')
    expect(plain(providerCaption(reader, shown, options).html).length).toBeLessThanOrEqual(1024)
    expect(plain(providerWithoutPicture(reader, shown, options).html).length).toBeLessThanOrEqual(
      4096,
    )
  })
})
