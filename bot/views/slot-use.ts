import type { Capacity } from '#src/billing/subscriptions/model.ts'

/** Slots of a wallet, as all screens count them. */
export interface SlotUse {
  /** Slots occupied by a watch. */
  readonly used: number
  readonly total: number
  readonly free: number
  /** Suspended watches, which wait for a slot. */
  readonly waiting: number
}

/** Counts slots from the count of watches, which includes suspended ones. */
export function slotUse({
  purchased,
  trial,
  used: watches,
  available,
}: Pick<Capacity, 'purchased' | 'trial' | 'used'> & Partial<Capacity>): SlotUse {
  const slots = purchased + trial
  // Without billing there are no slots, and the limit of watches is the total.
  const total =
    slots === 0 && available !== undefined && available > 0 ? watches + available : slots
  const used = Math.min(watches, total)
  return { used, total, free: total - used, waiting: watches - used }
}
