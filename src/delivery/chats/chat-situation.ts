/**
 * State of recipients of chats and mailboxes: due deliveries, recent messages, and groups to which due
 * recoveries reply.
 */
import { rankOf } from '#src/channels/card/wording.ts'
import type { IncidentState } from '#src/channels/define.ts'
import { Envelope, type MessageState } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS, type ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as messages from '../messages/message-store.ts'
import { alertIdsIn, isOpenIn, type ShownPart } from '../messages/message-sync.ts'
import * as chatStore from './chat-store.ts'
import {
  type IncidentMessage,
  isWithinGroupTime,
  type planNext,
  RECENT_SECONDS,
  type RecentMessage,
} from './grouping.ts'

/** Reads the states of alerts; unknown alerts are missing. */
export type StateReader = (
  db: Db,
  alertIds: readonly number[],
) => Promise<ReadonlyMap<number, MessageState>>

/** Reads the state of an incident as it is now. */
export type IncidentReader = (
  db: Db,
  incident: { readonly wallet: string; readonly incidentId: number },
) => Promise<IncidentState>

export interface ClaimDeps {
  readonly db: Db
  readonly stateOf: StateReader
}

/** State of some recipients, from which their next steps are planned. */
export interface RecipientSituations {
  /** Due deliveries that have too many unfinished deliveries of their key before them to be in a plan. */
  readonly behind: readonly string[]
  situationOf(recipientId: number): Parameters<typeof planNext>[0]
  /** Id at the destination of the first message about this incident to this recipient. */
  messageIdOf(recipientId: number, incidentId: number): string | undefined
}

/** Reads the state of some recipients. */
export async function readSituations(
  { db, stateOf }: ClaimDeps,
  channel: ServiceChannel,
  recipientIds: readonly number[],
  now: Date,
): Promise<RecipientSituations> {
  const since = new Date(now.getTime() - RECENT_SECONDS * 1000)
  const [rows, recent] = await Promise.all([
    chatStore.listDueOrLeased(db, recipientIds, now),
    messages.listRecentMessages(db, recipientIds, since),
  ])
  const waiting = await chatStore.listUnfinishedDeliveries(db, rows, now)
  const seen = new Set(waiting.map(({ id }) => id))
  const orderKeys = await orderKeysIn(db, recent, waiting)
  const incidentIds = [...new Set(waiting.flatMap(({ incidentId }) => incidentId ?? []))]
  const answered =
    incidentIds.length === 0 ? [] : await messages.listRepliedTo(db, recipientIds, incidentIds)
  const incidents = await describeIncidents(
    { db, stateOf },
    await messages.listIncidentMessages(db, recipientIds, incidentIds),
    { now, ended: waiting.flatMap(({ recovery, answers }) => (recovery ? (answers ?? []) : [])) },
  )
  const isOf = (recipientId: number) => (row: { readonly recipientId: number }) =>
    row.recipientId === recipientId
  return {
    behind: rows.flatMap(({ id }) => (seen.has(id) ? [] : [id])),
    situationOf: (recipientId) => ({
      waiting: waiting.filter(isOf(recipientId)),
      recent: recent.filter(isOf(recipientId)).map((message) => ({
        ...toRecent(message, now),
        orderKeys: orderKeys.get(message.id) ?? new Set(),
      })),
      incidents: new Map(
        incidents
          .filter(isOf(recipientId))
          .map(({ incidentId, message }) => [incidentId, message] as const),
      ),
      canEdit: channel.edit !== undefined,
      followsIncident: CHANNELS[channel.key].followsIncident,
      now,
    }),
    messageIdOf: (recipientId, incidentId) =>
      answered.find(
        (message) => message.incidentId === incidentId && message.recipientId === recipientId,
      )?.messageId,
  }
}

/** Order keys of the deliveries in those messages that a waiting delivery may join. */
async function orderKeysIn(
  db: Db,
  recent: readonly messages.SentMessage[],
  waiting: readonly chatStore.WaitingRow[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const near = recent.filter(({ recipientId, watchId, openedAt }) =>
    waiting.some(
      (delivery) =>
        delivery.recipientId === recipientId &&
        delivery.watchId === watchId &&
        watchId !== null &&
        isWithinGroupTime(delivery.createdAt, openedAt),
    ),
  )
  if (near.length === 0) return new Map()
  const ids = near.map(({ id }) => id)
  const keys = Map.groupBy(await chatStore.listOrderKeys(db, ids), ({ carriedBy }) => carriedBy)
  return new Map([...keys].map(([id, all]) => [id, new Set(all.map(({ orderKey }) => orderKey))]))
}

function toRecent(message: messages.SentMessage, now: Date): Omit<RecentMessage, 'orderKeys'> {
  const busy = (message.leasedUntil ?? now) > now
  return { ...message, open: message.messageId !== null && !busy, busy }
}

async function describeIncidents(
  { db, stateOf }: ClaimDeps,
  found: readonly messages.IncidentMessageRow[],
  { now, ended }: { readonly now: Date; readonly ended: readonly number[] },
): Promise<readonly DescribedIncident[]> {
  if (found.length === 0) return []
  const ids = [...new Set(found.map(({ id }) => id))]
  const [sent, parts, keys] = await Promise.all([
    messages.listMessages(db, ids),
    messages.listMessageParts(db, ids),
    chatStore.listOrderKeys(db, ids),
  ])
  const read = readMessageParts(parts)
  const states = await stateOf(db, alertIdsIn(read))
  const described = new Map(
    sent.map((message): [string, IncidentMessage] => {
      const { open, busy } = toRecent(message, now)
      const { id, loud, openedAt, parts: count } = message
      const own = read.filter(({ carriedBy }) => carriedBy === id)
      const over = new Set([...ended, ...own.flatMap(endedBy)])
      const stillOpen = own.filter(
        (part) => isOpenIn(states, part) && !over.has(part.envelope.answers ?? part.alertId ?? 0),
      )
      const isTaken = ({ alertId }: ShownPart) =>
        states.get(alertId ?? 0)?.acknowledged !== undefined
      const orderKeys = new Set(
        keys.flatMap(({ carriedBy, orderKey }) => (carriedBy === id ? orderKey : [])),
      )
      const isOver = stillOpen.length === 0
      const described = { id, open, busy, loud, openedAt, parts: count, orderKeys, over: isOver }
      const taken = !isOver && stillOpen.every(isTaken)
      const urgency = Math.max(...own.map(({ envelope }) => rankOf(envelope.message)))
      return [id, { ...described, taken, urgency }]
    }),
  )
  return found.flatMap(({ id, recipientId, incidentId }) => {
    const message = described.get(id)
    return message === undefined ? [] : [{ recipientId, incidentId, message }]
  })
}

/** The alert that a recovery in a message ends. */
function endedBy({ envelope: { answers, message } }: ShownPart): readonly number[] {
  return message.isRecovery && answers !== undefined ? [answers] : []
}

/** The message of an incident to a recipient. */
interface DescribedIncident {
  readonly recipientId: number
  readonly incidentId: number
  readonly message: IncidentMessage
}

/** Deliveries in messages, without those whose envelopes cannot be parsed. */
export function readMessageParts(
  parts: readonly messages.MessagePart[],
): readonly (ShownPart & messages.MessagePart)[] {
  return parts.flatMap((part) => {
    const read = Envelope.safeParse(part.envelope)
    return read.success ? [{ ...part, envelope: read.data }] : []
  })
}
