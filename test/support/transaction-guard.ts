/**
 * Makes every transaction of the tests fail in whose work a network request starts, or a second connection
 * of a pool is asked for: whoever waits inside a transaction keeps its connection and its locks from others.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach } from 'vitest'
import { CONNECTION_CHANNEL, forbidInTransaction } from '#src/db/scope.ts'

/** What is published before anything leaves this process, and what it says of where it goes. */
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

/** Runs what a test does while a transaction waits, as somebody else would. */
export const asSomebodyElse = AsyncLocalStorage.snapshot()

/** Gives and forgets what was found, for tests of this guard. */
export function forgetViolations(): readonly Error[] {
  return found.splice(0)
}

beforeEach(() => {
  for (const { channel, listener } of listeners) {
    unsubscribe(channel, listener)
    subscribe(channel, listener)
  }
})

// Whoever swallowed the failure of the transaction is found all the same.
afterEach(() => {
  const [violation] = found.splice(0)
  if (violation !== undefined) throw violation
})
