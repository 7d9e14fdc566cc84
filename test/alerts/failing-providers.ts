import type { Behaviour } from '#sandbox/devnet/fsp/behaviours.ts'
import { type RoundWorld, roundWorld } from '../watches/rounds.ts'

/** Makes the signal fire after the few blocks of a test. */
const SENSITIVE = [{ id: 'fast-updates', enabled: true, parameters: { probability: 0.1 } }]

/**
 * A world whose providers work for four rounds, then each fails in its way for four.
 * @param cases names and behaviours; among them `Still`, whose fast updates end a round earlier
 */
export async function failingProviders(
  cases: readonly (readonly [name: string, behaviour: Behaviour, ...rest: unknown[]])[],
): Promise<RoundWorld> {
  const names = cases.map(([name]) => name)
  const world = await roundWorld(
    names.filter((name) => name !== 'Still'),
    { unwatched: ['Still'] },
  )
  await world.watch('Still', SENSITIVE)
  const simulation = world.simulation()
  await simulation.playRounds(4)
  await world.scan()
  // Missing fast updates are noticed later than other failures.
  await simulation.behave('Still', 'no-fast-updates')
  await simulation.playRounds(1, 100)
  for (const [name, behaviour] of cases) await simulation.behave(name, behaviour)
  await simulation.playRounds(4, 60)
  await world.scan()
  return world
}
