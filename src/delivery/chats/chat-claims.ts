/**
 * Claims due deliveries of chats and mailboxes, one message per recipient, as grouping plans them
 * (`grouping.ts`).
 */

import { hasEnded, isSilent } from '#src/channels/card/wording.ts'
import { Envelope, type MessageState } from '#src/channels/envelope.ts'
import { isFailedDuty } from '#src/channels/groups/duties.ts'
import type { ChannelKey, ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as claims from '../claims/claim-store.ts'
import type { Claim } from '../claims/head-store.ts'
import * as messages from '../messages/message-store.ts'
import {
  alertIdsIn,
  currentContent,
  groupEnvelope,
  type ShownPart,
} from '../messages/message-sync.ts'
import type { SendTask, StoredMessage } from '../sending/send-task.ts'
import {
  type ClaimDeps,
  type RecipientSituations,
  readMessageParts,
  readSituations,
} from './chat-situation.ts'
import * as chatStore from './chat-store.ts'
import { type DeliveryPlan, type NextMessage, planNext } from './grouping.ts'

type Planned = NextMessage & { readonly recipientId: number }

/** Result of a claim. */
interface Claimed {
  readonly tasks: readonly SendTask[]
  /** Claimed deliveries that are not sent: reminders that are no longer needed. */
  readonly obsolete: readonly SendTask[]
  /** Whether anything was claimed or postponed. */
  readonly changed: boolean
}

/** Claims the next message of each of these recipients. */
export async function claimChatMessages(
  deps: ClaimDeps,
  channel: ServiceChannel,
  recipientIds: readonly number[],
  context: Claim,
): Promise<Claimed> {
  const { db } = deps
  if (recipientIds.length === 0) return { tasks: [], obsolete: [], changed: false }
  const situations = await readSituations(deps, channel, recipientIds, context.now)
  const planned: Planned[] = []
  const blocked = [...situations.behind]
  const postponed: DeliveryPlan['postponed'][number][] = []
  for (const recipientId of recipientIds) {
    const plan = planNext(situations.situationOf(recipientId))
    if (plan.next !== undefined) planned.push({ ...plan.next, recipientId })
    blocked.push(...plan.blocked)
    postponed.push(...plan.postponed)
  }
  if (blocked.length > 0) await claims.parkBlocked(db, blocked)
  for (const { ids, until } of postponed) {
    await chatStore.postponeDeliveries(db, ids, { until, now: context.now })
  }
  const { tasks, obsolete } = await claimPlanned(deps, channel.key, planned, situations, context)
  const changed = blocked.length + postponed.length + tasks.length + obsolete.length > 0
  return { tasks, obsolete, changed }
}

async function claimPlanned(
  deps: ClaimDeps,
  channel: ChannelKey,
  planned: readonly Planned[],
  situations: RecipientSituations,
  context: Claim,
): Promise<{ readonly tasks: readonly SendTask[]; readonly obsolete: readonly SendTask[] }> {
  if (planned.length === 0) return { tasks: [], obsolete: [] }
  const { db } = deps
  const joins = planned.flatMap((plan) => changedBy(plan) ?? [])
  const leased = joins.length === 0 ? [] : await messages.leaseMessages(db, joins, context)
  const targetOf = (plan: Planned) => leased.find(({ id }) => id === changedBy(plan))
  const possible = planned.filter(
    (plan) => changedBy(plan) === undefined || targetOf(plan) !== undefined,
  )
  const claimed = await chatStore.claimDeliveries(
    db,
    possible.flatMap(({ ids }) => ids),
    context,
  )
  const rowOf = new Map(claimed.map((row) => [row.id, row]))
  const over = await obsoleteIn(deps, claimed)
  const tasks: SendTask[] = []
  const obsolete: SendTask[] = []
  for (const plan of possible) {
    const all = plan.ids.flatMap((id) => rowOf.get(id) ?? [])
    const rows = all.filter(({ id }) => !over.has(id))
    const target = targetOf(plan)
    if (all.length === plan.ids.length) {
      const dropped = all.filter(({ id }) => over.has(id))
      if (dropped.length > 0) obsolete.push({ ...taskOf(channel, dropped), envelope: null })
      if (rows.length === 0) continue
      const built = await build(deps, channel, { plan, rows, target }, situations, context)
      tasks.push(...built)
    } else {
      // Another worker claimed some of them; the next plan takes that into account.
      if (all.length > 0) await claims.releaseAbortedDeliveries(db, all.map(toAttempt))
      if (target) await messages.recordNoChange(db, target, { ...target, at: context.now })
    }
  }
  return { tasks, obsolete }
}

/** The message that a plan changes or replaces. */
function changedBy(plan: Planned): string | undefined {
  if (plan.how === 'join') return plan.messageId
  return plan.replaces
}

/** Finds the reminders whose alerts are over, acknowledged, muted or deleted. */
async function obsoleteIn(
  { db, stateOf }: ClaimDeps,
  rows: readonly claims.ClaimedRow[],
): Promise<ReadonlySet<string>> {
  const reminders = rows.filter(({ alertId, kind }) => kind === 'reminder' && alertId !== null)
  if (reminders.length === 0) return new Set()
  const states = await stateOf(
    db,
    reminders.flatMap(({ alertId }) => alertId ?? []),
  )
  const isNeeded = ({ alertId }: claims.ClaimedRow) => needsReminder(states.get(alertId ?? 0))
  return new Set(reminders.filter((row) => !isNeeded(row)).map(({ id }) => id))
}

function needsReminder(state: MessageState | undefined): boolean {
  if (state === undefined) return false
  return state.acknowledged === undefined && state.muted === undefined && !hasEnded(state)
}

function toAttempt({ id, attempts }: claims.ClaimedRow) {
  return { id, attempt: attempts }
}

/**
 * Builds the task of a plan. An unreadable delivery becomes a separate task, so that the others are sent.
 */
async function build(
  deps: ClaimDeps,
  channel: ChannelKey,
  taken: {
    readonly plan: Planned
    readonly rows: readonly claims.ClaimedRow[]
    readonly target: messages.SentMessage | undefined
  },
  situations: RecipientSituations,
  context: Claim,
): Promise<SendTask[]> {
  const { plan, rows, target } = taken
  const { db } = deps
  const parts = rows.flatMap((row): ReadRow[] => {
    const read = Envelope.safeParse(row.envelope)
    return read.success ? [{ ...row, envelope: read.data }] : []
  })
  if (parts.length < rows.length) {
    if (target) await messages.recordNoChange(db, target, { ...target, at: context.now })
    const isRead = ({ id }: claims.ClaimedRow) => parts.some((part) => part.id === id)
    const broken = rows.find((row) => !isRead(row))
    const alone = rows.find(({ orderKey }) => orderKey === broken?.orderKey)
    const others = rows.filter((row) => row !== alone)
    if (others.length > 0) await claims.releaseAbortedDeliveries(db, others.map(toAttempt))
    return alone === undefined ? [] : [{ ...taskOf(channel, [alone]), envelope: alone.envelope }]
  }
  if (target !== undefined && plan.how === 'join') {
    return joinTask(deps, channel, target, parts, plan)
  }
  if (target !== undefined) return replacingTask(deps, channel, target, parts, context)
  const recoveries = 'ends' in plan && plan.ends ? await recoveriesIn(db, plan.ends) : []
  return sendTask(channel, [...recoveries, ...parts], parts, plan, situations)
}

type ReadRow = Omit<claims.ClaimedRow, 'envelope'> & { readonly envelope: Envelope }

function taskOf(channel: ChannelKey, rows: readonly claims.ClaimedRow[]) {
  const [first] = rows
  if (first === undefined) throw new Error('a task without deliveries')
  const { recipientId, wallet, partitionKey } = first
  return { channel, recipientId, wallet, partitionKey, rows }
}

/** Recoveries whose lines a group already shows; they are sent together with the last recovery. */
async function recoveriesIn(db: Db, messageId: string): Promise<readonly ShownPart[]> {
  const parts = await messages.listMessageParts(db, [messageId])
  return readMessageParts(parts).filter(({ envelope }) => envelope.message.isRecovery)
}

function sendTask(
  channel: ChannelKey,
  parts: readonly ShownPart[],
  rows: readonly ReadRow[],
  plan: Planned,
  situations: RecipientSituations,
): SendTask[] {
  const [first] = rows
  if (first === undefined) return []
  const { recipientId } = plan
  const kind = plan.form === 'rollup' ? 'rollup' : 'group'
  const isMany = kind === 'rollup' || parts.length > 1
  const answeredMessageIds = [
    ...new Set(
      rows.map(({ envelope: { message } }) =>
        message.incidentId === null
          ? undefined
          : situations.messageIdOf(recipientId, message.incidentId),
      ),
    ),
  ]
  const { message } = first.envelope
  const repliesToList =
    'ends' in plan &&
    plan.ends !== undefined &&
    answeredMessageIds.length === 1 &&
    answeredMessageIds[0] !== undefined
  const envelope = isMany
    ? { ...groupEnvelope(kind, first.id, parts), ...(repliesToList && { repliesToList }) }
    : first.envelope
  return [
    {
      ...taskOf(channel, rows),
      envelope,
      stored: {
        kind: isMany ? kind : (first.envelope.kind ?? 'alert'),
        // No alert joins the message of a test.
        watchId: kind === 'rollup' || message.test ? null : message.watchId,
        recovery: rows.every((row) => row.envelope.message.isRecovery),
        loud: !isSilent(envelope),
        openedAt: new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime()))),
        states: new Map(),
        ...pictureIn(envelope, rows),
      },
      answeredMessageIds,
    },
  ]
}

/** Builds the task that adds deliveries to a sent message. */
async function joinTask(
  { db, stateOf }: ClaimDeps,
  channel: ChannelKey,
  target: messages.SentMessage,
  rows: readonly ReadRow[],
  { form: kind, rings = false }: Extract<NextMessage, { readonly how: 'join' }>,
): Promise<SendTask[]> {
  const there = readMessageParts(await messages.listMessageParts(db, [target.id]))
  const states = await stateOf(db, alertIdsIn([...there, ...rows]))
  const tasks = changeTask(channel, { ...target, kind }, [...there, ...rows], states, rows)
  return tasks.map((task) => ({
    ...task,
    ...(task.change && { change: { ...task.change, rings } }),
  }))
}

/** Builds the task that sends everything about an incident again, to ring. */
async function replacingTask(
  { db, stateOf }: ClaimDeps,
  channel: ChannelKey,
  target: messages.SentMessage,
  rows: readonly ReadRow[],
  { now }: Claim,
): Promise<SendTask[]> {
  const [first] = rows
  if (first === undefined) return []
  const there = readMessageParts(await messages.listMessageParts(db, [target.id]))
  const states = await stateOf(db, alertIdsIn([...there, ...rows]))
  const about = { id: first.id, kind: 'group', openPart: null, sentAt: now } as const
  const shown = currentContent(about, [...there, ...rows], states)
  if (shown === undefined) return []
  const { watchId, id, leasedUntil, revisions } = target
  return [
    {
      ...taskOf(channel, rows),
      envelope: shown.envelope,
      stored: {
        ...{ kind: 'group', watchId, recovery: false, states },
        loud: !isSilent(shown.envelope),
        openedAt: new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime()))),
        ...pictureIn(shown.envelope, rows),
      },
      replaces: { id, leasedUntil, revisions },
    },
  ]
}

/** Claims one outdated message of each of these recipients. */
export async function claimStaleMessages(
  { db, stateOf }: ClaimDeps,
  channel: ChannelKey,
  recipientIds: readonly number[],
  context: Claim,
): Promise<readonly SendTask[]> {
  if (recipientIds.length === 0) return []
  const stale = await messages.leaseStaleMessages(db, channel, recipientIds, context)
  if (stale.length === 0) return []
  const ids = stale.map(({ id }) => id)
  const parts = readMessageParts(await messages.listMessageParts(db, ids))
  const states = await stateOf(db, alertIdsIn(parts))
  const tasks: SendTask[] = []
  for (const message of stale) {
    const messageParts = parts.filter(({ carriedBy }) => carriedBy === message.id)
    const built = changeTask(channel, message, messageParts, states, [])
    const removal = messageParts.length === 0 ? removalTask(channel, message) : []
    if (built.length + removal.length === 0) await messages.markMessageGone(db, message.id)
    tasks.push(...built, ...removal)
  }
  return tasks
}

/** The task that deletes a message which another one has replaced. */
function removalTask(channel: ChannelKey, message: messages.SentMessage): readonly SendTask[] {
  const { id, messageId, version, leasedUntil, revisions } = message
  if (messageId === null || leasedUntil === null) return []
  const { recipientId, wallet, partitionKey } = message
  return [
    {
      ...{ channel, recipientId, wallet, partitionKey, rows: [], envelope: null },
      change: {
        ...{ id, messageId, version, leasedUntil, revisions, state: {} },
        ...{ isLonger: false, rings: false, isReplaced: true, isAwaited: false },
      },
    },
  ]
}

function changeTask(
  channel: ChannelKey,
  message: messages.SentMessage,
  parts: readonly ShownPart[],
  states: ReadonlyMap<number, MessageState>,
  rows: readonly ReadRow[],
): SendTask[] {
  const { id, messageId, version, leasedUntil, revisions } = message
  const shown = currentContent(message, parts, states)
  if (shown === undefined || messageId === null || leasedUntil === null) return []
  const { recipientId, wallet, partitionKey, kind, watchId, recovery, loud, openedAt } = message
  return [
    {
      channel,
      recipientId,
      wallet,
      partitionKey,
      rows,
      envelope: shown.envelope,
      stored: {
        ...{ kind, watchId, recovery, loud, openedAt, states },
        ...pictureIn(shown.envelope, rows),
      },
      change: {
        ...{ id, messageId, version, leasedUntil, revisions, state: shown.state },
        isLonger: rows.some((row) => !row.envelope.message.isRecovery),
        rings: false,
        isReplaced: false,
        isAwaited: messages.isAwaited(message),
      },
    },
  ]
}

/** The picture of a message that gets these deliveries, if they are news about the outage. */
function pictureIn(
  { picture, message }: Envelope,
  rows: readonly ReadRow[],
): Pick<StoredMessage, 'picture'> {
  if (picture === undefined) return {}
  const hasChanged =
    picture.kind === 'recovery' || rows.some(({ envelope }) => isFailedDuty(envelope.message.event))
  return hasChanged ? { picture: { ...picture, name: message.watchLabel ?? '' } } : {}
}

/** New content of a sent message; undefined if none of its deliveries is readable. */
export async function readCurrentContent(
  { db, stateOf }: ClaimDeps,
  message: messages.SentMessage,
): Promise<ReturnType<typeof currentContent>> {
  const parts = readMessageParts(await messages.listMessageParts(db, [message.id]))
  return currentContent(message, parts, await stateOf(db, alertIdsIn(parts)))
}
