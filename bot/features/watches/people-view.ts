import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { typed } from '#src/i18n/translate.ts'
import type { ChannelState, Recipient } from '#src/recipients/model.ts'
import type { Button } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { isOn, statusText } from '../../views/destination.ts'
import {
  act,
  inRows,
  labelWithName,
  pageRow,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { backToCard } from './edit-view.ts'

/** All recipients of a wallet. */
export interface WalletRecipients {
  readonly recipients: readonly Recipient[]
  /** The wallet's channels, used by watches that name no recipient. */
  readonly channels: readonly ChannelState[]
  /** The recipient that is the reader's chat. */
  readonly hereId: number | undefined
}

/** A possible recipient of a watch. */
export interface RecipientChoice {
  /** Undefined for the wallet's own destination of a channel, which no watch can name. */
  readonly id: number | undefined
  readonly channel: Recipient['channel']
  readonly name: string
  readonly status: Recipient['status']
  readonly statusReason: string | null
  readonly isHere: boolean
}

/** The default recipients of the wallet's watches: this chat first, the wallet's own destinations last. */
function defaultsOf(people: WalletRecipients): readonly RecipientChoice[] {
  const own = people.channels.flatMap((state): RecipientChoice[] =>
    state.configured && state.kind === 'input' && state.status !== null
      ? [
          {
            id: undefined,
            channel: state.key,
            name: state.target ?? state.key,
            status: state.status,
            statusReason: state.statusReason,
            isHere: false,
          },
        ]
      : [],
  )
  const marked = people.recipients.filter((recipient) => recipient.default)
  return hereFirst([...marked.map((recipient) => toChoice(recipient, people)), ...own])
}

/** The recipients that a watch notifies: those it names that still exist, or else the default recipients. */
export function notifiedBy(
  recipientIds: readonly number[] | null,
  people: WalletRecipients,
): readonly RecipientChoice[] {
  const named = namedBy(recipientIds, people)
  return named.length > 0 ? named : defaultsOf(people)
}

function namedBy(
  recipientIds: readonly number[] | null,
  people: WalletRecipients,
): readonly RecipientChoice[] {
  const named = people.recipients.filter(({ id }) => recipientIds?.includes(id))
  return hereFirst(named.map((recipient) => toChoice(recipient, people)))
}

function toChoice(
  { id, channel, name, status, statusReason }: Recipient,
  { hereId }: WalletRecipients,
): RecipientChoice {
  return { id, channel, name, status, statusReason, isHere: id === hereId }
}

/** Recipients of the wallet that watches can name, this chat first. */
export function allChoices(people: WalletRecipients): readonly RecipientChoice[] {
  return hereFirst(people.recipients.map((recipient) => toChoice(recipient, people)))
}

function hereFirst(all: readonly RecipientChoice[]): readonly RecipientChoice[] {
  return [...all.filter(({ isHere }) => isHere), ...all.filter(({ isHere }) => !isHere)]
}

/** Name of a recipient on a screen; in a group only its channel. */
export function recipientName(
  { t, isGroup }: Reader,
  { isHere, name, channel }: RecipientChoice,
): string {
  if (isHere) return t('bot:people.here')
  return isGroup ? t(`bot:channel.${channel}`) : name
}

/** Recipients on one page of the screen. */
export const RECIPIENTS_PER_PAGE = 8

interface PeopleOptions {
  /** Number of the page, from 1; a number beyond the last page means the last page. */
  readonly page: number
  /** Line about the last action: HTML. */
  readonly notice?: string
}

/** Recipients of a watch. */
export function watchRecipients(
  reader: Reader,
  watch: Watch,
  people: WalletRecipients,
  options: PeopleOptions,
): View {
  const { t } = reader
  const notified = notifiedBy(watch.recipientIds, people)
  const all = allChoices(people)
  const pages = Math.max(1, Math.ceil(all.length / RECIPIENTS_PER_PAGE))
  const page = Math.min(options.page, pages)
  const shown = all.slice((page - 1) * RECIPIENTS_PER_PAGE, page * RECIPIENTS_PER_PAGE)
  const isTicked = ({ id }: RecipientChoice) => notified.some((choice) => choice.id === id)
  const defaults = defaultsOf(people).map((choice) => recipientName(reader, choice))
  const lines = [
    t.html('bot:people.title', { label: typed(watch.label) }),
    options.notice,
    ...shown.map((choice) => recipientLine(reader, choice, isTicked(choice))),
    t.html(all.length === 0 ? 'bot:people.none' : 'bot:help.marks'),
    '',
    defaultsLine(t, watch, defaults),
  ]
  const params = { id: watch.id }
  return screen(lines, [
    ...inRows(
      shown.flatMap((choice) => toggle(reader, watch, choice, isTicked(choice))),
      2,
    ),
    pageRow(page, pages, (to) => packed('watch.who', { ...params, page: to })),
    [
      ...(watch.recipientIds === null
        ? []
        : [act(t('bot:button.defaults'), packed('watch.whoAll', params))]),
      act(t('bot:button.addRecipient'), packed('rec.add')),
    ],
    all.length === 0 ? [] : [escalationButton(reader, watch)],
    [backToCard(watch)],
  ])
}

/** Line about the default recipients, which are notified if the watch names none. */
function defaultsLine(
  t: Reader['t'],
  { recipientIds }: Pick<Watch, 'recipientIds'>,
  defaults: readonly string[],
): string {
  if (defaults.length === 0) return t.html('bot:people.noDefaults')
  const names = nameList(defaults, t.locale)
  return t.html(recipientIds === null ? 'bot:people.byDefault' : 'bot:people.defaults', { names })
}

/** Button that opens the escalation of a watch, with its current state. */
function escalationButton({ t }: Reader, { id, escalateAfterMinutes }: Watch): Button {
  const data = packed('watch.esc', { id })
  if (escalateAfterMinutes === null) return act(t('bot:button.escalationOff'), data)
  const duration = formatDuration(escalateAfterMinutes * 60, t.locale, 'short')
  return act(t('bot:button.escalation', { duration }), data)
}

/** Line with the tick and state of a recipient. */
export function recipientLine(reader: Reader, choice: RecipientChoice, isTicked: boolean): string {
  const { t } = reader
  const name = choice.isHere ? t('bot:people.here') : typed(choice.name)
  const mark = isTicked ? '✓' : '○'
  if (isOn(choice)) return `${mark} ${t.html('bot:people.person', { name })}`
  return `${mark} ⚠️ ${t.html('bot:people.off', { name, reason: statusText(t, choice) })}`
}

function toggle(
  reader: Reader,
  watch: Watch,
  choice: RecipientChoice,
  isTicked: boolean,
): Button[] {
  if (choice.id === undefined) return []
  const mark = `${isTicked ? '✓' : '○'}${isOn(choice) ? '' : ' ⚠️'}`
  // Two per row, so that a page of eight has room below its screen.
  const label = labelWithName(
    recipientName(reader, choice),
    (name) => `${mark} ${isolate(name)}`,
    2,
  )
  return [act(label, packed('watch.whoFlip', { id: watch.id, recipient: choice.id }))]
}
