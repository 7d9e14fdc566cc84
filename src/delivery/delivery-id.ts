import { randomUUID } from 'node:crypto'

/**
 * A new delivery's id: a UUID that begins with the time, so that rows of one time are together, in
 * indexes and in partitions.
 *
 * @param at when the delivery is written
 * @see RFC 9562, 5.7
 */
export function newDeliveryId(at: Date): string {
  return `${timeText(at)}-7${randomUUID().slice(15)}`
}

/** The lowest id of an instant. */
export function lowestDeliveryId(at: Date): string {
  return `${timeText(at)}-0000-0000-000000000000`
}

/** Milliseconds as the first 12 digits of a UUID. */
function timeText(at: Date): string {
  const digits = at.getTime().toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
