/**
 * Fails every transaction of the tests in whose work a network request starts, or a second connection of a
 * pool is requested, because both would block the connection and its locks.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach } from 'vitest'
import { CONNECTION_CHANNEL, forbidInTransaction } from '#src/db/scope.ts'

/** Diagnostics channels of outgoing requests, with a description of their destination. */
const CHANNELS = {
  'undici:request:create': 'a request of fetch or undici',
  'http.client.request.start': 'a request of node:http',
  'net.client.socket': 'a connection of node:net',
  [CONNECTION_CHANNEL]: 'a second connection of a pool',
}

const found: Error[] = []
const listeners = Object.entries(CHANNELS).map(([channel, what]) => ({
  channel,
  listener: () => {
    const violation = forbidInTransaction(what)
    if (violation !== undefined && !found.includes(violation)) found.push(violation)
  },
}))

/** Runs an action of a test during a transaction as another user would. */
export const asSomebodyElse = AsyncLocalStorage.snapshot()

/** Returns and clears the violations, for tests of this guard. */
export function forgetViolations(): readonly Error[] {
  return found.splice(0)
}

beforeEach(() => {
  for (const { channel, listener } of listeners) {
    unsubscribe(channel, listener)
    subscribe(channel, listener)
  }
})

// Swallowed failures of a transaction are detected here.
afterEach(() => {
  const [violation] = found.splice(0)
  if (violation !== undefined) throw violation
})
