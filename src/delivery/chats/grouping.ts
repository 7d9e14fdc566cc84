/**
 * Grouping for chats and mailboxes: decides which waiting deliveries of a recipient are sent next, and whether
 * each is a message, several are one, or they join a message that was sent.
 *
 * The first delivery of a watch is sent immediately. Alerts of the watch within five seconds join its message, whatever
 * their incident; where messages cannot be changed, they are one message after the five seconds. Later alerts and raised
 * severities join the message of their incident: it is edited or, to ring, replaced by a new one with everything in it.
 * Recoveries change its lines; the last one is a message. After six messages in a minute, everything goes into one
 * roll-up until there are fewer. An edit makes no sound, so a delivery with sound never joins a message that was sent
 * without sound, or that already has an alert of its signal. Where a message follows its incident (`followsIncident`),
 * everything about the incident changes this message.
 * Deliveries of one order key stay in order, whatever their urgency. Reminders that are written together are one message,
 * which replies to the message about their alerts.
 */
import type { EnvelopeKind } from '#src/channels/envelope.ts'

/** Seconds within which alerts of one watch become one message. */
export const GROUP_SECONDS = 5
/** Number of messages per minute beyond which deliveries become a roll-up. */
export const MESSAGES_PER_MINUTE = 6
/** Maximum number of deliveries in one message; further deliveries start another message. */
const GROUP_PARTS_MAX = 50
const ROLLUP_PARTS_MAX = 1000
/** Seconds before a message that another worker is changing is tried again. */
const MESSAGE_BUSY_SECONDS = 1
/** Seconds for which messages count towards the limit and can be joined. */
export const RECENT_SECONDS = 60

/** An unfinished delivery, with what the plan needs. */
export interface WaitingDelivery {
  readonly id: string
  readonly orderKey: string
  readonly watchId: number | null
  /** The incident whose message it joins. */
  readonly incidentId: number | null
  /** 0 for info, 1 for warning, 2 for critical. */
  readonly urgency: number
  readonly kind: EnvelopeKind
  /** Whether it is a recovery. */
  readonly recovery: boolean
  readonly test: boolean
  /** The alert to which the delivery replies. */
  readonly answers: number | null
  readonly createdAt: Date
  /** Null while the delivery waits for an earlier delivery of its key. */
  readonly dueAt: Date | null
  /** `free`: can be claimed. `later`: not due, or leased. `now`: claimed a moment ago. */
  readonly taken: 'free' | 'later' | 'now'
}

/** A message of the last minute. */
export interface RecentMessage {
  readonly id: string
  /** Null if no alert of one watch can join it: a roll-up, a test. */
  readonly watchId: number | null
  readonly kind: EnvelopeKind
  readonly recovery: boolean
  readonly loud: boolean
  readonly parts: number
  readonly openedAt: Date
  readonly sentAt: Date
  /** Whether the message can be changed. */
  readonly open: boolean
  /** Whether a worker is changing the message. */
  readonly busy: boolean
  /** Order keys of its deliveries; empty if no waiting delivery could join it. */
  readonly orderKeys: ReadonlySet<string>
}

/** The message of an incident. */
export interface IncidentMessage
  extends Pick<
    RecentMessage,
    'id' | 'loud' | 'parts' | 'openedAt' | 'open' | 'busy' | 'orderKeys'
  > {
  /** Whether all of its alerts that can be over are over. */
  readonly over: boolean
  /** Whether all of its open alerts are acknowledged. */
  readonly taken: boolean
  /** The highest urgency of its alerts. */
  readonly urgency: number
}

/** State of a recipient. */
export interface RecipientSituation {
  /**
   * Unfinished deliveries of the keys that have a due delivery, from the first of each key on, in the order
   * in which they fired.
   */
  readonly waiting: readonly WaitingDelivery[]
  /** Messages of the last minute, newest first. */
  readonly recent: readonly RecentMessage[]
  /** Messages of the incidents of the deliveries, by incident. */
  readonly incidents: ReadonlyMap<number, IncidentMessage>
  /** Whether the channel can change sent messages. */
  readonly canEdit: boolean
  /** Whether a message follows its incident to the end, see `ChannelTraits`. */
  readonly followsIncident: boolean
  readonly now: Date
}

/** The next message, if any, and the deliveries that wait. */
export interface DeliveryPlan {
  readonly next?: NextMessage
  /** Due deliveries behind an earlier delivery of their key. */
  readonly blocked: readonly string[]
  readonly postponed: readonly { readonly ids: readonly string[]; readonly until: Date }[]
}

export type NextMessage =
  | {
      readonly how: 'send'
      readonly form: 'alone' | 'group' | 'rollup'
      readonly ids: readonly string[]
      /** The message that this one ends. */
      readonly ends?: string
      /** The message of the incident that this one replaces, with everything in it. */
      readonly replaces?: string
    }
  | {
      readonly how: 'join'
      readonly form: 'group' | 'rollup'
      readonly ids: readonly string[]
      readonly messageId: string
      /** Whether the changed message rings again. */
      readonly rings?: boolean
    }

/** Decides the next step of a recipient: at most one message at a time. */
export function planNext(situation: RecipientSituation): DeliveryPlan {
  const heads = headsOf(situation.waiting)
  const postponed: { ids: readonly string[]; until: Date }[] = []
  const settled = new Set<string>()
  let next: NextMessage | undefined
  for (const lead of heads.filter(({ taken }) => taken === 'free').sort(byUrgency)) {
    if (settled.has(lead.id)) continue
    const step = stepFor(lead, situation)
    if ('next' in step) {
      next = step.next
      break
    }
    const ids = [...new Set([lead.id, ...step.ids])]
    for (const id of ids) settled.add(id)
    postponed.push({ ids, until: step.until ?? busyUntil(situation) })
  }
  const unblocked = new Set([...idsOf(heads), ...(next?.ids ?? [])])
  const blocked = situation.waiting.filter(
    ({ id, taken, dueAt }) => taken === 'free' && dueAt !== null && !unblocked.has(id),
  )
  return { ...(next && { next }), postponed, blocked: idsOf(blocked) }
}

/**
 * Deliveries that wait until a time, or until a worker has finished, which is checked again soon. Meanwhile
 * they are not due, so that they take no places while the worker is slow or dead.
 */
interface Pause {
  readonly ids: readonly string[]
  readonly until?: Date
}
type Step = { readonly next: NextMessage } | Pause

function busyUntil({ now }: RecipientSituation): Date {
  return new Date(now.getTime() + MESSAGE_BUSY_SECONDS * 1000)
}

/** First delivery of each key. */
function headsOf(waiting: readonly WaitingDelivery[]): readonly WaitingDelivery[] {
  const seen = new Set<string>()
  return waiting.filter(({ orderKey }) => !seen.has(orderKey) && seen.add(orderKey))
}

/** Compares deliveries: critical before others, then by due time, then in the order in which they fired. */
function byUrgency(a: WaitingDelivery, b: WaitingDelivery): number {
  const dueMs = ({ dueAt }: WaitingDelivery) => dueAt?.getTime() ?? 0
  return b.urgency - a.urgency || dueMs(a) - dueMs(b)
}

function stepFor(lead: WaitingDelivery, situation: RecipientSituation): Step {
  if (!isRolledUp(lead)) return sendFresh(lead, situation)
  if (situation.followsIncident && lead.incidentId !== null) {
    return followIncident(lead.incidentId, situation)
  }
  const message = lead.incidentId === null ? undefined : situation.incidents.get(lead.incidentId)
  const incident = situation.canEdit ? message : undefined
  if (lead.recovery && incident !== undefined) {
    const step = endOfIncident(incident, situation)
    if (step !== undefined) return step
  }
  const joined =
    lead.recovery || incident === undefined ? undefined : joinIncident(incident, lead, situation)
  if (joined !== undefined && !isReplacement(joined)) return joined
  const joinedWatch = joined === undefined ? joinWatch(lead, situation) : undefined
  return joinedWatch ?? rollUp(situation) ?? joined ?? sendFresh(lead, situation)
}

/**
 * Plans what is about an incident whose message follows it. The first message has its alerts; recoveries alone are a
 * message if there is none that they could change. Everything later changes that message, however many deliveries it
 * has. It rings for a higher severity, and for news of an incident that somebody has taken.
 */
function followIncident(incidentId: number, { waiting, incidents }: RecipientSituation): Step {
  const isOfIncident = (delivery: WaitingDelivery) =>
    isRolledUp(delivery) && delivery.incidentId === incidentId
  const chosen = inOrder(waiting, isOfIncident, GROUP_PARTS_MAX)
  const ids = idsOf(chosen)
  const message = incidents.get(incidentId)
  if (message?.busy) return { ids }
  if (message?.open) {
    const isLoud = ({ recovery, urgency }: WaitingDelivery) =>
      !recovery && (message.taken || urgency > message.urgency)
    const rings = chosen.some(isLoud)
    return { next: { how: 'join', form: 'group', ids, messageId: message.id, rings } }
  }
  const isOnItsWay = waiting.some((other) => other.taken === 'now' && isOfIncident(other))
  if (isOnItsWay) return { ids }
  const isAlert = (delivery: WaitingDelivery) => isOfIncident(delivery) && !delivery.recovery
  const news = idsOf(inOrder(waiting, isAlert, GROUP_PARTS_MAX))
  const first = news.length > 0 ? news : ids
  return { next: { how: 'send', form: first.length > 1 ? 'group' : 'alone', ids: first } }
}

function isReplacement(step: Step): boolean {
  return 'next' in step && step.next.how === 'send'
}

/** Whether a delivery can be rolled up. Tests, notices, reminders and summaries never are. */
function isRolledUp({ kind, test }: WaitingDelivery): boolean {
  return !test && (kind === 'alert' || kind === 'raised')
}

/**
 * Plans recoveries of an incident. They change the lines of its message; one further message is sent when all alerts
 * in it have recovered.
 */
function endOfIncident(
  message: IncidentMessage,
  { waiting, incidents }: RecipientSituation,
): Step | undefined {
  const belongs = ({ recovery, incidentId }: WaitingDelivery) =>
    recovery && incidentId !== null && incidents.get(incidentId)?.id === message.id
  const ids = inOrder(waiting, belongs, GROUP_PARTS_MAX).map(({ id }) => id)
  if (message.over) {
    const form = ids.length > 1 ? 'group' : 'alone'
    return { next: { how: 'send', form, ids, ends: message.id } }
  }
  if (message.busy) return { ids }
  if (!message.open) return undefined
  return { next: { how: 'join', form: 'group', ids, messageId: message.id } }
}

/**
 * Plans that alerts and raised severities join the message of their incident. An edit makes no sound: what must ring
 * replaces the message by a new one with everything in it, unless the message has rung a moment ago for something
 * else.
 */
function joinIncident(
  message: IncidentMessage,
  lead: WaitingDelivery,
  { waiting }: RecipientSituation,
): Step | undefined {
  const room = GROUP_PARTS_MAX - message.parts
  if (room <= 0 || (!message.open && !message.busy)) return undefined
  const fits = (delivery: WaitingDelivery) =>
    isRolledUp(delivery) && !delivery.recovery && delivery.incidentId === lead.incidentId
  const chosen = inOrder(waiting, fits, room)
  const ids = idsOf(chosen)
  if (message.busy) return { ids }
  const join = { how: 'join', form: 'group', ids, messageId: message.id } as const
  const isQuiet = (delivery: WaitingDelivery) =>
    delivery.urgency === 0 || (delivery.kind === 'alert' && hasJustRung(message, delivery))
  if (chosen.every(isQuiet)) return { next: join }
  return { next: { how: 'send', form: 'group', ids, replaces: message.id } }
}

/** Whether a message rang within the time of one message before a delivery, and for another signal. */
function hasJustRung(
  { loud, orderKeys, openedAt }: Pick<RecentMessage, 'loud' | 'orderKeys' | 'openedAt'>,
  delivery: WaitingDelivery,
): boolean {
  return loud && !orderKeys.has(delivery.orderKey) && isInGroup(delivery, openedAt)
}

/** Plans to join a message of the same watch that was started at most five seconds ago. */
function joinWatch(
  lead: WaitingDelivery,
  { waiting, recent, canEdit, now }: RecipientSituation,
): Step | undefined {
  if (lead.kind !== 'alert' || !isGrouped(lead)) return undefined
  const isOnItsWay = waiting.some((other) => other.taken === 'now' && belongTogether(other, lead))
  if (isOnItsWay) return { ids: [lead.id] }
  const mayJoin = ({ urgency, orderKey }: WaitingDelivery, to: RecentMessage) =>
    !canEdit || urgency === 0 || (to.loud && !to.orderKeys.has(orderKey))
  const message = recent.find(
    (sent) =>
      (sent.open || sent.busy || !canEdit) &&
      sent.watchId === lead.watchId &&
      sent.recovery === lead.recovery &&
      (sent.kind === 'alert' || sent.kind === 'group') &&
      isInGroup(lead, sent.openedAt) &&
      mayJoin(lead, sent) &&
      sent.parts < GROUP_PARTS_MAX,
  )
  if (message === undefined) return undefined
  const { openedAt, parts } = message
  const fits = (delivery: WaitingDelivery) =>
    isLike(delivery, lead) && isInGroup(delivery, openedAt) && mayJoin(delivery, message)
  const ids = idsOf(inOrder(waiting, fits, GROUP_PARTS_MAX - parts))
  if (!canEdit) {
    const until = new Date(openedAt.getTime() + GROUP_SECONDS * 1000)
    return now < until ? { ids, until } : undefined
  }
  if (message.busy) return { ids }
  return { next: { how: 'join', form: 'group', ids, messageId: message.id } }
}

/** Plans one message with everything, when the limit of messages per minute is reached. */
function rollUp({ waiting, recent, canEdit, now }: RecipientSituation): Step | undefined {
  const spaceAt = recent[MESSAGES_PER_MINUTE - 1]?.sentAt
  if (spaceAt === undefined) return undefined
  const until = new Date(spaceAt.getTime() + RECENT_SECONDS * 1000)
  if (until <= now) return undefined
  const parts = inOrder(waiting, isRolledUp, ROLLUP_PARTS_MAX)
  const ids = idsOf(parts)
  if (waiting.some((delivery) => delivery.taken === 'now' && isRolledUp(delivery))) return { ids }
  const last = recent.find(({ kind }) => kind === 'rollup')
  // It was deleted, or its server is too old to change it.
  const isFixed = last !== undefined && !last.open && !last.busy
  if (last !== undefined && (isFixed || !canEdit)) return { ids, until }
  if (last === undefined || last.parts >= ROLLUP_PARTS_MAX) {
    return { next: { how: 'send', form: 'rollup', ids } }
  }
  if (last.busy) return { ids }
  const isHidden = !last.loud && parts.some(({ urgency }) => urgency > 0)
  if (isHidden) return { next: { how: 'send', form: 'rollup', ids } }
  const fitting = ids.slice(0, ROLLUP_PARTS_MAX - last.parts)
  return { next: { how: 'join', form: 'rollup', ids: fitting, messageId: last.id } }
}

function sendFresh(
  lead: WaitingDelivery,
  { waiting }: RecipientSituation,
): { readonly next: NextMessage } {
  const alone: NextMessage = { how: 'send', form: 'alone', ids: [lead.id] }
  if (!isGrouped(lead)) return { next: alone }
  const openedAt = startOf(lead, waiting)
  const fits = (delivery: WaitingDelivery) =>
    isLike(delivery, lead) && isInGroup(delivery, openedAt)
  const ids = idsOf(inOrder(waiting, fits, GROUP_PARTS_MAX))
  return { next: ids.length > 1 ? { ...alone, form: 'group', ids } : alone }
}

/** Time at which the first delivery that can be in the same message was written. */
function startOf(lead: WaitingDelivery, waiting: readonly WaitingDelivery[]): Date {
  const near = waiting.filter((other) => other.taken === 'free' && belongTogether(other, lead))
  return new Date(Math.min(...near.map(({ createdAt }) => createdAt.getTime())))
}

/**
 * Kinds that can be grouped. Raised severities and reminders must sound again, so they never join an
 * earlier message.
 */
const GROUPED: ReadonlySet<EnvelopeKind> = new Set(['alert', 'raised', 'reminder'])

function isGrouped({ kind, watchId, test }: WaitingDelivery): boolean {
  return GROUPED.has(kind) && watchId !== null && !test
}

/** Whether two deliveries are of one watch and kind, both are alerts or both are recoveries, and both or none have an incident. */
function isLike(delivery: WaitingDelivery, lead: WaitingDelivery): boolean {
  const { kind, watchId, recovery, incidentId } = lead
  const isSame =
    delivery.kind === kind &&
    delivery.watchId === watchId &&
    (delivery.incidentId === null) === (incidentId === null)
  return isSame && delivery.recovery === recovery && isGrouped(delivery)
}

/** Whether two deliveries are alike and were written within the time of one message. */
function belongTogether(delivery: WaitingDelivery, lead: WaitingDelivery): boolean {
  return isLike(delivery, lead) && isWithinGroupTime(delivery.createdAt, lead.createdAt)
}

/** Whether two deliveries were written within the time of one message. */
export function isWithinGroupTime(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) <= GROUP_SECONDS * 1000
}

function isInGroup({ createdAt }: WaitingDelivery, openedAt: Date): boolean {
  return createdAt >= openedAt && isWithinGroupTime(createdAt, openedAt)
}

/** Deliveries that fit and can be claimed, in order; one is left out if an earlier one of its key is left out. */
function inOrder(
  waiting: readonly WaitingDelivery[],
  fits: (delivery: WaitingDelivery) => boolean,
  max: number,
): readonly WaitingDelivery[] {
  const stopped = new Set<string>()
  const chosen: WaitingDelivery[] = []
  for (const delivery of waiting) {
    const { taken, orderKey } = delivery
    const canBeChosen = !stopped.has(orderKey) && taken === 'free' && chosen.length < max
    if (canBeChosen && fits(delivery)) chosen.push(delivery)
    else stopped.add(orderKey)
  }
  return chosen
}

function idsOf(all: readonly WaitingDelivery[]): readonly string[] {
  return all.map(({ id }) => id)
}
