/**
 * Summaries of deliveries that quiet hours, digests and mutes deferred. One message contains all that are
 * due. Claiming the deliveries and writing the summary are one transaction, so each delivery is sent once,
 * and after a stop the next run continues.
 */

import { Envelope, type EnvelopeMessage } from '#src/channels/envelope.ts'
import { plainEnvelope } from '#src/channels/plain-envelope.ts'
import { asCurrent } from '#src/channels/updates/current.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isolateEach } from '#src/db/isolate.ts'
import * as delivery from '#src/delivery/service.ts'
import { translator } from '#src/i18n/translate.ts'
import { SEVERITIES, type Severity } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import * as recipients from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { sendTimingOf, type TimingReader } from '#src/recipients/timing.ts'
import { currentFiguresOf, withCurrentFigures } from '../messages/current-figures.ts'
import { outageSeconds, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import type { NotifyDeps } from '../notify/deps.ts'
import * as store from '../store.ts'
import * as deferred from './deferred-store.ts'
import { joinNotices, splitIntoMessages } from './joined-notices.ts'
import {
  deferralReasonOf,
  deferredSummaryText,
  newestMessage,
  REASON_GLYPHS,
  sortSummaryMessages,
  summaryButtons,
  summaryLine,
  summaryPeriodOf,
} from './view.ts'

/** Recipients read by one query. */
const AT_ONCE = 200
/** Maximum number of alerts that a summary names; the others are counted. */
const ITEMS_MAX = 20
/** Maximum number of notices sent in one run; the others follow with the next run. */
const NOTICES_MAX = 100

type Deps = NotifyDeps & { readonly db: Db }

/**
 * Sends a summary to every recipient with due deferred deliveries, after rescheduling the deliveries of
 * recipients whose mute or settings changed. A failure affects only its own recipient.
 */
export async function sendSummaries(deps: Deps, signal: AbortSignal): Promise<void> {
  const options = { quarantine: deps.quarantine, kind: 'summary', idOf: (id: number) => id }
  const each = async (
    list: (after: number) => Promise<readonly number[]>,
    run: (id: number) => Promise<void>,
  ) => {
    for (let after = 0; !signal.aborted; ) {
      const ids = await list(after)
      await isolateEach(ids, options, async (id) => {
        if (!signal.aborted) await run(id)
      })
      const last = ids.at(-1)
      if (last === undefined || ids.length < AT_ONCE) return
      after = last
    }
  }
  await each(
    (after) => recipients.listReschedule(deps.db, after, AT_ONCE),
    (id) => reschedule(deps, id, { keepDue: true }),
  )
  await each(
    (after) =>
      delivery.listRecipientsWithDeferred(deps.db, deps.clock.now(), { after, limit: AT_ONCE }),
    async (id) => {
      const isLater = await transact(deps.db, (tx) => summarize(deps, tx, id))
      if (isLater) await reschedule(deps, id, { keepDue: false })
    },
  )
}

/** Times at which deliveries deferred now would be due for a recipient. */
function timesFor(settings: Settings, reader: TimingReader, now: Date) {
  const at = (kind: 'notice' | 'alert', severity: Severity): Date => {
    const timing = sendTimingOf(settings, reader, { kind, severity, now })
    return timing.act === 'hold' ? timing.until : now
  }
  return {
    notices: at('notice', 'info'),
    critical: at('alert', 'critical'),
    others: at('alert', 'warning'),
  }
}

/**
 * Reschedules a recipient's deferred deliveries in batches, as if they were deferred now.
 *
 * @param options `keepDue`: deliveries that are due stay due
 */
async function reschedule(
  deps: Deps,
  recipientId: number,
  { keepDue }: { readonly keepDue: boolean },
): Promise<void> {
  const reader = (await recipients.readRecipientsById(deps.db, [recipientId])).get(recipientId)
  if (reader === undefined) return
  const { wallet, rescheduleAt } = reader
  const settings = (await listSettings(deps.db, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  const now = deps.clock.now()
  const until = { ...timesFor(settings, reader, now), keepDueAt: keepDue ? now : null }
  for (let after: string | undefined; ; ) {
    after = await transact(deps.db, (tx) =>
      deferred.rescheduleDeferred(tx, recipientId, until, after),
    )
    if (after === undefined) break
  }
  await recipients.endReschedule(deps.db, recipientId, rescheduleAt)
}

/**
 * Sends one recipient's summary.
 * @returns true when a due delivery must wait longer because of changed settings or a new mute
 */
async function summarize(deps: Deps, tx: Db, recipientId: number): Promise<boolean> {
  const now = deps.clock.now()
  // Locked, so that two processes never send the same summary.
  const reader = await recipients.lockRecipient(tx, recipientId)
  if (reader === undefined) {
    // The recipient was deleted, so its deferred deliveries are cancelled.
    await delivery.cancelDeferred(tx, recipientId)
    return false
  }
  const { wallet, channel, partitionKey, mutedUntil: wakes } = reader
  const settings = (await listSettings(tx, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  const until = timesFor(settings, reader, now)
  // The recipient was muted meanwhile, or its quiet hours changed. Critical deliveries may be due
  // nevertheless.
  const isLater = until.notices > now
  if (isLater && until.critical > now) return true
  const due = { recipientId, until: now, onlyCritical: isLater }
  const notices = isLater ? [] : await readNotices(deps, tx, reader, now)
  const summary = await summaryOf(deps, tx, { due, reader, settings, wakes, now })
  if (summary !== undefined) await deferred.markSummarized(tx, due, summary.deliveryId)
  await delivery.recordSummarized(
    tx,
    notices.flatMap(({ ids, envelope: { deliveryId } }) =>
      ids.map((id) => ({ id, summaryDeliveryId: deliveryId })),
    ),
  )
  const about = { wallet, recipientId, channel, partitionKey, alertId: null, position: 0 }
  const plain = { ...about, createdAt: now, status: 'pending' } as const
  await delivery.enqueue(tx, [
    ...notices.map(({ envelope, firedAt, orderKey }) => ({
      ...plain,
      id: envelope.deliveryId,
      orderKey,
      firedAt,
      envelope,
    })),
    ...(summary === undefined
      ? []
      : [
          {
            ...plain,
            id: summary.deliveryId,
            orderKey: `${recipientId} summary`,
            firedAt: now,
            envelope: summary,
          },
        ]),
  ])
  return isLater
}

/** A row whose envelope was parsed. */
type Readable<Row extends delivery.DeferredDelivery> = Row & { readonly envelope: Envelope }

/** Reads the due notices, several in one message. */
async function readNotices(
  deps: Deps,
  tx: Db,
  { id, locale }: { readonly id: number; readonly locale: Locale },
  now: Date,
) {
  const rows = await delivery.listDeferredNotices(tx, id, now, NOTICES_MAX)
  const notices = await readable(deps, tx, rows)
  return splitIntoMessages(notices).map((chunk) => {
    const [first] = chunk
    const keys = new Set(chunk.map(({ orderKey }) => orderKey))
    return {
      ids: chunk.map((notice) => notice.id),
      firedAt: first.firedAt,
      // A notice about the safety of the account must not wait for a message that has other news, too.
      orderKey: keys.size === 1 ? first.orderKey : `${id} notice`,
      envelope: joinNotices(
        translator(locale),
        [first.envelope, ...chunk.slice(1).map(({ envelope }) => envelope)],
        { deliveryId: delivery.newDeliveryId(now), now },
      ),
    }
  })
}

/** Returns the rows that can be parsed; the others are marked as failed and put into quarantine. */
async function readable<Row extends delivery.DeferredDelivery>(
  { quarantine }: Deps,
  tx: Db,
  rows: readonly Row[],
): Promise<readonly Readable<Row>[]> {
  const read = rows.map((row) => ({ row, parsed: Envelope.safeParse(row.envelope) }))
  const broken = read.flatMap(({ row: { id, alertId }, parsed }) =>
    parsed.success ? [] : [{ id, alertId, error: parsed.error }],
  )
  for (const { id, alertId, error } of broken) quarantine.add('delivery', id, error, { alertId })
  await delivery.markDeferredFailed(
    tx,
    broken.map(({ id }) => id),
  )
  return read.flatMap(({ row, parsed }) =>
    parsed.success ? [{ ...row, envelope: parsed.data }] : [],
  )
}

/** The alerts that a summary names. Rows that cannot be parsed are replaced by the next ones. */
async function listItems(
  deps: Deps,
  tx: Db,
  due: deferred.DueDeferred,
): Promise<readonly Readable<deferred.DeferredAlert>[]> {
  for (;;) {
    const rows = await deferred.listNewestDeferred(tx, due, ITEMS_MAX)
    const items = await readable(deps, tx, rows)
    if (items.length === rows.length) return items
  }
}

/** Lines of deferred alerts, which are given newest first, in the order in which the alerts fired. */
async function linesOf(
  tx: Db,
  rows: readonly Readable<delivery.DeferredDelivery>[],
  reader: Reader,
): Promise<readonly EnvelopeMessage[]> {
  const ids = rows.flatMap(({ alertId }) => alertId ?? [])
  const alerts = await withCurrentFigures(tx, await store.listAlertsByIds(tx, ids))
  const outages = await readOutages(tx, alerts)
  const known = new Map(alerts.map((alert) => [alert.id, alert]))
  return rows
    .toReversed()
    .toSorted((a, b) => a.firedAt.getTime() - b.firedAt.getTime())
    .map(({ alertId, envelope }) => {
      const { message } = envelope
      const alert = known.get(alertId ?? 0)
      const current = () => alert && currentFiguresOf(alert, reader)
      const shown = asCurrent(envelope, { current }).message
      const outage = message.isRecovery ? undefined : outages.get(alertId ?? 0)
      return summaryLine(shown, outage === undefined ? null : outageSeconds(outage), reader.locale)
    })
}

/** Builds the summary; undefined when it would be empty. */
async function summaryOf(
  deps: Deps,
  tx: Db,
  input: {
    readonly due: deferred.DueDeferred
    readonly reader: Reader
    readonly settings: Settings
    /** End of the reader's mute; null if there was none. */
    readonly wakes: Date | null
    readonly now: Date
  },
): Promise<Envelope | undefined> {
  const { due, reader, settings, wakes, now } = input
  const rows = await listItems(deps, tx, due)
  if (rows.length === 0) return undefined
  const counts = await deferred.countDeferred(tx, due)
  const about = { settings, wakes, now, firstAt: counts.firstAt ?? now }
  const reason = deferralReasonOf(about)
  const { locale, timezone } = reader
  const period = summaryPeriodOf(reason, { ...about, lastAt: counts.lastAt ?? now, timezone })
  const all = await linesOf(tx, rows, { locale, timezone })
  const firing = new Set(rows.flatMap(({ alertId, isFiring }) => (isFiring ? [alertId] : [])))
  const items = sortSummaryMessages(all, firing, reason === 'digest')
  const t = translator(locale)
  const more = counts.lines - items.length
  const data = {
    glyph: REASON_GLYPHS[reason],
    reason,
    from: period.from.toISOString(),
    to: period.to.toISOString(),
  }
  return {
    ...plainEnvelope(
      { locale, timezone },
      { deliveryId: delivery.newDeliveryId(now), at: now },
      {
        kind: 'summary',
        event: 'summary',
        severity: SEVERITIES[counts.urgency] ?? 'info',
        ...deferredSummaryText(t, { reason, period, counts, reader }),
        data,
        link: newestMessage(all)?.link ?? `${deps.publicUrl}/`,
        buttons: summaryButtons(t, reason),
      },
    ),
    items: items.map((item) => ({ ...item, body: '', fields: [] })),
    ...(more > 0 && { more }),
  }
}
