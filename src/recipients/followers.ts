/**
 * A follower is a private chat that hears of the critical alerts of one data provider, free and without a wallet. It is
 * a default recipient of the provider's `followersWallet`; the chat has no rights there, and nothing of the person is
 * stored but the id of the chat and its language.
 */
import type { Channels } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { toStoredDestination } from './destination-box.ts'
import * as followers from './follower-store.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { lockWallet } from './settings-store.ts'
import * as store from './store.ts'

/** What a chat follows. */
export interface Follower {
  readonly recipientId: number
  readonly wallet: Address
  /** Identity address. */
  readonly provider: Address
  /** The provider's name when the chat began to follow it. */
  readonly name: string
  /** Whether the chat lets the bot write. One that does not follows nothing any more. */
  readonly isActive: boolean
}

/** What a chat follows; undefined if it follows nothing and never did, or the row was deleted since. */
export async function findFollower(db: Db, chatId: number): Promise<Follower | undefined> {
  const row = await followers.findFollower(db, chatId)
  if (row === undefined || row.follows === null) return undefined
  const { id: recipientId, wallet, follows: provider, name, status } = row
  return { recipientId, wallet, provider, name: name ?? '', isActive: status === 'active' }
}

/**
 * Locks wallets of followers until the transaction ends, in one order for all, so that followers come and go one after
 * another. Their settings are the defaults, without reminders: followers hear of the beginning and the end.
 */
export async function lockFollowers(tx: Db, wallets: readonly Address[], at: Date): Promise<void> {
  const { version, ...defaults } = DEFAULT_SETTINGS
  const settings = { ...defaults, repeat: { critical: [] } }
  for (const wallet of [...new Set(wallets)].toSorted()) {
    await lockWallet(tx, wallet, { settings, version, at })
  }
}

/**
 * Adds a follower. Its wallet must be locked.
 *
 * @param deps its `db` is the transaction
 * @returns false without any effect if the chat follows a provider already
 */
export async function addFollower(
  deps: { readonly db: Db; readonly box: SecretBox; readonly channels: Channels },
  follower: {
    readonly chatId: number
    readonly locale: Locale
    readonly wallet: Address
    readonly provider: Address
    readonly name: string
    readonly at: Date
  },
): Promise<boolean> {
  const { chatId, locale, wallet, provider, name, at } = follower
  return await followers.insertFollower(deps.db, {
    ...toStoredDestination(deps.box, deps.channels.telegram, { chatId }),
    wallet,
    channel: 'telegram',
    own: false,
    name,
    locale,
    timezone: DEFAULT_SETTINGS.timezone,
    status: 'active',
    minSeverity: 'critical',
    isDefault: true,
    chatId,
    follows: provider,
    createdAt: at,
    updatedAt: at,
  })
}

/**
 * Removes a follower. Its wallet must be locked.
 * @returns whether it was the last one of its provider
 */
export async function removeFollower(
  tx: Db,
  { recipientId, wallet }: Pick<Follower, 'recipientId' | 'wallet'>,
): Promise<boolean> {
  await store.deleteRow(tx, recipientId)
  return !(await followers.hasFollowers(tx, wallet))
}

/** Chats that follow a provider and do not let the bot write any more. */
export async function listLostFollowers(
  db: Db,
  page: { readonly after: number; readonly limit: number },
): Promise<readonly { readonly id: number; readonly chatId: number }[]> {
  const rows = await followers.listLostFollowers(db, page)
  return rows.flatMap(({ id, chatId }) => (chatId === null ? [] : [{ id, chatId }]))
}
