import { unlessAborted } from '#src/kernel/unless-aborted.ts'
import { UnexpectedAnswerError } from '../customer.ts'

/** Result of a tour. */
interface TourOutcome {
  readonly held: number
  /** The title of the failed step, if any. */
  readonly failed: string | undefined
  readonly seconds: number
}

/** Adds a text to the line of a step. */
export type StepNote = (text: string) => void

/** Runs steps in sequence and prints their results. */
export interface Steps {
  /**
   * Runs a step and prints a line about it.
   *
   * @throws StepFailed when it fails, after printing the expected and the actual value
   */
  take<T>(title: string, work: (note: StepNote) => Promise<T>): Promise<T>
  outcome(): TourOutcome
}

/** A failed step, whose problem was printed. */
export class StepFailed extends Error {
  constructor(title: string) {
    super(`this step did not hold: ${title}`)
    this.name = 'StepFailed'
  }
}

/**
 * Steps of a tour.
 *
 * @param deadline aborts the running step
 */
export function createSteps(print: (line: string) => void, deadline: AbortSignal): Steps {
  const startedAt = performance.now()
  let held = 0
  let failed: string | undefined
  const line = (mark: string, since: number, title: string, notes: readonly string[]) => {
    const seconds = `${((performance.now() - since) / 1000).toFixed(1)} s`
    const more = notes.length === 0 ? '' : ` · ${notes.join(' · ')}`
    print(` ${mark} ${seconds.padStart(7)}  ${title}${more}`)
  }
  return {
    take: async (title, work) => {
      const since = performance.now()
      const notes: string[] = []
      try {
        const result = await unlessAborted(
          work((note) => notes.push(note)),
          deadline,
        )
        held += 1
        line('✓', since, title, notes)
        return result
      } catch (error) {
        failed = title
        line('✗', since, title, notes)
        for (const detail of explain(error)) print(`            ${detail}`)
        throw new StepFailed(title)
      }
    },
    outcome: () => ({ held, failed, seconds: (performance.now() - startedAt) / 1000 }),
  }
}

function explain(error: unknown): readonly string[] {
  if (error instanceof UnexpectedAnswerError) {
    return [`expected: ${error.expected}`, `came:     ${error.received}`]
  }
  if (error instanceof Error && error.name === 'TimeoutError') {
    return ['expected: an end within the time', 'came:     nothing']
  }
  return (error instanceof Error ? error.message : String(error)).split('\n')
}
