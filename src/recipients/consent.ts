/** Actions that a mailbox's reader takes through the signed links in e-mails, without sign-in. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import * as mails from './confirmation-store.ts'
import { cancelConfirmation, recordRefusal } from './confirmations.ts'
import { decryptDestination } from './destination-box.ts'
import { deleteDestination } from './destination-change.ts'
import type { SwitchedOffListener } from './destinations.ts'
import {
  addressDigest,
  type MailLink,
  readConfirmationLink,
  readUnsubscribeLink,
} from './mail-links.ts'
import { CONFIRMATION_HOURS, OFF_BY_OWNER, OFF_BY_READER } from './model.ts'
import { lockWallet } from './settings.ts'
import * as store from './store.ts'
import { addressOf } from './typed-destination.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly box: SecretBox
}

interface EndingDeps extends Deps {
  readonly notices: SwitchedOffListener
}

/** A recipient whose reader refused e-mails. `name` is null for the wallet's own mailbox. */
export type RefusedRecipient = Pick<store.RecipientRow, 'id' | 'wallet' | 'name' | 'target'>

/** Notifies the owner, in the transaction that removes the recipient. */
interface RefusalListener {
  refused(tx: Db, recipient: RefusedRecipient): Promise<void>
}

/** Reader of a mailbox, and owner of its alerts. */
interface MailReader {
  readonly address: string
  readonly wallet: Address
  readonly locale: Locale
  readonly timezone: string
}

/** State of a request for consent. `over`: the link is older than a day. */
export interface ConsentRequest {
  readonly recipientId: number
  readonly state: 'waiting' | 'confirmed' | 'over'
  readonly reader: MailReader
  /** Time when the e-mail with this link was written. */
  readonly askedAt: Date
}

/** State of the request behind a confirmation link; undefined if the request no longer exists. */
export async function findConsent(deps: Deps, code: string): Promise<ConsentRequest | undefined> {
  const link = readConfirmationLink(deps.box, code)
  const linked = link && (await findLinked(deps, link))
  return linked && toConsent(linked, link, deps.clock.now())
}

/**
 * Confirms a mailbox, which gets alerts from now on. May be repeated; an expired link changes nothing. The commit
 * wakes the job that updates the chat's message about the mailbox.
 *
 * @returns the state afterwards; `first` if this call confirmed it
 */
export async function confirmEmail(
  deps: Deps,
  code: string,
): Promise<(ConsentRequest & { readonly first: boolean }) | undefined> {
  const link = readConfirmationLink(deps.box, code)
  return await withLinked(deps, link, async (tx, linked, now) => {
    const consent = toConsent(linked, link, now)
    if (consent.state !== 'waiting') return { ...consent, first: false }
    await cancelConfirmation(tx, linked.row.id)
    await store.updateRow(tx, linked.row.id, switchedOn(linked.row, now))
    await mails.notifyConfirmed(tx, linked.row.id)
    return { ...consent, state: 'confirmed', first: true }
  })
}

/**
 * Refuses e-mails: the recipient is deleted, the owner is notified, and the mailbox is not asked again for
 * 90 days. A recipient that was confirmed before is not deleted; its reader can unsubscribe.
 *
 * @returns the state before
 */
export async function refuseEmail(
  deps: Deps & { readonly notices: RefusalListener },
  code: string,
): Promise<ConsentRequest | undefined> {
  const link = readConfirmationLink(deps.box, code)
  return await withLinked(deps, link, async (tx, linked, now) => {
    const consent = toConsent(linked, link, now)
    if (consent.state !== 'waiting') return consent
    await deleteDestination(tx, linked.row)
    await recordRefusal(tx, linked.reader.address, now)
    await deps.notices.refused(tx, linked.row)
    return consent
  })
}

/** E-mails that the reader gets. */
export interface MailSubscription {
  readonly on: boolean
  readonly minSeverity: Severity
  readonly reader: MailReader
}

/** E-mails that the holder of an unsubscribe link gets; undefined if there are none. */
export async function findSubscription(
  deps: Deps,
  code: string,
): Promise<MailSubscription | undefined> {
  const link = readUnsubscribeLink(deps.box, code)
  const linked = link && (await findLinked(deps, link))
  return linked && toSubscription(linked)
}

/**
 * Stops all e-mails to the reader. The owner cannot start them again, and is notified elsewhere. May be
 * repeated.
 */
export async function unsubscribe(
  deps: EndingDeps,
  code: string,
): Promise<MailSubscription | undefined> {
  return await changeSubscription(deps, code, (row) => {
    if (row.verifiedAt === null) return {}
    const isOffAlready = row.statusReason === OFF_BY_OWNER
    return {
      verifiedAt: null,
      ...(!isOffAlready && { status: 'disabled', statusReason: OFF_BY_READER }),
    }
  })
}

/** Undoes an unsubscription. */
export async function resubscribe(
  deps: EndingDeps,
  code: string,
): Promise<MailSubscription | undefined> {
  return await changeSubscription(deps, code, (row, now) =>
    row.verifiedAt === null ? switchedOn(row, now) : {},
  )
}

/** Limits e-mails to alerts of this severity and above. */
export async function limitMailSeverity(
  deps: EndingDeps,
  code: string,
  minSeverity: Severity,
): Promise<MailSubscription | undefined> {
  return await changeSubscription(deps, code, () => ({ minSeverity }))
}

type Changes = Omit<Parameters<typeof store.updateRow>[2], 'updatedAt'>

async function changeSubscription(
  deps: EndingDeps,
  code: string,
  change: (row: store.RecipientRow, now: Date) => Changes,
): Promise<MailSubscription | undefined> {
  const link = readUnsubscribeLink(deps.box, code)
  return await withLinked(deps, link, async (tx, { row, reader }, now) => {
    const saved = await store.updateRow(tx, row.id, { ...change(row, now), updatedAt: now })
    const isStopped = row.status === 'active' && saved.status === 'disabled'
    if (isStopped) await deps.notices.switchedOff(tx, [saved])
    return toSubscription({ row: saved, reader })
  })
}

interface Linked {
  readonly row: store.RecipientRow
  readonly reader: MailReader
}

/** The mailbox of a link, as long as the recipient has the same address. */
async function findLinked(
  deps: Pick<Deps, 'db' | 'box'>,
  link: MailLink,
): Promise<Linked | undefined> {
  const row = await store.findRecipientRow(deps.db, link.recipientId)
  const address = row && addressOf(decryptDestination(deps.box, row.destination))
  if (row === undefined || address === undefined) return undefined
  if (addressDigest(address) !== link.addressDigest) return undefined
  const { wallet, locale, timezone } = row
  return { row, reader: { address, wallet, locale, timezone } }
}

/** Like `findLinked`, with the wallet's recipients locked. */
async function withLinked<T>(
  deps: Deps,
  link: MailLink | undefined,
  work: (tx: Db, linked: Linked, now: Date) => Promise<T>,
): Promise<T | undefined> {
  if (link === undefined) return undefined
  const seen = await findLinked(deps, link)
  if (seen === undefined) return undefined
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockWallet(tx, seen.row.wallet, now)
    const linked = await findLinked({ db: tx, box: deps.box }, link)
    return linked && (await work(tx, linked, now))
  })
}

/** Changes of a recipient whose reader confirmed: it is switched on, unless the owner switched it off. */
function switchedOn(row: store.RecipientRow, now: Date): Changes & { readonly updatedAt: Date } {
  const on = { status: 'active', statusReason: null, failingSince: null } as const
  return {
    verifiedAt: now,
    updatedAt: now,
    ...(row.statusReason !== OFF_BY_OWNER && on),
  }
}

function toConsent(
  { row, reader }: Linked,
  link: { readonly expiresAt: Date } | undefined,
  now: Date,
): ConsentRequest {
  const expiresAt = link?.expiresAt ?? now
  const askedAt = new Date(expiresAt.getTime() - CONFIRMATION_HOURS * HOUR_MS)
  const recipientId = row.id
  if (row.verifiedAt !== null) return { recipientId, state: 'confirmed', reader, askedAt }
  return { recipientId, state: now < expiresAt ? 'waiting' : 'over', reader, askedAt }
}

function toSubscription({ row, reader }: Linked): MailSubscription {
  return { on: row.verifiedAt !== null, minSeverity: row.minSeverity, reader }
}
