import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { getEvidence } from '#src/alerts/evidence/evidence.ts'
import { AlertEvidence } from '#src/alerts/evidence/model.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import { type RoundWorld, roundWorld } from '../watches/rounds.ts'
import type { Notified } from '../watches/world.ts'
import { confirmedChanges, confirmedForms } from './evidence-changes.ts'
import { twice, verify } from './evidence-script.ts'

/** The evidence of alerts about error budgets, checked by the script of examples/, in a reward epoch of 100 rounds. */

const TIMING = {
  roundsPerEpoch: 100,
  initializationSeconds: 900,
  randomAcquisitionSeconds: 90,
  registrationSeconds: 300,
  uptimeVoteSeconds: 180,
  publicationSeconds: 360,
}
const [GOOD_ROUNDS, BAD_ROUNDS] = [16, 26]
const EVENTS = ['fsp.mc-anchor', 'fsp.mc-fdc'] as const

let world: RoundWorld
let rpc: Rpc
let raised: readonly (Notified & { readonly id: number })[] = []

beforeAll(async () => {
  world = await roundWorld(['Offband', 'Voteless'], { timing: TIMING })
  const simulation = world.simulation()
  // The epoch in force began before the service.
  await simulation.playToEpochEnd()
  await world.scan()
  await simulation.playRounds(GOOD_ROUNDS)
  await world.scan()
  await simulation.behave('Offband', 'anchors-out-of-band')
  await simulation.behave('Voteless', 'no-bit-vote')
  await simulation.playRounds(BAD_ROUNDS)
  await world.scan()
  raised = (await world.notified()) as typeof raised
  rpc = createRpc(twice(world.devnet.rpcUrl))
}, 180_000)
afterAll(() => world.close())

/** Evidence of the first alert of an event, as JSON. */
async function evidenceOf(event: (typeof EVENTS)[number]) {
  const { id } = raised.find((alert) => alert.event === event) ?? {}
  if (id === undefined) throw new Error(`there is no alert ${event}`)
  const { app, alice } = world
  const evidence = await getEvidence(app, alice.caller, { id, locale: 'en' })
  return JSON.parse(JSON.stringify(z.encode(AlertEvidence, evidence)))
}

test.each(EVENTS)('the chain confirms the claim of %s', async (event) => {
  const body = await evidenceOf(event)
  const { code, said } = await verify(body, rpc, world.devnet.contracts.registry)
  expect([code, said]).toEqual([0, expect.anything()])
}, 300_000)

test.each(EVENTS)('no figure of %s can be changed so that the chain confirms it', async (event) => {
  const body = await evidenceOf(event)
  const { registry } = world.devnet.contracts
  const changes = await confirmedChanges(body, (change) => verify(change, rpc, registry))
  const forms = await confirmedForms(body, (change) => verify(change, rpc, registry))
  expect([...changes, ...forms]).toEqual([])
}, 300_000)
