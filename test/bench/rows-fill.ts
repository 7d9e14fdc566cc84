/** Tables of ten million rows, as after a year of service, with one very large wallet. */
import type { Connection } from '#src/db/connection.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { PRICE_EXAMPLE } from '#src/watches/types/feed-example.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { createYearOfPartitions } from './database.ts'
import { fillHeads } from './fill-heads.ts'

export const ROW_COUNT = 10_000_000
export const WATCH_COUNT = 1_000_000
/** Wallets beside the large one. */
const WALLETS = 20_000
/** Number of the large wallet, which has three of every ten rows. */
export const LARGE_WALLET = 0
const LARGE_PARTS = 3
const PARTS = 10
/** Recipients of the large wallet; the others have one each. */
export const LARGE_RECIPIENTS = 20
/** Number of the recipient of row `row`, by the formula of `RECIPIENT`. */
export function recipientOf(row: number): number {
  const wallet = walletOf(row)
  return wallet === LARGE_WALLET
    ? 1 + (Math.floor(row / PARTS) % LARGE_RECIPIENTS)
    : LARGE_RECIPIENTS + wallet
}

const ALERT_DAYS = 390
const DELIVERY_DAYS = 29
/** Deliveries of each alert of the last month. */
const DELIVERIES_EACH = 10
/**
 * Id of the alert of delivery `n`, in SQL. It is of the same wallet, and all deliveries of an alert lie within 13
 * hours.
 */
const ALERT = `${ROW_COUNT - ROW_COUNT / DELIVERIES_EACH}
  + n / ${DELIVERIES_EACH * WALLETS} * ${WALLETS} + n % ${WALLETS}`
/** Shares of the deliveries that are due for the first time, that wait for a retry, and that failed for good. */
const DUE_SHARE = 0.0005
const RETRYING_SHARE = 0.01
const FAILED_SHARE = 0.005

const FIRST_ADDRESS = 0x1000000
/** Address of a wallet, in SQL. */
const ADDRESS = (number: string) => `'0x' || lpad(to_hex(${FIRST_ADDRESS} + (${number})), 40, '0')`
/**
 * Number of the wallet of row `n`, in SQL: the large wallet has three of ten rows, the others an equal share of the
 * rest.
 */
const WALLET = `case when n % ${PARTS} < ${LARGE_PARTS} then ${LARGE_WALLET}
  else 1 + (n::bigint * 7919 % ${WALLETS})::int end`
/** Number of the recipient of row `n`, in SQL: a recipient of the row's wallet. */
const RECIPIENT = `case when n % ${PARTS} < ${LARGE_PARTS} then 1 + n / ${PARTS} % ${LARGE_RECIPIENTS}
  else ${LARGE_RECIPIENTS} + 1 + (n::bigint * 7919 % ${WALLETS})::int end`
/** Number of the watch of row `n`, in SQL: a watch of the row's wallet. */
const WATCH = `1 + n % ${WATCH_COUNT}`

/** The address of a wallet by its number. */
export function addressOf(number: number): Address {
  return `0x${(FIRST_ADDRESS + number).toString(16).padStart(40, '0')}`
}

/** Number of the wallet of row `row`, by the formula of `WALLET`. */
export function walletOf(row: number): number {
  return row % PARTS < LARGE_PARTS ? LARGE_WALLET : 1 + ((row * 7919) % WALLETS)
}

/** Fills all tables. All indexes but those of constraints are built after the rows, which is faster. */
export async function fillRows(connection: Connection, now: Date): Promise<void> {
  await createYearOfPartitions(connection, now)
  const { sql } = connection
  await fillPeople(connection, now)
  await Promise.all([
    filled(connection, ['alerts', 'ledger_entries'], async () => {
      await fillAlerts(connection, now)
      await fillLedger(connection, now)
    }),
    filled(connection, ['delivery_queue', 'delivery_log'], () => fillDeliveries(connection, now)),
  ])
  await sql.unsafe('vacuum analyze')
}

/**
 * Makes the tables unlogged, runs `fill` while they have only the indexes of constraints, and builds the other
 * indexes afterwards.
 */
async function filled(
  { sql }: Connection,
  tables: readonly string[],
  fill: () => Promise<void>,
): Promise<void> {
  const indexes = await sql<{ name: string; definition: string }[]>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i
    where i.indrelid = any(string_to_array(${tables.join()}, ',')::regclass[])
      and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  const leaves = await sql<{ name: string }[]>`
    select t.relid::regclass::text as name
    from unnest(string_to_array(${tables.join()}, ',')) as r(name), pg_partition_tree(r.name::regclass) t
    where t.isleaf`
  for (const { name } of leaves) await sql.unsafe(`alter table ${name} set unlogged`)
  await fill()
  // Without ON ONLY, so that PostgreSQL also builds the indexes of the partitions and attaches them to that of the
  // table.
  for (const { definition } of indexes) {
    await sql.unsafe(
      `set maintenance_work_mem = '512MB'; ${definition.replace(' ON ONLY ', ' ON ')}`,
    )
  }
}

async function fillPeople({ sql }: Connection, now: Date): Promise<void> {
  await sql.unsafe(
    `
    insert into recipients (wallet, channel, own, destination, target, partition_key, locale, timezone, status,
      switched_at, min_severity, is_default, created_at, updated_at)
    select ${ADDRESS(`greatest(0, n - ${LARGE_RECIPIENTS})`)}, case n % 2 when 0 then 'webhook' else 'telegram' end,
      false, '', '', 'lane ' || n, 'en', 'UTC', 'active', $1, 'info', true, $1, $1
    from generate_series(1, ${LARGE_RECIPIENTS + WALLETS}) n`,
    [now],
  )
  await sql.unsafe(`
    insert into targets (type, key, target, key_settings, watch_count, must_judge)
    select 'feed-move', 'feed ' || n, '{"feed":"FLR/USD"}', jsonb_build_object('windowSeconds', 60 * n), 1, false
    from generate_series(1, 1000) n`)
  await sql.unsafe(
    `
    insert into watches (wallet, type, target_id, label, settings, signals, min_severity, cooldown_seconds,
      status, version, created_at, updated_at)
    select ${ADDRESS(WALLET)}, 'feed-move', 1 + n % 1000, 'FLR/USD ' || n,
      '{"percent":5,"windowSeconds":3600,"direction":"any"}', '[]', 'info', 0, 'active', 1, $1, $1
    from generate_series(0, ${WATCH_COUNT - 1}) n`,
    [now],
  )
  await sql.unsafe(
    `
    insert into signal_states (watch_id, signal, state, phase, since, last_evidence_at)
    select n, 'price-move', '{"baseline":null,"firedAt":null}', 'ok', $1, $1
    from generate_series(1, ${WATCH_COUNT}) n`,
    [now],
  )
}

/** Writes alerts of one event: one in a hundred is critical, one in a hundred thousand is acknowledged. */
async function fillAlerts({ sql }: Connection, now: Date): Promise<void> {
  const from = new Date(now.getTime() - ALERT_DAYS * DAY_MS)
  await sql.unsafe(
    `
    insert into alerts (id, wallet, watch_id, watch_label, type, signal, "group", event, severity, state,
      data, position, fired_at, is_episode, notified_at, reminders_sent, created_at, incident_id, opens_incident)
    select n, ${ADDRESS(WALLET)}, ${WATCH}, 'FLR/USD ' || n % ${WATCH_COUNT}, 'feed-move', 'price-move', 'alerts',
      'feed-move.threshold', case when n % 101 = 0 then 'critical' else 'warning' end,
      case when n % 100003 = 0 then 'acknowledged' else 'firing' end,
      $2::text::jsonb, n, at, false, at, 0, at, n, true
    from generate_series(1, ${ROW_COUNT}) n,
      lateral (select $1::timestamptz + n * (interval '${ALERT_DAYS} days' / ${ROW_COUNT}) as at) t`,
    [from, JSON.stringify(PRICE_EXAMPLE)],
  )
  await sql`select setval(pg_get_serial_sequence('alerts', 'id'), ${ROW_COUNT})`
}

async function fillDeliveries(connection: Connection, now: Date): Promise<void> {
  const { sql } = connection
  const from = new Date(now.getTime() - DELIVERY_DAYS * DAY_MS)
  const envelope = JSON.stringify(envelopeOf({ message: { fields: [], body: '' } }))
  const isDue = `part < ${DUE_SHARE}`
  const isRetrying = `part between ${DUE_SHARE} and ${DUE_SHARE + RETRYING_SHARE}`
  const isFailed = `part > ${1 - FAILED_SHARE}`
  const columns = `id, wallet, alert_id, recipient_id, watch_id, channel, order_key, fired_at, position, envelope, kind,
    recovery, test, urgency, attempts, created_at, status`
  const values = `id, wallet, alert_id, recipient, watch_id, channel, order_key, at, n, envelope, 'alert', false, false,
    n % 3, 1, at`
  await sql.unsafe(
    `
    with made as materialized (
      select (substr(time, 1, 8) || '-' || substr(time, 9, 4) || '-7' || substr(gen_random_uuid()::text, 16))::uuid as id,
        ${ADDRESS(WALLET)} as wallet, ${ALERT} as alert_id, recipient, ${WATCH} as watch_id,
        case recipient % 2 when 0 then 'webhook' else 'telegram' end as channel,
        recipient || ' ' || ${WATCH} || ' price-move' as order_key, at, n, $2::text::json as envelope, part
      from generate_series(0, ${ROW_COUNT - 1}) n,
        lateral (select random() as part, ${RECIPIENT} as recipient,
          $1::timestamptz + n * (interval '${DELIVERY_DAYS} days' / ${ROW_COUNT}) as at) t,
        lateral (select lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as time) u
    ), queued as (
      insert into delivery_queue (${columns}, partition_key, next_attempt_at)
      select ${values}, case when ${isDue} then 'pending' else 'retrying' end, 'lane ' || recipient,
        case when ${isDue} then at else $3::timestamptz + (random() - 0.5) * interval '28 hours' end
      from made where ${isDue} or ${isRetrying}
    )
    insert into delivery_log (${columns}, delivered_at)
    select ${values}, case when ${isFailed} then 'failed' else 'delivered' end, case when ${isFailed} then null else at end
    from made where not (${isDue} or ${isRetrying})`,
    [from, envelope, now],
  )
  await fillHeads(connection)
}

/** Writes the ledger wallet by wallet, so that the entries of a wallet on one day are adjacent in the table. */
async function fillLedger({ sql }: Connection, now: Date): Promise<void> {
  const from = new Date(now.getTime() - ALERT_DAYS * DAY_MS)
  const large = (ROW_COUNT / PARTS) * LARGE_PARTS
  const each = Math.floor((ROW_COUNT - large) / WALLETS)
  await sql.unsafe(
    `
    insert into ledger_entries (wallet, position, type, delta_credits, balance_after_credits, reference, created_at)
    select ${ADDRESS('wallet')}, position, case when position % 1000 = 1 then 'topup' else 'usage' end, 1, position,
      wallet || ' ' || position, $1::timestamptz + position * (interval '${ALERT_DAYS} days' / entries)
    from (select ${LARGE_WALLET} as wallet, ${large} as entries union all select n, ${each} from generate_series(1, ${WALLETS}) n) w,
      generate_series(1, entries) position`,
    [from],
  )
  await sql.unsafe(
    `
    insert into accounts (wallet, balance_credits, occupied_slots, entry_count, last_entry_at, created_at)
    select ${ADDRESS('n')}, 1, 0, case when n = ${LARGE_WALLET} then ${large} else ${each} end, $1, $2
    from generate_series(${LARGE_WALLET}, ${WALLETS}) n`,
    [now, from],
  )
}
