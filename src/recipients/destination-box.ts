import type { Channel } from '#src/channels/define.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'

const PURPOSE = 'destination'

/** Stored data of a destination: sealed, masked, and its partition. */
export interface StoredDestination {
  readonly destination: string
  readonly target: string
  readonly partitionKey: string
}

/** A channel's destination as stored. */
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

/** Decrypts a stored destination; the channel's schema must check it before use. */
export function openDestination(box: SecretBox, sealed: string): unknown {
  return JSON.parse(box.open(PURPOSE, sealed))
}
