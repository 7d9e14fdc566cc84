import { packed } from '#src/actions/codec.ts'
import type { Missed } from '#src/alerts/summaries/missed.ts'
import { failureWords } from '#src/channels/failure-reasons.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { firstLabels } from '#src/i18n/name-list.ts'
import { id, typed } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import { localeName } from '#src/kernel/locale.ts'
import type { Destination } from '#src/recipients/destination-list.ts'
import { OFF_BY_MOVE, OFF_BY_OWNER, OFF_BY_READER } from '#src/recipients/model.ts'
import { isNameOf, shownTarget } from '#src/recipients/rules.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import { channelName, destinationName, knownReason } from '../../views/destination.ts'
import { nearTime } from '../../views/time.ts'
import { act, labelWithName, type Reader, screen, type View } from '../../views/view.ts'
import { rightsText } from '../start/link-view.ts'
import { backToList } from './list-view.ts'

/** Data of a destination's card. */
export interface RecipientCardData {
  readonly destination: Destination
  /** What is kept for the destination. */
  readonly missed: Missed
  /** Number of failed deliveries of the last day. */
  readonly failures: number
  /** Labels of the watches that name the destination. */
  readonly namedBy: readonly string[]
}

interface CardOptions {
  readonly now: Date
  readonly hereId: number | undefined
  readonly canWrite: boolean
  /** Line about the last action: HTML. */
  readonly notice?: string | undefined
}

/** Card of a destination: address, state, filters. */
export function recipientCard(
  reader: Reader,
  facts: RecipientCardData,
  options: CardOptions,
): View {
  const { t } = reader
  const { destination } = facts
  const { hereId, canWrite, notice } = options
  const name = typed(destinationName(t, destination, hereId))
  const lines = [
    t.html('bot:rec.cardTitle', { name, channel: channelName(t, destination.channel) }),
    targetLine(reader, destination),
    destination.chat === null
      ? undefined
      : t.html('bot:rec.rights', { rights: rightsText(reader, destination.chat.scopes) }),
    ...stateLines(reader, facts, options.now),
    notifiedLine(reader, facts),
    destination.own
      ? t.html('bot:rec.defaultOwn')
      : t.html(`bot:rec.isDefault.${yesNo(destination.default)}`),
    settingsLine(reader, destination),
    keyLine(reader, destination, options.now),
    canWrite ? undefined : t.html('bot:chat.receiveOnly'),
    ...(notice === undefined ? [] : ['', notice]),
  ]
  return screen(lines, [
    ...(canWrite ? changes(reader, facts) : looks(reader, facts)),
    [
      backToList(t),
      ...(canWrite ? [act(t('bot:button.more'), packed('rec.more', { id: destination.id }))] : []),
    ],
  ])
}

/** The address. A chat's is a number that people do not know; a name that is the address already shows it. */
function targetLine({ t }: Reader, { chat, name, target }: Destination): string | undefined {
  if (chat !== null || isNameOf(target, name)) return undefined
  return t.html('bot:rec.target', { target: typed(target) })
}

function yesNo(value: boolean): 'yes' | 'no' {
  return value ? 'yes' : 'no'
}

function stateLines(reader: Reader, facts: RecipientCardData, now: Date): readonly string[] {
  const { t } = reader
  const { destination, missed, failures } = facts
  const { status, statusReason, lastSuccessAt, switchedAt } = destination
  const retained = missed.count + missed.over
  const retainedLine = retained === 0 ? [] : [t.html('bot:rec.kept', { count: retained })]
  if (status === 'pending') {
    const target = typed(shownTarget(destination))
    return [
      `⚠️ ${t.html('bot:rec.pending', { target })}`,
      ...reasonLines(reader, destination),
      ...retainedLine,
    ]
  }
  if (status !== 'active') {
    const off = t.html('bot:rec.off', { time: nearTime(reader, switchedAt, now) })
    return [`⚠️ ${off}`, ...reasonLines(reader, destination), ...retainedLine]
  }
  const parts = [
    t.html('bot:rec.onSince', { time: nearTime(reader, switchedAt, now) }),
    lastSuccessAt === null
      ? t.html('bot:rec.noSuccess')
      : t.html('bot:rec.lastSuccess', { time: nearTime(reader, lastSuccessAt, now) }),
    ...(failures === 0 ? [] : [t.html('bot:rec.failures', { count: failures })]),
  ]
  const ask = retained === 0 ? [] : [t.html('bot:rec.keptAsk', { count: retained })]
  const over = missed.over === 0 ? [] : [t.html('bot:rec.keptOver', { number: missed.over })]
  return [parts.join(' · '), ...reasonLines(reader, { statusReason }), ...ask, ...over]
}

/** Lines with the reason why the destination is off. */
function reasonLines(
  { t }: Reader,
  { statusReason }: Pick<Destination, 'statusReason'>,
): readonly string[] {
  if (statusReason === null) return []
  if (statusReason === OFF_BY_OWNER) return [t.html('bot:rec.offByOwner')]
  if (statusReason === OFF_BY_MOVE) return [t.html('bot:rec.offByMove')]
  const known = knownReason(t, statusReason)
  if (known !== undefined) return [known]
  const key = statusReason.startsWith('status_') ? 'bot:rec.lastAnswer' : 'bot:rec.reason'
  return [t.html(key, { reason: failureWords(t, statusReason) })]
}

function notifiedLine(
  { t }: Reader,
  { destination, namedBy }: RecipientCardData,
): string | undefined {
  if (destination.own) return undefined
  const watches = firstLabels(t, namedBy)
  if (watches !== undefined) return t.html('bot:rec.namedBy', { names: watches })
  // A default recipient gets the alerts of watches that name none.
  return destination.default ? undefined : t.html('bot:rec.namedByNone')
}

function settingsLine({ t }: Reader, destination: Destination): string {
  const { minSeverity, locale, timezone, channel, own } = destination
  const severity = t.html('bot:rec.severity', { severity: t(`bot:severity.${minSeverity}`) })
  if (own || !isRead(channel)) return severity
  const reads = t.html('bot:rec.reader', {
    language: localeName(locale),
    zone: id(modernZone(timezone)),
  })
  return `${severity} · ${reads}`
}

/** Whether the channel has readers with a language and time zone. */
function isRead(channel: Destination['channel']): boolean {
  return !CHANNELS[channel].isProgrammatic
}

function keyLine(reader: Reader, { key }: Destination, now: Date): string | undefined {
  if (key === null) return undefined
  const since = nearTime(reader, key.since, now)
  return reader.t.html('bot:rec.secret', { ending: id(key.ending), since })
}

function looks({ t }: Reader, { destination }: RecipientCardData): Rows {
  return [[logButton(t, destination)]]
}

function logButton(t: Reader['t'], { id: recipientId }: Destination): Button {
  return act(t('bot:button.log'), packed('rec.log', { id: recipientId, cursor: undefined }))
}

function changes(reader: Reader, facts: RecipientCardData): Rows {
  const { t } = reader
  const { destination } = facts
  const params = { id: destination.id }
  return [
    firstRow(reader, facts),
    [watchSelectionButton(t, destination.id)],
    [act(t('bot:button.test'), packed('rec.test', params)), logButton(t, destination)],
  ]
}

/** Rarely changed properties of a destination, and deletion. */
export function recipientMore(
  reader: Reader,
  { destination, hereId, missed }: DestinationData & Pick<RecipientCardData, 'missed'>,
): View {
  const { t } = reader
  const { channel, own, key } = destination
  const isKept = destination.status === 'active' && missed.count + missed.over > 0
  const params = { id: destination.id }
  const isReader = isRead(channel) && !own
  return screen(
    [
      t.html('bot:more.title', { label: typed(destinationName(t, destination, hereId)) }),
      settingsLine(reader, destination),
    ],
    [
      [
        ...(own ? [] : [act(t('bot:button.rename'), packed('rec.ask', params))]),
        ...(isReader ? [act(t('bot:button.language'), packed('rec.lang', params))] : []),
        ...(isReader ? [act(t('bot:button.zone'), packed('rec.zone', params))] : []),
        ...(key === null ? [] : [act(t('bot:button.secret'), packed('rec.rotate', params))]),
        ...(isKept ? [act(t('bot:button.dropRetained'), packed('rec.keptDrop', params))] : []),
      ],
      [act(t('bot:button.delete'), packed('rec.delete', params), 'danger')],
      [backToRecipient(reader, destination, hereId)],
    ],
  )
}

/** Buttons for the destination's current state. */
function firstRow({ t }: Reader, { destination, missed }: RecipientCardData): readonly Button[] {
  const { status, statusReason, channel } = destination
  const params = { id: destination.id }
  if (status === 'pending') {
    return [act(t('bot:button.sendAgain'), packed('rec.resend', params), 'primary')]
  }
  if (status === 'disabled' && CHANNELS[channel].needsConsent && statusReason === OFF_BY_READER) {
    return [act(t('bot:button.sendConfirmation'), packed('rec.resend', params))]
  }
  if (status === 'disabled') {
    return [act(t('bot:button.revive'), packed('rec.revive', params), 'primary')]
  }
  const count = missed.count + missed.over
  if (status !== 'active' || count === 0) return []
  return [act(t('bot:button.sendRetained', { count }), packed('rec.kept', params), 'primary')]
}

/** Button to choose the watches that notify a recipient. */
export function watchSelectionButton(t: Reader['t'], recipientId: number): Button {
  return act(t('bot:button.hear'), packed('rec.hear', { id: recipientId, page: 1 }))
}

/** Button back to a destination, labelled with its name. */
export function backToRecipient(
  { t }: Reader,
  destination: Pick<Destination, 'id' | 'own' | 'channel' | 'name'>,
  hereId: number | undefined,
): Button {
  const name = destinationName(t, destination, hereId)
  return act(
    labelWithName(name, (text) => `‹ ${isolate(text)}`),
    packed('rec.card', { id: destination.id }),
  )
}

/** Data of a screen about one destination. */
export interface DestinationData {
  readonly destination: Destination
  readonly hereId: number | undefined
}

/** Data of a screen that only names the destination. */
export interface DestinationName {
  readonly destination: Pick<Destination, 'id' | 'own' | 'channel' | 'name' | 'key'>
  readonly hereId: number | undefined
}

/** Message after a mailbox was confirmed. */
export function recipientConfirmed(reader: Reader, { destination, hereId }: DestinationName): View {
  const name = typed(destinationName(reader.t, destination, hereId))
  return screen(
    [`✅ ${reader.t.html('bot:rec.confirmed', { name })}`],
    [
      [watchSelectionButton(reader.t, destination.id)],
      [act(reader.t('bot:button.test'), packed('rec.test', { id: destination.id }))],
      [backToRecipient(reader, destination, hereId)],
    ],
  )
}
