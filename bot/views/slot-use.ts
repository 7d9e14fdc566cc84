import type { Capacity } from '#src/billing/subscriptions/model.ts'

/** Slots of a wallet as every screen counts them. */
export interface SlotUse {
  /** Slots with a watch in them. */
  readonly used: number
  readonly total: number
  readonly free: number
  /** Watches beyond the slots: suspended until there is one. */
  readonly waiting: number
}

/** What the count of watches means: suspended ones keep their place, but there are no slots under them. */
export function slotUse({
  purchased,
  trial,
  used: watches,
  available,
}: Pick<Capacity, 'purchased' | 'trial' | 'used'> & Partial<Capacity>): SlotUse {
  const slots = purchased + trial
  // Where slots are not counted only the limit of watches is left.
  const total =
    slots === 0 && available !== undefined && available > 0 ? watches + available : slots
  const used = Math.min(watches, total)
  return { used, total, free: total - used, waiting: watches - used }
}
