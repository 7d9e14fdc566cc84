/** New destinations of a wallet, about which its other recipients are notified. */
import { listTokens } from '#src/auth/service.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Address } from '#src/kernel/units.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import type { RecipientStatus } from './model.ts'
import type { RecipientRow } from './store.ts'

/** A new destination of a wallet. */
export interface AddedRecipient {
  readonly id: number
  readonly wallet: Address
  readonly channel: ChannelKey
  /** Null for the wallet's own channels. */
  readonly name: string | null
  readonly target: string
  readonly status: RecipientStatus
  /** For chats: rights, and whether it is a group. */
  readonly chat: { readonly scopes: readonly Scope[]; readonly isGroup: boolean } | null
  /** Label of the API token that created it. */
  readonly madeBy: string | null
  /** The Telegram account of the person who added it in a chat; otherwise null. */
  readonly accountId: number | null
  readonly at: Date
}

/**
 * Notifies the wallet's other recipients, except the person who added it, in the transaction that adds the destination.
 */
export interface AddedListener {
  linked(tx: Db, recipient: AddedRecipient): Promise<void>
}

/** Describes a new row and its creator. */
export function toAdded(
  row: RecipientRow,
  { madeBy, accountId }: Pick<AddedRecipient, 'madeBy' | 'accountId'>,
): AddedRecipient {
  const { id, wallet, channel, name, target, status, chatId, chatScopes, createdAt: at } = row
  const chat = chatId === null ? null : { scopes: chatScopes ?? [], isGroup: isGroup(row) }
  return { id, wallet, channel, name, target, status, chat, madeBy, accountId, at }
}

/** Whether a recipient is a Telegram group. */
export function isGroup({ chatId }: Pick<RecipientRow, 'chatId'>): boolean {
  return chatId !== null && isGroupId(chatId)
}

/** Creator of a recipient: label of the caller's token, or the caller's Telegram account. */
export async function creatorOf(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
): Promise<Pick<AddedRecipient, 'madeBy' | 'accountId'>> {
  const accountId = caller.telegramUserId ?? null
  if (caller.tokenId === undefined) return { madeBy: null, accountId }
  const { data } = await listTokens(deps, caller)
  return { madeBy: data.find(({ id }) => id === caller.tokenId)?.label ?? null, accountId }
}
