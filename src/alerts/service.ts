import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Envelope, Message } from '#src/channels/define.ts'
import type { Db } from '#src/db/connection.ts'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import { isAtLeast, SEVERITIES, type Severity } from '#src/kernel/facts.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { cutPage, PAGE_LIMIT_DEFAULT, type Page, readCursor } from '#src/kernel/query.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { JsonObject, storedAddress } from '#src/kernel/units.ts'
import * as recipients from '#src/recipients/service.ts'
import {
  DEFAULT_SETTINGS,
  getSettings,
  listSettings,
  type Settings,
} from '#src/recipients/settings.ts'
import type { Raised } from '#src/watches/evaluate.ts'
import { type Cell, csvLine } from './csv.ts'
import { alertUrl, readAlertLink } from './links.ts'
import {
  ALERT_STATES,
  type Alert,
  type AlertFilter,
  type AlertQuery,
  type AlertSelection,
  type AlertState,
} from './model.ts'
import { type Reader, renderMessage } from './render.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly publicUrl: string
}

/**
 * Records firings as alerts and puts their deliveries into the outbox, in the transaction that caused
 * them. A firing that is recorded already (a replayed observation) is passed over.
 */
export async function raise(deps: Deps, tx: Db, raised: readonly Raised[]): Promise<void> {
  const told = raised.filter(({ isTold }) => isTold)
  const inserted = await store.insertAlerts(tx, told, deps.clock.now())
  const idOf = new Map(inserted.map(({ id, key }) => [key, id]))
  const withId = (one: Raised) => idOf.get(store.alertKey({ ...one, watchId: one.watch.id }))
  const closed = new Map<Raised, readonly Severity[]>()
  for (const one of raised.filter(({ isRecovery }) => isRecovery)) {
    const severities = await store.closeEpisode(tx, {
      watchId: one.watch.id,
      signal: one.signal,
      recoveredAt: one.firedAt,
      position: one.position,
      recoveryId: withId(one),
    })
    closed.set(one, severities)
  }
  const fresh = told.flatMap((one) => {
    const alertId = withId(one)
    // Whoever was told of an alert is told of its end, although a recovery itself is only info.
    const weight = worstOf([one.severity, ...(closed.get(one) ?? [])])
    return alertId === undefined ? [] : [{ ...one, alertId, weight }]
  })
  await tell(deps, tx, fresh)
}

type Recorded = Raised & { readonly alertId: number; readonly weight: Severity }

/** One delivery per alert and recipient; each text is rendered once per language and time zone. */
async function tell(deps: Deps, tx: Db, recorded: readonly Recorded[]): Promise<void> {
  const wanted = recorded.filter(({ weight, watch }) => isAtLeast(weight, watch.minSeverity))
  const requests = wanted.map(({ watch, weight }) => ({
    wallet: watch.wallet,
    recipientIds: watch.recipientIds,
    severity: weight,
  }))
  const settings = await listSettings(tx, [...new Set(wanted.map(({ watch }) => watch.wallet))])
  const told = await recipients.recipientsFor(tx, requests)
  const createdAt = deps.clock.now()
  const deliveries = wanted.flatMap((alert, index) =>
    (told[index] ?? []).flatMap((recipient): delivery.NewDelivery[] => {
      const own = settings.get(alert.watch.wallet) ?? DEFAULT_SETTINGS
      if (recipient.channel !== 'webhook' && !isWelcome(alert, own)) return []
      const id = randomUUID()
      const isMuted = (alert.watch.mutedUntil ?? createdAt) > createdAt
      const one: delivery.NewDelivery = {
        id,
        wallet: alert.watch.wallet,
        alertId: alert.alertId,
        recipientId: recipient.id,
        channel: recipient.channel,
        lane: recipient.lane,
        orderKey: `${recipient.id} ${alert.watch.id} ${alert.signal}`,
        firedAt: alert.firedAt,
        position: alert.position,
        envelope: envelopeOf(deps, alert, recipient, id),
        createdAt,
        status: isMuted && recipient.channel !== 'webhook' ? 'muted' : 'pending',
      }
      return [one]
    }),
  )
  await delivery.enqueue(tx, deliveries)
}

/** Whether the wallet's settings want it in chats and mailboxes; they never hold for webhooks. */
function isWelcome(alert: Recorded, { minSeverity, recoveries }: Settings): boolean {
  return isAtLeast(alert.weight, minSeverity) && (recoveries || !alert.isRecovery)
}

function worstOf(severities: readonly Severity[]): Severity {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? 'info'
}

function envelopeOf(
  deps: Deps,
  alert: Recorded,
  recipient: Reader & { readonly id: number },
  deliveryId: string,
): Envelope {
  const { locale, timezone } = recipient
  const link = alertUrl(deps, { alertId: alert.alertId, recipientId: recipient.id })
  const message = renderMessage(
    {
      alertId: alert.alertId,
      watchId: alert.watch.id,
      watchLabel: alert.watch.label,
      event: alert.event,
      severity: alert.severity,
      data: alert.data,
      firedAt: alert.firedAt,
      link,
      test: false,
    },
    { locale, timezone },
  )
  const { type, signal, group, data } = alert
  return { deliveryId, type, signal, group, data, locale, timezone, message }
}

/** The wallet's alerts, newest first, in the wallet's language. */
export async function listAlerts(
  deps: Pick<Deps, 'db' | 'box' | 'publicUrl'>,
  caller: Caller,
  query: AlertQuery,
): Promise<Page<Alert>> {
  const { limit = PAGE_LIMIT_DEFAULT, cursor, ...filter } = query
  const [firedAtMs, id] = readCursor(cursor, 2, filter) ?? []
  const after =
    firedAtMs === undefined || id === undefined ? undefined : { firedAt: new Date(firedAtMs), id }
  const rows = await store.listAlerts(deps.db, caller.wallet, filter, after, limit + 1)
  const page = cutPage(rows, limit, filter, (row) => [row.firedAt.getTime(), row.id])
  const deliveries = await delivery.listForAlerts(
    deps.db,
    page.data.map((row) => row.id),
  )
  const reader = await getSettings(deps, caller)
  return {
    nextCursor: page.nextCursor,
    data: page.data.map((row) => toAlert(deps, row, reader, deliveries.get(row.id) ?? [])),
  }
}

/** Rows that one statement deletes, so that no lock lasts long. */
const DELETED_AT_ONCE = 5000

/**
 * Deletes history; episodes that are open stay open.
 *
 * @returns how many alerts are gone
 * @throws AppError invalid `validation_failed` without `ids`, `before` or `all`
 */
export async function deleteAlerts(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  selection: AlertSelection,
): Promise<{ deleted: number }> {
  const { all, ...chosen } = selection
  if (all === undefined && chosen.ids === undefined && chosen.before === undefined) {
    const errors = [{ pointer: '', code: 'selector' }]
    throw new AppError('invalid', 'validation_failed', { errors })
  }
  let deleted = 0
  for (;;) {
    const gone = await store.deleteAlerts(deps.db, caller.wallet, chosen, DELETED_AT_ONCE)
    deleted += gone
    if (gone < DELETED_AT_ONCE) return { deleted }
  }
}

/** Deletes one alert. @throws AppError not_found */
export async function deleteAlert(
  deps: Pick<Deps, 'db'>,
  caller: Caller,
  id: number,
): Promise<void> {
  const gone = await store.deleteAlerts(deps.db, caller.wallet, { ids: [id] }, 1)
  if (gone === 0) throw new AppError('not_found', 'not_found')
}

/** Alerts read at once for an export; bounds its memory. */
const EXPORTED_AT_ONCE = 1000

const COLUMNS = [
  'id',
  'firedAt',
  'recoveredAt',
  'watchId',
  'watchLabel',
  'type',
  'signal',
  'group',
  'event',
  'severity',
  'state',
  'title',
  'body',
  'data',
] as const

/** The history that fits as CSV, newest first, line by line as it is read. */
export async function* exportAlerts(
  deps: Pick<Deps, 'db' | 'box' | 'publicUrl'>,
  caller: Caller,
  filter: AlertFilter,
): AsyncGenerator<string> {
  const reader = await getSettings(deps, caller)
  yield csvLine(COLUMNS)
  let after: { firedAt: Date; id: number } | undefined
  for (;;) {
    const rows = await store.listAlerts(deps.db, caller.wallet, filter, after, EXPORTED_AT_ONCE)
    if (rows.length > 0) yield rows.map((row) => exportLine(deps, row, reader)).join('')
    after = rows.at(-1)
    if (rows.length < EXPORTED_AT_ONCE) return
  }
}

function exportLine(
  deps: Pick<Deps, 'box' | 'publicUrl'>,
  row: store.AlertRow,
  reader: Reader,
): string {
  const { title, body } = messageOf(deps, row, reader)
  const cells: Record<(typeof COLUMNS)[number], Cell> = {
    ...row,
    firedAt: row.firedAt.toISOString(),
    recoveredAt: row.recoveredAt?.toISOString() ?? null,
    title,
    body,
    data: JSON.stringify(row.data),
  }
  return csvLine(COLUMNS.map((column) => cells[column]))
}

/** An alert as its own page shows it. */
export interface AlertPage {
  readonly message: Message
  readonly locale: Locale
  readonly timezone: string
  readonly state: AlertState
  readonly recoveredAt: Date | null
  readonly durationSeconds: number | null
}

/**
 * The alert behind a signed link, in the language of the recipient it was made for.
 *
 * @returns undefined when the link is not ours or the alert was deleted
 */
export async function readLinked(
  deps: Pick<Deps, 'db' | 'box' | 'publicUrl'>,
  code: string,
  locale?: Locale,
): Promise<AlertPage | undefined> {
  const link = readAlertLink(deps.box, code)
  const row = link && (await store.findAlert(deps.db, link.alertId))
  if (link === undefined || row === undefined) return undefined
  const wallet = storedAddress(row.wallet)
  const reader =
    (link.recipientId !== null && (await recipients.findReader(deps.db, link.recipientId))) ||
    (await listSettings(deps.db, [wallet])).get(wallet) ||
    DEFAULT_SETTINGS
  const { timezone } = reader
  const language = locale ?? reader.locale
  return {
    message: messageOf(deps, row, { locale: language, timezone }),
    locale: language,
    timezone,
    state: stateOf(row),
    recoveredAt: row.recoveredAt,
    durationSeconds: durationOf(row),
  }
}

function toAlert(
  deps: Pick<Deps, 'box' | 'publicUrl'>,
  row: store.AlertRow,
  reader: Reader,
  deliveries: DeliveryEntry[],
): Alert {
  const { title, body } = messageOf(deps, row, reader)
  return {
    id: row.id,
    watchId: row.watchId,
    watchLabel: row.watchLabel,
    type: row.type,
    signal: row.signal,
    group: row.group,
    event: row.event,
    severity: z.enum(SEVERITIES).parse(row.severity),
    state: stateOf(row),
    data: JsonObject.parse(row.data),
    rendered: { locale: reader.locale, title, body },
    firedAt: row.firedAt,
    recoveredAt: row.recoveredAt,
    durationSeconds: durationOf(row),
    recoveryOf: row.recoveryOf,
    acknowledgedAt: row.acknowledgedAt,
    deliveries,
  }
}

function messageOf(
  deps: Pick<Deps, 'box' | 'publicUrl'>,
  row: store.AlertRow,
  { locale, timezone }: Reader,
): Message {
  return renderMessage(
    {
      alertId: row.id,
      watchId: row.watchId,
      watchLabel: row.watchLabel,
      event: row.event,
      severity: z.enum(SEVERITIES).parse(row.severity),
      data: JsonObject.parse(row.data),
      firedAt: row.firedAt,
      link: alertUrl(deps, { alertId: row.id, recipientId: null }),
      test: false,
    },
    { locale, timezone },
  )
}

function stateOf(row: store.AlertRow): AlertState {
  return z.enum(ALERT_STATES).parse(row.state)
}

/** Seconds from firing to recovery; a recovery's own row has none. */
function durationOf(row: store.AlertRow): number | null {
  if (row.recoveredAt === null || row.recoveredAt.getTime() === row.firedAt.getTime()) return null
  return (row.recoveredAt.getTime() - row.firedAt.getTime()) / 1000
}

/** Alerts of all wallets recorded since then, for the public figures. */
export function countRecent(db: Db, since: Date): Promise<number> {
  return store.countSince(db, since)
}
