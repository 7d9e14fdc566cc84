import { globSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { is } from 'drizzle-orm'
import { getTableConfig, getViewConfig, PgColumn, PgTable, PgView } from 'drizzle-orm/pg-core'
import type { TablePart, WalletRows } from './named-wallets.ts'

const ROOT = join(import.meta.dirname, '../../')

/** Tables without a wallet's column whose rows belong to a row of another table. */
const PARTS: Readonly<Record<string, TablePart>> = {
  signal_states: { column: 'watch_id', owner: 'watches', key: 'id' },
  alert_budgets: { column: 'watch_id', owner: 'watches', key: 'id' },
  delivery_heads: { column: 'recipient_id', owner: 'recipients', key: 'id' },
  outage_pictures: { column: 'watch_id', owner: 'watches', key: 'id' },
  notices: { column: 'recipient_id', owner: 'recipients', key: 'id' },
  topup_payments: { column: 'handle', owner: 'topups', key: 'handle' },
}

/**
 * Tables whose rows belong to no wallet, grouped by owner; also tables that name a wallet without
 * belonging to it.
 */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  'the chain, the same for all wallets': [
    'targets',
    'feed_points',
    'observation_cursors',
    'fsp_daily',
    'fsp_progress',
    'fsp_rewards',
    'fsp_rounds',
    'publications',
    'read_ranges',
    'validator_polls',
    'vote_signatures',
    'payment_cursors',
    'payment_gaps',
    'unmatched_payments',
  ],
  'a chat of Telegram, which may have several wallets': [
    'telegram_chats',
    'telegram_drafts',
    'telegram_live_messages',
    'telegram_questions',
    'telegram_updates',
    'connect_codes',
  ],
  'a test receiver, which anybody with its address may read': ['received_deliveries'],
  'a mailbox': ['mail_refusals'],
  'a caller, with or without a wallet': ['free_calls', 'rate_counts'],
  'the service': [
    'billing_pauses',
    'figure_hours',
    'operator_acts',
    'spent_trials',
    'ledger_proofs',
    'public_figures',
    'published_blocks',
    'slice_cursors',
    'leases',
    'members',
    'telegram_paces',
  ],
}

/** Names of the tables and views that the rooms define. */
export const WALLET_TABLES: ReadonlyMap<string, readonly string[]> = new Map(
  (
    await Promise.all(
      globSync('{src,bot}/**/tables.ts', { cwd: ROOT }).map(
        (path): Promise<Record<string, unknown>> => import(pathToFileURL(join(ROOT, path)).href),
      ),
    )
  )
    .flatMap((module) => Object.values(module))
    .flatMap((value): readonly [string, readonly string[]][] => {
      if (value instanceof PgTable) {
        const { name, columns } = getTableConfig(value)
        return [[name, columns.map((column) => column.name)]]
      }
      if (!(value instanceof PgView)) return []
      const { name, selectedFields } = getViewConfig(value)
      return [
        [
          name,
          Object.values(selectedFields).flatMap((field) =>
            is(field, PgColumn) ? [field.name] : [],
          ),
        ],
      ]
    }),
)

/** Tables that belong to no wallet. */
export const TABLES_WITHOUT_WALLET: ReadonlySet<string> = new Set(Object.values(OTHERS).flat())

/**
 * The column that names the wallet in each table of wallets, and the tables whose rows belong to a row of such a
 * table.
 */
export const WALLET_ROWS: WalletRows = {
  columns: new Map(
    [...WALLET_TABLES].flatMap(([name, columns]) =>
      columns.includes('wallet') && !TABLES_WITHOUT_WALLET.has(name) ? [[name, 'wallet']] : [],
    ),
  ),
  parts: new Map(Object.entries(PARTS)),
}
