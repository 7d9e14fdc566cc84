import type { NoticeFacts } from '#src/channels/notice-facts.ts'
import type { Notice } from './model.ts'

/** What a notice counts; undefined if it is never added up and names no end. Pure. */
export function factsIn(notice: Notice): NoticeFacts | undefined {
  switch (notice.kind) {
    case 'slots-end': {
      const { quantity: count, endsAt, renewal, stopping } = notice
      // A notice with a price has its own sums, so it is not added up with others.
      const addable = renewal === null ? [...stopping] : null
      return { count, endsAt: endsAt.toISOString(), stopping: addable }
    }
    case 'renewed':
      return { count: notice.quantity, endsAt: notice.endsAt.toISOString(), stopping: null }
    case 'suspended':
      return { count: notice.watches.length, endsAt: null, stopping: null }
    case 'trial-ends':
      return { count: 1, endsAt: notice.endsAt.toISOString(), stopping: null }
    default:
      return undefined
  }
}
