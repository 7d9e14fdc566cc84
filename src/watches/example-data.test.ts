import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { every } from '../../test/support/every.ts'
import { exampleData } from './example-data.ts'
import { suggestedSettings } from './form.ts'
import { completeSignals } from './model.ts'
import { getWatchType, REGISTRY } from './types/index.ts'

const AT = new Date('2026-12-01T10:00:00.000Z')
const OWN = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const TARGETS: Readonly<Record<string, object>> = {
  'wallet-balance': { address: OWN, asset: 'FLR' },
  'feed-move': { feed: 'BTC/USD' },
  'credits-balance': {},
}
const PROVIDER = { provider: OWN }

/** Every alert of every signal of every type, with the suggested settings and the default parameters. */
const ALERTS = REGISTRY.flatMap((type) =>
  type.signals.flatMap((signal) =>
    signal.events.alerts.map((event) => ({ type, signal, event, name: `${type.name}: ${event}` })),
  ),
)

/** The suggested settings of the rule that has a setting. */
function suggestedOf(typeName: string, setting: string | undefined) {
  const { form } = getWatchType(typeName)
  const rule = form.rules?.find(({ fields }) => fields.some((key) => key === setting))
  return suggestedSettings(rule === undefined ? form : { ...form, rules: [rule] })
}

function example(
  typeName: string,
  event: string,
  over: {
    readonly settings?: object
    readonly observation?: object
    readonly rounds?: number
  } = {},
) {
  const type = getWatchType(typeName)
  const signal = type.signals.find(({ events }) => events.alerts.includes(event))
  if (signal === undefined) throw new Error(`no signal emits ${event}`)
  const settings = { ...suggestedOf(typeName, signal.setting), ...over.settings }
  const choice = completeSignals(type.signals, [], settings).find(({ id }) => id === signal.id)
  const parameters = { ...choice?.parameters, ...(over.rounds && { rounds: over.rounds }) }
  return exampleData(
    type,
    signal,
    event,
    {
      target: TARGETS[typeName] ?? PROVIDER,
      settings,
      observation: over.observation ?? null,
      parameters,
    },
    AT,
  )
}

test.each(
  ALERTS,
)('$name: an example is about the target of the watch, and can be shown', (alert) => {
  const { type, signal, event } = alert
  const data = example(type.name, event)
  expect(() => signal.data.parse(data)).not.toThrow()
  expect(() => signal.present(event, data)).not.toThrow()
  expect(data).toMatchObject(TARGETS[type.name] ?? PROVIDER)
  const before = signal.examples[event] ?? {}
  for (const [name, value] of Object.entries(before)) {
    if (name in (TARGETS[type.name] ?? PROVIDER) && name !== 'asset') {
      expect(data[name], name).not.toBe(value)
    }
  }
})

/** An observed voting round of the provider. */
const ROUND = {
  startsAt: Date.parse('2026-12-01T09:57:00.000Z') / 1000,
  ...{ position: 9, at: '2026-12-01T09:58:30.000Z', provider: OWN, round: 1_600_000 },
  ...{ rewardEpoch: 470, addresses: null, checks: null, anchors: null, policy: null },
  ...{ registration: null, fastUpdates: null, transactions: [], balances: null, nodes: null },
  rewards: null,
  earnings: null,
}

/** Contracts of the network, which an example of any provider may name. */
const CONTRACTS = ['0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f']

test('an example has no address of others', () =>
  every(ALERTS, ({ type, event }) => {
    const text = JSON.stringify(example(type.name, event))
    const addresses = text.match(/\b0x[0-9a-fA-F]{40}\b/g) ?? []
    expect(addresses.filter((address) => ![OWN, ...CONTRACTS].includes(address))).toEqual([])
  }))

test('an example has the observed addresses of the provider, each in its role', () => {
  const addresses = {
    submit: '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
    submitSignatures: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
    signingPolicy: '0x9965507D1a55bcC2695C58ba16FB37d819B0A4dc',
  }
  const observation = { ...ROUND, addresses }
  const of = (event: string) => example('provider-fsp', event, { observation })
  expect(of('fsp.ftso-commit')).toMatchObject({ address: addresses.submit })
  expect(of('fsp.ftso-signature')).toMatchObject({ address: addresses.submitSignatures })
  expect(of('fsp.tx-failed')).toMatchObject({ provider: OWN, from: addresses.submit })
  expect(of('fsp.signature-mismatch')).toMatchObject({
    ...{ address: addresses.signingPolicy, expectedSigner: addresses.signingPolicy },
    recoveredSigner: null,
  })
})

describe('the example of a balance', () => {
  const seen = {
    ...{ position: 7, at: '2026-12-01T09:59:00.000Z', balanceUnits: '4000500000' },
    ...{ symbol: 'USDX', decimals: 6, movement: null },
  }
  test('moves by the threshold to the last balance, and invents no counterparty', () => {
    const settings = { threshold: '250', direction: 'any' }
    expect(
      example('wallet-balance', 'wallet-balance.moved', { settings, observation: seen }),
    ).toEqual(
      expect.objectContaining({
        ...{ address: OWN, symbol: 'USDX', decimals: 6, threshold: '250', direction: 'outgoing' },
        ...{
          previousAmount: '4250500000',
          currentAmount: '4000500000',
          changeAmount: '-250000000',
        },
        ...{ counterparty: null, transactionHash: null, usd: null },
        blockTime: AT.toISOString(),
      }),
    )
  })
  test('is an incoming amount if the watch is for incoming ones', () => {
    const settings = { threshold: '1', direction: 'up' }
    const data = example('wallet-balance', 'wallet-balance.moved', { settings, observation: seen })
    expect(data).toMatchObject({ direction: 'incoming', changeAmount: '1000000' })
  })
})

describe('the example of a price', () => {
  const seen = {
    ...{ position: 7, at: '2026-12-01T09:59:00.000Z', updatedAt: '2026-12-01T09:59:00.000Z' },
    ...{
      feed: 'BTC/USD',
      feedId: `0x01${'0'.repeat(40)}`,
      price: { value: '9512345', decimals: 2 },
    },
    oldest: { value: '9500000', decimals: 2, at: '2026-12-01T09:00:00.000Z' },
  }
  test.each([
    ['any', 7.5, -7.5],
    ['up', 0.01, 0.01],
    ['any', 150, 150],
    ['down', 99.99, -99.99],
  ])('in direction %s moves by the percentage %d to the last price', (direction, percent, move) => {
    const settings = { percent, windowSeconds: 900, direction }
    const data = example('feed-move', 'feed-move.threshold', { settings, observation: seen })
    expect(data).toMatchObject({
      ...{ feed: 'BTC/USD', toPrice: '95123.45', thresholdPercent: percent, windowSeconds: 900 },
      fromTime: '2026-12-01T09:45:00.000Z',
    })
    expect(data['movePercent']).toBeCloseTo(move, 2)
  })
})

test('the example of credits has one credit less than the limit, or the observed credits if they are fewer', () => {
  const low = (observation: object, limit: number) =>
    example('credits-balance', 'credits.low-balance', { settings: { limit }, observation })
  const seen = { position: 1, at: AT.toISOString(), entry: 3, nextRenewal: null }
  expect(low({ ...seen, balanceCredits: 9500 }, 800)).toMatchObject({ balanceCredits: 799 })
  expect(low({ ...seen, balanceCredits: 20 }, 800)).toEqual({
    ...{ balanceCredits: 20, limitCredits: 800, nextRenewal: null },
  })
})

test('the example of missed rounds has as many rounds as the watch alerts after, up to the last round', () => {
  const observation = ROUND
  const data = example('provider-fsp', 'fsp.ftso-commit', { observation, rounds: 4 })
  expect(data).toMatchObject({
    ...{ provider: OWN, votingRoundId: 1_600_000, firstRoundId: 1_599_997, streak: 4, rounds: 4 },
    ...{ rewardEpochId: 470, since: '2026-12-01T09:52:30.000Z' },
  })
})

test('the example of a vote is about the last ended reward epoch', () => {
  const vote = {
    ...{ openedAt: null, concludedAt: null, isConcluded: false, signedAt: null },
    ...{ firstSignedAt: null, signedOther: false, isKnown: true, weightSigned: 0.25 },
  }
  const epoch = { rewardEpochId: 470, endedAt: '2026-11-30T07:00:00.000Z', publishedAt: null }
  const epochs = [{ ...epoch, uptime: vote, rewards: vote }]
  const at = '2026-12-01T09:59:00.000Z'
  const observation = { position: 9, at, provider: OWN, rewardEpochId: 471, epochs }
  expect(example('reward-signing', 'signing.uptime-open', { observation })).toMatchObject({
    ...{ provider: OWN, rewardEpochId: 470, vote: 'uptime', endedAt: epoch.endedAt },
    ...{ openedAt: epoch.endedAt, signedAt: null, concludedAt: null, weightSignedPercent: 25 },
  })
})

test('the example of a lost registration has the name and the epoch of the provider', () => {
  const observation = {
    ...{ position: 9, at: '2026-12-01T09:59:00.000Z', provider: OWN, name: 'Beta', eligible: true },
    ...{ rewardEpochId: 471, registered: true, eligibilityEpochId: 469, passes: 3, failures: [] },
  }
  const data = example('provider-eligibility', 'provider.unregistered', { observation })
  expect(data).toMatchObject({
    ...{ provider: OWN, providerName: 'Beta', rewardEpochId: 471, lost: 'registered' },
    ...{ registered: false, eligible: true, passes: 3, blockTime: AT.toISOString() },
  })
})

test('the example of a watch whose data cannot be parsed is the general example of its signal', () => {
  const type = getWatchType('wallet-balance')
  const [signal] = type.signals
  if (signal === undefined) throw new Error('a type has signals')
  const event = 'wallet-balance.moved'
  const watch = { target: { wrong: 1 }, settings: {}, observation: null, parameters: {} }
  expect(exampleData(type, signal, event, watch, AT)).toEqual(signal.examples[event])
  const garbled = {
    target: TARGETS['wallet-balance'],
    settings: { threshold: '5' },
    parameters: {},
  }
  const data = exampleData(type, signal, event, { ...garbled, observation: { x: 'y' } }, AT)
  expect(z.object({ address: z.literal(OWN) }).safeParse(data).success).toBe(true)
})
