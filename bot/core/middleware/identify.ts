import type { Middleware } from 'grammy'
import type { Chat, User } from 'grammy/types'
import { unpacked } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import { localeOfTag } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { type ChatLink, listChatLinks } from '#src/recipients/chats.ts'
import { isRefused } from '#src/telegram/errors.ts'
import type { BotContext, ChatState, Membership, UpdateState } from '../context.ts'
import { createReadOnce } from '../readings.ts'
import {
  CHAT_KINDS,
  type ChatKind,
  findPlace,
  type KnownChat,
  type StoredPlace,
  upsertChat,
} from '../store.ts'

/** Telegram's account for administrators who write in the group's name. */
const ANONYMOUS_ADMINISTRATOR_ID = 1_087_968_824

/**
 * Identifies the source of an update: the chat and its language, its linked wallets, and the person's
 * rights. Updates from channels and texts of other bots end here.
 */
export function identify(app: App): Middleware<BotContext> {
  return async (ctx, next) => {
    const source = sourceOf(ctx)
    if (source === undefined) return
    const groupRole = source.kind === 'private' ? AT_HOME : await groupRoleOf(ctx, source.from)
    const place = await readPlace(app, ctx, source)
    Object.assign(ctx, await stateOf(app, ctx, { ...source, ...groupRole }, place))
    await next()
  }
}

/**
 * Identifies the source again after the chat's language or links changed.
 * @param changes what the handler has changed of the chat itself
 */
export async function identifyAgain(
  ctx: BotContext,
  changes: Partial<Pick<KnownChat, 'locale' | 'wallet'>> = {},
): Promise<void> {
  const source = sourceOf(ctx)
  if (source === undefined) throw new Error('update has no chat')
  const { app, isAdministrator, isMember, openQuestion, pressedMessage } = ctx
  const known = { ...ctx.knownChat, ...changes }
  const links = await listChatLinks(app, known.id)
  const place = { known, links, openQuestion, pressedMessage }
  Object.assign(ctx, await stateOf(app, ctx, { ...source, isAdministrator, isMember }, place))
}

interface Source {
  readonly chat: Chat
  readonly kind: ChatKind
  readonly from: User
  readonly isAnonymous: boolean
}

function sourceOf({ chat, from, message }: BotContext): Source | undefined {
  const kind = CHAT_KINDS.find((chatKind) => chatKind === chat?.type)
  if (chat === undefined || from === undefined || kind === undefined) return undefined
  // A channel only receives; `features/channel` handles what happens to the bot there.
  if (kind === 'channel') return undefined
  const isAnonymous = from.id === ANONYMOUS_ADMINISTRATOR_ID
  const isOtherBot = from.is_bot && !isAnonymous && message?.text !== undefined
  return isOtherBot ? undefined : { chat, kind, from, isAnonymous }
}

/** What is stored about the source. */
interface Place extends Pick<UpdateState, 'openQuestion' | 'pressedMessage'> {
  readonly known: KnownChat
  readonly links: readonly ChatLink[]
}

async function readPlace(app: App, ctx: BotContext, source: Source): Promise<Place> {
  const messageId = ctx.callbackQuery?.message?.message_id
  const [{ chat: known, question, live }, linked] = await Promise.all([
    storeChat(app, source, messageId),
    listChatLinks(app, source.chat.id),
  ])
  return {
    known,
    links: linked,
    openQuestion: source.kind === 'private' ? question : undefined,
    pressedMessage: messageId === undefined ? undefined : { live },
  }
}

async function stateOf(
  app: App,
  ctx: BotContext,
  source: Source & GroupRole,
  { known, links: linked, openQuestion, pressedMessage }: Place,
): Promise<UpdateState> {
  const { isAdministrator, isMember } = source
  const links = await memberships(app, known, linked, source)
  const readOnce = createReadOnce()
  return {
    app,
    knownChat: known,
    links,
    isAdministrator,
    isMember,
    isAnonymous: source.isAnonymous,
    ...readerOf(app, known, links, ctx.me.username),
    openQuestion,
    pressedMessage,
    press: unpacked(ctx.callbackQuery?.data ?? ''),
    call: async (operation, input = {}, link = links[0]) =>
      readOnce({ operation, wallet: link?.wallet, input }, async () => {
        const idempotencyKey = `telegram ${ctx.update.update_id}`
        const raw = { idempotencyKey, ...input, locale: known.locale }
        return (await invoke(app, operation, link?.caller, raw)).output
      }),
  }
}

function readerOf(
  app: App,
  { locale, kind }: KnownChat,
  links: readonly Membership[],
  bot: string,
): Pick<UpdateState, 't' | 'reader'> {
  const t = translator(locale)
  const isGroup = kind !== 'private'
  const isBillingOff = !app.billing.enabled
  const timezone = links[0]?.timezone ?? 'UTC'
  return { t, reader: { t, timezone, isGroup, bot, isBillingOff } }
}

/**
 * State of a private chat for a job that changes its messages.
 * @param bot username without `@`
 */
export async function privateState(app: App, known: KnownChat, bot: string): Promise<ChatState> {
  const from = { id: known.id }
  const linked = await listChatLinks(app, known.id)
  const links = await memberships(app, known, linked, {
    from,
    isAnonymous: false,
    ...NO_GROUP_ROLE,
  })
  const readOnce = createReadOnce()
  return {
    app,
    from,
    knownChat: known,
    links,
    ...readerOf(app, known, links, bot),
    call: async (operation, input = {}, link = links[0]) =>
      readOnce({ operation, wallet: link?.wallet, input }, async () => {
        const raw = { ...input, locale: known.locale }
        return (await invoke(app, operation, link?.caller, raw)).output
      }),
  }
}

/** Stored data of the chat, with its current name and the person's open question. A new chat gets the person's language. */
async function storeChat(
  app: App,
  { chat, kind, from }: Source,
  messageId: number | undefined,
): Promise<StoredPlace> {
  const title = titleOf(chat)
  const now = app.clock.now()
  const key = { chatId: chat.id, personId: from.id, messageId }
  const known = await findPlace(app.db, key, now)
  if (known?.chat.title === title && known.chat.kind === kind) return known
  const locale = localeOfTag(from.language_code) ?? 'en'
  const stored = await upsertChat(app.db, { id: chat.id, kind, title, locale }, now)
  return { question: undefined, live: undefined, ...known, chat: stored }
}

function titleOf(chat: Chat): string {
  if (chat.title !== undefined) return chat.title
  return [chat.first_name, chat.last_name].filter(Boolean).join(' ')
}

/** What the sender is in a group. */
interface GroupRole {
  readonly isAdministrator: boolean
  /** Whether the sender is in the group: others may press in a public group, and who left still sees old messages. */
  readonly isMember: boolean
}

const NO_GROUP_ROLE: GroupRole = { isAdministrator: false, isMember: false }
/** In a private chat. */
const AT_HOME: GroupRole = { isAdministrator: true, isMember: true }

/** What the sender is in the group; requested only for presses, commands and replies to the bot, else nothing. */
async function groupRoleOf(ctx: BotContext, from: User): Promise<GroupRole> {
  const isAsking =
    ctx.callbackQuery !== undefined ||
    ctx.message?.text?.startsWith('/') === true ||
    ctx.message?.reply_to_message?.from?.id === ctx.me.id
  if (!isAsking || from.is_bot) return NO_GROUP_ROLE
  try {
    const member = await ctx.getChatMember(from.id)
    const isAdministrator = member.status === 'creator' || member.status === 'administrator'
    const isRestricted = member.status === 'restricted' && member.is_member
    return {
      isAdministrator,
      isMember: isAdministrator || isRestricted || member.status === 'member',
    }
  } catch (error) {
    // Telegram rejects getChatMember, so the person is treated as having no rights.
    if (isRefused(error, 400, 403)) return NO_GROUP_ROLE
    throw error
  }
}

/**
 * The chat's wallets, the selected one first, then the newest, with the person's scopes. In a private chat
 * these are the link's scopes. In a group an administrator who linked the wallet gets those of `scopesOf`;
 * everybody else gets `read`.
 */
async function memberships(
  app: App,
  known: KnownChat,
  links: readonly ChatLink[],
  {
    from,
    isAnonymous,
    isAdministrator,
    isMember,
  }: GroupRole & { readonly from: Pick<User, 'id'>; readonly isAnonymous: boolean },
): Promise<readonly Membership[]> {
  const isPrivate = known.kind === 'private'
  const isOwnNeeded = !isPrivate && isAdministrator && links.length > 0
  const ownLinks = isOwnNeeded ? await listChatLinks(app, from.id) : []
  const rank = ({ wallet }: ChatLink) => (wallet === known.wallet ? 0 : 1)
  return links
    .toSorted((a, b) => rank(a) - rank(b) || b.recipientId - a.recipientId)
    .map((link) => {
      const manages = isPrivate || (isAdministrator && isLinker(link, from.id, ownLinks))
      const scopes = manages
        ? scopesOf(link, isPrivate ? undefined : from.id, ownLinks)
        : ['read' as const]
      const caller = { wallet: link.wallet, scopes, via: 'telegram' } as const
      const person = isAnonymous ? {} : { telegramUserId: from.id }
      const membersAcknowledge = link.membersAcknowledge && isMember
      return { ...link, manages, membersAcknowledge, caller: { ...caller, ...person } }
    })
}

/**
 * Scopes of a chat for a person who manages it. A private chat, and the person who linked the group, have all
 * scopes of the link. Another person has those that the link of their private chat also has, and `read`.
 *
 * @param personId undefined in a private chat
 * @param ownLinks links of the person's private chat
 */
function scopesOf(
  { wallet, linkedBy, scopes }: ChatLink,
  personId: number | undefined,
  ownLinks: readonly ChatLink[],
): ChatLink['scopes'] {
  if (personId === undefined || linkedBy === personId) return scopes
  const ownScopes = ownLinks.find((link) => link.wallet === wallet)?.scopes ?? []
  return scopes.filter((scope) => scope === 'read' || ownScopes.includes(scope))
}

/**
 * Whether a person linked the wallet, in this chat or in their private chat. @param ownLinks links of the
 * private chat
 */
export function isLinker(
  { wallet, linkedBy }: ChatLink,
  personId: number,
  ownLinks: readonly ChatLink[],
): boolean {
  return (
    linkedBy === personId ||
    ownLinks.some((link) => link.wallet === wallet && link.status === 'active')
  )
}

/** Whether a person may acknowledge in this chat: as a manager of the link, or as a member of a group that may. */
export function mayAcknowledge({ manages, membersAcknowledge, scopes }: Membership): boolean {
  return manages || (membersAcknowledge && scopes.includes('write'))
}

/** The membership with which a person acknowledges: a member who may acknowledge has the rights of the link for that. */
export function acknowledging(link: Membership): Membership {
  if (!link.membersAcknowledge || !link.scopes.includes('write')) return link
  return { ...link, caller: { ...link.caller, scopes: ['read', 'write'] } }
}
