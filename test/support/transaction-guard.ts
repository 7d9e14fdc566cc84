/**
 * Fails every transaction of the tests in whose work a network request starts, or a second connection of a
 * pool is requested, because both would block the connection and its locks.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { POOL_REQUEST_CHANNEL } from '#src/db/diagnostics.ts'
import { forbidInTransaction } from '#src/db/transaction-scope.ts'

/** Diagnostics channels of outgoing requests, with a description of their destination. */
const CHANNELS = {
  'undici:request:create': 'a request of fetch or undici',
  'http.client.request.start': 'a request of node:http',
  'net.client.socket': 'a connection of node:net',
  [POOL_REQUEST_CHANNEL]: 'a second connection of a pool',
}

const found: Error[] = []

// Once per worker: `guards.ts` runs anew for each test file, this module does not.
for (const [channel, what] of Object.entries(CHANNELS)) {
  subscribe(channel, () => {
    const violation = forbidInTransaction(what)
    if (violation !== undefined && !found.includes(violation)) found.push(violation)
  })
}

/**
 * Runs an action outside the current transaction, like another user during it: for tests that act while a
 * transaction is open.
 */
export const runOutsideTransaction = AsyncLocalStorage.snapshot()

/** Returns and clears the violations, also those whose error the code caught. */
export function forgetViolations(): readonly Error[] {
  return found.splice(0)
}
