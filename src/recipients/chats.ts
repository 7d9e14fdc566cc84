/** Linked Telegram chats: their wallets and rights, and how links end. */
import { recordLinkedAccount } from '#src/billing/subscriptions/service.ts'
import type { Channels } from '#src/channels/index.ts'
import { TelegramDestination } from '#src/channels/telegram/telegram.ts'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller, Scope } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { LABEL_LENGTH_MAX } from '#src/kernel/label.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { type AddedListener, toAdded } from './added.ts'
import { forgetCodes } from './connect-store.ts'
import { decryptDestination, toStoredDestination } from './destination-box.ts'
import { deleteDestination, requireCapacity } from './destination-change.ts'
import { moveDestination, type SwitchedOffListener } from './destinations.ts'
import * as links from './link-store.ts'
import {
  isSilencedReason,
  type Recipient,
  type RecipientStatus,
  SILENCED_REASONS,
} from './model.ts'
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

/** Dependencies of linking a chat. */
export interface LinkingDeps extends SealingDeps {
  readonly notices: AddedListener
}

/** A chat to link, and the person who confirmed it there. */
export interface ChatToLink {
  readonly chat: {
    readonly id: number
    readonly title: string
    /** Topic for alerts. */
    readonly threadId?: number
    /** Whether it is a channel, which everybody may read. */
    readonly isChannel?: boolean
  }
  readonly by: { readonly id: number }
  /** Language of the chat. */
  readonly locale: Locale
}

/** Result of linking a chat. */
export interface LinkedChat {
  readonly recipient: Recipient
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** Whether the chat was linked to this wallet before; then its rights were replaced. */
  readonly again: boolean
}

/**
 * Makes a chat a default recipient of the wallet, in the transaction that uses up its code, and notifies the
 * wallet's other recipients. A chat that is already linked keeps its recipient and gets these rights.
 *
 * @param deps its `db` is this transaction
 * @throws AppError conflict `recipient_limit_reached`
 */
export async function linkChat(
  deps: LinkingDeps,
  link: ChatToLink & {
    readonly wallet: Address
    readonly scopes: readonly Scope[]
    /** Whether every member of a group may acknowledge. By default that stays as it is; in a new group they may. */
    readonly membersAcknowledge?: boolean
    /** Name of the recipient; the chat's title by default. */
    readonly name: string | null
    /** Time zone; the wallet's by default. */
    readonly timezone?: string
    /** Label of the API token that created the link. */
    readonly madeBy?: string | null
    /** Instant at which the code was used up. `findLinked` finds the link of a used code by this instant. */
    readonly at: Date
  },
): Promise<LinkedChat> {
  const { wallet, scopes, chat, membersAcknowledge, at: now } = link
  const settings = await lockWallet(deps.db, wallet, now)
  await recordLinkedAccount(deps.db, wallet, link.by.id)
  const linked = {
    ...toStoredDestination(deps.box, deps.channels.telegram, destinationOf(chat)),
    status: 'active',
    statusReason: null,
    chatScopes: scopes,
    ...(membersAcknowledge !== undefined && { membersAcknowledge }),
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
  await requireCapacity(deps.db, wallet)
  const row = await store.insertRow(deps.db, {
    ...linked,
    wallet,
    channel: 'telegram',
    own: false,
    name: link.name ?? nameOf(chat.title),
    locale: link.locale,
    timezone: link.timezone ?? settings.timezone,
    // Many people read a group, so it gets no alerts of severity info until its owner chooses that.
    minSeverity: isGroupId(chat.id) ? 'warning' : 'info',
    // The person chooses what everybody may read.
    isDefault: chat.isChannel !== true,
    chatId: chat.id,
    createdAt: now,
  })
  await deps.notices.linked(
    deps.db,
    toAdded(row, { madeBy: link.madeBy ?? null, accountId: link.by.id }),
  )
  return { recipient: toRecipient(row), wallet, scopes, again: false }
}

function destinationOf({
  id: chatId,
  threadId,
  isChannel = false,
}: ChatToLink['chat']): TelegramDestination {
  return { chatId, ...(threadId !== undefined && { threadId }), ...(isChannel && { isChannel }) }
}

/**
 * Links a channel to the wallet of the caller, who manages it and is an administrator of the channel. It only receives, and
 * only alerts of watches that name it.
 *
 * @throws AppError conflict `recipient_limit_reached`
 */
export async function linkChannel(
  deps: LinkingDeps,
  { wallet }: Pick<Caller, 'wallet'>,
  { chat, by, locale }: ChatToLink,
): Promise<LinkedChat> {
  const at = deps.clock.now()
  const link = { chat: { ...chat, isChannel: true }, by, locale, wallet, scopes: ['read'] } as const
  return await transact(deps.db, (tx) =>
    linkChat({ ...deps, db: tx }, { ...link, name: null, membersAcknowledge: false, at }),
  )
}

/**
 * The link that was created at `at`, for a repeated request. Undefined if no chat was linked at that time, if another
 * person linked it, or if the link no longer exists.
 */
export async function findLinked(
  db: Db,
  link: Pick<ChatToLink, 'chat' | 'by'> & { readonly wallet: Address; readonly at: Date },
): Promise<LinkedChat | undefined> {
  const { wallet, chat, by, at } = link
  const row = await store.findChat(db, wallet, chat.id)
  if (row?.verifiedAt?.getTime() !== at.getTime() || row.linkedBy !== by.id) return undefined
  const again = row.createdAt.getTime() !== at.getTime()
  return { recipient: toRecipient(row), wallet, scopes: row.chatScopes ?? [], again }
}

/** A wallet linked to a chat. */
export interface ChatLink {
  readonly recipientId: number
  readonly wallet: Address
  readonly scopes: readonly Scope[]
  /** Whether every member of the group may acknowledge, if `scopes` has `write`. */
  readonly membersAcknowledge: boolean
  readonly name: string
  readonly status: RecipientStatus
  readonly statusReason: string | null
  /** Minimum severity of the alerts that the chat gets. */
  readonly minSeverity: Severity
  readonly locale: Locale
  readonly timezone: string
  /** The Telegram account that confirmed the link. */
  readonly linkedBy: number | null
  /** Topic for alerts. */
  readonly threadId: number | null
  /** Time of the last delivery to the chat. */
  readonly lastSuccessAt: Date | null
  /** End of the chat's mute; if it is in the past, the chat is not muted. */
  readonly mutedUntil: Date | null
}

/** Wallets linked to a chat, oldest link first. */
export async function listChatLinks(
  deps: { readonly db: Db; readonly box: SecretBox },
  chatId: number,
): Promise<ChatLink[]> {
  return (await links.listByChat(deps.db, chatId)).map((row) => toChatLink(deps, row))
}

function toChatLink(deps: { readonly box: SecretBox }, row: store.RecipientRow): ChatLink {
  const destination = TelegramDestination.parse(decryptDestination(deps.box, row.destination))
  return {
    recipientId: row.id,
    wallet: row.wallet,
    scopes: row.chatScopes ?? [],
    membersAcknowledge: row.membersAcknowledge,
    name: row.name ?? '',
    status: row.status,
    statusReason: row.statusReason,
    minSeverity: row.minSeverity,
    locale: row.locale,
    timezone: row.timezone,
    linkedBy: row.linkedBy,
    threadId: destination.threadId ?? null,
    lastSuccessAt: row.lastSuccessAt,
    mutedUntil: row.mutedUntil,
  }
}

/** Deletes the chat's links: to one wallet, or to all. Returns their number. */
export async function unlinkChat(
  deps: Deps,
  input: { readonly chatId: number; readonly wallet?: Address },
): Promise<number> {
  return await transact(deps.db, async (tx) => {
    const rows = await links.listByChat(tx, input.chatId)
    const ending = rows.filter(({ wallet }) => wallet === (input.wallet ?? wallet))
    for (const row of ending) await deleteDestination(tx, row)
    return ending.length
  })
}

/**
 * Deletes the chat's links and connect codes, and the id of the person's Telegram account where it is stored as that of
 * the person who linked a group. The wallets are not changed.
 *
 * @param deps its `db` is the transaction that also deletes the chat's messages
 * @returns the recipients of the chat, and their wallets
 */
export async function forgetChat(
  deps: Deps,
  who: { readonly chatId: number; readonly personId: number },
): Promise<readonly { readonly id: number; readonly wallet: Address }[]> {
  const rows = await links.listByChat(deps.db, who.chatId)
  for (const row of rows) await deleteDestination(deps.db, row)
  await links.forgetLinker(deps.db, who.personId)
  await forgetCodes(deps.db, who)
  return rows.map(({ id, wallet }) => ({ id, wallet }))
}

/** Changes properties of the chat itself, for all its wallets. */
export async function updateChat(
  deps: SealingDeps,
  input: {
    readonly chatId: number
    readonly locale?: Locale
    readonly timezone?: string
    /** Topic for alerts; null for none. */
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

/** Says whether every member of a group may acknowledge the alerts of one of its wallets. @throws AppError not_found */
export async function changeAcknowledging(
  deps: Pick<SealingDeps, 'db' | 'clock'>,
  { wallet }: Caller,
  { chatId, membersAcknowledge }: { readonly chatId: number; readonly membersAcknowledge: boolean },
): Promise<void> {
  const row = await store.findChat(deps.db, wallet, chatId)
  if (row === undefined) throw new AppError('not_found', 'not_found')
  await store.updateRow(deps.db, row.id, { membersAcknowledge, updatedAt: deps.clock.now() })
}

/**
 * Mutes a chat for a number of minutes, for all its wallets; 0 ends that.
 *
 * @param deps its `db` is the transaction that also reschedules deferred messages
 */
export async function setChatMute(
  deps: Deps,
  input: { readonly chatId: number; readonly minutes: number },
): Promise<{ readonly mutedUntil: Date | null; readonly wallets: readonly Address[] }> {
  const { chatId, minutes } = input
  const now = deps.clock.now()
  const mutedUntil = minutes === 0 ? null : new Date(now.getTime() + minutes * MINUTE_MS)
  const rows = await links.updateChatRows(deps.db, chatId, { mutedUntil, updatedAt: now })
  return { mutedUntil, wallets: rows.map(({ wallet }) => wallet) }
}

/** The chat of a recipient; null if the recipient is not a chat, or no longer exists. */
export async function findChatId(db: Db, recipientId: number): Promise<number | null> {
  return (await store.findRecipientRow(db, recipientId))?.chatId ?? null
}

/** The sent messages of recipients. `src/delivery`, which this room must not import, implements it. */
export interface SentMessageIds {
  /** Deletes the ids that messages of these recipients have at their destination. */
  forgetIds(tx: Db, recipientIds: readonly number[]): Promise<void>
}

/**
 * Moves the recipients of a group to the chat that the group became (a supergroup), for all its wallets; topics are
 * lost. Message ids of the old chat mean other messages in the new chat, so they are deleted. The bot and a delivery
 * may do this at the same time: the second call changes nothing.
 */
export async function moveChat(
  deps: SealingDeps & { readonly sentMessages: SentMessageIds },
  input: { readonly from: number; readonly to: number },
): Promise<void> {
  const at = deps.clock.now()
  await transact(deps.db, async (tx) => {
    const rows = await links.lockByChat(tx, input.from)
    for (const row of rows)
      await moveDestination({ ...deps, db: tx }, row, { chatId: input.to }, at)
    await links.moveCodes(tx, input.from, input.to)
    const ids = rows.map(({ id }) => id)
    await deps.sentMessages.forgetIds(tx, ids)
  })
}

/**
 * Records that the chat blocked or removed the bot, or does not let it write: nothing is sent there until the bot is
 * allowed again. Notifies the wallets' other recipients.
 */
export async function blockChat(
  deps: { readonly db: Db; readonly notices: SwitchedOffListener },
  chatId: number,
  at: Date,
  statusReason = isGroupId(chatId) ? 'kicked' : 'blocked',
): Promise<void> {
  const blocked = { status: 'blocked', statusReason, updatedAt: at } as const
  await transact(deps.db, async (tx) => {
    const stopped = await links.updateChatRows(tx, chatId, blocked, { status: 'active' })
    await deps.notices.switchedOff(tx, stopped)
    if (isSilencedReason(statusReason)) return
    // A group that removes a bot that could not write must agree before alerts resume.
    const only = { status: 'blocked', reasons: SILENCED_REASONS } as const
    await links.updateChatRows(tx, chatId, { statusReason, updatedAt: at }, only)
  })
}

/** Records that the chat allows the bot again. What it followed has ended. */
export async function unblockChat(db: Db, chatId: number, at: Date): Promise<void> {
  const active = {
    status: 'active',
    statusReason: null,
    failingSince: null,
    updatedAt: at,
  } as const
  await links.updateChatRows(db, chatId, active, { status: 'blocked', areLinks: true })
}

/** A chat's title as the name of a recipient. */
function nameOf(title: string): string {
  return cleanOutsideText(title, LABEL_LENGTH_MAX) || 'Telegram'
}
