/**
 * Notifies chats of the outcome of their connect codes. The page that ends a code may run in another
 * process. The chat's message is updated as soon as the database shows the end of the code, and when an
 * unused code expires.
 */

import type { Api } from 'grammy'
import { argumentsOf, type ButtonData, packed, unpacked } from '#src/actions/codec.ts'
import { type Translate, translator } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { getWalletStatus, isTrialAvailable } from '#src/operations/chat-status.ts'
import { draftConnectPurchase } from '#src/operations/connect-purchase.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/invoke.ts'
import { searchProviders } from '#src/operations/look-ups.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import { type ConnectOutcome, forEachConnectOutcome } from '#src/recipients/connect.ts'
import { isRefused } from '#src/telegram/errors.ts'
import type { MessageContent } from '#src/telegram/send.ts'
import { post } from '#src/telegram/send.ts'
import type { InvokeOperation } from '../../core/context.ts'
import { contentOf } from '../../core/show.ts'
import { changeChat, findChat } from '../../core/store.ts'
import { labelWithName, type Reader, type View, walletName } from '../../views/view.ts'
import { connectAgainData } from './connect-again.ts'
import { postPurchase } from './purchase.ts'
import { readTrialOffer } from './trial.ts'
import { chatConnected, connectDeclined, connectExpired, type TrialOffer } from './view.ts'

/** Dependencies: the application, and the bot's client of Telegram. */
interface ConnectNotifier {
  readonly app: App
  readonly api: Api
  /** The bot's username without `@`. */
  readonly username: string
}

/**
 * Notifies chats of the outcome of their connect codes, until the signal is aborted.
 * @throws Telegram's error, to be retried later
 */
export async function notifyConnectOutcomes(
  deps: ConnectNotifier,
  signal?: AbortSignal,
): Promise<void> {
  await forEachConnectOutcome(deps.app, (outcome) => notifyChat(deps, outcome), signal)
}

async function notifyChat(deps: ConnectNotifier, outcome: ConnectOutcome): Promise<void> {
  const { app, api, username } = deps
  const { chatId, wallet, by } = outcome
  const chat = await findChat(app.db, chatId)
  const locale = chat?.locale ?? outcome.locale
  const reader: Reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: username }
  if (wallet === undefined) {
    const end = outcome.end === 'expired' ? connectExpired : connectDeclined
    return await showOutcome(deps, outcome, end(reader, connectAgainData(outcome)))
  }
  const link = (await listChatLinks(app, chatId)).find((chatLink) => chatLink.wallet === wallet)
  const caller: Caller = {
    wallet,
    scopes: link?.scopes ?? ['read'],
    via: 'telegram',
    telegramUserId: by,
  }
  const here = { ...reader, timezone: link?.timezone ?? reader.timezone }
  const handle = await draftConnectPurchase(app, { ...outcome, wallet })
  const goesOn = handle === undefined ? outcome.goesOn : undefined
  const view = await connectedView(app, here, caller, goesOn)
  await changeChat(app.db, chatId, { wallet }, app.clock.now())
  await showOutcome(deps, outcome, view)
  if (handle === undefined) return
  await unlessBlocked(() =>
    postPurchase({ app, api }, { chatId, caller, reader: here, locale, handle }),
  )
}

/** Shows the outcome in the message with the code, or in a new message. */
async function showOutcome(
  { app, api }: ConnectNotifier,
  outcome: ConnectOutcome,
  view: View,
): Promise<void> {
  const { chatId, messageId } = outcome
  const chat = await findChat(app.db, chatId)
  const content = contentOf(view, chat?.locale ?? outcome.locale)
  const { navigation = null, wizard = null } = chat?.currentMessages ?? {}
  const isThere = messageId !== undefined && [navigation, wizard].includes(messageId)
  await unlessBlocked(async () => {
    if (isThere && (await edit(api, chatId, messageId, content))) return
    // A person who continued without the code needs no message about its expiry.
    if (outcome.end === 'expired') return
    const sent = await post(api, { chatId, content: () => content })
    if (chat !== undefined) {
      const changes = { currentMessages: { navigation: sent.messageId } }
      await changeChat(app.db, chatId, changes, app.clock.now())
    }
  })
}

/** Runs a call, and ignores that the chat has blocked the bot; the updates about membership handle that. */
async function unlessBlocked(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!isRefused(error, 403)) throw error
  }
}

async function connectedView(
  app: App,
  reader: Reader,
  caller: Caller,
  goesOn: string | undefined,
): Promise<View> {
  const { wallet, scopes } = caller
  const ask: InvokeOperation = async (operation, input) =>
    (await invoke(app, operation, caller, input)).output
  const { slots, trialEndsAt } = await ask(getWalletStatus, {})
  const mayStart =
    scopes.includes('write') && trialEndsAt === null && (await ask(isTrialAvailable, {}))
  const trial = mayStart ? readTrialOffer(app) : undefined
  const hasSlot = slots.available > 0
  const hasWatches = slots.used > 0
  // Without a slot, the next step starts the trial, too: nothing else is to be decided.
  const starts = hasSlot ? undefined : trial
  const next =
    goesOn === undefined ? undefined : await nextStep({ app, t: reader.t, caller, starts }, goesOn)
  return chatConnected(reader, { wallet, scopes }, { trial, hasSlot, hasWatches, next })
}

/** Button of the step that waited for the wallet; undefined for data of another version. */
async function nextStep(
  {
    app,
    t,
    caller,
    starts,
  }: {
    readonly app: App
    readonly t: Translate
    readonly caller: Caller
    /** The trial that a watch starts. */
    readonly starts: TrialOffer | undefined
  },
  goesOn: string,
) {
  const watchStep = (name: string, goOn: ButtonData, withTrial: (code: string) => ButtonData) => {
    const key = starts === undefined ? 'bot:button.goOn' : 'bot:button.trialWatch'
    const label = labelWithName(name, (text) => t(key, { name: text }))
    return { label, data: starts === undefined ? goOn : withTrial(starts.termsCode) }
  }
  const press = unpacked(goesOn)
  switch (press?.verb) {
    case 'connect.watch': {
      const args = argumentsOf<'connect.watch'>({ verb: press.verb, args: press.args })
      const query = { text: args.address }
      const [named] = (await invoke(app, searchProviders, caller, { query })).output.data
      const name = named?.name ?? walletName(args.address)
      return watchStep(name, packed('new.type', args), (terms) =>
        packed('free', { ...args, terms }),
      )
    }
    case 'feed.watch': {
      const { feed } = argumentsOf<'feed.watch'>({ verb: press.verb, args: press.args })
      return watchStep(feed, packed('feed.watch', { feed }), (terms) =>
        packed('trial.feed', { feed, terms }),
      )
    }
    case 'rec.group': {
      const args = argumentsOf<'rec.group'>({ verb: press.verb, args: press.args })
      return { label: t('bot:button.setUpGroup'), data: packed('rec.group', args) }
    }
    case 'rec.card': {
      const args = argumentsOf<'rec.card'>({ verb: press.verb, args: press.args })
      return { label: t('bot:button.openRecipient'), data: packed('rec.card', args) }
    }
    case 'slots.quote': {
      const args = argumentsOf<'slots.quote'>({ verb: press.verb, args: press.args })
      return { label: t('bot:button.addSlots'), data: packed('slots.quote', args) }
    }
    case 'topup.buy': {
      const args = argumentsOf<'topup.buy'>({ verb: press.verb, args: press.args })
      const { quantity, periods, renew } = args
      const data = packed('slots.quote', { quantity, periods, renew })
      return { label: t('bot:button.addSlots'), data }
    }
    default:
      return undefined
  }
}

/**
 * Edits a message.
 * @returns false when the message no longer exists
 */
async function edit(
  api: Api,
  chatId: number,
  messageId: number,
  content: MessageContent,
): Promise<boolean> {
  try {
    const posted = await post(api, { chatId, messageId, content: () => content })
    return posted.kind !== 'gone'
  } catch (error) {
    if (!isRefused(error, 400)) throw error
    return false
  }
}
