/**
 * How much the tests try that could try more: random inputs, and rounds. A setup file of all tests, which sets the
 * number for properties that give none.
 */
import { randomInt } from 'node:crypto'
import fc from 'fast-check'

/** Whether everything is played whole: `npm run test:soak`. */
export const isWhole = process.env['SOAK'] === 'whole'
const isFast = process.env['FAST'] === '1'

/** fast-check's own number of inputs. */
const INPUTS = 100
const TIMES_WHOLE = 10
const PART_FAST = 0.25

/**
 * Number of inputs or rounds that a test tries: the usual one with `npm test`, a quarter with
 * `npm run test:fast`, and with `npm run test:soak` the whole one.
 *
 * @param whole ten times the usual number by default
 */
export function runs(usual: number, whole = usual * TIMES_WHOLE): number {
  if (isWhole) return whole
  return isFast ? Math.ceil(usual * PART_FAST) : usual
}

/**
 * Cases that a test plays one by one, such as steps at which it kills a process: all with `npm run test:soak`, else a
 * random one of each kind.
 *
 * @param kindOf kind of a case; without it all are of one kind
 */
export function someOfEachKind<Case>(
  cases: readonly Case[],
  kindOf: (one: Case) => string | undefined = () => undefined,
): readonly Case[] {
  if (isWhole) return cases
  return [...Map.groupBy(cases, kindOf).values()].flatMap((alike) => {
    const index = randomInt(alike.length)
    return alike.slice(index, index + 1)
  })
}

fc.configureGlobal({ numRuns: runs(INPUTS) })
