import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getEvidence } from '#src/alerts/evidence/evidence.ts'
import { AlertEvidence } from '#src/alerts/evidence/model.ts'
import type { EvidenceVerdict } from '../../examples/evidence/check.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import { runs } from '../support/runs.ts'
import { type RoundWorld, roundWorld } from '../watches/rounds.ts'
import type { Notified } from '../watches/world.ts'
import { confirmedChanges, confirmedForms } from './evidence-changes.ts'
import { datedTo, twice, verify } from './evidence-script.ts'

/** The evidence of alerts about reward epochs and votes, checked by the script of examples/. */

const MINUTE = 60
const HOUR = 3600
/** Rounds before and with the faults that lower a rate. */
const [GOOD_ROUNDS, BAD_ROUNDS] = [32, 14]

/** Hours after the end of the reward epoch at which votes are concluded, and the last one that is seen. */
const [UPTIME_HOUR, REWARDS_HOUR, LAST_HOUR] = [4, 28, 30]

/** Providers whose submissions go astray, or do not fit the feeds, in the same rounds. */
const FAULTY = [
  ['Astray', 'former-submission'],
  ['Sparse', 'few-values'],
  ['Lavish', 'too-many-values'],
] as const

/** Number of alerts of each event that are checked. */
const CHECKED_PER_EVENT = runs(2)

type RaisedAlert = Notified & { readonly id: number }

let world: RoundWorld
let rpc: Rpc
let raised: readonly RaisedAlert[] = []

beforeAll(async () => {
  const others = FAULTY.map(([name]) => name)
  world = await roundWorld(['Healthy', 'Unregistered', 'Pushed', 'Offband', 'Voteless', ...others])
  const simulation = world.simulation()
  const watch = async (type: string, name: string) => {
    const target = { provider: simulation.provider(name).accounts.identity.address }
    const { status } = await world.alice.request('POST', '/watches', { type, target })
    expect(status).toBe(201)
  }
  await watch('provider-eligibility', 'Unregistered')
  for (const name of ['Healthy', 'Offband', 'Voteless']) await watch('reward-signing', name)
  // The rounds of the first look are the baseline.
  await simulation.playRounds(3)
  await world.scan()
  await simulation.playRounds(GOOD_ROUNDS)
  await world.scan()
  await simulation.behave('Offband', 'anchors-out-of-band')
  await simulation.behave('Voteless', 'no-bit-vote')
  for (const [name, behaviour] of FAULTY) await simulation.behave(name, behaviour)
  await simulation.playRounds(BAD_ROUNDS)
  await world.scan()
  for (const name of ['Offband', 'Voteless', ...others]) await simulation.recover(name)
  await simulation.behave('Unregistered', 'unregistered')
  await simulation.behave('Pushed', 'not-in-policy')
  await simulation.behave('Offband', 'misses-uptime-vote')
  await simulation.behave('Voteless', 'misses-rewards-vote')
  await simulation.behave('Anchor', 'misses-uptime-vote', 'misses-rewards-vote')
  await simulation.playToRegistration()
  await world.scan()
  for (const minutes of [18, 34]) {
    const since = simulation.registrationSince ?? 0
    await simulation.playTo(since + minutes * MINUTE, { inFull: true })
    await world.scan()
  }
  await simulation.playToEpochEnd()
  await world.scan()
  const ended = world.clock.now().getTime() / 1000
  for (let hours = 1; hours <= LAST_HOUR; hours += 1) {
    // Until the heaviest provider votes, a vote is open.
    if (hours === UPTIME_HOUR) await simulation.recover('Anchor', 'misses-uptime-vote')
    if (hours === REWARDS_HOUR) await simulation.recover('Anchor', 'misses-rewards-vote')
    await simulation.playTo(ended + hours * HOUR)
    await world.scan()
  }
  raised = (await world.notified()) as readonly RaisedAlert[]
  rpc = createRpc(twice(world.devnet.rpcUrl))
}, 180_000)
afterAll(() => world.close())

/** The evidence of an alert as JSON, past the limit of requests a minute. */
async function evidenceOf(id: number) {
  const { app, alice } = world
  const evidence = await getEvidence(app, alice.caller, { id, locale: 'en' })
  return JSON.parse(JSON.stringify(z.encode(AlertEvidence, evidence)))
}

test('the chain confirms no claim about blocks before the duty began', async () => {
  const codes: unknown[] = []
  for (const kind of ['vote', 'registration']) {
    for (const { id } of raised) {
      const body = await evidenceOf(id)
      if (body.claim?.kind !== kind) continue
      const early = await datedTo(body, world.devnet, 1)
      const { code } = await verify(early, rpc, world.devnet.contracts.registry)
      codes.push([kind, code])
      break
    }
  }
  expect(codes).toEqual([
    ['vote', 1],
    ['registration', 1],
  ])
}, 60_000)

test('the chain confirms every alert that has a claim', async () => {
  const found: unknown[] = []
  const confirmed = new Set<string>()
  const checked = new Map<string, number>()
  for (const { id, event } of raised) {
    const count = (checked.get(event) ?? 0) + 1
    if (count > CHECKED_PER_EVENT) continue
    checked.set(event, count)
    const body = await evidenceOf(id)
    const { code, said } = await verify(body, rpc, world.devnet.contracts.registry)
    if (code !== (body.claim === null ? 2 : 0)) found.push([event, body.unproven, code, said])
    if (code === 0) confirmed.add(event)
  }
  expect(found).toEqual([])
  expect([...confirmed]).toEqual(
    expect.arrayContaining([
      'fsp.ftso-commit',
      'fsp.ftso-reveal',
      'fsp.ftso-signature',
      'fsp.not-in-policy',
      'fsp.registration',
      'provider.unregistered',
      'signing.missed',
      'signing.rewards-open',
      'signing.rewards-reminder',
      'signing.uptime-open',
    ]),
  )
}, 300_000)

/** Evidence of an event about a provider, with a change of the same figures in the claim and in the alert. */
async function forged(
  event: string,
  change: (parts: readonly Record<string, unknown>[]) => void,
): Promise<EvidenceVerdict> {
  const alert = raised.find((one) => one.event === event)
  expect(alert, event).toBeDefined()
  const body = await evidenceOf(Number(alert?.id))
  change([body.claim, body.data])
  return verify(body, rpc, world.devnet.contracts.registry)
}

const ABSENCES = ['provider.unregistered', 'fsp.not-in-policy', 'fsp.registration'] as const

test.each(ABSENCES)('%s: absence is confirmed for an identity only', async (event) => {
  const { accounts } = world.simulation().provider('Pushed')
  const of = (provider: string) =>
    forged(event, (parts) => {
      for (const part of parts) part['provider'] = provider
    })
  for (const { address } of [accounts.submit, accounts.submitSignatures]) {
    expect(await of(address)).toMatchObject({
      code: 1,
      said: expect.stringContaining('is another account of'),
    })
  }
  expect(await of(world.devnet.people.bob.account.address)).toMatchObject({
    code: 2,
    said: expect.stringContaining('is not known as the identity of a provider'),
  })
}, 60_000)

test.each([
  ...ABSENCES,
  'signing.missed',
  'signing.uptime-open',
])('%s: a reward epoch that was neither in force nor the next is refuted', async (event) => {
  for (const by of [-3, -2, 3]) {
    const { code } = await forged(event, (parts) => {
      const [claim, data] = parts as [Record<string, unknown>, Record<string, unknown>]
      claim['rewardEpoch'] = Number(claim['rewardEpoch']) + by
      data['rewardEpochId'] = claim['rewardEpoch']
    })
    expect([by, code]).toEqual([by, 1])
  }
}, 60_000)

test('words in another case do not choose another check', async () => {
  const vote = await forged('signing.missed', (parts) => {
    for (const part of parts) Object.assign(part, { vote: 'Uptime', signedOtherHash: true })
  })
  expect(vote.code).toBe(2)
  expect(vote.said).toContain('claim.vote')
})

test('no figure, and no case, notation, type or order, can be changed so that the chain confirms it, unless the script names it', async () => {
  const found: unknown[] = []
  const kinds = new Set<string>()
  for (const { id } of raised) {
    const body = await evidenceOf(id)
    if (body.claim === null || kinds.has(body.event)) continue
    kinds.add(body.event)
    const { registry } = world.devnet.contracts
    const changes = await confirmedChanges(body, (change) => verify(change, rpc, registry))
    const forms = await confirmedForms(body, (change) => verify(change, rpc, registry))
    if (changes.length + forms.length > 0) found.push([body.event, changes, forms])
  }
  expect(found).toEqual([])
}, 300_000)
