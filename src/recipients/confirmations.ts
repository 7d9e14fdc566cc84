/**
 * Consent of a mailbox's reader. A mailbox gets one e-mail with a link; nothing else is sent before the reader has
 * agreed on the linked page. The e-mail is stored in the transaction that creates or changes the recipient. A job
 * tries to send it until the mail server accepts it, so that no e-mail is lost while the mail server is unreachable.
 * The number of such e-mails to one mailbox is limited, however many wallets request them.
 */
import { DeliveryError } from '#src/channels/define.ts'
import { REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { type MailDeps, sendConfirmation } from '#src/channels/mail/email.ts'
import { type Db, transact } from '#src/db/connection.ts'
import { isSharedFailure } from '#src/db/isolate.ts'
import { claimDueRows, reschedule } from '#src/db/queue.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS, HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import type { Quarantine } from '#src/kernel/quarantine.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import * as mails from './confirmation-store.ts'
import { decryptDestination } from './destination-box.ts'
import { addressDigest, confirmationUrl, mailboxDigest } from './mail-links.ts'
import { CONFIRMATION_HOURS, OFF_BY_READER, REFUSAL_DAYS } from './model.ts'
import { nextConfirmationAt, retryConfirmationAt } from './rules.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'
import { addressOf } from './typed-destination.ts'

/** NOTIFY channel of confirmed mailboxes. */
export const CONSENTS_CHANNEL = mails.CONSENTS_CHANNEL

const KEPT_MS = 2 * DAY_MS
/** Lease of an e-mail; longer than the timeout of the mail server. */
const LEASE_MS = 120_000
const MAILS_AT_ONCE = 10

/**
 * Plans a confirmation e-mail at the earliest time within the limits, unless an e-mail to this address is
 * already waiting. The caller's transaction must have locked the wallet.
 *
 * @throws AppError conflict `mailbox_refused` while the reader's refusal is stored; rate_limited with the
 * seconds to wait if the limits allow no e-mail within a day
 */
export async function planConfirmation(
  tx: Db,
  row: Pick<store.RecipientRow, 'id' | 'wallet'>,
  destination: unknown,
  now: Date,
): Promise<void> {
  const address = addressOf(destination) ?? ''
  const digest = addressDigest(address)
  if ((await mails.findUnsentConfirmation(tx, row.id, digest)) !== undefined) return
  const mailbox = mailboxDigest(address)
  await requireNoRefusal(tx, mailbox, now)
  const dueAt = await earliest(tx, row.wallet, mailbox, now)
  if (dueAt.getTime() > now.getTime() + DAY_MS) throw tooMany(dueAt, now)
  await mails.enqueueConfirmationMail(tx, {
    recipientId: row.id,
    wallet: row.wallet,
    addressDigest: digest,
    mailboxDigest: mailbox,
    dueAt,
  })
}

/** Stores that a mailbox's reader refused e-mails: no wallet can ask again for 90 days. */
export async function recordRefusal(tx: Db, address: string, now: Date): Promise<void> {
  await mails.saveRefusal(tx, mailboxDigest(address), now)
}

async function requireNoRefusal(db: Db, mailbox: string, now: Date): Promise<void> {
  if (!(await isRefused(db, mailbox, now))) return
  throw new AppError('conflict', 'mailbox_refused', { values: { days: REFUSAL_DAYS } })
}

async function isRefused(db: Db, mailbox: string, now: Date): Promise<boolean> {
  return (await mails.findRefusal(db, mailbox, refusedSince(now))) !== undefined
}

function refusedSince(now: Date): Date {
  return new Date(now.getTime() - REFUSAL_DAYS * DAY_MS)
}

function tooMany(dueAt: Date, now: Date): AppError {
  const seconds = Math.ceil((dueAt.getTime() - now.getTime()) / 1000)
  return new AppError('rate_limited', 'rate_limited', {
    retryAfterSeconds: seconds,
    values: { seconds },
  })
}

/** Cancels the unsent confirmation e-mails of a recipient. */
export async function cancelConfirmation(tx: Db, recipientId: number): Promise<void> {
  await mails.cancelMails(tx, recipientId)
}

async function earliest(tx: Db, wallet: Address, mailbox: string, now: Date): Promise<Date> {
  const since = new Date(now.getTime() - DAY_MS)
  await mails.lockMailbox(tx, mailbox)
  const toMailbox = await mails.listDueAtOfMailbox(tx, mailbox, since)
  const ofWallet = await mails.listDueAtOfWallet(tx, wallet, since)
  return nextConfirmationAt({ toMailbox, ofWallet }, now)
}

/**
 * Sends a recipient's confirmation once more, within the limits. An e-mail that waits for the mail
 * server is not sent twice; a confirmed recipient gets none.
 *
 * @throws AppError not_found; conflict `mailbox_refused`; rate_limited with the seconds to wait
 */
export async function resendConfirmation(
  deps: { readonly db: Db; readonly clock: Clock; readonly box: SecretBox },
  caller: Caller,
  id: number,
): Promise<void> {
  const now = deps.clock.now()
  await transact(deps.db, async (tx) => {
    await lockWallet(tx, caller.wallet, now)
    const row = await store.findRecipientRow(tx, id)
    const isAsked = row?.wallet === caller.wallet && CHANNELS[row.channel].needsConsent
    if (!isAsked) throw new AppError('not_found', 'not_found')
    if (row.verifiedAt !== null) return
    const destination = decryptDestination(deps.box, row.destination)
    const address = addressOf(destination) ?? ''
    const isWaiting =
      (await mails.findUnsentConfirmation(tx, id, addressDigest(address))) !== undefined
    const dueAt = await earliest(tx, row.wallet, mailboxDigest(address), now)
    if (!isWaiting && dueAt > now) throw tooMany(dueAt, now)
    await store.updateRow(tx, id, { status: 'pending', statusReason: null, updatedAt: now })
    await planConfirmation(tx, row, destination, now)
  })
}

interface SendDeps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
  readonly log: Logger
  readonly quarantine: Quarantine
  readonly publicUrl: string
  readonly mail: MailDeps
  /** Counts attempts to send, for the operator. */
  readonly attemptCounter?: {
    countOutcome(channel: ChannelKey, outcome: 'delivered' | 'temporary' | 'permanent'): void
  }
}

/**
 * Sends due confirmation e-mails; e-mails that the mail server refuses are retried later. Several processes
 * may do this at once: each e-mail is leased by one of them.
 *
 * The outbox does not send these e-mails: the outbox sends only to confirmed recipients, lists its
 * deliveries for the wallet and counts them in the recipient's statistics.
 */
export async function sendDueConfirmations(deps: SendDeps, stop: AbortSignal): Promise<void> {
  for (;;) {
    if (stop.aborted) return
    const now = deps.clock.now()
    const limits = { now, leaseMs: LEASE_MS, limit: MAILS_AT_ONCE }
    const due = await claimDueRows(deps.db, mails.UNSENT_CONFIRMATIONS, limits)
    await Promise.all(due.map((mail) => sendAlone(deps, mail, stop)))
    if (due.length < MAILS_AT_ONCE) return
  }
}

/** Sends one e-mail. A failure, such as an unreadable address, does not stop the other e-mails. */
async function sendAlone(
  deps: SendDeps,
  mail: mails.ConfirmationMail,
  stop: AbortSignal,
): Promise<void> {
  try {
    await sendOne(deps, mail, stop)
  } catch (error) {
    if (isSharedFailure(error)) throw error
    deps.quarantine.add('confirmation_mail', mail.id, error)
    const again = retryConfirmationAt(mail.attempts, mail.dueAt, deps.clock.now())
    await reschedule(deps.db, mails.UNSENT_CONFIRMATIONS, mail, again ?? null)
  }
}

async function sendOne(
  deps: SendDeps,
  mail: mails.ConfirmationMail,
  stop: AbortSignal,
): Promise<void> {
  const row = await store.findRecipientRow(deps.db, mail.recipientId)
  const address = row && addressOf(decryptDestination(deps.box, row.destination))
  const isWanted =
    row?.status === 'pending' &&
    address !== undefined &&
    addressDigest(address) === mail.addressDigest
  if (!isWanted) return await reschedule(deps.db, mails.UNSENT_CONFIRMATIONS, mail, null)
  const askedAt = deps.clock.now()
  if (await isRefused(deps.db, mailboxDigest(address), askedAt)) {
    await reschedule(deps.db, mails.UNSENT_CONFIRMATIONS, mail, null)
    return await store.saveUnconfirmable(deps.db, row.id, OFF_BY_READER, askedAt)
  }
  const expiresAt = new Date(askedAt.getTime() + CONFIRMATION_HOURS * HOUR_MS)
  const link = { recipientId: row.id, addressDigest: mail.addressDigest }
  const url = confirmationUrl(deps, link, expiresAt)
  try {
    const { wallet, locale, timezone } = row
    const request = { address, wallet, url, askedAt, expiresAt, locale, timezone }
    await sendConfirmation(deps.mail, request, stop)
  } catch (error) {
    if (stop.aborted) return
    if (!(error instanceof DeliveryError)) throw error
    return await notSent(deps, mail, error, row)
  }
  deps.attemptCounter?.countOutcome(row.channel, 'delivered')
  const sentAt = deps.clock.now()
  await mails.markConfirmationSent(deps.db, mail.id, sentAt)
  if (row.statusReason !== null) await store.saveUnconfirmable(deps.db, row.id, null, sentAt)
}

/**
 * Records a failed e-mail with its reason, and plans the next attempt. A permanent refusal ends the e-mail, when an
 * earlier attempt got the same if it may be wrong.
 *
 * @param row `statusReason`: reason of the attempt before
 */
async function notSent(
  deps: SendDeps,
  mail: mails.ConfirmationMail,
  error: DeliveryError,
  { channel, statusReason }: Pick<store.RecipientRow, 'channel' | 'statusReason'>,
): Promise<void> {
  const now = deps.clock.now()
  const isFinal = error.permanent && (!error.needsRepetition || statusReason === error.reason)
  const again = isFinal ? undefined : retryConfirmationAt(mail.attempts, mail.dueAt, now)
  deps.attemptCounter?.countOutcome(channel, isFinal ? 'permanent' : 'temporary')
  await reschedule(deps.db, mails.UNSENT_CONFIRMATIONS, mail, again ?? null)
  await store.saveUnconfirmable(deps.db, mail.recipientId, error.reason, now)
  const { recipientId, attempts } = mail
  deps.log.warn({ recipientId, attempts, reason: error.reason }, 'confirmation mail was not sent')
}

/** Deletes e-mails that no longer count against a limit, and expired refusals. */
export async function pruneConfirmations(deps: {
  readonly db: Db
  readonly clock: Clock
}): Promise<void> {
  const now = deps.clock.now()
  await mails.deleteOldConfirmationMails(deps.db, new Date(now.getTime() - KEPT_MS))
  await mails.deleteOldRefusals(deps.db, refusedSince(now))
}
