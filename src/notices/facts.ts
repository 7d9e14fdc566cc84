import type { NoticeFacts } from '#src/channels/notice-facts.ts'
import type { Notice } from './model.ts'

const NONE = {
  endsAt: null,
  stopping: null,
  renewal: null,
  offers: [],
  balanceCredits: null,
} satisfies Partial<NoticeFacts>

/**
 * Figures of a notice, by which several notices of one message are added up: number, end, prices. Undefined for
 * kinds that have none. Pure.
 */
export function factsIn(notice: Notice): NoticeFacts | undefined {
  switch (notice.kind) {
    case 'slots-end': {
      const { quantity: count, endsAt, renewal, offer, stopping } = notice
      return {
        ...NONE,
        count,
        endsAt: endsAt.toISOString(),
        stopping: [...stopping],
        renewal,
        offers: offer === null ? [] : [offer],
      }
    }
    case 'renewal-ahead':
    case 'renewed': {
      const { quantity: count, endsAt, credits, balanceCredits } = notice
      const renewal = { credits, missingCredits: 0 }
      return { ...NONE, count, endsAt: endsAt.toISOString(), renewal, balanceCredits }
    }
    case 'suspended':
      return { ...NONE, count: notice.watches.length }
    case 'trial-ends':
      return { ...NONE, count: 1, endsAt: notice.endsAt.toISOString() }
    default:
      return undefined
  }
}
