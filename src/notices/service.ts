import type {
  ComingRenewal,
  EndingSlots,
  EndingTrial,
} from '#src/billing/subscriptions/reminders.ts'
import type { FailedRenewal, PaidRenewal } from '#src/billing/subscriptions/renewal.ts'
import { symbolOf } from '#src/billing/topups/rules.ts'
import type { CreditedPayment } from '#src/billing/topups/settle.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { plainEnvelope } from '#src/channels/plain-envelope.ts'
import type { Db } from '#src/db/connection.ts'
import type { TopicGone } from '#src/delivery/results/record-deps.ts'
import * as delivery from '#src/delivery/service.ts'
import { translator } from '#src/i18n/translate.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import type { AddedRecipient } from '#src/recipients/added.ts'
import type { RefusedRecipient } from '#src/recipients/consent.ts'
import type { StoppedDestination } from '#src/recipients/destinations.ts'
import { listNoticeRecipients, type NoticeRecipient } from '#src/recipients/notice-recipients.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { type SendTiming, sendTimingOf } from '#src/recipients/timing.ts'
import { type FittedWatches, listLabelsToSuspend } from '#src/watches/manage/slots.ts'
import { buttonsOf } from './buttons.ts'
import { factsIn } from './facts.ts'
import {
  type AnnouncementTexts,
  JOIN_NOTICES_MINUTES,
  NOTICE_KINDS,
  type Notice,
  RETENTION_DAYS,
  type ScheduledNotice,
} from './model.ts'
import { renderNotice } from './render.ts'
import * as store from './store.ts'
import { weeklyCardCode } from './weekly-link.ts'

/** Dependencies of notices. */
export interface NoticeDeps {
  readonly clock: Clock
  readonly publicUrl: string
  readonly box: SecretBox
  /** Username of the bot, without `@`; undefined while it is unknown. */
  readonly botUsername: () => string | undefined
  readonly billing: { readonly serviceTokenSymbol: string }
  /** Private chats with a message that shows the state of a top-up at this time. */
  readonly listChatsShowingTopup: (db: Db, handle: string, at: Date) => Promise<readonly number[]>
}

/**
 * Listeners that lower rooms call on events of which a wallet's owner is notified. Each is called in the
 * transaction of the event, so that event and notice are committed together or not at all.
 */
export interface Notices {
  /** Slots end soon, because they are not renewed or the balance is too low. */
  slotsEnd(tx: Db, ending: EndingSlots): Promise<void>
  trialEnds(tx: Db, ending: EndingTrial): Promise<void>
  /** Slots will be renewed soon, and the balance covers the price. */
  slotsRenew(tx: Db, coming: ComingRenewal): Promise<void>
  /** Slots were renewed. */
  renewed(tx: Db, renewal: PaidRenewal): Promise<void>
  renewalFailed(tx: Db, failed: FailedRenewal): Promise<void>
  /** Watches were suspended or run again, or the trial has ended. */
  fitted(tx: Db, fitted: FittedWatches): Promise<void>
  credited(tx: Db, payment: CreditedPayment): Promise<void>
  /** A destination was added. Sent to the wallet's other recipients, except the person who added it. */
  linked(tx: Db, recipient: AddedRecipient): Promise<void>
  /** Destinations were switched off. Sent to the wallet's other recipients. */
  switchedOff(tx: Db, stopped: readonly StoppedDestination[]): Promise<void>
  /** The reader of a mailbox refused e-mails, and the recipient was deleted. */
  refused(tx: Db, recipient: RefusedRecipient): Promise<void>
  /** What a wallet asked for and no event causes. A reader gets each key once. */
  scheduled(tx: Db, message: ScheduledMessage): Promise<void>
  /**
   * The operator tells a wallet's owner something, once for each name of the announcement.
   * @returns the number of readers for whom it is new
   */
  announce(
    tx: Db,
    announcement: {
      readonly wallet: Address
      readonly name: string
      readonly texts: AnnouncementTexts
    },
  ): Promise<number>
  /** The topic of a group was deleted. Sent to the group once, whatever the number of linked wallets. */
  topicGone(tx: Db, gone: TopicGone): Promise<void>
}

/** Creates the notices of a running service. Long because it has one listener for each kind of event. */
export function createNotices(deps: NoticeDeps): Notices {
  return {
    async slotsEnd(tx, { wallet, id, term, slotsLeft, at, ...ending }) {
      const stopping = await listLabelsToSuspend(tx, wallet, slotsLeft)
      const notice = { kind: 'slots-end', id, ...ending, stopping } as const
      await notify(deps, tx, { wallet, notice, about: [id, term, at.toISOString()] })
    },
    async trialEnds(tx, { wallet, endsAt, slotsLeft }) {
      const stopping = await listLabelsToSuspend(tx, wallet, slotsLeft)
      const notice = { kind: 'trial-ends', endsAt, stopping } as const
      await notify(deps, tx, { wallet, notice, about: [wallet] })
    },
    async slotsRenew(tx, { wallet, id, term, ...coming }) {
      const notice = { kind: 'renewal-ahead', ...coming } as const
      await notify(deps, tx, { wallet, notice, about: [id, term] })
    },
    async renewed(tx, { wallet, id, term, ...renewal }) {
      const notice = { kind: 'renewed', ...renewal } as const
      await notify(deps, tx, { wallet, notice, about: [id, term] })
    },
    async renewalFailed(tx, { wallet, id, term, tries, slotsLeft, ...failed }) {
      const stopping = await listLabelsToSuspend(tx, wallet, slotsLeft)
      const notice = { kind: 'renewal-failed', ...failed, stopping } as const
      await notify(deps, tx, { wallet, notice, about: [id, term, tries] })
    },
    async fitted(tx, { wallet, suspended, resumed, trialEndedAt, at, since = at }) {
      const about = [wallet, since.toISOString()]
      if (trialEndedAt !== undefined) {
        const notice = { kind: 'trial-ended', watches: suspended, at: trialEndedAt } as const
        await notify(deps, tx, { wallet, notice, about: [wallet] })
      } else if (suspended.length > 0) {
        await notify(deps, tx, {
          wallet,
          notice: { kind: 'suspended', watches: suspended, at: since },
          about,
        })
      }
      if (resumed.length === 0) return
      await notify(deps, tx, { wallet, notice: { kind: 'resumed', watches: resumed }, about })
    },
    async credited(tx, { wallet, handle, txHash, logIndex, ...payment }) {
      const symbol = symbolOf(payment.asset, deps.billing.serviceTokenSymbol)
      const notice = { kind: 'credited', ...payment, symbol } as const
      const accountIds = await deps.listChatsShowingTopup(tx, handle, payment.at)
      await notify(deps, tx, { wallet, notice, about: [txHash, logIndex], accountIds })
    },
    async linked(tx, recipient) {
      const { id, wallet, accountId } = recipient
      const notice = { kind: 'linked', ...recipient } as const
      const accountIds = accountId === null ? [] : [accountId]
      await notify(deps, tx, { wallet, notice, about: [id], without: id, accountIds })
    },
    async switchedOff(tx, stopped) {
      const at = deps.clock.now()
      const ids = stopped.map(({ id }) => id)
      const kept = await delivery.countWaiting(tx, ids, at)
      for (const stoppedDestination of stopped) {
        const { id, wallet } = stoppedDestination
        const count = kept.get(id) ?? 0
        const notice = { kind: 'destination-off', ...stoppedDestination, kept: count, at } as const
        await notify(deps, tx, { wallet, notice, about: [id, at.toISOString()], without: id })
      }
    },
    async refused(tx, { id, wallet, name, target }) {
      await notify(deps, tx, { wallet, notice: { kind: 'refused', name, target }, about: [id] })
    },
    async scheduled(tx, { wallet, reader, key, notice }) {
      const at = deps.clock.now()
      const fresh = await store.recordNoticesOnce(tx, { key, recipientIds: [reader.id], at })
      if (fresh.has(reader.id)) await give(deps, tx, { wallet, notice, readers: [reader], at })
    },
    async announce(tx, { wallet, name, texts }) {
      return await notify(deps, tx, {
        wallet,
        notice: { kind: 'announcement', texts },
        about: [name],
      })
    },
    async topicGone(tx, { link, partitionKey, threadId, recipientIds }) {
      const at = deps.clock.now()
      const { recipientId: id, wallet, locale, timezone, mutedUntil } = link
      const notice = { kind: 'topic-gone' } as const
      // A topic may be reopened and chosen again; one notice per day suffices.
      const key = [notice.kind, threadId, at.toISOString().slice(0, 10)].join(' ')
      const fresh = await store.recordNoticesOnce(tx, { key, recipientIds, at })
      if (!fresh.has(id)) return
      const channel = 'telegram'
      const reader = {
        id,
        channel,
        partitionKey,
        locale,
        timezone,
        mutedUntil,
        // The chat is a group.
        accountId: null,
      } as const
      await give(deps, tx, { wallet, notice, readers: [reader], at })
    },
  }
}

/** Deletes the records of notices to these recipients, in the transaction that deletes them. */
export function forgetNotices(tx: Db, recipientIds: readonly number[]): Promise<void> {
  return store.deleteOfRecipients(tx, recipientIds)
}

/** Deletes records of notices after their retention. */
export async function pruneNotices({
  db,
  clock,
}: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const before = clock.now().getTime() - RETENTION_DAYS * DAY_MS
  await store.deleteOld(db, new Date(before))
}

/** A scheduled notice for one of its readers. */
interface ScheduledMessage {
  readonly wallet: Address
  readonly reader: NoticeRecipient
  readonly key: string
  readonly notice: ScheduledNotice
}

/** A notice with its readers. */
interface Notification {
  readonly wallet: Address
  readonly notice: Notice
  /** Parts of the notice's key, which distinguish it from earlier notices of its kind. */
  readonly about: readonly (string | number)[]
  /** The recipient that the notice is about, which is excluded. */
  readonly without?: number
  /** Telegram accounts whose private chats already show the content. */
  readonly accountIds?: readonly number[]
}

/**
 * Sends a notice to each reader of the wallet's notices who has not got it yet.
 * @returns their number
 */
async function notify(
  deps: NoticeDeps,
  tx: Db,
  { wallet, notice, about, without, accountIds = [] }: Notification,
): Promise<number> {
  const readers = await listNoticeRecipients(tx, wallet, without)
  const wanted = readers.filter(
    ({ accountId }) => accountId === null || !accountIds.includes(accountId),
  )
  if (wanted.length === 0) return 0
  const at = deps.clock.now()
  const key = [notice.kind, ...about].join(' ')
  const recipientIds = wanted.map(({ id }) => id)
  const fresh = await store.recordNoticesOnce(tx, { key, recipientIds, at })
  await give(deps, tx, { wallet, notice, readers: wanted.filter(({ id }) => fresh.has(id)), at })
  return fresh.size
}

/** Writes one delivery for each reader, rendered for its locale and time zone. */
async function give(
  deps: NoticeDeps,
  tx: Db,
  {
    wallet,
    notice,
    readers,
    at,
  }: Pick<Notification, 'wallet' | 'notice'> & {
    readonly readers: readonly NoticeRecipient[]
    readonly at: Date
  },
): Promise<void> {
  const settings = (await listSettings(tx, [wallet])).get(wallet) ?? DEFAULT_SETTINGS
  const windows = await windowsOf(tx, notice, readers, at)
  const deliveries = readers.map((reader): delivery.NewDelivery => {
    const orderKey = orderKeyOf(notice, reader)
    const timing = timeOf(notice, settings, reader, { now: at, window: windows.get(orderKey) })
    const id = delivery.newDeliveryId(at)
    return {
      id,
      wallet,
      alertId: null,
      recipientId: reader.id,
      channel: reader.channel,
      partitionKey: reader.partitionKey,
      orderKey,
      firedAt: at,
      position: 0,
      envelope: envelopeOf(deps, notice, { reader, deliveryId: id, at }),
      createdAt: at,
      ...(timing.act === 'hold'
        ? { status: 'held', deferredUntil: timing.until }
        : { status: 'pending' }),
    }
  })
  await delivery.enqueue(tx, deliveries)
}

/**
 * Order key of a notice. Notices about the safety of the account have a separate key, so that they wait for
 * no other notices.
 */
function orderKeyOf(notice: Notice, { id }: NoticeRecipient): string {
  const { kind } = notice
  // A card has a message of its own, with its picture; so has a report, which is long.
  if (kind === 'weekly') return `${id} weekly ${notice.watchId}`
  if (kind === 'epoch-report') return `${id} ${kind} ${notice.report.provider}`
  return NOTICE_KINDS[kind].security ? `${id} notice security` : `${id} notice`
}

/** End of the collection window of each reader's next notices, by order key. */
async function windowsOf(
  tx: Db,
  notice: Notice,
  readers: readonly NoticeRecipient[],
  now: Date,
): Promise<ReadonlyMap<string, Date>> {
  const windows = await delivery.listJoinWindows(
    tx,
    readers.map(({ id }) => id),
    {
      orderKeys: readers.map((reader) => orderKeyOf(notice, reader)),
      seconds: JOIN_NOTICES_MINUTES * 60,
      now,
    },
  )
  return new Map(windows.map(({ orderKey, until }) => [orderKey, until]))
}

/**
 * Time of a notice: at once, or at the end of the collection window if its reader just got another notice.
 * A notice about the safety of the account skips a window that ends in quiet hours, because the collected
 * message would be deferred.
 */
function timeOf(
  { kind }: Notice,
  settings: Settings,
  reader: NoticeRecipient,
  { now, window }: { readonly now: Date; readonly window: Date | undefined },
): SendTiming {
  const { severity, security } = NOTICE_KINDS[kind]
  const timing = sendTimingOf(settings, reader, { kind: 'notice', severity, security, now })
  if (timing.act !== 'send' || window === undefined) return timing
  const later = sendTimingOf(settings, reader, { kind: 'notice', severity, now: window })
  return security && later.act === 'hold' ? timing : { act: 'hold', until: window }
}

/** Path of the page that a notice is about. */
function pageOf(notice: Notice): string {
  if (notice.kind !== 'epoch-report') return '/'
  const { provider, rewardEpoch } = notice.report
  return `/providers/${provider}/epochs/${rewardEpoch}`
}

function envelopeOf(
  deps: NoticeDeps,
  notice: Notice,
  {
    reader,
    deliveryId,
    at,
  }: { readonly reader: NoticeRecipient; readonly deliveryId: string; readonly at: Date },
): Envelope {
  const { accountId, locale, timezone } = reader
  const t = translator(locale)
  const { glyph, severity } = NOTICE_KINDS[notice.kind]
  const { title: bare, lines } = renderNotice(notice, { t, timezone })
  const inChat = accountId !== null
  const facts = factsIn(notice)
  const plain = plainEnvelope(
    { locale, timezone },
    { deliveryId, at },
    {
      kind: 'notice',
      event: `notice.${notice.kind}`,
      severity,
      title: titleOnChain(bare),
      body: lines.join('\n'),
      data: { glyph, ...(facts && { facts }) },
      link: `${deps.publicUrl}${pageOf(notice)}`,
      buttons: buttonsOf(t, notice, {
        inChat,
        botUsername: deps.botUsername(),
        url: `${deps.publicUrl}${pageOf(notice)}`,
      }),
    },
  )
  return notice.kind === 'weekly'
    ? { ...plain, card: weeklyCardCode(deps.box, notice.card) }
    : plain
}
