/** Linked Telegram chats: which wallets they belong to, what they may do, and how they go. */
import { recordLinkedAccount } from '#src/billing/subscriptions/service.ts'
import type { Channels } from '#src/channels/index.ts'
import { TelegramDestination } from '#src/channels/telegram.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { LABEL_LENGTH_MAX } from '#src/kernel/label.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { forgetCodes } from './connect-store.ts'
import { openDestination, toStored } from './destination-box.ts'
import { forget, requireRoom } from './destination-change.ts'
import { moveDestination, type SwitchListener } from './destinations.ts'
import * as links from './link-store.ts'
import { type LinkListener, toLinked } from './linked.ts'
import type { Recipient, RecipientStatus } from './model.ts'
import { toRecipient } from './service.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

interface SealingDeps extends Deps {
  readonly box: SecretBox
  readonly channels: Channels
}

/** What linking a chat needs. */
export interface LinkingDeps extends SealingDeps {
  readonly notices: LinkListener
}

/** A chat that is to be linked, and who confirmed it there. */
export interface ChatOwner {
  readonly chat: {
    readonly id: number
    readonly title: string
    /** The topic alerts go to. */
    readonly threadId?: number
  }
  readonly by: { readonly id: number }
  /** The chat's language. */
  readonly locale: Locale
}

/** What came of linking a chat. */
export interface LinkedChat {
  readonly recipient: Recipient
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** It was linked to this wallet before; its rights are now these. */
  readonly again: boolean
}

/**
 * Makes a chat a recipient of the wallet that tells by default, in the transaction that proves the
 * right to, and has the wallet's others told. One that is linked already keeps its recipient and gets
 * these rights.
 *
 * @param deps its `db` is that transaction
 * @throws AppError conflict `recipient_limit_reached`
 */
export async function linkChat(
  deps: LinkingDeps,
  link: ChatOwner & {
    readonly wallet: Address
    readonly scopes: readonly Scope[]
    /** Of the recipient; else the chat's title. */
    readonly name: string | null
    /** Else the wallet's. */
    readonly timezone?: string
    /** Label of the API token that asked for it. */
    readonly madeBy?: string | null
  },
): Promise<LinkedChat> {
  const { wallet, scopes, chat } = link
  const now = deps.clock.now()
  const settings = await lockWallet(deps.db, wallet, now)
  await recordLinkedAccount(deps.db, wallet, link.by.id)
  const { threadId } = chat
  const destination = { chatId: chat.id, ...(threadId !== undefined && { threadId }) }
  const linked = {
    ...toStored(deps.box, deps.channels.telegram, destination),
    status: 'active',
    statusReason: null,
    chatScopes: scopes,
    linkedBy: link.by.id,
    verifiedAt: now,
    failingSince: null,
    updatedAt: now,
  } as const
  const before = await store.findChat(deps.db, wallet, chat.id)
  if (before !== undefined) {
    const named = link.name === null ? {} : { name: link.name }
    const row = await store.updateRow(deps.db, before.id, { ...linked, ...named })
    return { recipient: toRecipient(row), wallet, scopes, again: true }
  }
  await requireRoom(deps.db, wallet)
  const row = await store.insertRow(deps.db, {
    ...linked,
    wallet,
    channel: 'telegram',
    own: false,
    name: link.name ?? nameOf(chat.title),
    locale: link.locale,
    timezone: link.timezone ?? settings.timezone,
    minSeverity: 'info',
    isDefault: true,
    chatId: chat.id,
    createdAt: now,
  })
  await deps.notices.linked(
    deps.db,
    toLinked(row, { madeBy: link.madeBy ?? null, accountId: link.by.id }),
  )
  return { recipient: toRecipient(row), wallet, scopes, again: false }
}

/**
 * What came of linking a chat at `at`, for whoever asks again; undefined when nothing was linked then,
 * not by this person, or when it is no longer so.
 */
export async function findLinked(
  db: Db,
  link: Pick<ChatOwner, 'chat' | 'by'> & { readonly wallet: Address; readonly at: Date },
): Promise<LinkedChat | undefined> {
  const { wallet, chat, by, at } = link
  const row = await store.findChat(db, wallet, chat.id)
  if (row?.verifiedAt?.getTime() !== at.getTime() || row.linkedBy !== by.id) return undefined
  const again = row.createdAt.getTime() !== at.getTime()
  return { recipient: toRecipient(row), wallet, scopes: row.chatScopes ?? [], again }
}

/** One wallet a chat belongs to. */
export interface ChatLink {
  readonly recipientId: number
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  readonly name: string
  readonly status: RecipientStatus
  readonly locale: Locale
  readonly timezone: string
  /** The Telegram account that confirmed the link. */
  readonly linkedBy: number | null
  /** The topic alerts go to. */
  readonly threadId: number | null
  /** When something was delivered to the chat last. */
  readonly lastSuccessAt: Date | null
  /** Until when the chat hears nothing; in the past: it is not muted any more. */
  readonly mutedUntil: Date | null
}

/** The wallets a chat is linked to, the oldest link first. */
export async function chatLinks(
  deps: { readonly db: Db; readonly box: SecretBox },
  chatId: number,
): Promise<ChatLink[]> {
  const rows = await links.listByChat(deps.db, chatId)
  return rows.map((row) => {
    const destination = TelegramDestination.parse(openDestination(deps.box, row.destination))
    return {
      recipientId: row.id,
      wallet: row.wallet,
      scopes: row.chatScopes ?? [],
      name: row.name ?? '',
      status: row.status,
      locale: row.locale,
      timezone: row.timezone,
      linkedBy: row.linkedBy,
      threadId: destination.threadId ?? null,
      lastSuccessAt: row.lastSuccessAt,
      mutedUntil: row.mutedUntil,
    }
  })
}

/** Ends the chat's links: to one wallet, or to all. Gives how many there were. */
export async function unlinkChat(
  deps: Deps,
  input: { readonly chatId: number; readonly wallet?: Address },
): Promise<number> {
  return await transact(deps.db, async (tx) => {
    const rows = await links.listByChat(tx, input.chatId)
    const ending = rows.filter(({ wallet }) => wallet === (input.wallet ?? wallet))
    for (const row of ending) await forget(tx, row)
    return ending.length
  })
}

/**
 * Ends the chat's links and forgets the Telegram account that is behind it, here and in the groups it
 * linked. The wallets stay as they are.
 *
 * @param deps its `db` is the transaction that also forgets the chat's messages
 * @returns the recipients that were the chat, and their wallets
 */
export async function forgetChat(
  deps: Deps,
  who: { readonly chatId: number; readonly personId: number },
): Promise<readonly { readonly id: number; readonly wallet: Address }[]> {
  const rows = await links.listByChat(deps.db, who.chatId)
  for (const row of rows) await forget(deps.db, row)
  await links.forgetLinker(deps.db, who.personId)
  await forgetCodes(deps.db, who)
  return rows.map(({ id, wallet }) => ({ id, wallet }))
}

/** Changes what belongs to the chat itself, for all its wallets. */
export async function updateChat(
  deps: SealingDeps,
  input: {
    readonly chatId: number
    readonly locale?: Locale
    readonly timezone?: string
    /** The topic alerts go to; null: none. */
    readonly threadId?: number | null
  },
): Promise<void> {
  const { chatId, locale, timezone, threadId } = input
  const updatedAt = deps.clock.now()
  await transact(deps.db, async (tx) => {
    await links.updateChatRows(tx, chatId, {
      ...(locale !== undefined && { locale }),
      ...(timezone !== undefined && { timezone }),
      updatedAt,
    })
    if (threadId === undefined) return
    const destination = { chatId, ...(threadId !== null && { threadId }) }
    for (const row of await links.listByChat(tx, chatId)) {
      await moveDestination({ ...deps, db: tx }, row, destination, updatedAt)
    }
  })
}

/**
 * Lets a chat hear nothing for so many minutes, for all its wallets; 0 ends that.
 *
 * @param deps its `db` is the transaction that also moves what is held
 */
export async function muteChat(
  deps: Deps,
  input: { readonly chatId: number; readonly minutes: number },
): Promise<{ readonly mutedUntil: Date | null; readonly wallets: readonly Address[] }> {
  const { chatId, minutes } = input
  const now = deps.clock.now()
  const mutedUntil = minutes === 0 ? null : new Date(now.getTime() + minutes * MINUTE_MS)
  const rows = await links.updateChatRows(deps.db, chatId, { mutedUntil, updatedAt: now })
  return { mutedUntil, wallets: rows.map(({ wallet }) => wallet) }
}

/** The chat that a recipient is; null where it is none, or no more. */
export async function findChatId(db: Db, recipientId: number): Promise<number | null> {
  return (await store.findRow(db, recipientId))?.chatId ?? null
}

/**
 * Follows a group that became another chat, for all its wallets; topics do not survive that. The bot and
 * a delivery may find out at the same time: the second one changes nothing.
 *
 * @param deps its `db` is the transaction that also forgets the ids of the old chat's messages
 * @returns ids of the recipients that were the chat
 */
export async function moveChat(
  deps: SealingDeps,
  input: { readonly from: number; readonly to: number },
): Promise<readonly number[]> {
  const at = deps.clock.now()
  const rows = await links.lockByChat(deps.db, input.from)
  for (const row of rows) await moveDestination(deps, row, { chatId: input.to }, at)
  await links.moveCodes(deps.db, input.from, input.to)
  return rows.map(({ id }) => id)
}

/**
 * The chat blocked the bot or removed it: nothing is sent there until it comes back. The wallets' other
 * recipients are told.
 */
export async function blockChat(
  deps: { readonly db: Db; readonly notices: SwitchListener },
  chatId: number,
  at: Date,
): Promise<void> {
  const statusReason = isGroupId(chatId) ? 'kicked' : 'blocked'
  const blocked = { status: 'blocked', statusReason, updatedAt: at } as const
  await transact(deps.db, async (tx) => {
    const stopped = await links.updateChatRows(tx, chatId, blocked, 'active')
    await deps.notices.switchedOff(tx, stopped)
  })
}

/** The chat let the bot in again. */
export async function unblockChat(db: Db, chatId: number, at: Date): Promise<void> {
  const active = {
    status: 'active',
    statusReason: null,
    failingSince: null,
    updatedAt: at,
  } as const
  await links.updateChatRows(db, chatId, active, 'blocked')
}

/** A chat's title as a recipient's name. */
function nameOf(title: string): string {
  return cleanOutsideText(title, LABEL_LENGTH_MAX) || 'Telegram'
}

/** Telegram accounts that linked a chat to a wallet, for the trial. */
export const linkedAccounts = {
  /** Nobody links another chat to the wallet until the transaction ends. */
  lock: async (tx: Db, wallet: Address, now: Date): Promise<readonly number[]> => {
    await lockWallet(tx, wallet, now)
    return await store.listLinkers(tx, wallet)
  },
  list: (db: Db, wallet: Address): Promise<readonly number[]> => store.listLinkers(db, wallet),
} as const
