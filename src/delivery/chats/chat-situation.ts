/**
 * State of recipients of chats and mailboxes: due deliveries, recent messages, and groups to which due
 * recoveries reply.
 */
import { Envelope, type MessageState } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS, type ServiceChannel } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as messages from '../messages/message-store.ts'
import { alertIdsIn, isOpenIn, type ShownPart } from '../messages/message-sync.ts'
import * as chatStore from './chat-store.ts'
import {
  isWithinGroupTime,
  type planNext,
  RECENT_SECONDS,
  type RecentMessage,
  type RepliedToGroup,
} from './grouping.ts'

/** Reads the states of alerts; unknown alerts are missing. */
export type StateReader = (
  db: Db,
  alertIds: readonly number[],
) => Promise<ReadonlyMap<number, MessageState>>

export interface ClaimDeps {
  readonly db: Db
  readonly stateOf: StateReader
}

/** State of some recipients, from which their next steps are planned. */
export interface RecipientSituations {
  /** Due deliveries that have too many unfinished deliveries of their key before them to be in a plan. */
  readonly behind: readonly string[]
  situationOf(recipientId: number): Parameters<typeof planNext>[0]
  /** Id at the destination of the message about this alert to this recipient. */
  messageIdOf(recipientId: number, alertId: number): string | undefined
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
  const alertIds = [...new Set(waiting.flatMap(({ answers }) => answers ?? []))]
  const answered =
    alertIds.length === 0 ? [] : await messages.listRepliedTo(db, recipientIds, alertIds)
  const groupIds = answered.flatMap(({ id, kind }) => (kind === 'group' ? [id] : []))
  const groups = await describeGroups({ db, stateOf }, [...new Set(groupIds)], now)
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
      groups: new Map(
        answered.filter(isOf(recipientId)).flatMap(({ alertId, id }) => {
          const group = groups.get(id)
          return group === undefined ? [] : [[alertId, group] as const]
        }),
      ),
      canEdit: channel.edit !== undefined,
      isByOutage: CHANNELS[channel.key].isByOutage,
      now,
    }),
    messageIdOf: (recipientId, alertId) =>
      answered.find(
        (answeredMessage) =>
          answeredMessage.alertId === alertId && answeredMessage.recipientId === recipientId,
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

async function describeGroups(
  { db, stateOf }: ClaimDeps,
  ids: readonly string[],
  now: Date,
): Promise<ReadonlyMap<string, RepliedToGroup>> {
  if (ids.length === 0) return new Map()
  const [groups, parts] = await Promise.all([
    messages.listMessages(db, ids),
    messages.listMessageParts(db, ids),
  ])
  const read = readMessageParts(parts)
  const states = await stateOf(db, alertIdsIn(read))
  const stillOpen = new Set(
    read.filter((part) => isOpenIn(states, part)).map(({ carriedBy }) => carriedBy),
  )
  return new Map(
    groups.map((group) => {
      const { open, busy } = toRecent(group, now)
      return [group.id, { id: group.id, over: !stillOpen.has(group.id), open, busy }]
    }),
  )
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
