/** Publishes what the pools of the database do. Tests subscribe to check it. */
import { channel } from 'node:diagnostics_channel'

/** Diagnostics channel with a message for each connection requested from a pool. */
export const POOL_REQUEST_CHANNEL = 'flare-watchdog:db:connection'
const poolRequests = channel(POOL_REQUEST_CHANNEL)

/** Publishes that a connection of a pool was requested. */
export function publishPoolRequest(): void {
  if (poolRequests.hasSubscribers) poolRequests.publish({})
}

/** Diagnostics channel with a message for each statement that is sent through a pool: its text. */
export const STATEMENT_CHANNEL = 'flare-watchdog:db:statement'
const statements = channel(STATEMENT_CHANNEL)

/** Publishes, before the caller waits for it, that a statement is sent. */
export function publishStatement(text: string): void {
  if (statements.hasSubscribers) statements.publish(text)
}
