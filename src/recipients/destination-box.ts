import type { Channel } from '#src/channels/define.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

const PURPOSE = 'destination'

/** What is stored of a destination: sealed, as it may be shown, and who serves it. */
export interface StoredDestination {
  readonly destination: string
  readonly target: string
  readonly partitionKey: string
}

/** A channel's destination as it is stored. */
export function toStored(
  box: SecretBox,
  channel: Channel<unknown>,
  destination: unknown,
): StoredDestination {
  return {
    destination: box.seal(PURPOSE, JSON.stringify(channel.destination.parse(destination))),
    target: channel.mask(destination),
    partitionKey: channel.partitionKey(destination),
  }
}

/** A stored destination, to be checked by its channel's schema before it is used. */
export function openDestination(box: SecretBox, sealed: string): unknown {
  return JSON.parse(box.open(PURPOSE, sealed))
}
