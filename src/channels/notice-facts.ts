/** What a notice counts. It lies in the data of the envelope, so that several notices can be added up. */
import { z } from 'zod'
import type { Envelope } from './envelope.ts'

const NoticeFacts = z.object({
  /** Slots or watches that the title counts. */
  count: z.int(),
  /** The end that the title names; null if it names none. */
  endsAt: z.iso.datetime().nullable(),
  /** Labels of the watches that the end suspends; null for notices that suspend none by an end. */
  stopping: z.array(z.string()).nullable(),
  /** Price of the automatic renewal, and the credits that are missing for it; null if there is none. */
  renewal: z.object({ credits: z.int(), missingCredits: z.int() }).nullable(),
  /** Prices of automatic renewals that can be turned on. */
  offers: z.array(z.object({ credits: z.int(), periods: z.int() })),
  /** Credits of the wallet; null if the text does not say how many. */
  balanceCredits: z.int().nullable(),
})
export type NoticeFacts = z.infer<typeof NoticeFacts>

/** The facts of a notice; undefined if it has none. */
export function factsOf({ data }: Pick<Envelope, 'data'>): NoticeFacts | undefined {
  return NoticeFacts.safeParse(data.facts).data
}
