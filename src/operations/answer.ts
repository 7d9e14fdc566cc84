import type { Answering } from './define.ts'

/** An operation's answer, and whether it is the kept answer of an earlier request. */
export interface Answer<Output> {
  readonly status: number
  readonly output: Output
  readonly isReplay: boolean
}

/** The status an operation answers with; 200 without a route. */
export function statusOf<Output>(operation: Answering<Output>, output: Output): number {
  const { queued, status = 200 } = operation
  return queued?.when(output) === true ? queued.status : status
}
