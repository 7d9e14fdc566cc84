/** Publishes which connections and statements are requested from the database's pools. Tests subscribe to check it. */
import { channel } from 'node:diagnostics_channel'

/** Diagnostics channel with a message for each connection requested from a pool. */
export const POOL_REQUEST_CHANNEL = 'flare-watchdog:db:connection'
const poolRequests = channel(POOL_REQUEST_CHANNEL)

/** Publishes that a connection of a pool was requested. */
export function publishPoolRequest(): void {
  if (poolRequests.hasSubscribers) poolRequests.publish({})
}

/** Diagnostics channel with a message for each statement that is issued to a pool or in a transaction: its text. */
export const STATEMENT_CHANNEL = 'flare-watchdog:db:statement'
const statements = channel(STATEMENT_CHANNEL)

/** Publishes that a statement was issued. It is sent later, when its caller waits for it and a connection is free. */
export function publishStatement(text: string): void {
  if (statements.hasSubscribers) statements.publish(text)
}
