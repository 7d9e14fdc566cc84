/** Fails every test in which a room sends a statement that compares a partition key as `key-joins.ts` finds it. */
import { subscribe } from 'node:diagnostics_channel'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { findKeyJoins } from './key-joins.ts'
import { originOfStatement } from './statement-origins.ts'

/** The keys of statements that were read before, by text. */
const known = new Map<string, readonly string[]>()
const found: Error[] = []

function listener(message: unknown): void {
  const text = String(message)
  const keys = known.get(text) ?? findKeyJoins(text)
  known.set(text, keys)
  if (keys.length === 0) return
  const origin = originOfStatement()
  // Without an origin the test itself sent the statement.
  if (origin === undefined) return
  const what = `compares ${keys.join(', ')} with other rows, which may crash PostgreSQL 18: use \`sameKey\``
  found.push(new Error(`a statement of ${origin} ${what} (src/db/partitions.ts):\n${text}`))
}

// Once per worker: `guards.ts` runs anew for each test file, this module does not.
subscribe(STATEMENT_CHANNEL, listener)

/** Returns and clears what was found: statements that compare a partition key. */
export function forgetKeyJoins(): readonly Error[] {
  return found.splice(0)
}
