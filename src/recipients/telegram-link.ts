/**
 * One-time links that connect a Telegram chat to a wallet. Each link has two codes of 128 random bits,
 * stored as hashes: one is valid in a private chat, the other only in the group that shows it first,
 * because every member of a group can read the code there. The chat shows wallet and rights; its
 * confirmation uses up both codes.
 */
import { createHash, randomBytes } from 'node:crypto'
import { type Db, transact } from '#src/db/connection.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { isGroupId } from '#src/telegram/chat-id.ts'
import { botLink } from '#src/telegram/links.ts'
import { creatorOf } from './added.ts'
import {
  type ChatToLink,
  findLinked,
  type LinkedChat,
  type LinkingDeps,
  linkChat,
} from './chats.ts'
import * as links from './link-store.ts'
import {
  LINK_MINUTES,
  type TelegramLink,
  type TelegramLinkOffer,
  type TelegramLinkRequest,
} from './model.ts'
import { linkScopes } from './rules.ts'
import { DEFAULT_SETTINGS, listSettings } from './settings.ts'
import * as recipients from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
}

const CODE_BYTES = 16

/**
 * Creates a link that lets one chat receive the wallet's alerts, and manage it within `scopes`.
 *
 * @throws AppError forbidden `insufficient_scope` for the scope `spend`, if the caller does not have it;
 * upstream `channel_unavailable` if there is no bot
 */
export async function createTelegramLink(
  deps: Deps & { readonly botUsername: () => string | undefined },
  caller: Caller,
  {
    name,
    scopes,
    membersAcknowledge,
  }: TelegramLinkRequest & {
    /** Whether every member of a group may acknowledge. If it is omitted, a linked group keeps what it has. */
    readonly membersAcknowledge?: boolean
  },
): Promise<TelegramLink> {
  const granted = linkScopes(caller.scopes, scopes)
  if (!granted.ok) {
    throw new AppError('forbidden', 'insufficient_scope', { values: { scope: granted.missing } })
  }
  const bot = deps.botUsername()
  if (bot === undefined) throw new AppError('upstream', 'channel_unavailable')
  const code = randomCode()
  const groupCode = randomCode()
  const createdAt = deps.clock.now()
  const expiresAt = new Date(createdAt.getTime() + LINK_MINUTES * MINUTE_MS)
  await links.insertLinkCode(deps.db, {
    hash: hashOf(code),
    groupHash: hashOf(groupCode),
    groupChatId: null,
    wallet: caller.wallet,
    name: name ?? null,
    scopes: granted.scopes,
    membersAcknowledge: membersAcknowledge ?? null,
    madeBy: (await creatorOf(deps, caller)).madeBy,
    createdAt,
    expiresAt,
    usedAt: null,
  })
  return {
    url: botLink(bot, code),
    groupUrl: `https://t.me/${bot}?startgroup=${groupCode}`,
    expiresAt,
  }
}

/** A code, and the chat that shows it. */
interface CodeInChat {
  readonly code: string
  readonly chat: { readonly id: number }
}

/**
 * Reads a code without using it. Binds a group's code to this group. The code for a private chat is used up
 * if it is shown in a group, because every member may have read it.
 *
 * @throws AppError not_found `link_not_valid`, also if the code belongs to another kind of chat or to
 * another group
 */
export async function peekTelegramLink(deps: Deps, input: CodeInChat): Promise<TelegramLinkOffer> {
  const now = deps.clock.now()
  const shown = toShown(input)
  const row = await links.findUsableCode(deps.db, shown, now)
  if (row === undefined && shown.groupId !== null) {
    await links.spendCode(deps.db, { ...shown, groupId: null }, now)
  }
  const offer = toOffer(row)
  const linked = await recipients.findChat(deps.db, offer.wallet, input.chat.id)
  const settings = await listSettings(deps.db, [offer.wallet])
  const zone = settings.get(offer.wallet)?.timezone ?? DEFAULT_SETTINGS.timezone
  return { ...offer, timezone: linked?.timezone ?? zone }
}

/**
 * Links a chat: uses the code up and creates the recipient in one transaction. A chat that is already
 * linked to the wallet keeps its recipient and gets the link's rights. A repeated claim, by a second press
 * or a repeated update, gets the result of the first.
 *
 * @throws AppError not_found `link_not_valid`, also if the code belongs to another chat; conflict
 * `recipient_limit_reached`, which leaves the code unused
 */
export async function claimTelegramLink(
  deps: LinkingDeps,
  { code, chat, by, locale }: ChatToLink & { readonly code: string },
): Promise<LinkedChat> {
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    const shown = toShown({ code, chat })
    const row = await links.spendCode(tx, shown, now)
    const done = row === undefined ? await findClaimed(tx, shown, { chat, by }) : undefined
    if (done !== undefined) return done
    return await linkChat(
      { ...deps, db: tx },
      {
        ...toOffer(row),
        ...(typeof row?.membersAcknowledge === 'boolean' && {
          membersAcknowledge: row.membersAcknowledge,
        }),
        ...{ chat, by, locale, at: now },
      },
    )
  })
}

/** The earlier link of a used code, if the link is of this chat and this person. */
async function findClaimed(
  db: Db,
  code: links.ShownCode,
  who: Pick<ChatToLink, 'chat' | 'by'>,
): Promise<LinkedChat | undefined> {
  const spent = await links.findUsedCode(db, code)
  if (spent === undefined || spent.usedAt === null) return undefined
  return await findLinked(db, { ...who, wallet: spent.wallet, at: spent.usedAt })
}

/**
 * Id of the recipient of the chat that was linked with a code of the wallet; undefined until the code is used.
 * @param expiresAt end of the code, which identifies it
 */
export async function findRecipientIdOfLinkCode(
  { db }: Pick<Deps, 'db'>,
  { wallet }: Caller,
  { expiresAt }: { readonly expiresAt: Date },
): Promise<number | undefined> {
  const createdAt = expiresAt.getTime() - LINK_MINUTES * MINUTE_MS
  const linked = (await recipients.listOfWallet(db, wallet)).filter(
    ({ chatId, verifiedAt }) => chatId !== null && (verifiedAt?.getTime() ?? 0) >= createdAt,
  )
  // Most answers end here: codes have no index by wallet.
  if (linked.length === 0) return undefined
  const usedAt = await links.findUseTime(db, { wallet, expiresAt })
  return linked.find(({ verifiedAt }) => verifiedAt?.getTime() === usedAt?.getTime())?.id
}

/** Uses a link up without linking the chat. One that is expired, or belongs elsewhere, is not changed. */
export async function refuseTelegramLink(deps: Deps, input: CodeInChat): Promise<void> {
  await links.spendCode(deps.db, toShown(input), deps.clock.now())
}

/** Deletes codes a day after they ended. */
export async function pruneLinkCodes(deps: Deps): Promise<void> {
  await links.deleteExpiredLinkCodes(deps.db, new Date(deps.clock.now().getTime() - DAY_MS))
}

function toShown({ code, chat }: CodeInChat): links.ShownCode {
  return { hash: hashOf(code), groupId: isGroupId(chat.id) ? chat.id : null }
}

function randomCode(): string {
  return randomBytes(CODE_BYTES).toString('base64url')
}

function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}

function toOffer(row: links.LinkCodeRow | undefined): Omit<TelegramLinkOffer, 'timezone'> {
  if (row === undefined) throw new AppError('not_found', 'link_not_valid')
  const { wallet, name, scopes, madeBy, createdAt, expiresAt } = row
  return { wallet, name, scopes, madeBy, createdAt, expiresAt }
}
