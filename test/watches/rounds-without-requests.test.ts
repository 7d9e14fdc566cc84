import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RoundWorld, roundWorld } from './rounds.ts'

/** Voting rounds in which nothing was requested of the FDC. */

const REQUESTS = 3

let world: RoundWorld
let isEmpty = (_round: number) => false

beforeAll(async () => {
  const requests = (round: number) => (isEmpty(round) ? 0 : REQUESTS)
  world = await roundWorld(['Voteless', 'Healthy'], { requests })
}, 60_000)
afterAll(() => world.close())

async function play(rounds: number): Promise<void> {
  await world.simulation().playRounds(rounds)
  await world.scan()
}

test('rounds without requests neither continue nor reset the streak of missing bit votes', async () => {
  await play(4)
  const first = world.simulation().round
  // A bit vote is missing, then there is a round without requests, then one is missing again.
  isEmpty = (round) => round !== first && round !== first + 3
  await world.behave('Voteless', 'no-bit-vote')
  await play(3)
  expect(await world.events('Voteless')).toEqual([])
  await play(3)
  expect(await world.events('Voteless')).toEqual(['fsp.fdc-bitvote warning'])
  expect(await world.events('Healthy')).toEqual([])
})
