/** What was read while one update is handled, so that each thing is read once. */
import type { Address } from '#src/kernel/units.ts'
import type { OperationWith } from '#src/operations/define.ts'
import type { RawInput } from '#src/operations/gate/invoke.ts'

/**
 * Runs a call; a repeated read with the same input gets the answer of the first. A call that may change something
 * forgets all answers.
 */
export type ReadOnce = <Output>(
  call: {
    readonly operation: OperationWith<Output>
    readonly wallet: Address | undefined
    readonly input: RawInput
  },
  run: () => Promise<Output>,
) => Promise<Output>

/** Remembers the answers of one update, or of one check of a message. */
export function createReadOnce(): ReadOnce {
  const answers = new Map<string, Promise<unknown>>()
  return async <Output>(
    { operation, wallet, input }: Parameters<ReadOnce>[0],
    run: () => Promise<Output>,
  ) => {
    if (operation.isRead !== true && operation.method !== 'GET') {
      try {
        return await run()
      } finally {
        answers.clear()
      }
    }
    const name = JSON.stringify([operation.id, wallet, input])
    const known = answers.get(name)
    // Safe: the answer of the operation with this id.
    if (known !== undefined) return (await known) as Output
    const answer = run()
    answers.set(name, answer)
    try {
      return await answer
    } catch (error) {
      if (answers.get(name) === answer) answers.delete(name)
      throw error
    }
  }
}
