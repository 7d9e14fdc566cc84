/** What the reader of a mailbox may do by the signed links in mails, without signing in. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Severity } from '#src/kernel/display-values.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import type { Address } from '#src/kernel/units.ts'
import { callOffConfirmation, recordRefusal } from './confirmations.ts'
import { openDestination } from './destination-box.ts'
import { forget } from './destination-change.ts'
import type { SwitchListener } from './destinations.ts'
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
  readonly notices: SwitchListener
}

/** A recipient whose reader wants no mails. `name` is null for the wallet's own mailbox. */
export type RefusedRecipient = Pick<store.RecipientRow, 'id' | 'wallet' | 'name' | 'target'>

/** Who tells the owner, in the transaction that removes it. */
interface RefusalNews {
  refused(tx: Db, recipient: RefusedRecipient): Promise<void>
}

/** Who reads a mailbox, and whose alerts it gets. */
interface MailReader {
  readonly address: string
  readonly wallet: Address
  readonly locale: Locale
  readonly timezone: string
}

/** How a request for consent stands. over: the link is older than a day. */
export interface Consent {
  readonly recipientId: number
  readonly state: 'waiting' | 'confirmed' | 'over'
  readonly reader: MailReader
  /** When the mail with this link was written. */
  readonly askedAt: Date
}

/** How the request behind a confirmation link stands; undefined when there is none (any more). */
export async function findConsent(deps: Deps, code: string): Promise<Consent | undefined> {
  const link = readConfirmationLink(deps.box, code)
  const found = link && (await findLinked(deps, link))
  return found && toConsent(found, link, deps.clock.now())
}

/**
 * The reader agrees: the mailbox gets alerts from now on. Twice is fine; a link that is over changes
 * nothing.
 *
 * @returns how it stands afterwards; `first` when it was this that confirmed it
 */
export async function confirmEmail(
  deps: Deps,
  code: string,
): Promise<(Consent & { readonly first: boolean }) | undefined> {
  const link = readConfirmationLink(deps.box, code)
  return await withLinked(deps, link, async (tx, found, now) => {
    const consent = toConsent(found, link, now)
    if (consent.state !== 'waiting') return { ...consent, first: false }
    await callOffConfirmation(tx, found.row.id)
    await store.updateRow(tx, found.row.id, switchedOn(found.row, now))
    return { ...consent, state: 'confirmed', first: true }
  })
}

/**
 * The reader refuses: the recipient is removed, the owner told, and the mailbox not asked again for 90 days. One that was confirmed before stays;
 * unsubscribing ends that.
 *
 * @returns how it stood
 */
export async function refuseEmail(
  deps: Deps & { readonly notices: RefusalNews },
  code: string,
): Promise<Consent | undefined> {
  const link = readConfirmationLink(deps.box, code)
  return await withLinked(deps, link, async (tx, found, now) => {
    const consent = toConsent(found, link, now)
    if (consent.state !== 'waiting') return consent
    await forget(tx, found.row)
    await recordRefusal(tx, found.reader.address, now)
    await deps.notices.refused(tx, found.row)
    return consent
  })
}

/** What mail the reader gets. */
export interface Subscription {
  readonly on: boolean
  readonly minSeverity: Severity
  readonly reader: MailReader
}

/** What mail the holder of an unsubscribe link gets; undefined when there is nothing to end. */
export async function findSubscription(
  deps: Deps,
  code: string,
): Promise<Subscription | undefined> {
  const link = readUnsubscribeLink(deps.box, code)
  const found = link && (await findLinked(deps, link))
  return found && toSubscription(found)
}

/**
 * Ends all mail to the reader. The owner alone cannot switch it on again, and is told elsewhere. Twice is
 * fine.
 */
export async function unsubscribe(
  deps: EndingDeps,
  code: string,
): Promise<Subscription | undefined> {
  return await changeSubscription(deps, code, (row) => {
    if (row.verifiedAt === null) return {}
    const isOffAlready = row.statusReason === OFF_BY_OWNER
    return {
      verifiedAt: null,
      ...(!isOffAlready && { status: 'disabled', statusReason: OFF_BY_READER }),
    }
  })
}

/** Takes unsubscribing back. */
export async function resubscribe(
  deps: EndingDeps,
  code: string,
): Promise<Subscription | undefined> {
  return await changeSubscription(deps, code, (row, now) =>
    row.verifiedAt === null ? switchedOn(row, now) : {},
  )
}

/** Lets only alerts of this severity and above through to the reader. */
export async function limitMail(
  deps: EndingDeps,
  code: string,
  minSeverity: Severity,
): Promise<Subscription | undefined> {
  return await changeSubscription(deps, code, () => ({ minSeverity }))
}

type Changes = Omit<Parameters<typeof store.updateRow>[2], 'updatedAt'>

async function changeSubscription(
  deps: EndingDeps,
  code: string,
  change: (row: store.RecipientRow, now: Date) => Changes,
): Promise<Subscription | undefined> {
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

/** The mailbox a link stands for, as long as the recipient has the same address. */
async function findLinked(
  deps: Pick<Deps, 'db' | 'box'>,
  link: MailLink,
): Promise<Linked | undefined> {
  const row = await store.findRow(deps.db, link.recipientId)
  const address = row && addressOf(openDestination(deps.box, row.destination))
  if (row === undefined || address === undefined) return undefined
  if (addressDigest(address) !== link.addressDigest) return undefined
  const { wallet, locale, timezone } = row
  return { row, reader: { address, wallet, locale, timezone } }
}

/** The same, while nobody else changes the wallet's recipients. */
async function withLinked<T>(
  deps: Deps,
  link: MailLink | undefined,
  work: (tx: Db, found: Linked, now: Date) => Promise<T>,
): Promise<T | undefined> {
  if (link === undefined) return undefined
  const seen = await findLinked(deps, link)
  if (seen === undefined) return undefined
  const now = deps.clock.now()
  return await transact(deps.db, async (tx) => {
    await lockWallet(tx, seen.row.wallet, now)
    const found = await findLinked({ db: tx, box: deps.box }, link)
    return found && (await work(tx, found, now))
  })
}

/** Agreed by the reader; on, unless the owner switched it off. */
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
): Consent {
  const expiresAt = link?.expiresAt ?? now
  const askedAt = new Date(expiresAt.getTime() - CONFIRMATION_HOURS * HOUR_MS)
  const recipientId = row.id
  if (row.verifiedAt !== null) return { recipientId, state: 'confirmed', reader, askedAt }
  return { recipientId, state: now < expiresAt ? 'waiting' : 'over', reader, askedAt }
}

function toSubscription({ row, reader }: Linked): Subscription {
  return { on: row.verifiedAt !== null, minSeverity: row.minSeverity, reader }
}
