import type { OperationWith } from '../define.ts'

/** An operation's output, and whether it is the stored output of an earlier request. */
export interface Answer<Output> {
  readonly status: number
  readonly output: Output
  readonly isReplay: boolean
}

/** HTTP status of a response with this output; 200 for an operation without a route. */
export function statusOf<Output>(operation: OperationWith<Output>, output: Output): number {
  const { queued, status = 200 } = operation
  return queued?.when(output) === true ? queued.status : status
}
