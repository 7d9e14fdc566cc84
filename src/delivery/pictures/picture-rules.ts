/** Decides which messages have a picture of the provider. Pure. */

import type { Cause, Envelope, MessagePicture } from '#src/channels/envelope.ts'
import { isAboutDuty } from '#src/channels/groups/duties.ts'
import { Address } from '#src/kernel/units.ts'

/** Number of duties in one message from which on they count as an outage. */
const DUTIES_MIN = 2

/**
 * The picture of a group: one about several failed duties of a provider has a picture of its rounds up to the last of
 * these alerts, and so has the recovery of everything. It depends on the alerts only, so that a message keeps its
 * picture as long as it has the same alerts.
 *
 * @param parts the deliveries in the group
 */
export function pictureOf(
  parts: readonly Envelope[],
  { of, cause }: { readonly of: Envelope['of']; readonly cause: Cause | undefined },
): MessagePicture | undefined {
  const isOver = cause?.kind === 'healthy'
  if (of !== undefined) return undefined
  const duties = parts.filter(
    ({ message }) => message.isRecovery === isOver && isAboutDuty(message.event),
  )
  if (new Set(duties.map(({ message }) => message.event)).size < DUTIES_MIN) return undefined
  const [provider] = duties.flatMap(({ data }) => Address.safeParse(data['provider']).data ?? [])
  const rounds = duties.map(({ data }) => data['votingRoundId']).filter(Number.isInteger)
  if (provider === undefined || rounds.length === 0) return undefined
  return {
    kind: isOver ? 'recovery' : 'outage',
    provider,
    round: Math.max(...rounds.map(Number)),
  }
}
