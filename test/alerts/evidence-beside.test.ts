import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from '../watches/rounds.ts'
import { confirmedForms } from './evidence-changes.ts'
import { datedTo, verify } from './evidence-script.ts'

/** The evidence of unclaimed rewards and of validators that are not listed, checked by the script of examples/. */

const HOUR_SECONDS = 3600

interface Evidence {
  readonly claim: Record<string, unknown>
  readonly data: Record<string, unknown>
  readonly blocks: { readonly last: { readonly number: number } }
  severity: string
  firedAt: string
}

let world: RoundWorld
let rewards: Evidence
let listing: Evidence

beforeAll(async () => {
  world = await roundWorld(['Collector', 'Gone', 'Anchored'])
  const simulation = world.simulation()
  const rounds = async (count: number) => {
    for (let round = 0; round < count; round += 1) {
      await simulation.playRounds(1)
      await world.scan()
    }
  }
  await simulation.behave('Collector', 'unclaimed-rewards')
  await rounds(2)
  await simulation.behave('Gone', 'validator-gone')
  await rounds(4)
  listing = await evidenceOf('Gone', 'fsp.validator-not-listed')
  await simulation.recover('Gone')
  await rounds(3)
  await simulation.playToEpochEnd()
  await rounds(2)
  await simulation.playToPublication()
  await rounds(3)
  await simulation.playTo(world.clock.now().getTime() / 1000 + 25 * HOUR_SECONDS)
  await rounds(3)
  rewards = await evidenceOf('Collector', 'fsp.rewards-unclaimed')
}, 180_000)
afterAll(() => world.close())

async function evidenceOf(name: string, event: string): Promise<Evidence> {
  const { body } = await world.alice.request(
    'GET',
    `/alerts?watchId=${world.watchOf(name)}&limit=250`,
  )
  const alert = body.data.find((alert: { readonly event: string }) => alert.event === event)
  expect(alert, event).toBeDefined()
  const found = await world.alice.request('GET', `/alerts/${alert.id}/evidence`)
  expect(found.status).toBe(200)
  return found.body
}

const identity = (name: string) => world.simulation().provider(name).accounts.identity.address
const published = () => `${world.published?.rewardsUrl}{epoch}/reward-distribution-data.json`
const pChain = () => `${world.published?.pChainUrl}/ext/bc/P`

function check(evidence: Evidence, beside: { published?: string; pChain?: string }) {
  const { contracts, rpcUrl } = world.devnet
  return verify(evidence, rpcUrl, contracts.registry, beside)
}

/** What the script says of evidence with a change. */
function forged(evidence: Evidence, change: (evidence: Evidence) => void) {
  const other = structuredClone(evidence)
  change(other)
  return check(other, { published: published(), pChain: pChain() })
}

test.each([
  ['unclaimed rewards', () => rewards],
  ['a validator that is not listed', () => listing],
])(
  'no text, number or list of %s is confirmed in another form',
  async (_name, evidence) => {
    const beside = { published: published(), pChain: pChain() }
    const checkOther = (other: unknown) => check(other as Evidence, beside)
    expect(await confirmedForms(evidence(), checkOther)).toEqual([])
  },
  60_000,
)

describe('unclaimed rewards', () => {
  test('are confirmed by the root on the chain and a simulated claim', async () => {
    expect(rewards.claim).toMatchObject({ kind: 'rewards', epochs: [452] })
    expect(await check(rewards, { published: published() })).toMatchObject({
      code: 0,
      said: expect.stringMatching(/^confirmed: 1750000000000000000000 wei .* not claimed by block/),
    })
  })

  test('are not checked without what is published, or with that of another epoch', async () => {
    expect(await check(rewards, {})).toMatchObject({
      code: 2,
      said: expect.stringContaining('--published'),
    })
    const earlier = published().replace('{epoch}', '451')
    expect(await check(rewards, { published: earlier })).toMatchObject({ code: 2 })
  })

  test('are refuted about another provider, amount, epoch, expiry and severity', async () => {
    const forgeBoth = (name: string, value: unknown) =>
      forged(rewards, ({ claim, data }) => {
        claim[name] = value
        data[name] = value
      })
    const codes = {
      claimed: (await forgeBoth('provider', identity('Anchored'))).code,
      amount: (await forgeBoth('amountWei', '1750000000000000000001')).code,
      twice: (await forgeBoth('epochs', [452, 452])).code,
      expiry: (await forgeBoth('expiresAt', rewards.firedAt)).code,
      noExpiry: (await forgeBoth('expiresAt', null)).code,
      severity: (
        await forged(rewards, (evidence) => {
          evidence.severity = 'warning'
        })
      ).code,
      time: (
        await forged(rewards, (evidence) => {
          evidence.firedAt = '2026-11-30T00:00:00.000Z'
        })
      ).code,
    }
    expect(codes).toEqual({
      ...{ claimed: 1, amount: 1, twice: 1, expiry: 1, noExpiry: 1, severity: 1, time: 1 },
    })
  })

  test('with a proof that does not lead to the root are not confirmed', async () => {
    const { rewardsUrl } = world.published ?? {}
    const body = await (await fetch(`${rewardsUrl}452/reward-distribution-data.json`)).json()
    for (const claim of body.rewardClaims)
      claim.body.amount = String(2n * BigInt(claim.body.amount))
    const file = `data:application/json,${encodeURIComponent(JSON.stringify(body))}`
    const doubled = structuredClone(rewards)
    doubled.claim['amountWei'] = '3500000000000000000000'
    doubled.data['amountWei'] = doubled.claim['amountWei']
    const { contracts, rpcUrl } = world.devnet
    const read = async () => (await fetch(file)).json()
    expect(await verify(doubled, rpcUrl, contracts.registry, { read })).toMatchObject({
      code: 2,
      said: expect.stringContaining('does not fit the root'),
    })
  })

  test('that are published twice are not counted twice', async () => {
    const { rewardsUrl } = world.published ?? {}
    const body = await (await fetch(`${rewardsUrl}452/reward-distribution-data.json`)).json()
    const repeated = { ...body, rewardClaims: [...body.rewardClaims, ...body.rewardClaims] }
    const doubled = structuredClone(rewards)
    doubled.claim['amountWei'] = '3500000000000000000000'
    doubled.data['amountWei'] = doubled.claim['amountWei']
    const { contracts, rpcUrl } = world.devnet
    const read = async () => repeated
    expect((await verify(doubled, rpcUrl, contracts.registry, { read })).code).toBe(1)
    expect((await verify(rewards, rpcUrl, contracts.registry, { read })).code).toBe(0)
  })

  test('that were claimed since are confirmed of then, and refuted of now', async () => {
    await world.simulation().recover('Collector')
    await world.simulation().playRounds(3)
    await world.scan()
    expect(await check(rewards, { published: published() })).toMatchObject({ code: 0 })
    const now = Number(await world.devnet.client.getBlockNumber())
    const later = await datedTo(rewards, world.devnet, now)
    expect(await check(later, { published: published() })).toMatchObject({
      code: 1,
      said: expect.stringContaining('no reward of reward epoch 452 is left'),
    })
  })
})

describe('a validator that is not listed', () => {
  test('is confirmed by a node of the P-chain at the height of then, though it is listed again', async () => {
    expect(listing.claim).toMatchObject({ kind: 'listing', provider: identity('Gone') })
    expect(await check(listing, { pChain: pChain() })).toMatchObject({
      code: 0,
      said: expect.stringMatching(
        /^confirmed: NodeID-.* no validator at height \d+ of the P-chain/,
      ),
    })
  })

  test('is not checked without such a node, or with one that does not answer', async () => {
    expect(await check(listing, {})).toMatchObject({
      code: 2,
      said: expect.stringContaining('--p-chain'),
    })
    expect(await check(listing, { pChain: 'http://127.0.0.1:9/ext/bc/P' })).toMatchObject({
      code: 2,
    })
  })

  test('is refuted of another node, another provider, and a time at which it was listed', async () => {
    const later = await datedTo(listing, world.devnet, Number(rewards.blocks.last.number) - 1)
    const listed = await check(later, { pChain: pChain() })
    const provider = await forged(listing, ({ claim, data }) => {
      claim['provider'] = identity('Anchored')
      data['provider'] = claim['provider']
    })
    const none = await forged(listing, ({ claim, data }) => {
      claim['nodeIds'] = []
      data['nodeIds'] = []
    })
    expect({ listed: listed.code, provider: provider.code, none: none.code }).toEqual({
      listed: 1,
      provider: 1,
      none: 1,
    })
  })
})
