/**
 * Tells chats how their connect codes ended; the page that ends a code may run in another process. The outcome is a live
 * message that is not sent yet, so it is told also when the message with the code shows another screen by then. The message
 * with the code is another one, which changes when the code expires unused.
 */

import { type ButtonData, packed, unpacked } from '#src/actions/codec.ts'
import type { Translate } from '#src/i18n/translate.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { getWalletStatus, isTrialAvailable } from '#src/operations/chat/status.ts'
import type { App } from '#src/operations/define.ts'
import { invoke } from '#src/operations/gate/invoke.ts'
import { draftConnectPurchase } from '#src/operations/pages/connect-purchase.ts'
import { searchProviders } from '#src/operations/pages/look-ups.ts'
import { listChatLinks } from '#src/recipients/chats.ts'
import {
  type ConnectCode,
  type ConnectOutcome,
  findConnectOutcome,
} from '#src/recipients/connect.ts'
import { post } from '#src/telegram/send.ts'
import type { BotContext, InvokeOperation } from '../../core/context.ts'
import {
  changeLiveMessage,
  followSubject,
  isMessageGone,
  type LiveChat,
  type LiveCheck,
  type LiveKinds,
  type LiveMessageDeps,
  NOT_SENT,
  OVER,
} from '../../core/live-messages.ts'
import { endLive, type LiveRow, listLive } from '../../core/live-store.ts'
import { contentOf } from '../../core/show.ts'
import { changeChat, type KnownChat } from '../../core/store.ts'
import { labelWithName, type Reader, type View, walletName } from '../../views/view.ts'
import { connectAgainData } from './connect-again.ts'
import { postPurchase } from './purchase.ts'
import { readTrialOffer } from './trial.ts'
import { chatConnected, connectDeclined, connectExpired, type TrialOffer } from './view.ts'

/** Kinds: the outcome of a code, the message that shows a code. */
const KINDS = { outcome: 'connect-outcome', code: 'connect-code' } as const
/** Interval of looking whether a code has ended, should its notification be lost. */
const CHECK_MS = 5000
/** Time after a code expired for which telling its end is tried. */
const KEPT_MS = HOUR_MS

/** Has the chat told how a code ends that is about to be shown. */
export async function followOutcome(
  { app, knownChat }: BotContext,
  { hash, expiresAt }: ConnectCode,
): Promise<void> {
  const message = { chatId: knownChat.id, messageId: NOT_SENT }
  await followSubject(app, message, {
    kind: KINDS.outcome,
    wallet: null,
    handle: hash,
    checkAfterMs: CHECK_MS,
    expiresAt: new Date(expiresAt.getTime() + KEPT_MS),
  })
}

/**
 * Has a message with a code changed when the code expires.
 * @returns the other messages of the chat that show a code, which is not valid any more
 */
export async function followCode(
  { app, knownChat }: BotContext,
  messageId: number,
  { hash, expiresAt }: ConnectCode,
): Promise<readonly number[]> {
  const chatId = knownChat.id
  const now = app.clock.now()
  const shown = await listLive(app.db, { chatId, kind: KINDS.code })
  const subject = {
    kind: KINDS.code,
    wallet: null,
    stage: hash,
    checkAfterMs: expiresAt.getTime() - now.getTime(),
    expiresAt: new Date(expiresAt.getTime() + KEPT_MS),
  }
  await followSubject(app, { chatId, messageId }, subject)
  return shown
    .filter((row) => row.messageId !== messageId && row.dueAt > now)
    .map((row) => row.messageId)
}

/** Says in the message with a code that the code expired. A person who continued without it needs no message about that. */
const showExpired: LiveCheck = async ({ app }, row, { known, reader }) => {
  const outcome = await findConnectOutcome(app, row.stage ?? '')
  if (outcome?.end !== 'expired' || !isCurrent(known, row.messageId)) return OVER
  const view = connectExpired(reader, connectAgainData(outcome))
  return { kind: 'redraw', view, nextAt: undefined }
}

/** Tells that a code was used or refused. */
const notifyOutcome: LiveCheck = async (deps, { handle }, chat) => {
  const { app } = deps
  const outcome = await findConnectOutcome(app, handle ?? '')
  if (outcome?.end === 'open') {
    return { kind: 'later', at: new Date(app.clock.now().getTime() + CHECK_MS) }
  }
  if (outcome === undefined || outcome.end === 'expired') return OVER
  const codes = await listLive(app.db, { chatId: outcome.chatId, kind: KINDS.code })
  const code = codes.find(({ stage }) => stage === outcome.hash)
  await notifyEnd(deps, outcome, chat, code)
  if (code !== undefined) await endLive(app.db, code)
  return OVER
}

/** @param code the message that shows the code; undefined if it shows another screen */
async function notifyEnd(
  deps: LiveMessageDeps,
  outcome: ConnectOutcome,
  chat: LiveChat,
  code: LiveRow | undefined,
): Promise<void> {
  const { app } = deps
  const { chatId, wallet, by } = outcome
  if (wallet === undefined) {
    return await showEnd(deps, chat, code, connectDeclined(chat.reader, connectAgainData(outcome)))
  }
  const link = (await listChatLinks(app, chatId)).find((chatLink) => chatLink.wallet === wallet)
  const caller: Caller = {
    wallet,
    scopes: link?.scopes ?? ['read'],
    via: 'telegram',
    telegramUserId: by,
  }
  const reader = { ...chat.reader, timezone: link?.timezone ?? chat.reader.timezone }
  const handle = await draftConnectPurchase(app, { ...outcome, wallet })
  const goesOn = handle === undefined ? outcome.goesOn : undefined
  const view = await connectedView(app, reader, caller, goesOn)
  await changeChat(app.db, chatId, { wallet }, app.clock.now())
  await showEnd(deps, chat, code, view)
  if (handle === undefined) return
  const { locale } = chat.known
  await postPurchase(deps, { chatId, caller, reader, locale, handle })
}

/** Shows the end in the message with the code, or in a new message if other messages of the bot followed. */
async function showEnd(
  deps: LiveMessageDeps,
  { known }: LiveChat,
  code: LiveRow | undefined,
  view: View,
): Promise<void> {
  const { app, api } = deps
  const { id: chatId, locale } = known
  const isThere = code !== undefined && isCurrent(known, code.messageId)
  if (isThere && (await isShownIn(deps, code, known, view))) return
  const { messageId } = await post(api, { chatId, content: () => contentOf(view, locale) })
  const changes = { currentMessages: { navigation: messageId } }
  await changeChat(app.db, chatId, changes, app.clock.now())
}

/** Shows a screen in the message with a code. @returns false if the message was deleted, or shows another screen */
async function isShownIn(
  deps: LiveMessageDeps,
  code: LiveRow,
  { locale }: KnownChat,
  view: View,
): Promise<boolean> {
  try {
    return (await changeLiveMessage(deps, code, view, locale)) !== 'replaced'
  } catch (error) {
    if (!isMessageGone(error)) throw error
    return false
  }
}

function isCurrent({ currentMessages: { navigation, wizard } }: KnownChat, messageId: number) {
  return [navigation, wizard].includes(messageId)
}

/** Live messages about connect codes. */
export const CONNECT_MESSAGES: LiveKinds = {
  [KINDS.outcome]: { check: notifyOutcome },
  [KINDS.code]: { check: showExpired },
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
      const args = press.args
      const query = { text: args.address }
      const [named] = (await invoke(app, searchProviders, caller, { query })).output.data
      const name = named?.name ?? walletName(args.address)
      return watchStep(name, packed('new.type', args), (terms) =>
        packed('free', { ...args, terms }),
      )
    }
    case 'feed.watch': {
      const { feed } = press.args
      return watchStep(feed, packed('feed.watch', { feed }), (terms) =>
        packed('trial.feed', { feed, terms }),
      )
    }
    case 'rec.group': {
      const args = press.args
      return { label: t('bot:button.setUpGroup'), data: packed('rec.group', args) }
    }
    case 'rec.card': {
      const args = press.args
      return { label: t('bot:button.openRecipient'), data: packed('rec.card', args) }
    }
    case 'slots.quote': {
      const args = press.args
      return { label: t('bot:button.addSlots'), data: packed('slots.quote', args) }
    }
    case 'topup.buy': {
      const args = press.args
      const { quantity, periods, renew } = args
      const data = packed('slots.quote', { quantity, periods, renew })
      return { label: t('bot:button.addSlots'), data }
    }
    default:
      return undefined
  }
}
