/** Actions of people on alerts. */
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '#src/db/connection.ts'
import type { Address } from '#src/kernel/units.ts'

/**
 * Builds the condition for the rows that an action on alert `c` changes: the alert itself, and every open alert of its
 * incident.
 */
function ofAlert(wallet: Address, { id }: ActionTarget): SQL {
  return sql`from alerts c
    where c.wallet = ${wallet} and c.id = ${id} and a.wallet = c.wallet
      and a.incident_id = c.incident_id
      and (a.id = c.id or (a.is_episode and a.recovered_at is null))`
}

/** A note with its author. */
export interface NewNote {
  readonly text: string
  /** Name of the author. */
  readonly by: string | null
  /** The author's Telegram account. */
  readonly account: number | null
}

/** The alert that an action names. */
export interface ActionTarget {
  readonly id: number
}

/**
 * Acknowledges alerts that are not acknowledged yet.
 * @returns their ids
 */
export async function acknowledge(
  db: Db,
  wallet: Address,
  act: ActionTarget & {
    readonly at: Date
    readonly by: string | null
    /** The person's Telegram account, for a press in a chat. */
    readonly account: number | null
  },
): Promise<number[]> {
  const rows = await db.execute<{ id: number }>(sql`
    update alerts a set acknowledged_at = ${act.at}, acknowledged_by = ${act.by},
      acknowledged_account = ${act.account}, remind_at = null,
      state = case when a.state = 'firing' then 'acknowledged' else a.state end
    ${ofAlert(wallet, act)} and a.acknowledged_at is null
    returning a.id`)
  return rows.map(({ id }) => id)
}

/**
 * Removes acknowledgements.
 * @returns ids of the alerts that had one
 */
export async function unacknowledge(db: Db, wallet: Address, act: ActionTarget): Promise<number[]> {
  const rows = await db.execute<{ id: number }>(sql`
    update alerts a set acknowledged_at = null, acknowledged_by = null,
      acknowledged_account = null, note = null, noted_at = null, noted_by = null, noted_account = null,
      state = case when a.state = 'acknowledged' then 'firing' else a.state end
    ${ofAlert(wallet, act)} and a.acknowledged_at is not null
    returning a.id`)
  return rows.map((row) => row.id)
}

/**
 * Writes a note to alerts, in place of the one before.
 *
 * @param act `ofTakerOnly`: only to those that the account of the author has acknowledged
 * @returns their ids
 */
export async function setNote(
  db: Db,
  wallet: Address,
  act: ActionTarget & {
    readonly at: Date
    readonly note: NewNote
    readonly ofTakerOnly: boolean
  },
): Promise<number[]> {
  const { text, by, account } = act.note
  const rows = await db.execute<{ id: number }>(sql`
    update alerts a set note = ${text}, noted_at = ${act.at}, noted_by = ${by}, noted_account = ${account}
    ${ofAlert(wallet, act)}
      and (not ${act.ofTakerOnly}::boolean or a.acknowledged_account = ${account}::bigint)
    returning a.id`)
  return rows.map(({ id }) => id)
}

/**
 * Mutes the open alerts of an incident until it is over; `mutedAt` null unmutes them.
 * @returns their ids
 */
export async function muteIncident(
  db: Db,
  wallet: Address,
  act: ActionTarget & { readonly mutedAt: Date | null },
): Promise<number[]> {
  const rows = await db.execute<{ id: number }>(sql`
    update alerts a set muted_at = ${act.mutedAt},
      remind_at = case when ${act.mutedAt}::timestamptz is null then a.remind_at end
    ${ofAlert(wallet, act)} and a.is_episode and a.recovered_at is null
    returning a.id`)
  return rows.map(({ id }) => id)
}

/** Sets the time of the next reminder of open alerts. */
export async function setNextReminders(
  db: Db,
  rows: readonly { readonly id: number; readonly remindAt: Date | null }[],
): Promise<void> {
  if (rows.length === 0) return
  await db.execute(sql`
    update alerts a set remind_at = r."remindAt"
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id int, "remindAt" timestamptz)
    where a.id = r.id and a.recovered_at is null`)
}

/** An alert that was closed, with its incident. */
interface ClosedAlert extends Record<string, unknown> {
  readonly id: number
  readonly wallet: string
  readonly incidentId: number
}

/** Closes the open alerts of a deleted watch, without a message. */
export async function closeAlertsOfWatch(
  db: Db,
  watchId: number,
  at: Date,
): Promise<readonly ClosedAlert[]> {
  return await db.execute<ClosedAlert>(sql`
    update alerts a set state = 'closed', recovered_at = ${at}, remind_at = null
    where a.watch_id = ${watchId} and a.is_episode and a.recovered_at is null
    returning a.id, a.wallet, a.incident_id as "incidentId"`)
}

/** An acknowledgement that has lost the name of its person. */
interface Nameless extends Record<string, unknown> {
  readonly id: number
  readonly wallet: string
  readonly incidentId: number
  readonly name: string | null
}

/**
 * Removes a person from acknowledgements, and the person's notes: those of the person's account in any chat, also in a
 * group, and in the wallets of the person's own chat those with the name. There is no index: people delete their data
 * rarely.
 */
export async function removePerson(
  db: Db,
  { personId, name }: { readonly personId: number; readonly name: string | null },
  ownWallets: readonly string[],
): Promise<readonly Nameless[]> {
  const wallets = sql`a.wallet = any(${sql.param([...ownWallets])}::text[])`
  return await db.execute<Nameless>(sql`
    with named as (
      select a.id, a.acknowledged_by as name,
        (a.acknowledged_account = ${personId} or (${wallets} and a.acknowledged_by = ${name})) is true as took,
        (a.noted_account = ${personId} or (${wallets} and a.noted_by = ${name})) is true as noted
      from alerts a
      where a.acknowledged_account = ${personId} or a.noted_account = ${personId}
        or (${wallets} and (a.acknowledged_by = ${name} or a.noted_by = ${name}))
      for update)
    update alerts a set
      acknowledged_by = case when not named.took then a.acknowledged_by end,
      acknowledged_account = case when not named.took then a.acknowledged_account end,
      note = case when not named.noted then a.note end,
      noted_at = case when not named.noted then a.noted_at end,
      noted_by = case when not named.noted then a.noted_by end,
      noted_account = case when not named.noted then a.noted_account end
    from named where a.id = named.id
    returning a.id, a.wallet, a.incident_id as "incidentId", case when named.took then named.name end as name`)
}
