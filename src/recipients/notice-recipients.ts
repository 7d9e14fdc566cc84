import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'
import type { NotifiedRecipient } from './model.ts'
import * as store from './store.ts'

/** A reader of notices. */
export type NoticeRecipient = Omit<NotifiedRecipient, 'isOff' | 'isGroup' | 'isFollower'> & {
  /** The Telegram account of a private chat; null for a mailbox. */
  readonly accountId: number | null
}

/**
 * The wallet's active default private chats, by id; else its other private chats; else its own and default
 * mailboxes. Notices are about the account, so groups, Discord, Slack and programs do not get them. The
 * minimum severity applies only to alerts.
 *
 * @param without a recipient that is left out, as if it did not exist
 */
export async function listNoticeRecipients(
  db: Db,
  wallet: Address,
  without?: number,
): Promise<readonly NoticeRecipient[]> {
  const active = await store.listNoticeReaders(db, wallet)
  const readers = active.filter(({ id }) => id !== without)
  const chats = readers.filter(({ channel }) => CHANNELS[channel].isChat)
  const defaults = chats.filter(({ isDefault }) => isDefault)
  const [chosen = []] = [defaults, chats, readers].filter(({ length }) => length > 0)
  return chosen.map(
    ({ id, channel, partitionKey, locale, timezone, mutedUntil, chatId: accountId }) => ({
      id,
      channel,
      partitionKey,
      locale,
      timezone,
      mutedUntil,
      // A private chat has the id of its person.
      accountId,
    }),
  )
}
