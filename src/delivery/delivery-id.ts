import { randomUUID } from 'node:crypto'

/**
 * Creates a delivery id: a UUID that starts with the time, so that rows of the same time are adjacent in
 * indexes and partitions.
 *
 * @param at creation time of the delivery
 * @see RFC 9562, 5.7
 */
export function newDeliveryId(at: Date): string {
  return `${timeText(at)}-7${randomUUID().slice(15)}`
}

/** The lowest id of deliveries created at an instant. */
export function lowestDeliveryId(at: Date): string {
  return `${timeText(at)}-0000-0000-000000000000`
}

/** Milliseconds as the first 12 digits of a UUID. */
function timeText(at: Date): string {
  const digits = at.getTime().toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}
