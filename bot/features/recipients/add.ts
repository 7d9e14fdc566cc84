import { Composer } from 'grammy'
import { z } from 'zod'
import { isOpenLink } from '#src/channels/card/wording.ts'
import { RECEIVER_PATH } from '#src/channels/hooks/receiver-proof.ts'
import {
  CHANNEL_KEYS,
  REGISTRY as CHANNELS,
  TYPED_CHANNELS,
  type TypedChannel,
} from '#src/channels/index.ts'
import { LABEL_LENGTH_MAX } from '#src/kernel/label.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import {
  addDestination,
  changeDestination,
  listDestinations,
} from '#src/operations/chat/destinations.ts'
import { listChannels } from '#src/operations/rest/channels.ts'
import { createTelegramLink } from '#src/operations/rest/recipients.ts'
import { RECIPIENTS_MAX, type TelegramLink } from '#src/recipients/model.ts'
import type { BotContext } from '../../core/context.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { defineQuestion } from '../../core/session.ts'
import { send, show } from '../../core/show.ts'
import { walletName } from '../../views/view.ts'
import { distinctName } from './distinct-name.ts'
import { follow, followChatLink, RECIPIENT_KINDS } from './follow.ts'
import { showRecipients } from './handlers.ts'
import {
  addChoice,
  addQuestion,
  alreadyAdded,
  chatLink,
  chatRights,
  mailAsked,
  mailboxOffer,
} from './list-view.ts'
import { findRecipient, showRecipient } from './recipients.ts'
import {
  hasFirstKey,
  hiddenLine,
  rotateQuestion,
  secretHidden,
  secretShown,
} from './secret-view.ts'
import { showTest } from './test-follow.ts'
import { showWatchSelection } from './watch-selection.ts'

/** Right to press in the private chat only. In groups the answer is a link into it, which opens its menu. */
const IN_PRIVATE_CHAT = { privately: 'menu' } as const

const composer = new Composer<BotContext>()

onPress(composer, 'rec.add', IN_PRIVATE_CHAT, (ctx) => showChannelChoice(ctx))

/** Asks which kind of recipient to add, or says that the wallet has the maximum number. */
async function showChannelChoice(ctx: BotContext): Promise<void> {
  const [all, channels] = await Promise.all([ctx.call(listDestinations), ctx.call(listChannels)])
  if (all.filter(({ own }) => !own).length >= RECIPIENTS_MAX) {
    const notice = `⚠️ ${ctx.t.html('bot:rec.full', { max: RECIPIENTS_MAX })}`
    return showRecipients(ctx, { notice })
  }
  const open = channels.data.filter(({ available }) => available).map(({ key }) => key)
  await show(ctx, addChoice(ctx.reader, { channels: open }))
}

onPress(composer, 'rec.kind', IN_PRIVATE_CHAT, async (ctx, { type }) => {
  if (type === 'chat-read' || type === 'chat-write') return offerChatLink(ctx, type)
  const isLinked = CHANNEL_KEYS.some((key) => key === type && CHANNELS[key].kind === 'link')
  if (isLinked) return askChatRights(ctx)
  const channel = TYPED_CHANNELS.find((key) => key === type)
  await (channel === undefined ? showChannelChoice(ctx) : addressQuestion.open(ctx, { channel }))
})

onPress(composer, 'rec.mail', IN_PRIVATE_CHAT, (ctx, { mailbox }) =>
  addTypedRecipient(ctx, 'email', mailbox),
)

/** A mailbox whose host has a dot. Others, such as `ops@localhost`, are accepted only as the answer to the question. */
const MAILBOX =
  /^[^\s@<>()[\]\\,;:"\p{Cc}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}]+\.[^\s@<>()[\]\\,;:"\p{Cc}]+$/u
const MAILBOX_MAX = 254

/** The mailbox in a text such as `Ops <ops@example.org>` or `mailto:ops@example.org`; otherwise the trimmed text. */
function mailboxIn(text: string): string {
  const named = /^[^<>]*<([^<>]*)>$/.exec(text.trim())
  return (named?.[1] ?? text).trim().replace(/^mailto:/i, '')
}

/**
 * Answers a text that is a mailbox with the offer to send alerts to it.
 *
 * @returns false, without an answer, if the text is no mailbox, the chat may not add recipients, or e-mail is off
 */
export async function offerMailbox(ctx: BotContext, text: string): Promise<boolean> {
  const mailbox = mailboxIn(text)
  const mayAdd = ctx.links[0]?.caller.scopes.includes('write') === true
  if (!mayAdd || mailbox.length > MAILBOX_MAX || !MAILBOX.test(mailbox)) return false
  const { data } = await ctx.call(listChannels)
  if (!data.some(({ key, available }) => key === 'email' && available)) return false
  await send(ctx, mailboxOffer(ctx.reader, mailbox))
  return true
}

/** Asks which rights another chat is to have; the answer creates the link for it. */
export async function askChatRights(ctx: BotContext): Promise<void> {
  await show(ctx, chatRights(ctx.reader))
}

async function offerChatLink(ctx: BotContext, type: 'chat-read' | 'chat-write'): Promise<void> {
  const scopes = type === 'chat-read' ? ['read'] : ['read', 'write']
  await showChatLink(ctx, await ctx.call(createTelegramLink, { body: { scopes } }))
}

/** Shows a link by which another chat is linked, so that it gets the wallet's alerts. */
export async function showChatLink(ctx: BotContext, link: TelegramLink): Promise<void> {
  const [membership] = ctx.links
  if (membership === undefined) return
  const options = { wallet: walletName(membership.wallet), now: ctx.app.clock.now() }
  const messageId = await show(ctx, chatLink(ctx.reader, link, options))
  await followChatLink(ctx, { messageId, expiresAt: link.expiresAt })
}

/** Question for the address of a new recipient. */
const addressQuestion = defineQuestion({
  kind: 'rec.add',
  about: z.object({ channel: z.enum(TYPED_CHANNELS) }),
  ask: async (ctx, { channel }) => {
    const url = `${ctx.app.publicUrl}${RECEIVER_PATH}`
    const hasTest = channel === 'webhook' && isOpenLink(url)
    return addQuestion(ctx.reader, channel, hasTest ? url : undefined)
  },
  answer: async (ctx, { channel }, text) => {
    await addTypedRecipient(ctx, channel, channel === 'email' ? mailboxIn(text) : text.trim())
    return undefined
  },
  cancel: (ctx) => showRecipients(ctx),
})

/**
 * Adds a recipient with a typed address. Then shows its signing secret, waits for the consent of its mailbox, or sends
 * it a test.
 */
async function addTypedRecipient(
  ctx: BotContext,
  channel: TypedChannel,
  text: string,
): Promise<void> {
  const { t, reader } = ctx
  const names = (await ctx.call(listDestinations)).map(({ name }) => name)
  const added = await ctx.call(addDestination, {
    body: {
      channel,
      name: distinctName(defaultName(ctx, channel, text), names),
      [ctx.app.channels[channel].form?.required ?? 'url']: text,
      locale: t.locale,
      timezone: reader.timezone,
      default: true,
    },
  })
  if (added.kind === 'known') return showExistingRecipient(ctx, added.id)
  const made = added.recipient
  const { id, secret } = made
  if (secret !== undefined) return showSecret(ctx, id, secret)
  if (CHANNELS[channel].needsConsent) {
    const messageId = await show(ctx, mailAsked(reader, made))
    return follow(ctx, id, messageId, 'confirmation')
  }
  await showTest(ctx, await findRecipient(ctx, id), 'recipient-added')
}

/** Says that the wallet already has a recipient with the typed address. */
async function showExistingRecipient(ctx: BotContext, id: number): Promise<void> {
  const found = await findRecipient(ctx, id)
  const messageId = await show(ctx, alreadyAdded(ctx.reader, found, ctx.app.clock.now()))
  if (found.destination.status === 'pending') await follow(ctx, id, messageId, 'confirmation')
}

/** Name of a new recipient: its address, the host of a program, or its channel, which people know better than a host. */
function defaultName({ t, app }: BotContext, channel: TypedChannel, text: string): string {
  const { form, isOneService } = app.channels[channel]
  const isHost = CHANNELS[channel].isProgrammatic && !isOneService
  const host = isHost ? (URL.parse(text)?.hostname ?? '') : ''
  const name = form?.required === 'address' ? text : host
  return cleanOutsideText(name, LABEL_LENGTH_MAX) || t(`bot:channel.${channel}`)
}

onPress(composer, 'rec.rotate', IN_PRIVATE_CHAT, async (ctx, { id }) => {
  const recipient = await findRecipient(ctx, id)
  if (recipient.destination.key === null) return showRecipient(ctx, id)
  await show(ctx, rotateQuestion(ctx.reader, recipient))
})

onPress(composer, 'rec.rotateYes', IN_PRIVATE_CHAT, async (ctx, { id }) => {
  const { link } = await findRecipient(ctx, id)
  const changes = { rotateSecret: true }
  const { secret } = await ctx.call(changeDestination, { body: { id, changes } }, link)
  await (secret === undefined ? showRecipient(ctx, id) : showSecret(ctx, id, secret))
})

/** Shows the signing secret of a webhook. The message is changed after ten minutes, so that the secret disappears. */
async function showSecret(ctx: BotContext, id: number, secret: string): Promise<void> {
  const recipient = await findRecipient(ctx, id)
  const url = `${ctx.app.publicUrl}/docs/webhooks`
  const verifyUrl = isOpenLink(url) ? url : undefined
  const messageId = await show(ctx, secretShown(ctx.reader, recipient, { secret, verifyUrl }))
  await follow(ctx, id, messageId, 'secret')
}

onPress(composer, 'rec.saved', IN_PRIVATE_CHAT, async (ctx, { id }) => {
  const now = ctx.app.clock.now()
  const live = ctx.pressedMessage?.live
  const shownAt = live?.kind === RECIPIENT_KINDS.secret ? live.createdAt : now
  const recipient = await findRecipient(ctx, id)
  if (!hasFirstKey(recipient.destination)) {
    await show(ctx, secretHidden(ctx.reader, recipient, { shownAt, now }))
    return
  }
  await showWatchSelection(ctx, id, {
    notice: hiddenLine(ctx.reader, recipient, { shownAt, now }),
  })
})

export const recipientAddFeature = defineFeature({
  commands: [],
  composer,
  questions: [addressQuestion],
})
