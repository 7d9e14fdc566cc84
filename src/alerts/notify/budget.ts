/**
 * Alert budgets: a watch sends a recipient a limited number of alerts per hour, a follower per day. Alerts beyond the budget
 * are recorded as `throttled`: one message announces that, and one summary per hour counts them. Recoveries
 * and reminders do not count and are always sent. Webhooks see only the status of the delivery.
 */

import { randomUUID } from 'node:crypto'
import { alertsOfLast24Hours } from '#src/actions/codec.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { plainEnvelope } from '#src/channels/plain-envelope.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { listDueIds, lockIfDue } from '#src/db/due-rows.ts'
import { isolateEach } from '#src/db/isolate.ts'
import * as delivery from '#src/delivery/service.ts'
import { type Translate, translator, typed } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { Address } from '#src/kernel/units.ts'
import * as recipients from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { sendTimingOf } from '#src/recipients/timing.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import * as store from './budget-store.ts'
import type { NotifyDeps } from './deps.ts'

/** Maximum number of alerts of one watch to one recipient: for people and for webhooks an hour, for followers a day. */
const PEOPLE = { allowed: 120, hours: 1 } as const
const PROGRAM = { allowed: 1200, hours: 1 } as const
const FOLLOWER = { allowed: 30, hours: 24 } as const
/** Summaries claimed by one query. */
const AT_ONCE = 200
const GLYPH = '🚧'

/** A delivery that is about to be written, with its watch. */
export interface PlannedDelivery {
  readonly watchId: number
  readonly row: delivery.NewDelivery
  /** Whether the recipient follows a provider without a wallet. */
  readonly isFollower: boolean
  /** Whether the delivery counts against the budget: it does if its alert is sent, now or later. */
  readonly counts: boolean
}

/** A recipient whose alerts of a watch are throttled from now on, and who is informed once. */
export interface NewlyThrottled {
  readonly watchId: number
  readonly recipientId: number
}

/**
 * Counts the planned deliveries of a batch, in one statement, and marks deliveries beyond the budget as
 * throttled. The first deliveries of each watch are sent.
 */
export async function applyBudget(
  tx: Db,
  planned: readonly PlannedDelivery[],
  now: Date,
): Promise<{
  readonly rows: readonly delivery.NewDelivery[]
  readonly first: readonly NewlyThrottled[]
}> {
  const counts = new Map<string, store.BudgetUse>()
  for (const { watchId, row, isFollower, counts: isCounted } of planned) {
    if (!isCounted) continue
    const { recipientId, channel } = row
    const key = keyOf(watchId, recipientId)
    const count = (counts.get(key)?.count ?? 0) + 1
    counts.set(key, { watchId, recipientId, ...allowedFor(channel, isFollower), count })
  }
  const spent = await store.spendBudget(tx, [...counts.values()], { now, id: randomUUID() })
  const left = new Map<string, number>()
  for (const { watchId, recipientId, used } of spent) {
    const key = keyOf(watchId, recipientId)
    const { allowed = 0, count = 0 } = counts.get(key) ?? {}
    left.set(key, Math.max(0, allowed - (used - count)))
  }
  const rows = planned.map(({ watchId, row, counts: isCounted }): delivery.NewDelivery => {
    if (!isCounted) return row
    const key = keyOf(watchId, row.recipientId)
    const free = left.get(key) ?? 0
    left.set(key, free - 1)
    if (free > 0) return row
    const { deferredUntil: _heldUntil, ...rest } = row
    return { ...rest, status: 'throttled' }
  })
  return { rows, first: spent.filter(({ isFirst }) => isFirst) }
}

function keyOf(watchId: number, recipientId: number): string {
  return `${watchId} ${recipientId}`
}

function allowedFor(channel: ChannelKey, isFollower: boolean) {
  if (isFollower) return FOLLOWER
  return CHANNELS[channel].isProgrammatic ? PROGRAM : PEOPLE
}

/** Recipient of a message about the budget. */
interface Reader {
  readonly id: number
  readonly wallet: Address
  readonly channel: ChannelKey
  readonly partitionKey: string
  readonly locale: Locale
  readonly timezone: string
  readonly mutedUntil: Date | null
}

/** Message which says that further alerts of a watch are not sent in this hour, or to a follower on this day. */
export function budgetMessage(
  deps: Pick<NotifyDeps, 'publicUrl'>,
  options: {
    readonly watch: { readonly id: number; readonly label: string }
    readonly reader: Reader & { readonly isFollower: boolean }
    readonly settings: Settings
    readonly now: Date
  },
): delivery.NewDelivery {
  const { watch, reader } = options
  const limit = (t: Translate, { allowed: count }: { readonly allowed: number }) =>
    t('units:alerts', { count })
  return messageFor(deps, options, (t) => ({
    title: t('messages:throttled.title', { watch: typed(watch.label) }),
    body: reader.isFollower
      ? t('messages:throttled.follower', { limit: limit(t, FOLLOWER) })
      : t('messages:throttled.body', { limit: limit(t, PEOPLE) }),
  }))
}

/** Sends the due hourly summaries, one for each watch and recipient. */
export async function sendThrottleSummaries(
  deps: NotifyDeps & { readonly db: Db },
  signal: AbortSignal,
): Promise<void> {
  const { quarantine } = deps
  const idOf = (due: store.DueSummary) => keyOf(due.watchId, due.recipientId)
  while (!signal.aborted) {
    const due = await listDueIds(deps.db, store.DUE_THROTTLE_SUMMARIES, {
      now: deps.clock.now(),
      limit: AT_ONCE,
    })
    const options = { quarantine, kind: 'throttle-summary', idOf }
    const done = await isolateEach(due, options, async (dueSummary) => {
      if (!signal.aborted) await transact(deps.db, (tx) => summarize(deps, tx, dueSummary))
    })
    // The next run retries failed summaries.
    if (due.length < AT_ONCE || done.length < due.length) return
  }
}

async function summarize(deps: NotifyDeps, tx: Db, due: store.DueSummary): Promise<void> {
  const now = deps.clock.now()
  const [taken] = await lockIfDue(tx, store.DUE_THROTTLE_SUMMARIES, { now, among: [due] })
  if (taken === undefined) return
  const { watchId, recipientId, allowed, throttled } = taken
  const reader = (await recipients.readRecipientsById(tx, [recipientId])).get(recipientId)
  const watch = (await listForNotification(tx, [watchId])).get(watchId)
  if (
    reader?.status !== 'active' ||
    reader.follows !== null ||
    watch === undefined ||
    CHANNELS[reader.channel].isProgrammatic
  ) {
    await store.endThrottleSummary(tx, taken, null)
    return
  }
  const settings = (await listSettings(tx, [reader.wallet])).get(reader.wallet) ?? DEFAULT_SETTINGS
  const timing = sendTimingOf(settings, reader, { kind: 'notice', severity: 'warning', now })
  if (timing.act === 'hold') {
    await store.endThrottleSummary(tx, taken, timing.until)
    return
  }
  const summary = messageFor(deps, { watch, reader, settings, now }, (t) => ({
    title: t('messages:throttled.count', { count: throttled, watch: typed(watch.label) }),
    body: t('messages:throttled.summary', { limit: t('units:alerts', { count: allowed }) }),
  }))
  await store.endThrottleSummary(tx, taken, null)
  await delivery.enqueue(tx, [summary])
}

function messageFor(
  { publicUrl }: Pick<NotifyDeps, 'publicUrl'>,
  options: Omit<Parameters<typeof budgetMessage>[1], 'reader'> & { readonly reader: Reader },
  write: (t: Translate) => Pick<Envelope['message'], 'title' | 'body'>,
): delivery.NewDelivery {
  const { watch, reader, settings, now } = options
  const { id: recipientId, wallet, channel, partitionKey, locale, timezone } = reader
  const t = translator(locale)
  const id = delivery.newDeliveryId(now)
  const timing = sendTimingOf(settings, reader, { kind: 'notice', severity: 'warning', now })
  return {
    id,
    wallet,
    alertId: null,
    recipientId,
    channel,
    partitionKey,
    orderKey: `${recipientId} throttled ${watch.id}`,
    firedAt: now,
    position: 0,
    envelope: plainEnvelope(
      { locale, timezone },
      { deliveryId: id, at: now },
      {
        kind: 'notice',
        event: 'notice.throttled',
        severity: 'warning',
        ...write(t),
        data: { glyph: GLYPH },
        watch,
        link: `${publicUrl}/`,
        buttons: [[{ label: t('messages:button.open'), act: alertsOfLast24Hours() }]],
      },
    ),
    createdAt: now,
    ...(timing.act === 'hold'
      ? { status: 'held', deferredUntil: timing.until }
      : { status: 'pending' }),
  }
}

/** Deletes the counts of watches and recipients without alerts for some windows. */
export async function pruneBudgets({ db, clock }: Pick<NotifyDeps, 'clock'> & { readonly db: Db }) {
  await store.deleteIdleBudgets(db, clock.now())
}
