/** Decides which messages are followed by a picture of the provider. Pure. */
import { isFailedDuty } from '#src/channels/duties.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { Address } from '#src/kernel/units.ts'

export type MessagePictureKind = 'outage' | 'recovery'

/** A picture that may follow a message. */
export interface MessagePicture {
  readonly kind: MessagePictureKind
  readonly provider: Address
  /** Label of the watch. */
  readonly name: string
}

/** Number of failed duties in one message from which on they count as an outage. */
const DUTIES_MIN = 2

/**
 * The picture for a message. A group about several failed duties of a provider, of which at least one is
 * new, has a picture, and so has the recovery of everything; other messages have none.
 *
 * @param added the deliveries that the message gets now; the group may list earlier ones too
 */
export function pictureOf(
  { kind, of, items = [], cause }: Envelope,
  added: readonly Envelope[],
): MessagePicture | undefined {
  if (kind !== 'group' || of !== undefined) return undefined
  const [about] = added.flatMap(({ data, message }) => {
    const provider = Address.safeParse(data['provider'])
    return provider.success ? [{ provider: provider.data, name: message.watchLabel ?? '' }] : []
  })
  if (about === undefined) return undefined
  if (cause?.kind === 'healthy') return { kind: 'recovery', ...about }
  const failed = new Set(items.flatMap(({ event }) => (isFailedDuty(event) ? [event] : [])))
  const isNew = added.some(({ message }) => isFailedDuty(message.event))
  return isNew && failed.size >= DUTIES_MIN ? { kind: 'outage', ...about } : undefined
}
