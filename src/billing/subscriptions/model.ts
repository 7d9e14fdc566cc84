/**
 * Capacity is how many slots a wallet may fill now: the running trial's one, and the slots of its
 * subscriptions. Every watch that is not deleted takes one.
 */
import { z } from 'zod'
import { Instant } from '#src/kernel/units.ts'

/** Answer of `POST /subscriptions/trial`. */
export const Trial = z
  .object({ slots: z.int(), startedAt: Instant, endsAt: Instant })
  .meta({ id: 'Trial' })
export type Trial = z.output<typeof Trial>
