import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { createRpc, type Rpc } from '../../examples/evidence/rpc.ts'
import type { RoundWorld } from '../watches/rounds.ts'
import { confirmedChanges, type Evidence, moved } from './evidence-changes.ts'
import { twice, verify } from './evidence-script.ts'
import { failingProviders } from './failing-providers.ts'

/** Every figure of evidence is checked by the script of examples/, or named as one that is not. */

const CASES: readonly (readonly [string, Behaviour, string])[] = [
  ['Mute', 'no-commit', 'fsp.ftso-commit'],
  ['Slow', 'grace-signature', 'fsp.signature-grace'],
  ['Miscount', 'wrong-bit-vote-length', 'fsp.fdc-bitvote-length'],
  ['Fickle', 'no-fdc-signature', 'fsp.fdc-signature'],
  ['Clumsy', 'failing-transactions', 'fsp.tx-failed'],
  ['Poor', 'low-balance', 'fsp.balance-low'],
  ['Still', 'no-fast-updates', 'fsp.fast-updates'],
]
let world: RoundWorld
let rpc: Rpc

beforeAll(async () => {
  world = await failingProviders(CASES)
  rpc = createRpc(twice(world.devnet.rpcUrl))
})
afterAll(() => world.close())

async function evidenceOf(name: string, event: string): Promise<Evidence> {
  const all = (await world.alerts(name)) as unknown as readonly { id: number; event: string }[]
  const found = all.find((alert) => alert.event === event)
  expect(found, event).toBeDefined()
  const { body } = await world.alice.request('GET', `/alerts/${found?.id}/evidence`)
  return body
}

/** What the script says of evidence with a change. */
function forged(evidence: Evidence, change: (evidence: Evidence) => void = () => {}) {
  const other = structuredClone(evidence)
  change(other)
  return verify(other, rpc, world.devnet.contracts.registry)
}

test.each(CASES)(
  'of %s with %s no figure can be changed unless the script names it',
  async (name, _behaviour, event) => {
    const evidence = await evidenceOf(name, event)
    expect(await confirmedChanges(evidence, (other) => forged(other))).toEqual([])
  },
  120_000,
)

test('a streak that began earlier or later than the first bad round is refuted', async () => {
  const evidence = await evidenceOf('Mute', 'fsp.ftso-commit')
  const startedAt = (by: number) =>
    forged(evidence, ({ claim, data }) => {
      claim['firstRound'] = Number(claim['firstRound']) + by
      data['firstRoundId'] = claim['firstRound']
      data['since'] = moved(data['since'], by)
    })
  for (const by of [-4, -3, -2, -1]) {
    expect(await startedAt(by)).toMatchObject({
      code: 1,
      said: expect.stringMatching(/^refuted: round \d+ is not bad/),
    })
  }
  expect(await startedAt(1)).toMatchObject({ code: 1 })
})

test('other times of the rounds than those at which they began are refuted', async () => {
  const evidence = await evidenceOf('Mute', 'fsp.ftso-commit')
  for (const name of ['since', 'roundStart']) {
    const result = await forged(evidence, ({ data }) => {
      data[name] = moved(data[name], -1)
    })
    expect(result).toMatchObject({ code: 1, said: expect.stringContaining(`for ${name}`) })
  }
})
