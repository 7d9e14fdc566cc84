/** Content of a message from its deliveries and their states. Pure. */

import { endOf as outageEndOf, startOf } from '#src/channels/card/outage.ts'
import { helpFormOf, movedTitles } from '#src/channels/card/transfer.ts'
import { hasEnded, rankOf } from '#src/channels/card/wording.ts'
import type { Envelope, EnvelopeMessage, MessageState } from '#src/channels/envelope.ts'
import { causeOf, causeOfFailedDuties } from '#src/channels/groups/cause.ts'
import { asCurrent } from '#src/channels/updates/current.ts'
import { pictureOf } from '../pictures/picture-rules.ts'
import type { SentMessage } from './message-store.ts'

/** A delivery in a message. */
export interface ShownPart {
  readonly alertId: number | null
  readonly envelope: Envelope
}

type States = ReadonlyMap<number, MessageState>

/**
 * One envelope for several deliveries, in the order in which they fired. It has the message and the data of the most
 * severe alert.
 *
 * @param ended those whose alerts are over: what still fails is the common cause, if it has one
 */
export function groupEnvelope(
  kind: 'group' | 'rollup',
  deliveryId: string,
  parts: readonly ShownPart[],
  ended: ReadonlySet<Envelope> = new Set(),
): Envelope {
  const inOrder = parts
    .map(({ envelope }) => envelope)
    .toSorted(
      (a, b) =>
        compare(a.message.firedAt, b.message.firedAt) ||
        (a.message.alertId ?? 0) - (b.message.alertId ?? 0),
    )
  const [worst] = inOrder.toSorted((a, b) => rankOf(b.message) - rankOf(a.message))
  if (worst === undefined) throw new Error('a group of nothing')
  const { type, signal, group, data, locale, timezone, message, answers } = worst
  const of = inOrder.every((envelope) => envelope.kind === worst.kind)
    ? followUpOf(worst)
    : undefined
  const failing = inOrder.filter((envelope) => !ended.has(envelope))
  const cause = kind === 'group' ? (causeOfFailedDuties(failing) ?? causeOf(inOrder)) : undefined
  const picture = kind === 'group' ? pictureOf(inOrder, { of, cause }) : undefined
  const titles = cause?.kind === 'moved' ? movedTitles(inOrder, cause, locale) : []
  const items = inOrder
    .map(itemOf)
    .map((item, index) => ({ ...item, title: titles[index] ?? item.title }))
  const answersEach = [...new Set(inOrder.flatMap((envelope) => envelope.answers ?? []))]
  const takenBy = [...new Set(inOrder.flatMap((envelope) => envelope.takenBy ?? []))].join(', ')
  const unacknowledged = inOrder.flatMap((envelope) => envelope.unacknowledgedSeconds ?? [])
  const place = { deliveryId, type, signal, group, data, locale, timezone }
  return {
    ...place,
    message,
    kind,
    items,
    ...(cause && { cause }),
    ...(picture && { picture }),
    ...(takenBy !== '' && { takenBy }),
    ...(unacknowledged.length > 0 && { unacknowledgedSeconds: Math.max(...unacknowledged) }),
    ...(of && { of }),
    ...(of && answers !== undefined && { answers }),
    ...(answersEach.length > 0 && { answersEach }),
  }
}

/** One alert or recovery of a group, with the times of its outage. */
function itemOf(envelope: Envelope): EnvelopeMessage {
  const { type, signal, kind, answered, message, data } = envelope
  const form = helpFormOf(message.event, data)
  return {
    ...message,
    source: { type, signal, ...(form !== undefined && { form }) },
    startedAt: startOf(envelope).toISOString(),
    ...(message.isRecovery && { endedAt: outageEndOf(envelope).toISOString() }),
    ...(kind === 'reminder' && answered && { title: answered.title }),
  }
}

/** Kind of a follow-up group: raised severities or reminders. */
function followUpOf({ kind }: Envelope): Envelope['of'] {
  return kind === 'raised' || kind === 'reminder' ? kind : undefined
}

/** Current content of a message; undefined if none of its deliveries is readable. */
export function currentContent(
  { id, kind, openPart, sentAt: shownAt }: Pick<SentMessage, 'id' | 'kind' | 'openPart' | 'sentAt'>,
  sent: readonly ShownPart[],
  states: States,
): { readonly envelope: Envelope; readonly state: MessageState } | undefined {
  const parts = withoutRaised(sent).map((part) => ({
    ...part,
    envelope: asCurrent(part.envelope, stateIn(states, part) ?? {}),
  }))
  const [first] = parts
  if (first === undefined) return undefined
  if (kind !== 'group' && kind !== 'rollup') {
    const state = {
      ...stateIn(states, first),
      shownAt,
      ...(openPart !== null && { open: openPart }),
    }
    return { envelope: first.envelope, state }
  }
  // In a group, a recovery changes the line of its alert and has no separate line.
  const alerts = parts.filter(({ envelope }) => !envelope.message.isRecovery)
  const lines = kind === 'group' && alerts.length > 0 ? alerts : parts
  const [only] = lines
  if (kind === 'group' && lines.length === 1 && only !== undefined) {
    return aloneContent(only, stateIn(states, only), { shownAt, openPart })
  }
  const ended = lines.filter((part) => hasEnded(stateIn(states, part) ?? {}))
  const { of, ...main } = groupEnvelope(
    kind,
    id,
    lines,
    new Set(ended.map((part) => part.envelope)),
  )
  // A raised severity is news of its incident, whose message this is.
  const envelope = { ...main, ...(of === 'reminder' && { of }) }
  const items = new Map(
    lines.flatMap((part) => {
      const state = stateIn(states, part)
      return part.alertId === null || state === undefined ? [] : [[part.alertId, state]]
    }),
  )
  if (kind === 'rollup') return { envelope, state: { items, shownAt } }
  const state = {
    ...sumOf(lines, states),
    ...(openPart !== null && { open: openPart }),
    items,
    shownAt,
  }
  return { envelope, state }
}

/** An incident with one alert looks like that alert. A raised severity that is over is told like any alert. */
function aloneContent(
  { envelope }: ShownPart,
  known: MessageState | undefined,
  { shownAt, openPart }: { readonly shownAt: Date; readonly openPart: SentMessage['openPart'] },
): { readonly envelope: Envelope; readonly state: MessageState } {
  const state = { ...known, shownAt, ...(openPart !== null && { open: openPart }) }
  const { kind, ...first } = envelope
  return { envelope: kind === 'raised' && hasEnded(state) ? first : envelope, state }
}

/** The deliveries without the alerts whose severity has risen: the raised ones stand for them. */
function withoutRaised(sent: readonly ShownPart[]): readonly ShownPart[] {
  const risen = new Map<number, number>()
  for (const { envelope, alertId } of sent) {
    const { kind, answers } = envelope
    if (kind !== 'raised' || answers === undefined || alertId === null) continue
    risen.set(answers, Math.max(alertId, risen.get(answers) ?? 0))
  }
  return sent.filter(({ alertId, envelope: { kind, answers } }) => {
    const first = kind === 'raised' ? answers : (alertId ?? undefined)
    const newest = first === undefined ? undefined : risen.get(first)
    return newest === undefined || newest === alertId
  })
}

/** Alerts whose states a message shows. */
export function alertIdsIn(parts: readonly ShownPart[]): number[] {
  return parts.flatMap(({ alertId, envelope }) =>
    alertId === null || envelope.message.isRecovery ? [] : [alertId],
  )
}

/** Whether the alert can recover and has not. */
export function isOpenIn(states: States, part: ShownPart): boolean {
  return part.envelope.message.canRecover && !hasEnded(stateIn(states, part) ?? {})
}

/** State of a delivery's alert. The state of a recovery never changes, and what nothing ends is never closed. */
function stateIn(states: States, { alertId, envelope }: ShownPart): MessageState | undefined {
  const { isRecovery, canRecover } = envelope.message
  const state = alertId === null || isRecovery ? undefined : states.get(alertId)
  return canRecover || state?.closedAt === undefined ? state : undefined
}

/**
 * State of a whole group: the last recovery; the last acknowledgement if all active alerts are
 * acknowledged; the first end of a mute if all active alerts are muted.
 */
function sumOf(parts: readonly ShownPart[], states: States): MessageState {
  const all = parts.map((part) => stateIn(states, part) ?? {})
  const recovered = all.flatMap(({ recoveredAt }) => recoveredAt?.getTime() ?? [])
  const closed = all.flatMap(({ closedAt }) => closedAt?.getTime() ?? [])
  const open = parts.filter((part) => isOpenIn(states, part))
  const isOver = open.length === 0
  const active = isOver ? parts : open
  return {
    ...acknowledgedIn(active, states),
    ...lastNoteIn(active, states),
    ...mutedIn(active, states),
    ...escalatedIn(active, states),
    ...(isOver &&
      (closed.length > 0
        ? { closedAt: new Date(Math.max(...closed)), ...deletedIn(all) }
        : recovered.length > 0 && { recoveredAt: new Date(Math.max(...recovered)) })),
  }
}

/** Whether all closed alerts were deleted from the history. */
function deletedIn(states: readonly MessageState[]): Pick<MessageState, 'isDeleted'> {
  const closed = states.filter(({ closedAt }) => closedAt !== undefined)
  return closed.every(({ isDeleted }) => isDeleted) ? { isDeleted: true } : {}
}

/** The last acknowledgement, if all active alerts are acknowledged. */
function acknowledgedIn(
  active: readonly ShownPart[],
  states: States,
): Pick<MessageState, 'acknowledged'> {
  const all = active.map((part) => stateIn(states, part)?.acknowledged)
  const known = all.flatMap((acknowledged) => acknowledged ?? [])
  const last = known.toSorted((a, b) => a.at.getTime() - b.at.getTime()).at(-1)
  return last === undefined || known.length < all.length ? {} : { acknowledged: last }
}

/** The last note about an active alert. */
function lastNoteIn(active: readonly ShownPart[], states: States): Pick<MessageState, 'note'> {
  const notes = active.flatMap((part) => stateIn(states, part)?.note ?? [])
  const last = notes.toSorted((a, b) => a.at.getTime() - b.at.getTime()).at(-1)
  return last === undefined ? {} : { note: last }
}

/** The first escalation of an active alert, and the recipients of all of them. */
function escalatedIn(
  active: readonly ShownPart[],
  states: States,
): Pick<MessageState, 'escalated'> {
  const all = active.flatMap((part) => stateIn(states, part)?.escalated ?? [])
  const [first] = all.toSorted((a, b) => a.at.getTime() - b.at.getTime())
  if (first === undefined) return {}
  return { escalated: { at: first.at, to: [...new Set(all.flatMap(({ to }) => to))] } }
}

/** The earliest end of a mute, if all active alerts are muted. */
function mutedIn(active: readonly ShownPart[], states: States): Pick<MessageState, 'muted'> {
  const mutes = active.map((part) => stateIn(states, part)?.muted)
  const [muted] = mutes.toSorted((a, b) => endOf(a) - endOf(b))
  return muted === undefined || mutes.includes(undefined) ? {} : { muted }
}

function endOf(muted: MessageState['muted']): number {
  return muted?.until instanceof Date ? muted.until.getTime() : Number.MAX_SAFE_INTEGER
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
