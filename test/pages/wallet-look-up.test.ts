import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { SIMULATED_REWARDS_ABI } from '#sandbox/devnet/fsp/abi.ts'
import { CONTRACTS } from '#sandbox/devnet/fsp/contract-addresses.ts'
import { createSender } from '#sandbox/devnet/sending.ts'
import { translator } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import { holdingFields } from '#src/pictures/look-up-text.ts'
import { createLookUps } from '#src/watches/look-up.ts'
import { type WatchWorld, watchWorld } from '../watches/world.ts'
import { textOf } from './site.ts'

/** The look-up of a wallet: what it delegates, stakes and may claim, and the providers behind it. */

let world: WatchWorld
const owner = PEOPLE.carol.account.address
const byAmount = PEOPLE.bob.account.address
const FLR = 10n ** 18n

const TOKEN = parseAbi([
  'function delegate(address to, uint256 bips)',
  'function delegateExplicit(address to, uint256 amount)',
])
const STAKES = parseAbi(['function set(address owner, bytes20[] nodeIds, uint256[] amounts)'])
const STAKING_REWARDS = parseAbi(['function set(address owner, uint256 total, uint256 claimed)'])
const FOREIGN_NODE: Hex = `0x${'77'.repeat(20)}`

beforeAll(async () => {
  const providers = [{ name: 'Anchor', stake: 3_000_000_000 }, { name: 'Alpha Oracle' }]
  world = await watchWorld({ simulation: { providers }, isAlone: true })
  const simulation = world.simulation()
  await simulation.playRounds(3)
  await simulation.behave('Alpha Oracle', 'no-commit')
  await simulation.playRounds(4)
  await entrust()
  const { chain, confirmations, facts } = world.app
  const { signal } = new AbortController()
  const tip = await chain.confirmedBlock(confirmations, signal)
  await facts.publications.fetch(tip, signal)
  await facts.rounds.advance(tip, signal)
}, 60_000)
afterAll(() => world.close())

const accounts = (name: string) => world.simulation().provider(name).accounts

/** Carol delegates to both providers, stakes with one and with a stranger, and has rewards of two epochs. */
async function entrust(): Promise<void> {
  const { client, contracts } = world.devnet
  await contracts.mint(contracts.wflr, owner, 1000n * FLR)
  const send = createSender(client, true)
  const delegate = (
    from: Address,
    functionName: 'delegate' | 'delegateExplicit',
    to: Address,
    value: bigint,
  ) =>
    send({
      from,
      to: contracts.wflr,
      data: encodeFunctionData({ abi: TOKEN, functionName, args: [to, value] }),
    })
  const { identity } = accounts('Anchor')
  await delegate(owner, 'delegate', identity.address, 7500n)
  await delegate(owner, 'delegate', accounts('Alpha Oracle').delegation.address, 2500n)
  await delegate(byAmount, 'delegateExplicit', identity.address, FLR)
  const [node = '0x'] = accounts('Alpha Oracle').nodeIds
  const epoch = world.simulation().rewardEpoch
  const reward = (rewardEpochId: number, amount: bigint) =>
    encodeFunctionData({
      abi: SIMULATED_REWARDS_ABI,
      functionName: 'addReward',
      args: [owner, { rewardEpochId, beneficiary: owner, amount, claimType: 2, initialised: true }],
    })
  const range = encodeFunctionData({
    abi: SIMULATED_REWARDS_ABI,
    functionName: 'setRange',
    args: [epoch - 2, epoch - 1],
  })
  await send(
    {
      from: owner,
      to: CONTRACTS.stakeMirror,
      data: encodeFunctionData({
        abi: STAKES,
        args: [owner, [FOREIGN_NODE, node], [50n * FLR, 200n * FLR]],
      }),
    },
    {
      from: owner,
      to: CONTRACTS.validatorRewardManager,
      data: encodeFunctionData({ abi: STAKING_REWARDS, args: [owner, 12n * FLR, 5n * FLR] }),
    },
    { from: owner, to: CONTRACTS.rewardManager, data: range },
    { from: owner, to: CONTRACTS.rewardManager, data: reward(epoch - 1, 3n * FLR) },
    { from: owner, to: CONTRACTS.rewardManager, data: reward(epoch - 2, 4n * FLR) },
  )
  await world.devnet.mine(2, 1)
}

async function ask(q: string, lang = 'en') {
  const { payload } = await world.server.inject(`/?${new URLSearchParams({ q, lang })}`)
  return { html: payload, text: textOf(payload) }
}

async function accountAt(address: Address, over: Partial<WatchWorld['app']['chain']> = {}) {
  const chain = { ...world.app.chain, ...over }
  const answer = await createLookUps({ ...world.app, chain }).atAddress(address)
  if (answer.kind !== 'account') throw new Error(answer.kind)
  return answer
}

describe('a wallet', () => {
  test('is shown with its delegations, stakes and rewards, and the state of the providers behind them', async () => {
    const { text, html } = await ask(owner)
    expect(text).toMatch(
      /Anchor · 75% · 75,750 WFLR · registered · eligible for rewards · Last 20 rounds:/,
    )
    expect(text).toMatch(/Alpha Oracle · 25% · 25,250 WFLR · registered .* with problems/)
    expect(text).toMatch(/Stake Alpha Oracle · 200 FLR · registered/)
    expect(text).toMatch(/Stake NodeID-\S+ · 50 FLR · of no data provider/)
    expect(text).toMatch(/Unclaimed rewards 7 FLR; the oldest can be claimed until \w+ \d+, \d{4}/)
    expect(text).toContain('Unclaimed staking rewards 7 FLR')
    for (const name of ['Anchor', 'Alpha Oracle']) {
      expect(html).toContain(`href="/providers/${accounts(name).identity.address}?lang=en"`)
      expect(text).toContain(`${name} · Watch this provider`)
    }
  })

  test('names the end of the oldest claim, by the chain’s schedule', async () => {
    const { holdings } = await accountAt(owner)
    const { chain, confirmations } = world.app
    const block = await chain.confirmedBlock(confirmations)
    const policies = await chain.rounds.policies(block)
    const { clock, schedule } = policies ?? expect.fail('no policies')
    const [oldest, newest] = holdings?.rewards ?? []
    const epochMs = clock.roundsPerEpoch * clock.roundSeconds * 1000
    expect(oldest?.amountWei).toBe(4n * FLR)
    expect(schedule.rewardExpirySeconds).not.toBeNull()
    expect((newest?.claimUntil?.getTime() ?? 0) - (oldest?.claimUntil?.getTime() ?? 0)).toBe(
      epochMs,
    )
  })

  test('that delegates by amounts says so, because the chain does not list them', async () => {
    expect((await ask(byAmount)).text).toContain(
      'Delegation by amounts, which the chain does not list',
    )
  })

  test('without anything has none of it, each said', async () => {
    const { text } = await ask('0x00000000000000000000000000000000000000ee')
    expect(text).toContain(
      'Delegation none Stake none Unclaimed rewards none Unclaimed staking rewards none',
    )
  })
})

describe('what cannot be read', () => {
  const refused = () => Promise.reject(new AppError('upstream', 'dependency_unavailable'))
  const t = translator('en')

  test('is named, and never shown as none', async () => {
    const account = await accountAt(owner, { holdings: { of: refused } })
    expect(account.holdings).toBeNull()
    const values = holdingFields(t, account, 'UTC').map(({ value }) => value)
    expect(values).toEqual(Array.from({ length: 4 }, () => 'cannot be read right now'))
  })

  test('is named part by part', async () => {
    const { holdings } = await accountAt(owner)
    const account = {
      ...(await accountAt(owner)),
      holdings: holdings && { ...holdings, stakes: null },
    }
    const fields = holdingFields(t, account, 'UTC')
    expect(fields.filter(({ value }) => value === 'cannot be read right now')).toEqual([
      { label: 'Stake', value: 'cannot be read right now' },
    ])
  })

  test('of the schedule leaves the amount, and says that the time limit is not known', async () => {
    const rounds = { ...world.app.chain.rounds, policies: refused }
    const { holdings } = await accountAt(owner, { rounds })
    expect(holdings?.rewards?.map(({ claimUntil }) => claimUntil)).toEqual([null, null])
    expect(holdings?.delegations?.[0]?.behind.isInPolicy).toBeNull()
  })

  test.each(LOCALES)('is complete in words in %s', async (locale) => {
    const account = await accountAt(owner, { holdings: { of: refused } })
    for (const { label, value } of holdingFields(translator(locale), account, 'UTC')) {
      expect(`${label}${value}`).not.toMatch(/[{}]/)
    }
  })
})
