import { and, eq, gt, sql } from 'drizzle-orm'
import { valueArray } from '#src/db/arrays.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import { notificationSettings, WANTS } from './tables.ts'

/** Settings as stored, still encoded. */
export interface SettingsRow {
  readonly wallet: Address
  readonly settings: unknown
  readonly version: number
}

const row = {
  wallet: notificationSettings.wallet,
  settings: notificationSettings.settings,
  version: notificationSettings.version,
}

/** Settings of these wallets; wallets that never changed their settings are missing. */
export function listSettings(db: Db, wallets: readonly Address[]): Promise<SettingsRow[]> {
  return db
    .select(row)
    .from(notificationSettings)
    .where(sql`${notificationSettings.wallet} = any(${valueArray(wallets, 'text')})`)
}

/** Wallets whose settings ask for something, in the order of their addresses, after one of them. */
export async function listWalletsWith(
  db: Db,
  wanted: keyof typeof WANTS,
  after: string,
  limit: number,
): Promise<Address[]> {
  const rows = await db
    .select({ wallet: notificationSettings.wallet })
    .from(notificationSettings)
    .where(and(WANTS[wanted], gt(notificationSettings.wallet, sql`${after}`)))
    .orderBy(notificationSettings.wallet)
    .limit(limit)
  return rows.map(({ wallet }) => wallet)
}

/**
 * Locks the wallet until the transaction ends, so that its recipients and e-mails can be counted; returns
 * its settings, which are inserted as `defaults` if there were none.
 */
export async function lockWallet(
  db: Db,
  wallet: Address,
  defaults: { readonly settings: unknown; readonly version: number; readonly at: Date },
): Promise<SettingsRow> {
  const [savedRow] = await db
    .insert(notificationSettings)
    .values({
      wallet,
      settings: defaults.settings,
      version: defaults.version,
      updatedAt: defaults.at,
    })
    // Writing the same key again changes nothing, but locks the row.
    .onConflictDoUpdate({ target: notificationSettings.wallet, set: { wallet } })
    .returning(row)
  if (savedRow === undefined) throw new Error('settings were neither found nor created')
  return savedRow
}

/** Writes settings and increments their version. Returns the new version. */
export async function saveSettings(
  db: Db,
  wallet: Address,
  change: { readonly settings: unknown; readonly at: Date },
): Promise<number> {
  const [row] = await db
    .update(notificationSettings)
    .set({
      settings: change.settings,
      version: sql`${notificationSettings.version} + 1`,
      updatedAt: change.at,
    })
    .where(eq(notificationSettings.wallet, wallet))
    .returning({ version: notificationSettings.version })
  if (row === undefined) throw new Error('settings were gone before they were saved')
  return row.version
}
