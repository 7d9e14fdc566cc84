/**
 * Fails every test in which a room sends a statement on rows of wallets that does not name the wallet and is not
 * listed in `unnamed-statements.ts`.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterEach, beforeEach } from 'vitest'
import { STATEMENT_CHANNEL } from '#src/db/scope.ts'
import { findUnnamed } from './named-wallets.ts'
import { originOfStatement, rememberOrigins } from './statement-origins.ts'
import { UNNAMED } from './unnamed-statements.ts'
import { WALLET_ROWS } from './wallet-tables.ts'

const listed = new Set(UNNAMED.flatMap(({ functions }) => functions))
/** The tables of statements that were read before, by text. */
const known = new Map<string, readonly string[]>()
const found: Error[] = []

rememberOrigins()

function listener(message: unknown): void {
  const text = String(message)
  const tables = known.get(text) ?? findUnnamed(text, WALLET_ROWS)
  known.set(text, tables)
  if (tables.length === 0) return
  // Undefined: a test looks at the rows itself.
  const origin = originOfStatement()
  if (origin === undefined || listed.has(origin)) return
  const what = `names no wallet of ${tables.join(', ')} and is not in test/support/unnamed-statements.ts`
  found.push(new Error(`a statement of ${origin} ${what}:\n${text}`))
}

beforeEach(() => {
  unsubscribe(STATEMENT_CHANNEL, listener)
  subscribe(STATEMENT_CHANNEL, listener)
})

afterEach(() => {
  const [first] = found.splice(0)
  if (first !== undefined) throw first
})
