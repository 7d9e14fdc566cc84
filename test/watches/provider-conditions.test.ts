import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { getProviderView } from '#src/watches/provider-view.ts'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Validators, and providers with every fault. A few bad rounds of a long reward epoch are no matter for its conditions. */

const GOOD_ROUNDS = 30
const BAD_ROUNDS = 11
const ROUNDS_AFTER = 16
/** Rounds between two readings. */
const ROUNDS_AT_ONCE = 3

const NAMES = ['Healthy', 'Offband', 'Voteless', 'Offline', 'Gone', 'Ruin', 'Silent'] as const
type Name = (typeof NAMES)[number]

const BEHAVIOURS: Readonly<Record<Name, readonly Behaviour[]>> = {
  Healthy: [],
  Offband: ['anchors-out-of-band'],
  Voteless: ['no-bit-vote'],
  Offline: ['validator-offline'],
  Gone: ['validator-gone'],
  Ruin: [
    'reveal-mismatch',
    'wrong-bit-vote-length',
    'wrong-key',
    'grace-signature',
    'fdc-in-submit1',
    'failing-transactions',
    'no-fast-updates',
    'validator-gone',
    'low-balance',
  ],
  Silent: ['silent'],
}

let world: RoundWorld

beforeAll(async () => {
  world = await roundWorld(NAMES)
}, 60_000)
afterAll(() => world.close())

/** The validators are asked for once in each round, and the rounds are read a few at a time. */
async function play(rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    await world.simulation().playRounds(1)
    await world.publish()
    if (round % ROUNDS_AT_ONCE === 0) await world.read()
  }
  await world.scan()
}

const heard = new Map<Name, number>()
async function news(): Promise<Readonly<Record<string, readonly string[]>>> {
  const all = await Promise.all(
    NAMES.map(async (name) => {
      const events = await world.events(name)
      const fresh = events.slice(heard.get(name) ?? 0)
      heard.set(name, events.length)
      return [name, fresh.toSorted()] as const
    }),
  )
  return Object.fromEntries(all.filter(([, events]) => events.length > 0))
}

test('no alert fires while the conditions are met', async () => {
  // Watches judge from their first observation on.
  await play(4)
  await play(GOOD_ROUNDS)
  expect(await news()).toEqual({})
}, 60_000)

test('each fault fires an alert, also several at once, and none about the conditions of the reward epoch', async () => {
  for (const name of NAMES) {
    for (const behaviour of BEHAVIOURS[name]) await world.behave(name, behaviour)
  }
  await play(BAD_ROUNDS)
  const streak = (id: string) => [`fsp.${id} critical`, `fsp.${id} warning`]
  expect(await news()).toEqual({
    Voteless: streak('fdc-bitvote'),
    Gone: ['fsp.validator-not-listed critical'],
    Ruin: [
      'fsp.balance-low critical',
      ...streak('fdc-bitvote-length'),
      'fsp.fdc-submit1 warning',
      'fsp.reveal-offence critical',
      'fsp.signature-mismatch critical',
      'fsp.tx-failed warning',
      'fsp.validator-not-listed critical',
    ],
    // It sends nothing at all, which is critical from the first alert on.
    Silent: [
      'fsp.fdc-bitvote critical',
      'fsp.fdc-signature critical',
      'fsp.ftso-commit critical',
      'fsp.ftso-reveal critical',
      'fsp.ftso-signature critical',
    ],
  })
  const [gone] = await world.alerts('Gone')
  expect(gone?.data).toMatchObject({ listed: 0, nodeIds: [expect.stringMatching(/^NodeID-/)] })
  const validatorsOf = async (name: Name) => {
    const provider = world.simulation().provider(name).accounts.identity.address
    return (await getProviderView(world.running(), { provider, rounds: 1 })).validators
  }
  const nodeId = expect.stringMatching(/^NodeID-/)
  expect(await validatorsOf('Gone')).toEqual([{ nodeId, listed: false }])
  expect(await validatorsOf('Offline')).toEqual([{ nodeId, listed: true }])
}, 60_000)

test('each alert recovers once, and a healthy provider has none', async () => {
  for (const name of NAMES) await world.simulation().recover(name)
  await play(ROUNDS_AFTER)
  const over = (...ids: readonly string[]) => ids.map((id) => `fsp.${id}.recovered info`)
  expect(await news()).toEqual({
    Voteless: over('fdc-bitvote'),
    Gone: over('validator-not-listed'),
    Ruin: over(
      'balance-low',
      'fdc-bitvote-length',
      'fdc-submit1',
      'reveal-offence',
      'signature-mismatch',
      'tx-failed',
      'validator-not-listed',
    ),
    Silent: over('fdc-bitvote', 'fdc-signature', 'ftso-commit', 'ftso-reveal', 'ftso-signature'),
  })
  expect(await world.events('Healthy')).toEqual([])
}, 60_000)
