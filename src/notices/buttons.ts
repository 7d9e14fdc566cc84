import { type ButtonData, packed } from '#src/actions/codec.ts'
import { SLOTS_MAX } from '#src/billing/price-list.ts'
import type { MessageButton } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { botLink, RENEWALS_START, renewalStart } from '#src/telegram/links.ts'
import type { Notice } from './model.ts'

/** Context of a button. */
export interface ButtonPlace {
  /**
   * Whether the notice is sent to a private chat, where the bot acts in the chat. Elsewhere a link opens
   * the chat with the bot.
   */
  readonly inChat: boolean
  /** Username of the bot, without `@`. Undefined if there is no bot; buttons that would open it are then left out. */
  readonly botUsername: string | undefined
  /** Page that the notice is about. */
  readonly url: string
}

/** A button, independent of its context. */
interface Choice {
  readonly text:
    | 'renewOn'
    | 'renewOnce'
    | 'slots'
    | 'topup'
    | 'getSlot'
    | 'getSlots'
    | 'later'
    | 'watches'
    | 'menu'
    | 'repair'
    | 'revive'
    | 'log'
    | 'status'
    | 'recipients'
    | 'fine'
    | 'remove'
    | 'hear'
    | 'topic'
    | 'startBot'
    | 'weeklyOff'
    | 'report'
    | 'reportOff'
  /** Undefined for a button that opens the page of the notice. */
  readonly act?: ButtonData
  /** Set if the button concerns the chat itself; then the bot acts in the chat, even in a group. */
  readonly ofChat?: true
  /** Start parameter of the bot; undefined if there is nothing to open. */
  readonly start?: string
}

/** The buttons of a notice, in one row. */
export function buttonsOf(
  t: Translate,
  notice: Notice,
  { inChat, botUsername, url }: ButtonPlace,
): readonly (readonly MessageButton[])[] {
  const row = choicesOf(notice, inChat).flatMap(({ text, act, ofChat, start }): MessageButton[] => {
    const label = t(`notices:button.${text}`)
    if (act === undefined) return [{ label, url }]
    if (inChat || ofChat) return [{ label, act }]
    if (botUsername === undefined || start === undefined) return []
    return [{ label, url: botLink(botUsername, start) }]
  })
  return row.length === 0 ? [] : [row]
}

const SLOTS: Choice = { text: 'slots', act: packed('slots'), start: 'slots' }
const TOPUP: Choice = { text: 'topup', act: packed('topup'), start: 'topup' }
const WATCHES: Choice = { text: 'watches', act: packed('watch.list', { page: 1 }), start: 'menu' }
const MENU: Choice = { text: 'menu', act: packed('home'), start: 'menu' }

function choicesOf(notice: Notice, inChat: boolean): readonly Choice[] {
  switch (notice.kind) {
    case 'slots-end':
      return notice.renewal === null ? [...renewals(notice), SLOTS] : [TOPUP, SLOTS]
    case 'renewal-ahead':
    case 'renewed':
      return [SLOTS]
    case 'renewal-failed':
      return [TOPUP, SLOTS]
    case 'suspended':
      return [getSlots(notice.watches.length), WATCHES]
    case 'resumed':
      return [WATCHES]
    case 'trial-ends':
      return [getSlots(1), { text: 'later', act: packed('close') }]
    case 'trial-ended':
      return [notice.watches.length === 0 ? SLOTS : getSlots(notice.watches.length), WATCHES]
    case 'destination-off':
      return repairs(notice, inChat)
    case 'refused':
      return [{ text: 'recipients', act: packed('rec.list'), start: 'menu' }]
    case 'topic-gone':
      return [{ text: 'topic', act: packed('group.topic', { choice: 'ask' }), ofChat: true }]
    case 'linked': {
      const start = `r${notice.id}`
      return [
        { text: 'fine', act: packed('close') },
        {
          text: 'hear',
          act: packed('rec.hear', { id: notice.id, page: 1 }),
          start: `h${notice.id}`,
        },
        { text: 'remove', act: packed('rec.delete', { id: notice.id }), start },
      ]
    }
    case 'credited':
      return [SLOTS, MENU]
    case 'weekly':
      return [{ text: 'weeklyOff', act: packed('settings.weekly', { on: false }), start: 'menu' }]
    case 'epoch-report':
      return [
        { text: 'report' },
        { text: 'reportOff', act: packed('settings.report', { on: false }), start: 'menu' },
      ]
    case 'announcement':
      return []
    default:
      return notice satisfies never
  }
}

/** Buttons for slots that end: switch auto-renewal on, or pay one more term. */
function renewals({ id, offer }: Extract<Notice, { kind: 'slots-end' }>): readonly Choice[] {
  const on: Choice = {
    text: 'renewOn',
    act: packed('slots.renew', { id, on: true }),
    start: RENEWALS_START,
  }
  if (offer === null) return [on]
  return [on, { text: 'renewOnce', act: packed('slots.again', { id }), start: renewalStart(id) }]
}

function getSlots(count: number): Choice {
  const quantity = Math.min(count, SLOTS_MAX)
  const act = packed('slots.quote', { quantity, periods: 1, renew: false })
  return { text: count === 1 ? 'getSlot' : 'getSlots', act, start: 'slots' }
}

/** Reasons of a private chat that its person ends by starting the bot. */
const ENDED_BY_START: ReadonlySet<string | null> = new Set(['blocked', 'not_started'])

function repairs(
  { id, channel, statusReason }: Extract<Notice, { kind: 'destination-off' }>,
  inChat: boolean,
): readonly Choice[] {
  const start = `r${id}`
  if (CHANNELS[channel].isChat) {
    const recipients: Choice = { text: 'recipients', act: packed('rec.list') }
    // A mailbox gets the notice only if no private chat of the wallet is active, which could show its recipients.
    return !inChat && ENDED_BY_START.has(statusReason)
      ? [{ ...recipients, text: 'startBot', start: 'menu' }]
      : [recipients]
  }
  if (CHANNELS[channel].needsConsent) {
    const status: Choice = { text: 'status', act: packed('status'), start: 'menu' }
    return [{ text: 'repair', act: packed('rec.card', { id }), start }, status]
  }
  return [
    { text: 'revive', act: packed('rec.revive', { id }), start },
    { text: 'log', act: packed('rec.log', { id, cursor: undefined }), start },
  ]
}
