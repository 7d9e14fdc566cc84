import type { Channel } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import { resealColumn } from '#src/db/reseal.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { SEALED_DESTINATIONS } from './store.ts'

/** Purpose for which destinations are encrypted. */
const PURPOSE = 'destination'

/** Stored data of a destination: encrypted, masked, and its partition. */
export interface StoredDestination {
  readonly destination: string
  readonly target: string
  readonly partitionKey: string
}

/** Converts a channel's destination to its stored form. */
export function toStoredDestination(
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
export function decryptDestination(box: SecretBox, sealed: string): unknown {
  return JSON.parse(box.open(PURPOSE, sealed))
}

/**
 * Encrypts all destinations with the current secret key.
 * @returns number of destinations that the previous key had encrypted
 */
export async function resealDestinations(
  deps: { readonly db: Db; readonly box: SecretBox; readonly log: Logger },
  signal: AbortSignal,
): Promise<number> {
  return await resealColumn(deps, { purpose: PURPOSE, ...SEALED_DESTINATIONS }, signal)
}
