/**
 * How much the tests try that could try more: random inputs, and rounds. A setup file of all tests, which sets the
 * number for properties that give none.
 */
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
 * Steps that a test plays one by one, such as those at which it kills a process: with `npm run test:soak` all of
 * them, else one of each kind, others in each run.
 */
export function someOfEachKind<Step>(
  steps: readonly Step[],
  kindOf: (step: Step) => string,
): readonly Step[] {
  if (isWhole) return steps
  const kinds = new Map<string, Step[]>()
  for (const step of steps) kinds.set(kindOf(step), [...(kinds.get(kindOf(step)) ?? []), step])
  return [...kinds.values()].flatMap((alike) => {
    const place = Math.floor(Math.random() * alike.length)
    return alike.slice(place, place + 1)
  })
}

fc.configureGlobal({ numRuns: runs(INPUTS) })
