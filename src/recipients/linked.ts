/** New destinations of a wallet, whose other recipients are to hear of them. */
import { listTokens } from '#src/auth/service.ts'
import type { ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Address } from '#src/kernel/units.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import type { RecipientStatus } from './model.ts'
import type { RecipientRow } from './store.ts'

/** A destination that was added to a wallet. */
export interface LinkedRecipient {
  readonly id: number
  readonly wallet: Address
  readonly channel: ChannelKey
  /** null for the wallet's own channels. */
  readonly name: string | null
  readonly target: string
  readonly status: RecipientStatus
  /** Of a chat: what it may do, and whether it is a group. */
  readonly chat: { readonly scopes: readonly Scope[]; readonly isGroup: boolean } | null
  /** Label of the API token it was made with. */
  readonly madeBy: string | null
  /** The Telegram account that made it in a chat; null where it was not made in one. */
  readonly accountId: number | null
  readonly at: Date
}

/** Who tells the wallet's other people, in the transaction that adds it. */
export interface LinkListener {
  linked(tx: Db, recipient: LinkedRecipient): Promise<void>
}

/** A row that was just inserted, and who made it. */
export function toLinked(
  row: RecipientRow,
  { madeBy, accountId }: Pick<LinkedRecipient, 'madeBy' | 'accountId'>,
): LinkedRecipient {
  const { id, wallet, channel, name, target, status, chatId, chatScopes, createdAt: at } = row
  const chat = chatId === null ? null : { scopes: chatScopes ?? [], isGroup: isGroup(row) }
  return { id, wallet, channel, name, target, status, chat, madeBy, accountId, at }
}

/** Whether a recipient is a group of Telegram. */
export function isGroup({ chatId }: Pick<RecipientRow, 'chatId'>): boolean {
  return chatId !== null && isGroupId(chatId)
}

/** Who makes a recipient: the label of the caller's token, the caller's Telegram account. */
export async function makerOf(
  deps: { readonly db: Db; readonly clock: Clock },
  caller: Caller,
): Promise<Pick<LinkedRecipient, 'madeBy' | 'accountId'>> {
  const accountId = caller.telegramUserId ?? null
  if (caller.tokenId === undefined) return { madeBy: null, accountId }
  const { data } = await listTokens(deps, caller)
  return { madeBy: data.find(({ id }) => id === caller.tokenId)?.label ?? null, accountId }
}
