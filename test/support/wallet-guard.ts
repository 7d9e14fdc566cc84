/**
 * Fails every test in which a room sends a statement on rows of wallets that does not name the wallet and is not
 * listed in `unnamed-statements.ts`.
 */
import { subscribe } from 'node:diagnostics_channel'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { findUnnamed } from './named-wallets.ts'
import { originOfStatement, recordStatementOrigins } from './statement-origins.ts'
import { UNNAMED } from './unnamed-statements.ts'
import { WALLET_ROWS } from './wallet-tables.ts'

const listed = new Set(UNNAMED.flatMap(({ functions }) => functions))
/** The tables of statements that were read before, by text. */
const known = new Map<string, readonly string[]>()
const found: Error[] = []

function listener(message: unknown): void {
  const text = String(message)
  const tables = known.get(text) ?? findUnnamed(text, WALLET_ROWS)
  known.set(text, tables)
  if (tables.length === 0) return
  // Without an origin the test itself sent the statement.
  const origin = originOfStatement()
  if (origin === undefined || listed.has(origin)) return
  const what = `names no wallet of ${tables.join(', ')} and is not in test/support/unnamed-statements.ts`
  found.push(new Error(`a statement of ${origin} ${what}:\n${text}`))
}

// Once per worker: `guards.ts` runs anew for each test file, this module does not.
recordStatementOrigins()
subscribe(STATEMENT_CHANNEL, listener)

/** Returns and clears what was found: statements that are not allowed. */
export function forgetUnnamed(): readonly Error[] {
  return found.splice(0)
}
