/**
 * Storm control of chats and mailboxes: which of the deliveries that wait for a recipient go out next,
 * alone, as one message, or in one that is there already.
 *
 * The first of a quiet watch goes at once. What else of the watch is written within five seconds joins
 * its message: by changing it where the channel can, otherwise in one message when the five seconds are
 * over. After six messages in a minute everything goes into one roll-up until it is quieter. What makes
 * a sound never hides in a message that arrived without one: it gets a message of its own. Within an
 * order key nothing overtakes, whatever is urgent. Raised severities and reminders that are written
 * together are one message as well, in answer to the one that told of their alerts.
 *
 */
import type { EnvelopeKind } from '#src/channels/define.ts'

/** Alerts of one watch this close together are one message. */
export const GROUP_SECONDS = 5
/** More messages a minute than this become a roll-up. */
export const MESSAGES_PER_MINUTE = 6
/** Most deliveries in one message; the next begin another. */
const GROUP_PARTS_MAX = 50
const ROLLUP_PARTS_MAX = 1000
/** What is to join a message that somebody else changes waits this long before it is looked at again. */
const BUSY_SECONDS = 1
/** A minute of messages: as long as they count and can be joined. */
export const RECENT_SECONDS = 60

/** A delivery that is not finished, as the plan sees it. */
export interface Waiting {
  readonly id: string
  readonly orderKey: string
  readonly watchId: number | null
  /** 0 info, 1 warning, 2 critical. */
  readonly urgency: number
  readonly kind: EnvelopeKind
  /** Tells that something is over. */
  readonly recovery: boolean
  readonly test: boolean
  /** The alert it answers. */
  readonly answers: number | null
  readonly createdAt: Date
  /** null: it waits for an earlier one of its key. */
  readonly dueAt: Date | null
  /** free: may be taken. later: not due, or held by a worker. now: taken by a worker a moment ago. */
  readonly taken: 'free' | 'later' | 'now'
}

/** A message of the last minute. */
export interface Recent {
  readonly id: string
  readonly watchId: number | null
  readonly kind: EnvelopeKind
  readonly recovery: boolean
  readonly loud: boolean
  readonly parts: number
  readonly openedAt: Date
  readonly sentAt: Date
  /** It can be changed. */
  readonly open: boolean
  /** A worker changes it at this moment. */
  readonly busy: boolean
}

/** A group that a recovery answers. */
export interface AnsweredGroup {
  readonly id: string
  /** Everything in it that can be over is over. */
  readonly over: boolean
  readonly open: boolean
  readonly busy: boolean
}

/** How a recipient stands. */
export interface Situation {
  /** What is unfinished of the keys that have something due, each from its first on, in the order it fired. */
  readonly waiting: readonly Waiting[]
  /** Newest first. */
  readonly recent: readonly Recent[]
  /** By the alert that is answered. */
  readonly groups: ReadonlyMap<number, AnsweredGroup>
  /** The channel can change what it has sent. */
  readonly canEdit: boolean
  readonly now: Date
}

/** What goes out next, if anything, and what is to wait. */
export interface Plan {
  readonly next?: Next
  /** Due, but behind an earlier one of their key. */
  readonly blocked: readonly string[]
  readonly postponed: readonly { readonly ids: readonly string[]; readonly until: Date }[]
}

export type Next =
  | {
      readonly how: 'send'
      readonly form: 'alone' | 'group' | 'rollup'
      readonly ids: readonly string[]
      /** The group whose end is told by it. */
      readonly ends?: string
    }
  | {
      readonly how: 'join'
      readonly form: 'group' | 'rollup'
      readonly ids: readonly string[]
      readonly messageId: string
    }

/** What is to be done for a recipient now: at most one message at a time. */
export function planNext(situation: Situation): Plan {
  const heads = headsOf(situation.waiting)
  const postponed: { ids: readonly string[]; until: Date }[] = []
  const settled = new Set<string>()
  let next: Next | undefined
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
  const going = new Set([...idsOf(heads), ...(next?.ids ?? [])])
  const blocked = situation.waiting.filter(
    ({ id, taken, dueAt }) => taken === 'free' && dueAt !== null && !going.has(id),
  )
  return { ...(next && { next }), postponed, blocked: idsOf(blocked) }
}

/**
 * Deliveries that go nowhere now: until then, or until a worker is done, which is looked at again soon. They
 * are not due meanwhile, so that they take no place from others while the worker takes long, or is dead.
 */
interface Pause {
  readonly ids: readonly string[]
  readonly until?: Date
}

function busyUntil({ now }: Situation): Date {
  return new Date(now.getTime() + BUSY_SECONDS * 1000)
}

/** The first of each key. */
function headsOf(waiting: readonly Waiting[]): readonly Waiting[] {
  const seen = new Set<string>()
  return waiting.filter(({ orderKey }) => !seen.has(orderKey) && seen.add(orderKey))
}

/** Critical before others, then by the time they are due, then as they fired. */
function byUrgency(a: Waiting, b: Waiting): number {
  const dueMs = ({ dueAt }: Waiting) => dueAt?.getTime() ?? 0
  return b.urgency - a.urgency || dueMs(a) - dueMs(b)
}

function stepFor(lead: Waiting, situation: Situation): { readonly next: Next } | Pause {
  if (!isRolledUp(lead)) return sendFresh(lead, situation)
  const group = lead.answers === null ? undefined : situation.groups.get(lead.answers)
  if (lead.recovery && group !== undefined) {
    const step = endOfGroup(group, situation)
    if (step !== undefined) return step
  }
  return joinWatch(lead, situation) ?? rollUp(situation) ?? sendFresh(lead, situation)
}

/** Tests, notices, reminders and summaries are told whatever else there is. */
function isRolledUp({ kind, test }: Waiting): boolean {
  return !test && (kind === 'alert' || kind === 'raised')
}

/** Recoveries of a group turn its lines; one message tells when all are back. */
function endOfGroup(
  group: AnsweredGroup,
  situation: Situation,
): { readonly next: Next } | Pause | undefined {
  const belongs = ({ recovery, answers }: Waiting) =>
    recovery && answers !== null && situation.groups.get(answers)?.id === group.id
  const ids = inOrder(situation.waiting, belongs, GROUP_PARTS_MAX).map(({ id }) => id)
  if (!situation.canEdit) return undefined
  if (group.over) {
    const form = ids.length > 1 ? 'group' : 'alone'
    return { next: { how: 'send', form, ids, ends: group.id } }
  }
  if (!group.open) return undefined
  if (group.busy) return { ids }
  return { next: { how: 'join', form: 'group', ids, messageId: group.id } }
}

/** Into a message of the same watch that was begun at most five seconds before. */
function joinWatch(
  lead: Waiting,
  { waiting, recent, canEdit, now }: Situation,
): { readonly next: Next } | Pause | undefined {
  if (lead.kind !== 'alert' || !isGrouped(lead)) return undefined
  const isOnItsWay = waiting.some(
    (one) => one.taken === 'now' && isLike(one, lead) && isNear(one.createdAt, lead.createdAt),
  )
  if (isOnItsWay) return { ids: [lead.id] }
  const message = recent.find(
    ({ watchId, recovery, kind, openedAt, loud, parts, open, busy }) =>
      (open || busy || !canEdit) &&
      watchId === lead.watchId &&
      recovery === lead.recovery &&
      (kind === 'alert' || kind === 'group') &&
      isInGroup(lead, openedAt) &&
      (loud || !canEdit || lead.urgency === 0) &&
      parts < GROUP_PARTS_MAX,
  )
  if (message === undefined) return undefined
  const { openedAt, loud, parts } = message
  const fits = (one: Waiting) =>
    isLike(one, lead) && isInGroup(one, openedAt) && (loud || !canEdit || one.urgency === 0)
  const ids = idsOf(inOrder(waiting, fits, GROUP_PARTS_MAX - parts))
  if (!canEdit) {
    const until = new Date(openedAt.getTime() + GROUP_SECONDS * 1000)
    return now < until ? { ids, until } : undefined
  }
  if (message.busy) return { ids }
  return { next: { how: 'join', form: 'group', ids, messageId: message.id } }
}

/** Once a minute is full: everything there is, into one message. */
function rollUp({
  waiting,
  recent,
  canEdit,
  now,
}: Situation): { readonly next: Next } | Pause | undefined {
  const spaceAt = recent[MESSAGES_PER_MINUTE - 1]?.sentAt
  if (spaceAt === undefined) return undefined
  const until = new Date(spaceAt.getTime() + RECENT_SECONDS * 1000)
  if (until <= now) return undefined
  const parts = inOrder(waiting, isRolledUp, ROLLUP_PARTS_MAX)
  const ids = idsOf(parts)
  if (waiting.some((one) => one.taken === 'now' && isRolledUp(one))) return { ids }
  const last = recent.find(
    ({ kind, open, busy }) => kind === 'rollup' && (open || busy || !canEdit),
  )
  if (last !== undefined && !canEdit) return { ids, until }
  if (last === undefined || last.parts >= ROLLUP_PARTS_MAX) {
    return { next: { how: 'send', form: 'rollup', ids } }
  }
  if (last.busy) return { ids }
  const isHidden = !last.loud && parts.some(({ urgency }) => urgency > 0)
  if (isHidden) return { next: { how: 'send', form: 'rollup', ids } }
  const fitting = ids.slice(0, ROLLUP_PARTS_MAX - last.parts)
  return { next: { how: 'join', form: 'rollup', ids: fitting, messageId: last.id } }
}

function sendFresh(lead: Waiting, { waiting }: Situation): { readonly next: Next } {
  const alone: Next = { how: 'send', form: 'alone', ids: [lead.id] }
  if (!isGrouped(lead)) return { next: alone }
  const openedAt = startOf(lead, waiting)
  const fits = (one: Waiting) => isLike(one, lead) && isInGroup(one, openedAt)
  const ids = idsOf(inOrder(waiting, fits, GROUP_PARTS_MAX))
  return { next: ids.length > 1 ? { ...alone, form: 'group', ids } : alone }
}

/** When the first of those that can go with it was written. */
function startOf(lead: Waiting, waiting: readonly Waiting[]): Date {
  const near = waiting.filter(
    (one) => one.taken === 'free' && isLike(one, lead) && isNear(one.createdAt, lead.createdAt),
  )
  return new Date(Math.min(...near.map(({ createdAt }) => createdAt.getTime())))
}

/** Raised severities and reminders make a sound of their own: they go together, never into what is there. */
const GROUPED: ReadonlySet<EnvelopeKind> = new Set(['alert', 'raised', 'reminder'])

function isGrouped({ kind, watchId, test }: Waiting): boolean {
  return GROUPED.has(kind) && watchId !== null && !test
}

/** Of one watch and one kind, both alerts or both recoveries. */
function isLike(one: Waiting, lead: Waiting): boolean {
  const isSame =
    one.kind === lead.kind && one.watchId === lead.watchId && one.recovery === lead.recovery
  return isSame && isGrouped(one)
}

function isNear(a: Date, b: Date): boolean {
  return Math.abs(a.getTime() - b.getTime()) <= GROUP_SECONDS * 1000
}

function isInGroup({ createdAt }: Waiting, openedAt: Date): boolean {
  return createdAt >= openedAt && isNear(createdAt, openedAt)
}

/**
 * Those that fit and are free, in their order, without any whose key has an earlier one that stays
 * behind.
 */
function inOrder(
  waiting: readonly Waiting[],
  fits: (one: Waiting) => boolean,
  max: number,
): readonly Waiting[] {
  const stopped = new Set<string>()
  const chosen: Waiting[] = []
  for (const one of waiting) {
    const goes =
      !stopped.has(one.orderKey) && one.taken === 'free' && chosen.length < max && fits(one)
    if (goes) chosen.push(one)
    else stopped.add(one.orderKey)
  }
  return chosen
}

function idsOf(all: readonly Waiting[]): readonly string[] {
  return all.map(({ id }) => id)
}
