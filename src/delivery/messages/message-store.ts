/** Messages in chats and mailboxes, and their intended content. */
import { type SQL, sql } from 'drizzle-orm'
import type { EnvelopeKind, OpenPart } from '#src/channels/envelope.ts'
import { CHANNEL_KEYS, REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import { lowestDeliveryId } from '../delivery-id.ts'
import { IS_GROUPED, sentMessages } from '../tables.ts'

export type SentMessage = typeof sentMessages.$inferSelect

/** Time between two changes of a message whose figures grow: three minutes are two voting rounds. */
const GROWTH_SECONDS = { min: 180, max: 3600 } as const

/** Since when a message counts as outdated whose change a person awaits: it is changed before all others. */
const AWAITED_SINCE = new Date(0)

/** Whether a person awaits the change of an outdated message. */
export function isAwaited({ reviseAt }: Pick<SentMessage, 'reviseAt'>): boolean {
  return reviseAt?.getTime() === AWAITED_SINCE.getTime()
}

/** Messages of these recipients since an instant, newest first. */
export async function listRecentMessages(
  db: Db,
  recipientIds: readonly number[],
  since: Date,
): Promise<SentMessage[]> {
  return await db
    .select()
    .from(sentMessages)
    .where(
      sql`${sentMessages.recipientId} = any(${sql.param([...recipientIds])}::int[])
        and ${sentMessages.sentAt} > ${since}`,
    )
    .orderBy(sql`${sentMessages.sentAt} desc, ${sentMessages.id}`)
}

/** The message to a recipient about an incident, to which later messages reply. */
export interface RepliedToMessage extends Record<string, unknown> {
  readonly recipientId: number
  readonly incidentId: number
  readonly messageId: string
}

/** First messages to these recipients with an alert of each of these incidents, without roll-ups and summaries. */
export async function listRepliedTo(
  db: Db,
  recipientIds: readonly number[],
  incidentIds: readonly number[],
): Promise<RepliedToMessage[]> {
  return await db.execute<RepliedToMessage>(sql`
    select distinct on (d.recipient_id, d.incident_id) d.recipient_id as "recipientId",
      d.incident_id as "incidentId", d.message_id as "messageId"
    from delivery_log d join sent_messages m on m.id = d.carried_by
    where d.recipient_id = any(${sql.param([...recipientIds])}::int[])
      and d.incident_id = any(${sql.param([...incidentIds])}::int[])
      and d.carried_by is not null and not d.recovery
      and d.message_id is not null and d.kind in ('alert', 'raised')
      and m.kind in ('alert', 'raised', 'group')
    order by d.recipient_id, d.incident_id, d.delivered_at, d.id`)
}

/** The message that has the alerts of an incident. */
export interface IncidentMessageRow extends Record<string, unknown> {
  readonly recipientId: number
  readonly incidentId: number
  readonly id: string
}

/** The newest message to each of these recipients with alerts of each of these incidents, without roll-ups. */
export async function listIncidentMessages(
  db: Db,
  recipientIds: readonly number[],
  incidentIds: readonly number[],
): Promise<IncidentMessageRow[]> {
  if (incidentIds.length === 0) return []
  return await db.execute<IncidentMessageRow>(sql`
    select distinct on (d.recipient_id, d.incident_id) d.recipient_id as "recipientId",
      d.incident_id as "incidentId", m.id
    from delivery_log d join sent_messages m on m.id = d.carried_by
    where d.recipient_id = any(${sql.param([...recipientIds])}::int[])
      and d.incident_id = any(${sql.param([...incidentIds])}::int[])
      and d.carried_by is not null and not d.recovery and d.kind in ('alert', 'raised')
      and m.kind in ('alert', 'raised', 'group')
    order by d.recipient_id, d.incident_id, m.sent_at desc`)
}

/** A delivery in a message. */
export interface MessagePart extends Record<string, unknown> {
  readonly carriedBy: string
  readonly alertId: number | null
  readonly recovery: boolean
  readonly envelope: unknown
}

/** Deliveries in these messages, in the order in which they fired. */
export async function listMessageParts(db: Db, ids: readonly string[]): Promise<MessagePart[]> {
  return await db.execute<MessagePart>(sql`
    select carried_by as "carriedBy", alert_id as "alertId", recovery, envelope from delivery_log
    where carried_by = any(${sql.param([...ids])}::uuid[])
    order by fired_at, position, id`)
}

/** Messages by their ids. */
export async function listMessages(db: Db, ids: readonly string[]): Promise<SentMessage[]> {
  return await db
    .select()
    .from(sentMessages)
    .where(sql`${sentMessages.id} = any(${sql.param([...ids])}::uuid[])`)
}

/** The message with this id at the destination of one of these recipients. */
export async function findByMessageId(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<SentMessage | undefined> {
  const [row] = await db
    .select()
    .from(sentMessages)
    .where(
      sql`${sentMessages.recipientId} = any(${sql.param([...recipientIds])}::int[])
        and ${sentMessages.messageId} = ${messageId}`,
    )
    .limit(1)
  return row
}

/** Id at its destination of the newest message to any of these recipients. */
export async function findNewestMessageId(
  db: Db,
  recipientIds: readonly number[],
): Promise<string | undefined> {
  const [row] = await db.execute<{ messageId: string }>(sql`
    select message_id as "messageId" from sent_messages
    where recipient_id = any(${sql.param([...recipientIds])}::int[]) and message_id is not null
    order by sent_at desc limit 1`)
  return row?.messageId
}

/**
 * Leases messages to be changed; messages that another worker changes are missing. Until the change is
 * recorded they stay outdated, so that an aborted change is repeated.
 */
export async function leaseMessages(
  db: Db,
  ids: readonly string[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<SentMessage[]> {
  return await db
    .update(sentMessages)
    .set({ leasedUntil, reviseAt: sql`coalesce(${sentMessages.reviseAt}, ${now})` })
    .where(
      sql`${sentMessages.id} = any(array(
        select m.id from sent_messages m
        where m.id = any(${sql.param([...ids])}::uuid[]) and m.message_id is not null
          and (m.leased_until is null or m.leased_until <= ${now})
        order by m.id for update skip locked))`,
    )
    .returning()
}

/** A recipient with an outdated message, and its partition. */
export interface StaleRecipient extends Record<string, unknown> {
  readonly recipientId: number
  readonly partitionKey: string
}

/**
 * The next recipients of a channel, by id, above `after`, with an outdated message.
 *
 * @returns `last`: the last recipient that was read; undefined if there are none above it
 */
export async function listStaleRecipients(
  db: Db,
  channel: ChannelKey,
  of: { readonly after: number; readonly recipientsMax: number; readonly now: Date },
): Promise<{ readonly recipients: StaleRecipient[]; readonly last: number | undefined }> {
  const { after, recipientsMax, now } = of
  const nextAbove = (id: SQL) => sql`
    select m.recipient_id from sent_messages m
    where m.channel = ${channel} and m.revise_at is not null and m.recipient_id > ${id}
    order by m.recipient_id limit 1`
  const rows = await db.execute<{ hop: number; partitionKey: string | null }>(sql`
    with recursive hop(recipient_id, place) as (
      select (${nextAbove(sql`${after}::int`)}), 1
      union all
      select (${nextAbove(sql`hop.recipient_id`)}), hop.place + 1
      from hop where hop.recipient_id is not null and hop.place < ${recipientsMax}
    )
    select hop.recipient_id as hop, first.partition_key as "partitionKey"
    from hop left join lateral (
      select m.partition_key from sent_messages m
      where m.channel = ${channel} and m.recipient_id = hop.recipient_id and ${isStale(now)}
      order by m.revise_at limit 1
    ) first on true
    where hop.recipient_id is not null
    order by hop.place`)
  return {
    recipients: rows.flatMap(({ hop, partitionKey }) =>
      partitionKey === null ? [] : [{ recipientId: hop, partitionKey }],
    ),
    last: rows.length < recipientsMax ? undefined : rows.at(-1)?.hop,
  }
}

/** Recipients of a channel with a message whose change a person awaits. */
export async function listAwaitingRecipients(
  db: Db,
  channel: ChannelKey,
  { now, recipientsMax }: { readonly now: Date; readonly recipientsMax: number },
): Promise<StaleRecipient[]> {
  return await db.execute<StaleRecipient>(sql`
    select distinct m.recipient_id as "recipientId", m.partition_key as "partitionKey"
    from sent_messages m
    where m.channel = ${channel} and m.revise_at = ${AWAITED_SINCE} and ${isStale(now)}
    limit ${recipientsMax}`)
}

function isStale(now: Date): SQL {
  return sql`m.revise_at <= ${now} and (m.leased_until is null or m.leased_until <= ${now})`
}

/** Leases one outdated message of each of these recipients, the one that has been outdated longest. */
export async function leaseStaleMessages(
  db: Db,
  channel: ChannelKey,
  recipientIds: readonly number[],
  { now, leasedUntil }: { readonly now: Date; readonly leasedUntil: Date },
): Promise<SentMessage[]> {
  return await db
    .update(sentMessages)
    .set({ leasedUntil })
    .where(
      sql`${sentMessages.id} = any(array(
        select m.id from sent_messages m
        where ${isStale(now)} and m.id = any(array(
          select first.id from unnest(${sql.param([...recipientIds])}::int[]) as r(id)
          cross join lateral (
            select m.id from sent_messages m
            where m.channel = ${channel} and m.recipient_id = r.id and ${isStale(now)}
            order by m.revise_at, m.id limit 1
          ) first))
        for update skip locked))`,
    )
    .returning()
}

/** Inserts a message that was sent. A message that was sent twice keeps its second id. */
export async function insertMessage(tx: Db, message: SentMessage): Promise<void> {
  await tx
    .insert(sentMessages)
    .values(message)
    .onConflictDoUpdate({
      target: sentMessages.id,
      set: {
        kind: message.kind,
        messageId: message.messageId,
        parts: message.parts,
        version: sql`${sentMessages.version} + 1`,
        reviseAt: sql`coalesce(${sentMessages.reviseAt}, ${message.sentAt})`,
      },
    })
}

/**
 * Records that a message shows its new content, and adds the number of its new deliveries. If the content
 * changed since the lease, or another worker took over, the message stays outdated.
 *
 * @param change `messageId`: its id at the destination, which a change may have changed
 */
export async function recordChange(
  tx: Db,
  taken: Pick<SentMessage, 'id' | 'version' | 'leasedUntil'>,
  change: {
    readonly kind: EnvelopeKind
    readonly parts: number
    readonly at: Date
    readonly messageId: string | null
  },
): Promise<void> {
  const { kind, parts, at, messageId } = change
  await tx.execute(sql`
    update sent_messages m set kind = ${kind}, parts = m.parts + ${parts}, revisions = 0,
      message_id = case when m.message_id is not null then ${messageId} end,
      version = m.version + 1, leased_until = null,
      revise_at = case when m.version = ${taken.version} and m.leased_until = ${taken.leasedUntil}
        then null else least(m.revise_at, ${at}::timestamptz) end
    where m.id = ${taken.id}`)
}

/** Records that a message could not be changed, and the time of the next try; null if there is none. */
export async function recordNoChange(
  tx: Db,
  taken: Pick<SentMessage, 'id' | 'leasedUntil'>,
  again: { readonly at: Date | null; readonly revisions: number },
): Promise<void> {
  await tx.execute(sql`
    update sent_messages m set leased_until = null, revisions = ${again.revisions},
      revise_at = ${again.at}::timestamptz
    where m.id = ${taken.id} and m.leased_until = ${taken.leasedUntil}`)
}

/**
 * Locks messages that are changed or replaced, and first the deliveries of those that are replaced, each in the order of
 * their ids: `reviseMessages` does the same, so neither waits for the other in a circle.
 */
export async function lockMessages(
  tx: Db,
  {
    changed,
    replaced,
  }: { readonly changed: readonly string[]; readonly replaced: readonly string[] },
): Promise<void> {
  if (replaced.length > 0)
    await tx.execute(sql`
      select from delivery_log where carried_by = any(${sql.param([...replaced])}::uuid[]) order by id for update`)
  if (changed.length + replaced.length > 0)
    await tx.execute(sql`
      select from sent_messages where id = any(${sql.param([...changed, ...replaced])}::uuid[]) order by id for update`)
}

/**
 * Moves the deliveries of a message into the one that replaced it. The replaced one is left without any, so that it is
 * deleted at its destination.
 */
export async function moveParts(
  tx: Db,
  {
    from,
    to,
    messageId,
  }: { readonly from: string; readonly to: string; readonly messageId: string | null },
): Promise<void> {
  const moved = await tx.execute<{ id: string }>(sql`
    update delivery_log d set carried_by = ${to}::uuid, message_id = ${messageId}
    where d.carried_by = ${from}::uuid
    returning d.id`)
  await tx.execute(sql`
    update sent_messages m set watch_id = null, version = m.version + 1,
      revisions = 0, leased_until = null, revise_at = m.sent_at
    where m.id = ${from}::uuid`)
  await tx.execute(sql`
    update sent_messages m set parts = m.parts + ${moved.length} where m.id = ${to}::uuid`)
}

/** Records that the message was deleted at its destination, or cannot be changed there any more. */
export async function markMessageGone(tx: Db, id: string): Promise<void> {
  await tx.execute(sql`
    update sent_messages m set message_id = null, revise_at = null, leased_until = null
    where m.id = ${id}`)
}

/**
 * Deletes the ids that messages of these recipients have at their destination: the chat became another
 * chat, in which these ids mean other messages. The old messages are never changed again.
 */
export async function forgetMessageIds(tx: Db, recipientIds: readonly number[]): Promise<void> {
  await tx
    .update(sentMessages)
    .set({ messageId: null, reviseAt: null, leasedUntil: null })
    .where(
      sql`${sentMessages.recipientId} = any(${sql.param([...recipientIds])}::int[])
        and ${sentMessages.messageId} is not null`,
    )
}

/** Stores what a person has opened below a message; null for nothing. */
export async function saveOpenPart(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
  openPart: OpenPart | null,
): Promise<void> {
  await db
    .update(sentMessages)
    .set({ openPart })
    .where(
      sql`${sentMessages.recipientId} = any(${sql.param([...recipientIds])}::int[])
        and ${sentMessages.messageId} = ${messageId}`,
    )
}

/** Condition: a message `d` was written after an instant. Its id begins with a time, so few partitions are read. */
export function isWrittenAfter(at: Date): SQL {
  return sql`d.id >= ${lowestDeliveryId(at)}::uuid`
}

/**
 * Marks messages as outdated, due immediately.
 * @returns their channels
 */
export async function markMessagesStale(
  tx: Db,
  ids: readonly string[],
  { isAwaited: isMarkedAwaited = false }: { readonly isAwaited?: boolean } = {},
): Promise<readonly ChannelKey[]> {
  if (ids.length === 0) return []
  const since = isMarkedAwaited ? sql`${AWAITED_SINCE}::timestamptz` : sql`m.sent_at`
  const marked = await tx.execute<{ channel: ChannelKey }>(sql`
    update sent_messages m set version = m.version + 1, revisions = 0,
      revise_at = least(m.revise_at, ${since})
    where m.id = any(array(
      select id from sent_messages
      where id = any(${sql.param([...ids])}::uuid[]) and message_id is not null
      order by id for update))
    returning m.channel`)
  return [...new Set(marked.map(({ channel }) => channel))]
}

/**
 * Plans the next change of messages in which figures grow, as long after now as a quarter of their age, within bounds: so
 * their number grows only with the logarithm of an outage's length, and then slowly. An earlier change stays planned.
 */
export async function planGrowth(tx: Db, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return
  const [first, last] = [GROWTH_SECONDS.min, GROWTH_SECONDS.max]
  await tx.execute(sql`
    update sent_messages m set revise_at = least(m.revise_at, ${now}::timestamptz
      + least(greatest((${now}::timestamptz - m.sent_at) / 4, make_interval(secs => ${first})),
          make_interval(secs => ${last})))
    where m.id = any(${sql.param([...ids])}::uuid[]) and m.message_id is not null`)
}

/** Channels whose messages follow the state of their whole incident. */
const FOLLOWING = CHANNEL_KEYS.filter((key) => CHANNELS[key].followsIncident)

/**
 * Messages that contain these alerts. Waits for transactions that are recording such a message, so that
 * none is missed.
 *
 * @param ofIncidents further alerts, of which only messages count that follow their incident
 */
export async function lockMessagesOfAlerts(
  tx: Db,
  alertIds: readonly number[],
  ofIncidents: readonly number[],
): Promise<string[]> {
  const all = [...new Set([...alertIds, ...ofIncidents])]
  const isOfAlerts = sql`alert_id = any(${sql.param(all)}::int[]) and ${IS_GROUPED}
    and (alert_id = any(${sql.param([...alertIds])}::int[]) or channel = any(${sql.param(FOLLOWING)}::text[]))`
  // Holds up only moves to the log. The second statement sees what was moved while the first one waited.
  await tx.execute(sql`select from delivery_queue where ${isOfAlerts} order by id for key share`)
  const rows = await tx.execute<{ carriedBy: string | null }>(sql`
    select carried_by as "carriedBy" from delivery_log where ${isOfAlerts} order by id for update`)
  return [...new Set(rows.flatMap(({ carriedBy }) => carriedBy ?? []))]
}

/** Alerts in a message, by its id at the destination of any of these recipients. */
export async function listAlertsInMessage(
  db: Db,
  recipientIds: readonly number[],
  messageId: string,
): Promise<number[]> {
  const rows = await db.execute<{ alertId: number }>(sql`
    select distinct d.alert_id as "alertId" from sent_messages m
    join delivery_log d on d.carried_by = m.id
    where m.recipient_id = any(${sql.param([...recipientIds])}::int[])
      and m.message_id = ${messageId} and d.alert_id is not null and not d.recovery
    order by 1`)
  return rows.map(({ alertId }) => alertId)
}
