import { type ButtonData, packed } from '#src/actions/codec.ts'
import { CHANNEL_KEYS, REGISTRY as CHANNELS, type TypedChannel } from '#src/channels/index.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { html, id, typed } from '#src/i18n/translate.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import { RECIPIENTS_MAX } from '#src/recipients/model.ts'
import { shownTarget } from '#src/recipients/rules.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { channelName, destinationName, isOn, statusText } from '../../views/destination.ts'
import { textHtml } from '../../views/markup.ts'
import { nearTime } from '../../views/time.ts'
import {
  act,
  inRows,
  labelWithName,
  menuButton,
  pageRow,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'

const PAGE_SIZE = 8

interface ListOptions {
  /** Number of the page, from 1; a number beyond the last page means the last page. */
  readonly page: number
  readonly now: Date
  /** The recipient that is the reader's chat. */
  readonly hereId: number | undefined
  /** Whether destinations may be added and changed. */
  readonly canWrite: boolean
  /** All watches of the wallet. */
  readonly watches: readonly Pick<Watch, 'notifies' | 'escalateTo' | 'escalateAfterMinutes'>[]
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** All recipients of a wallet. */
export function recipientList(
  reader: Reader,
  all: readonly Destination[],
  options: ListOptions,
): View {
  const { t } = reader
  const { hereId, notice, canWrite } = options
  const inOrder = all.toSorted((a, b) => Number(b.id === hereId) - Number(a.id === hereId))
  const pages = Math.max(1, Math.ceil(inOrder.length / PAGE_SIZE))
  const page = Math.min(options.page, pages)
  const shown = inOrder.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
  const named = all.filter(({ own }) => !own).length
  const lines = [
    notice,
    t.html('bot:rec.title', { count: id(named), max: id(RECIPIENTS_MAX) }),
    ...shown.map((destination) => destinationLine(reader, destination, options)),
    all.length === 0 ? t.html('bot:rec.none') : undefined,
    canWrite ? undefined : t.html('bot:chat.receiveOnly'),
  ]
  return screen(lines, [
    ...inRows(
      shown.map((destination) => cardButton(reader, destination, hereId)),
      2,
    ),
    pageRow(page, pages, (to) => packed('rec.page', { page: to })),
    canWrite ? [act(t('bot:button.addRecipient'), packed('rec.add'))] : [],
    [menuButton(t)],
  ])
}

function destinationLine(reader: Reader, destination: Destination, options: ListOptions): string {
  const { t } = reader
  const name = typed(destinationName(t, destination, options.hereId))
  const getsNone = getsNoAlerts(destination, options.watches)
  const mark = isOn(destination) ? (getsNone ? '⚪' : '✓') : '⚠️'
  const what = isOn(destination)
    ? [...activeParts(reader, destination), ...(getsNone ? [t.html('bot:rec.noAlerts')] : [])]
    : [offText(reader, destination, options.now)]
  return `${mark} ${t.html('bot:rec.line', { name, what: html(what.join(' · ')) })}`
}

/** Whether no watch notifies a destination that is on. Before the first watch, defaults and own channels will be notified. */
function getsNoAlerts(
  { id: recipientId, own, default: isDefault }: Destination,
  watches: ListOptions['watches'],
): boolean {
  if (watches.length === 0) return !own && !isDefault
  return !watches.some(
    ({ notifies, escalateTo, escalateAfterMinutes }) =>
      notifies.includes(recipientId) ||
      (escalateAfterMinutes !== null && escalateTo.includes(recipientId)),
  )
}

function activeParts({ t }: Reader, destination: Destination): readonly string[] {
  const { own, channel, chat, minSeverity } = destination
  return [
    chat?.isGroup ? t.html('bot:rec.group') : t.html(`bot:channel.${channel}`),
    ...(destination.default || own ? [t.html('bot:rec.default')] : []),
    ...(minSeverity === 'info' ? [] : [t.html(`bot:rec.from.${minSeverity}`)]),
  ]
}

function offText(reader: Reader, destination: Destination, now: Date): string {
  const { t } = reader
  if (destination.status !== 'disabled') return textHtml(statusText(t, destination))
  return t.html('bot:rec.offSince', { time: nearTime(reader, destination.switchedAt, now) })
}

function cardButton({ t }: Reader, destination: Destination, hereId: number | undefined): Button {
  const mark = isOn(destination) ? '' : '⚠️ '
  const name = destinationName(t, destination, hereId)
  const label = labelWithName(name, (text) => `${mark}${isolate(text)}`, 2)
  return act(label, packed('rec.card', { id: destination.id }))
}

interface AddOptions {
  /** Channels configured on this service. */
  readonly channels: readonly Destination['channel'][]
}

/** Choice of a channel for a new destination. */
export function addChoice({ t }: Reader, { channels }: AddOptions): View {
  const ofKind = (kind: 'input' | 'link') =>
    channels.filter((channel) => CHANNELS[channel].kind === kind)
  const add = (type: Destination['channel']) =>
    act(t(`bot:button.add.${type}`), packed('rec.kind', { type }))
  const missing = CHANNEL_KEYS.filter((channel) => !channels.includes(channel))
  return screen(
    [
      t.html('bot:rec.addQuestion'),
      ...missing.map((channel) =>
        t.html('bot:rec.unavailable', { channel: channelName(t, channel) }),
      ),
    ],
    [...inRows(ofKind('input').map(add), 2), ofKind('link').map(add), [backToList(t)]],
  )
}

/** Button back to the list. */
export function backToList(t: Reader['t']): Button {
  return act(`‹ ${t('bot:button.recipients')}`, packed('rec.list'))
}

/**
 * Question for the address of a destination.
 * @param testUrl page that gives an address for a test; undefined where there is none
 */
export function addQuestion({ t }: Reader, channel: TypedChannel, testUrl?: string): View {
  const test = testUrl === undefined ? [] : [{ label: t('bot:button.testAddress'), url: testUrl }]
  return screen([t.html(`bot:rec.ask.${channel}`)], [test, [backToList(t)]])
}

/** Longest mailbox that fits into the data of a button. */
const BUTTON_MAILBOX = /^[\x21-\x39\x3b-\x7e]{3,53}$/

/** Offers to send alerts to a mailbox that a person typed. One that is too long for a button is asked for once more. */
export function mailboxOffer({ t }: Reader, mailbox: string): View {
  const add = BUTTON_MAILBOX.test(mailbox)
    ? packed('rec.mail', { mailbox })
    : packed('rec.kind', { type: 'email' })
  return screen(
    [t.html('bot:unknown.mailbox', { target: typed(mailbox) })],
    [[act(t('bot:button.addMailbox'), add, 'primary')], [menuButton(t), backToList(t)]],
  )
}

/** Answer to an address that one of the recipients already has. */
export function alreadyAdded(
  reader: Reader,
  { destination, hereId }: { readonly destination: Destination; readonly hereId: number },
  now: Date,
): View {
  const { t } = reader
  const { status, switchedAt } = destination
  const name = typed(destinationName(t, destination, hereId))
  const waiting = t.html('bot:rec.pending', { target: typed(shownTarget(destination)) })
  const off = t.html('bot:rec.off', { time: nearTime(reader, switchedAt, now) })
  return screen(
    [
      `✓ ${t.html('bot:rec.known', { name })}`,
      isOn(destination) ? undefined : `⚠️ ${status === 'pending' ? waiting : off}`,
    ],
    [[cardButton(reader, destination, hereId)], [backToList(t)]],
  )
}

/** Choice of the rights of another chat. */
export function chatRights({ t }: Reader): View {
  return screen(
    [t.html('bot:rec.chatQuestion'), '', rightsHelp(t)],
    [
      [act(t('bot:button.onlyReceive'), packed('rec.kind', { type: 'chat-read' }))],
      [act(t('bot:button.receiveManage'), packed('rec.kind', { type: 'chat-write' }))],
      [backToList(t)],
    ],
  )
}

/** What a group may do: all its members acknowledge, its administrators alone, or nobody. */
export const GROUP_RIGHTS = ['all', 'adm', 'rec'] as const
export type GroupRights = (typeof GROUP_RIGHTS)[number]

/**
 * Choice of the rights of a group.
 * @param data of the button for these rights
 */
export function groupRights(
  { t }: Reader,
  title: string,
  data: (rights: GroupRights) => ButtonData,
): View {
  const labels = {
    members: t('bot:button.membersAck'),
    admins: t('bot:button.adminsAck'),
    receive: t('bot:button.onlyReceive'),
  }
  return screen(
    [
      t.html('bot:rec.groupQuestion', { name: typed(title) }),
      '',
      t.html('bot:rec.groupHelp', labels),
    ],
    [
      [act(labels.members, data('all'), 'primary')],
      [act(labels.admins, data('adm'))],
      [act(labels.receive, data('rec'))],
      [backToList(t)],
    ],
  )
}

/** What each choice of rights allows, under the label of its button. */
function rightsHelp(t: Reader['t']): string {
  return t.html('bot:rec.rightsHelp', {
    receive: t('bot:button.onlyReceive'),
    manage: t('bot:button.receiveManage'),
  })
}

/** Says that the group shows the card of a link. */
export function groupAsked(
  reader: Reader,
  link: { readonly title: string; readonly expiresAt: Date },
  now: Date,
): View {
  const { t } = reader
  return screen(
    [
      t.html('bot:rec.groupAsked', { name: typed(link.title) }),
      t.html('bot:rec.linkOnce', { time: nearTime(reader, link.expiresAt, now) }),
    ],
    [[backToList(t)]],
  )
}

/** A link that sends the wallet's alerts to another chat. */
export function chatLink(
  reader: Reader,
  link: { readonly url: string; readonly groupUrl: string; readonly expiresAt: Date },
  options: { readonly wallet: string; readonly now: Date },
): View {
  const { t } = reader
  const lines = [
    t.html('bot:rec.link'),
    t.html('bot:rec.linkOnce', { time: nearTime(reader, link.expiresAt, options.now) }),
    t.html('bot:rec.linkShown', { wallet: id(options.wallet) }),
  ]
  return screen(lines, [
    [{ label: t('bot:button.addToGroup'), url: link.groupUrl }],
    [{ label: t('bot:button.copyPersonLink'), copy: link.url }],
    [backToList(t)],
  ])
}

/** Message about a new mailbox, whose reader is asked first. */
export function mailAsked({ t }: Reader, made: Pick<Destination, 'id' | 'name' | 'target'>): View {
  const { id: recipientId } = made
  return screen(
    [`📨 ${t.html('bot:rec.confirmAsked', { target: typed(shownTarget(made)) })}`],
    [
      [
        act(t('bot:button.sendAgain'), packed('rec.resend', { id: recipientId })),
        act(t('bot:button.hear'), packed('rec.hear', { id: recipientId, page: 1 })),
      ],
      [backToList(t)],
    ],
  )
}
