import type { Answering } from './define.ts'

/** An operation's answer, and whether it is the kept answer of an earlier request. */
export interface Answer<Output> {
  readonly status: number
  readonly output: Output
  readonly isReplay: boolean
}

/** The status an operation answers with. */
export function statusOf<Output>(operation: Answering<Output>, output: Output): number {
  return operation.queued?.when(output) === true ? operation.queued.status : operation.status
}
