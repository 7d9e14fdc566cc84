import { Composer } from 'grammy'
import type { MuteDuration } from '#src/actions/codec.ts'
import type { ActedAlert } from '#src/alerts/acknowledge/alert-action.ts'
import { PART_OF_CODE } from '#src/channels/telegram/buttons.ts'
import { formatTime } from '#src/i18n/format.ts'
import { typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { cleanOutsideText } from '#src/kernel/outside-text.ts'
import {
  acknowledgeAlert,
  acknowledgeMessage,
  muteIncident,
  muteMessage,
  muteWatchOf,
  unacknowledgeMessage,
} from '#src/operations/chat/alerts.ts'
import type { BotContext, Membership } from '../../core/context.ts'
import { sentenceOf } from '../../core/error-sentences.ts'
import { defineFeature, onPress } from '../../core/feature.ts'
import { firstLink } from '../../core/first-link.ts'
import { acknowledging, mayAcknowledge } from '../../core/middleware/identify.ts'
import { leave, removeButtons } from '../../core/show.ts'
import { muteEnd, unmute } from '../watches/handlers.ts'
import {
  alertIdOfMessage,
  closeBelowSent,
  type FoundAlert,
  findPressedAlert,
  getAlertOfChat,
  runOnPressed,
  toggle,
  toggleBelowSent,
  updatePressedCard,
} from './alert-lookup.ts'

const composer = new Composer<BotContext>()

/** Members of a group may acknowledge, unless the owner of the link decides otherwise. */
const MEMBERS = { members: 'acknowledging' } as const

onPress(composer, 'alert.ack', MEMBERS, (ctx, { id }) =>
  act(
    ctx,
    id,
    async ({ link }) => {
      const body = { id, acknowledged: true, by: actorName(ctx) }
      const acted = await ctx.call(acknowledgeAlert, { body }, acknowledging(link))
      return acted.already ? alreadyText(ctx, acted) : acknowledgedText(ctx, acted)
    },
    mayAcknowledgeAlert,
  ),
)

onPress(composer, 'alert.unack', MEMBERS, (ctx, { id }) =>
  act(
    ctx,
    id,
    async ({ link }) => {
      const body = { id, acknowledged: false, by: null }
      const { already } = await ctx.call(acknowledgeAlert, { body }, acknowledging(link))
      return ctx.t(already ? 'bot:toast.nothingToUndo' : 'bot:toast.unacknowledged')
    },
    mayAcknowledgeAlert,
  ),
)

onPress(composer, 'alert.ackAll', MEMBERS, (ctx) =>
  boxed(ctx, async () => {
    const by = actorName(ctx)
    const { result: acted } = await runOnPressed(ctx, () =>
      ofMessage(ctx, (body, link) => ctx.call(acknowledgeMessage, { body: { ...body, by } }, link)),
    )
    const fresh = acted.filter(({ already }) => !already)
    const [first] = acted
    await ctx.answer(
      fresh.length === 0 && first !== undefined
        ? alreadyText(ctx, first)
        : ctx.t('bot:toast.acknowledgedAll', { count: fresh.length }),
    )
  }),
)

onPress(composer, 'alert.unackAll', MEMBERS, (ctx) =>
  boxed(ctx, async () => {
    const { result: acted } = await runOnPressed(ctx, () =>
      ofMessage(ctx, (body, link) => ctx.call(unacknowledgeMessage, { body }, link)),
    )
    const isDone = acted.some(({ already }) => !already)
    await ctx.answer(ctx.t(isDone ? 'bot:toast.unacknowledged' : 'bot:toast.nothingToUndo'))
  }),
)

/**
 * Acts on every alert of the pressed message, for the wallet for which the message was sent.
 * @throws AppError not_found
 */
async function ofMessage<Result>(
  ctx: BotContext,
  run: (
    body: { readonly recipientId: number; readonly messageId: string },
    link: Membership,
  ) => Promise<Result>,
): Promise<Result> {
  const messageId = String(ctx.callbackQuery?.message?.message_id)
  return await firstLink(
    ctx,
    (link) => run({ recipientId: link.recipientId, messageId }, acknowledging(link)),
    ctx.links.filter(mayAcknowledge),
  )
}

onPress(composer, 'alert.mute', (ctx, { id, duration }) =>
  act(ctx, id, async (found) => {
    const toast = await mute(ctx, found, duration)
    await closeBelowSent(ctx)
    return toast
  }),
)

/**
 * Mutes the watch for a while, or the episode until it recovers.
 * @returns the answer to the press
 */
async function mute(
  ctx: BotContext,
  { card, link }: FoundAlert,
  duration: MuteDuration,
): Promise<string> {
  const { t, reader, app } = ctx
  const { id } = card.alert
  if (duration === '0') {
    await muteUntilRecovered(ctx, { id, link, muted: false })
    return t('bot:watch.nowHeard')
  }
  const until = muteEnd(duration, reader.timezone, app.clock.now())
  if (until === undefined) {
    const acted = await muteUntilRecovered(ctx, { id, link, muted: true })
    const quiet = acted.filter(({ muted }) => muted?.until === 'recovered').length
    if (quiet === 0) return t('bot:toast.over')
    return t(acted.length > 1 ? 'bot:toast.quietEpisodes' : 'bot:toast.quietEpisode')
  }
  await muteWatch(ctx, card.status, link, until)
  const time = formatTime(until, t.locale, reader.timezone, { offset: reader.timezone === 'UTC' })
  return t('bot:toast.quietUntil', { label: typed(card.alert.watchLabel), time })
}

/**
 * Mutes one alert, or every alert of the pressed message.
 * @returns their new state
 */
async function muteUntilRecovered(
  ctx: BotContext,
  { id, link, muted }: { readonly id: number; readonly link: Membership; readonly muted: boolean },
): Promise<readonly ActedAlert[]> {
  const delivered = await findPressedAlert(ctx)
  if (delivered?.envelope.kind !== 'group') {
    return [await ctx.call(muteIncident, { body: { id, muted } }, link)]
  }
  const { messageId } = delivered
  const body = { recipientId: link.recipientId, messageId, muted }
  return await ctx.call(muteMessage, { body }, link)
}

async function muteWatch(
  ctx: BotContext,
  { id, watchLabel }: ActedAlert,
  link: Membership,
  until: Date | null,
): Promise<void> {
  try {
    await ctx.call(muteWatchOf, { body: { id, until: until?.toISOString() ?? null } }, link)
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'not_found') throw error
    throw new Refused(ctx.t('bot:toast.watchGone', { label: typed(watchLabel) }))
  }
}

/** Unmutes the watch. The message of an alert stays; any other message becomes the watch's card. */
onPress(composer, 'watch.unmute', async (ctx, { id: watchId }) => {
  const id =
    alertIdOfMessage(ctx) ?? (await findPressedAlert(ctx))?.envelope.message.alertId ?? undefined
  if (id === undefined) return unmute(ctx, watchId)
  await act(ctx, id, async ({ card, link }) => {
    await muteWatch(ctx, card.status, link, null)
    return ctx.t('bot:watch.nowHeard')
  })
})

/** Every member of a group reads the help; the ways to mute are opened by those who may use them. */
onPress(composer, 'alert.open', { members: 'all' }, (ctx, { id, part }) =>
  boxed(ctx, async () => {
    const isRefused = part === 'm' && !(await getAlertOfChat(ctx, id)).link.manages
    if (isRefused) return ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
    await toggle(ctx, id, PART_OF_CODE[part])
  }),
)

/** Who may press the buttons of a test: everybody who sees it, because they change nothing. */
const TEST = { unlinked: true, members: 'all' } as const

/** What a button of a test would do on a real alert, and for whom. */
const WOULD = {
  ack: 'bot:test.acknowledge',
  mute: 'bot:test.mute',
  rec: 'bot:test.muteRecovered',
} as const

onPress(composer, 'test.press', TEST, (ctx) => ctx.answer(ctx.t('bot:test.press')))
onPress(composer, 'test.try', TEST, (ctx, { what }) =>
  ctx.answer(ctx.t(WOULD[what]), { box: true }),
)
onPress(composer, 'test.open', TEST, async (ctx, { part }) => {
  const isShown = await toggleBelowSent(ctx, PART_OF_CODE[part])
  if (!isShown) await ctx.answer(ctx.t('bot:test.press'))
})

onPress(composer, 'close', { unlinked: true }, async (ctx) => {
  const messageId = ctx.callbackQuery?.message?.message_id
  if (messageId === undefined) return
  // In a group one person must not delete the message for all members.
  if (ctx.reader.isGroup) return removeButtons(ctx, messageId)
  await leave(ctx, messageId)
})

/** Runs an action on an alert for its wallet, answers the press, and updates the pressed card. */
async function act(
  ctx: BotContext,
  id: number,
  run: (found: FoundAlert) => Promise<string>,
  isAllowed: (found: FoundAlert) => boolean = ({ link }) => link.manages,
): Promise<void> {
  await boxed(ctx, async () => {
    const found = await getAlertOfChat(ctx, id)
    if (!isAllowed(found)) {
      return ctx.answer(ctx.t('bot:group.linkersOnly'), { box: true })
    }
    const { result: toast, isSent } = await runOnPressed(ctx, () => run(found))
    await ctx.answer(toast)
    if (!isSent) await updatePressedCard(ctx, id)
  })
}

/** Whether a person may acknowledge an alert: a member of a group only one that the group was sent. */
function mayAcknowledgeAlert({ card, link }: FoundAlert): boolean {
  if (link.manages) return true
  const { recipientId } = link
  const isSent = card.alert.deliveries.some((delivery) => delivery.recipientId === recipientId)
  return isSent && mayAcknowledge(link)
}

/** Refusal of a press, in the reader's language. */
class Refused extends Error {}

/** Runs an action on an alert; a refusal is shown in a box, because the alert keeps its text. */
async function boxed(ctx: BotContext, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (error) {
    const sentence = refusalOf(ctx, error)
    if (sentence === undefined) throw error
    await ctx.answer(sentence, { box: true })
  }
}

function refusalOf(ctx: BotContext, error: unknown): string | undefined {
  if (error instanceof Refused) return error.message
  if (!(error instanceof AppError) || error.kind === 'rate_limited') return undefined
  return error.kind === 'not_found' ? ctx.t('bot:error.gone') : sentenceOf(ctx.t, error)
}

const NAME_MAX = 64

/** Name of the person in records of actions; null for an anonymous administrator. */
export function actorName({ from, isAnonymous }: BotContext): string | null {
  if (from === undefined || isAnonymous) return null
  return cleanOutsideText(from.first_name, NAME_MAX) || null
}

/** Answer to an acknowledgement. */
export function acknowledgedText(
  { t }: BotContext,
  { isOpen }: Pick<ActedAlert, 'isOpen'>,
): string {
  return t(isOpen ? 'bot:toast.acknowledgedOpen' : 'bot:toast.acknowledged')
}

function alreadyText({ t, reader }: BotContext, { acknowledged }: ActedAlert): string {
  if (acknowledged === null) return t('bot:toast.acknowledged')
  const { at, by } = acknowledged
  const time = formatTime(at, t.locale, reader.timezone, { offset: reader.timezone === 'UTC' })
  return by === null
    ? t('bot:toast.already', { time })
    : t('bot:toast.alreadyBy', { name: typed(by), time })
}

/** Handles the buttons below an alert: acknowledge, mute, help and their reversals. */
export const alertActionsFeature = defineFeature({ commands: [], composer })
