import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from '../watches/rounds.ts'
import { confirmedForms } from './evidence-changes.ts'
import { verify } from './evidence-script.ts'

/** The evidence of lost eligibility, checked by the script of examples/ with the published calculation. */

interface Evidence {
  readonly claim: Record<string, unknown>
  readonly data: Record<string, unknown>
}

let world: RoundWorld
let evidence: Evidence

beforeAll(async () => {
  world = await roundWorld([], { unwatched: ['Alpha', 'Bravo'] })
  const simulation = world.simulation()
  const target = { provider: simulation.provider('Alpha').accounts.identity.address }
  const made = await world.alice.request('POST', '/watches', {
    type: 'provider-eligibility',
    target,
  })
  const { id } = made.body
  const rounds = async () => {
    await simulation.playRounds(2)
    await world.scan()
  }
  await rounds()
  await simulation.behave('Alpha', 'not-eligible')
  await simulation.playToEpochEnd()
  await rounds()
  const { body } = await world.alice.request('GET', `/alerts?watchId=${id}`)
  const alert = body.data.find(
    ({ event }: { readonly event: string }) => event === 'provider.eligibility-lost',
  )
  const found = await world.alice.request('GET', `/alerts/${alert.id}/evidence`)
  evidence = found.body
}, 120_000)
afterAll(() => world.close())

function check(changed: Evidence, published = world.published?.passesUrl) {
  const { contracts, rpcUrl } = world.devnet
  return verify(changed, rpcUrl, contracts.registry, { published })
}

/** What the script says of evidence with a change. */
async function forged(change: (evidence: Evidence) => void): Promise<number> {
  const other = structuredClone(evidence)
  change(other)
  return (await check(other)).code
}

test('is confirmed by the published calculation, and the script says that the chain does not prove it', async () => {
  expect(evidence.claim).toMatchObject({ kind: 'eligibility', passes: 0 })
  const { code, said } = await check(evidence)
  expect({ code, said }).toEqual({
    code: 0,
    said: expect.stringContaining('by the published calculation, which the chain does not prove'),
  })
})

test('is confirmed in no other case, notation, type or order of a text, number or list', async () => {
  expect(await confirmedForms(evidence, (other) => check(other))).toEqual([])
}, 60_000)

test('is not checked without the published calculation, or with that of another reward epoch', async () => {
  const { rpcUrl, contracts } = world.devnet
  expect(await verify(evidence, rpcUrl, contracts.registry)).toMatchObject({
    code: 2,
    said: expect.stringContaining('--published'),
  })
  const epoch = Number(evidence.claim['rewardEpoch'])
  const earlier = String(world.published?.passesUrl).replace('{epoch}', String(epoch - 1))
  expect((await check(evidence, earlier)).code).toBe(2)
  expect((await check(evidence, '/nowhere/passes.json')).code).toBe(2)
})

test('is refuted if the provider, a figure or the event is changed', async () => {
  const bravo = world.simulation().provider('Bravo').accounts.identity.address
  const stranger = world.devnet.people.bob.account.address
  const of = (provider: string) =>
    forged(({ claim, data }) => {
      claim['provider'] = provider
      data['provider'] = provider
    })
  const figure = (name: string, value: unknown) =>
    forged(({ claim, data }) => {
      claim[name] = value
      data[name] = value
    })
  expect({
    eligible: await of(bravo),
    stranger: await of(stranger),
    passes: await figure('passes', 3),
    failures: await figure('failures', ['FDC_FAILURE']),
    event: await forged((other) => Object.assign(other, { event: 'provider.unregistered' })),
    severity: await forged((other) => Object.assign(other, { severity: 'warning' })),
  }).toEqual({ eligible: 1, stranger: 1, passes: 1, failures: 1, event: 1, severity: 1 })
})
