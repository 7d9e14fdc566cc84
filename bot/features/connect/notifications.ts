/**
 * Notifies chats of the outcome of their connect codes. The page that ends a code is another front door,
 * possibly in another process; the chat's message is updated as soon as the database shows it, and when an
 * unused code expires.
 */

import type { Api } from 'grammy'
import { argumentsOf, packed, unpacked } from '#src/actions/codec.ts'
import { translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { getAccount } from '#src/operations/account.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { listSubscriptions } from '#src/operations/subscriptions.ts'
import { chatLinks } from '#src/recipients/chats.ts'
import { type ConnectOutcome, notifyConnects } from '#src/recipients/connect.ts'
import { isRefused } from '#src/telegram/errors.ts'
import type { Content } from '#src/telegram/send.ts'
import { post } from '#src/telegram/send.ts'
import { contentOf } from '../../core/show.ts'
import { changeChat, findChat } from '../../core/store.ts'
import type { Reader, View } from '../../views/view.ts'
import { trialOffer } from './trial.ts'
import { connectDeclined, connectExpired, connected } from './view.ts'

/** Dependencies: the application, and the bot's own client of Telegram. */
interface ConnectNotifier {
  readonly app: App
  readonly api: Api
  /** Without `@`. */
  readonly username: string
}

/**
 * Notifies every pending chat, until the signal is aborted.
 * @throws Telegram's error, to be retried later
 */
export async function notifyConnected(
  notifier: ConnectNotifier,
  signal?: AbortSignal,
): Promise<void> {
  await notifyConnects(notifier.app, (news) => notifyChat(notifier, news), signal)
}

async function notifyChat(
  { app, api, username }: ConnectNotifier,
  news: ConnectOutcome,
): Promise<void> {
  const { chatId, wallet, messageId } = news
  const chat = await findChat(app.db, chatId)
  const locale = chat?.locale ?? news.locale
  const reader: Reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: username }
  const content = contentOf(await viewOf(app, reader, news), locale)
  if (wallet !== undefined) await changeChat(app.db, chatId, { wallet }, app.clock.now())
  const living = chat?.living.navigation ?? null
  const isThere = messageId !== undefined && messageId === living
  try {
    if (isThere && (await edit(api, chatId, messageId, content))) return
    // A person who went on without the code needs no message about its expiry.
    if (news.end === 'expired') return
    const sent = await post(api, { chatId, content: () => content })
    if (chat !== undefined) {
      const changes = { living: { navigation: sent.messageId } }
      await changeChat(app.db, chatId, changes, app.clock.now())
    }
  } catch (error) {
    // Blocking is handled by the membership updates.
    if (!isRefused(error, 403)) throw error
  }
}

async function viewOf(app: App, reader: Reader, news: ConnectOutcome): Promise<View> {
  if (news.wallet !== undefined) return await connectedView(app, reader, news, news.wallet)
  const end = news.end === 'expired' ? connectExpired : connectDeclined
  return end(reader, again(news))
}

/** Button data for a new code with the same rights and the same continuation. */
function again({ spend, goesOn }: ConnectOutcome): string {
  const press = goesOn === undefined ? undefined : unpacked(goesOn)
  return press?.verb === 'slots.quote'
    ? packed('slots.allow', argumentsOf<'slots.quote'>({ verb: press.verb, args: press.args }))
    : packed('connect', { spend })
}

async function connectedView(
  app: App,
  reader: Reader,
  { chatId, by, goesOn }: ConnectOutcome,
  wallet: Caller['wallet'],
): Promise<View> {
  const link = (await chatLinks(app, chatId)).find((one) => one.wallet === wallet)
  const scopes = link?.scopes ?? ['read']
  const caller: Caller = { wallet, scopes, via: 'telegram', telegramUserId: by }
  const query = { limit: '1' }
  const { output: account } = await invoke(app, getAccount, caller, { query })
  const { output: slots } = await invoke(app, listSubscriptions, caller, { query })
  const mayStart = app.billing.enabled && slots.trial.available && scopes.includes('write')
  const here = { ...reader, timezone: link?.timezone ?? reader.timezone }
  return connected(
    here,
    { wallet, scopes },
    {
      trial: mayStart ? trialOffer(app) : undefined,
      hasSlot: account.slots.available > 0,
      hasWatches: account.slots.used > 0,
      goesOn,
    },
  )
}

/**
 * Edits a message.
 * @returns false when it no longer exists
 */
async function edit(
  api: Api,
  chatId: number,
  messageId: number,
  content: Content,
): Promise<boolean> {
  try {
    const posted = await post(api, { chatId, messageId, content: () => content })
    return posted.kind !== 'gone'
  } catch (error) {
    if (!isRefused(error, 400)) throw error
    return false
  }
}
