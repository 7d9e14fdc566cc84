import { REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import {
  CONFIRMATION_GAP_MINUTES,
  CONFIRMATIONS_OF_WALLET_PER_DAY,
  CONFIRMATIONS_PER_DAY,
  type NotifiedRecipient,
  OFF_BY_OWNER,
  type RecipientStatus,
} from './model.ts'

/** A recipient with the data that `chooseRecipients` needs. */
export interface RecipientCandidate extends Omit<NotifiedRecipient, 'isOff'> {
  readonly status: RecipientStatus
  readonly minSeverity: Severity
  /** Whether the recipient is the wallet's own channel, or marked as default. */
  readonly byDefault: boolean
}

/** An event on a wallet's watch: the watch's recipients, and the severity. */
export interface NotificationRequest {
  readonly wallet: Address
  readonly recipientIds: readonly number[] | null
  readonly severity: Severity
}

/**
 * Chooses which of a wallet's recipients get a message.
 *
 * These are the recipients that the watch names, if any of them still exists; else the wallet's own
 * channels and defaults. Recipients with a higher minimum severity are left out. Recipients that are off
 * are chosen, too: the message is retained for them.
 */
export function chooseRecipients<Candidate extends RecipientCandidate>(
  candidates: readonly Candidate[],
  { recipientIds, severity }: Pick<NotificationRequest, 'recipientIds' | 'severity'>,
): readonly Candidate[] {
  const named = recipientIds ? candidates.filter(({ id }) => recipientIds.includes(id)) : []
  const chosen = named.length > 0 ? named : candidates.filter(({ byDefault }) => byDefault)
  return chosen.filter(({ minSeverity }) => isAtLeast(severity, minSeverity))
}

/** Whether a recipient gets alerts of a watch type. Groups get no alerts about the wallet's own credits. */
export function getsAlertsOf(
  type: string | null,
  { isGroup }: Pick<RecipientCandidate, 'isGroup'>,
): boolean {
  return !isGroup || type === null || findWatchType(type)?.reads !== 'ledger'
}

/** Whether the wallet's minimum severity, which is for people, lets an alert pass to a channel. */
export function passesSettings(
  { channel }: Pick<RecipientCandidate, 'channel'>,
  severity: Severity,
  minSeverityOfPeople: Severity,
): boolean {
  return CHANNELS[channel].isProgrammatic || isAtLeast(severity, minSeverityOfPeople)
}

/**
 * Ids of the recipients that an alert of a watch reaches. Mutes, quiet hours and digests only delay it; recipients that
 * are off or unconfirmed do not get it.
 *
 * @param watch `severity`: of the alert
 */
export function notifiedRecipients(
  candidates: readonly (RecipientCandidate & { readonly minSeverityOfPeople: Severity | null })[],
  watch: {
    readonly type: string
    readonly recipientIds: readonly number[] | null
    readonly minSeverity: Severity
    readonly severity: Severity
  },
): number[] {
  const { type, severity, minSeverity } = watch
  if (!isAtLeast(severity, minSeverity)) return []
  return chooseRecipients(candidates, watch)
    .filter(
      (recipient) =>
        recipient.status === 'active' &&
        getsAlertsOf(type, recipient) &&
        passesSettings(recipient, severity, recipient.minSeverityOfPeople ?? 'info'),
    )
    .map(({ id }) => id)
}

/** Status fields of a recipient. */
export interface StatusFields {
  readonly status: RecipientStatus
  readonly statusReason: string | null
  readonly verifiedAt: Date | null
}

/**
 * Status of a recipient after its owner changed the address of its destination, or switched it on or off.
 *
 * A mailbox is never active before its reader has agreed; `ask` says that a confirmation e-mail must be
 * sent. A new address must be confirmed again, unless the owner had switched the recipient off.
 */
export function statusAfterChange(
  before: StatusFields & { readonly channel: ChannelKey },
  change: {
    readonly isAddressChanged: boolean
    readonly wanted: 'active' | 'disabled' | undefined
  },
): StatusFields & { readonly ask: boolean } {
  const needsConsent = CHANNELS[before.channel].needsConsent
  const verifiedAt = change.isAddressChanged && needsConsent ? null : before.verifiedAt
  if (change.wanted === 'disabled') {
    return { status: 'disabled', statusReason: OFF_BY_OWNER, verifiedAt, ask: false }
  }
  const isOffByOwner = before.status === 'disabled' && before.statusReason === OFF_BY_OWNER
  const isTriedAnew = change.isAddressChanged && !isOffByOwner
  if (change.wanted !== 'active' && !isTriedAnew) {
    return { status: before.status, statusReason: before.statusReason, verifiedAt, ask: false }
  }
  return needsConsent && verifiedAt === null
    ? { status: 'pending', statusReason: null, verifiedAt, ask: true }
    : { status: 'active', statusReason: null, verifiedAt, ask: false }
}

/**
 * The earliest time of another confirmation e-mail to a mailbox, not before `now`.
 *
 * Unsent e-mails count, too.
 */
export function nextConfirmationAt(
  earlier: {
    /** Due times of the e-mails to the mailbox, for all wallets, unordered. */
    readonly toMailbox: readonly Date[]
    /** Due times of the e-mails that the wallet caused, unordered. */
    readonly ofWallet: readonly Date[]
  },
  now: Date,
): Date {
  const toMailbox = newestFirst(earlier.toMailbox)
  const [last] = toMailbox
  return new Date(
    Math.max(
      now.getTime(),
      last === undefined ? 0 : last + CONFIRMATION_GAP_MINUTES * MINUTE_MS,
      dayAfter(toMailbox[CONFIRMATIONS_PER_DAY - 1]),
      dayAfter(newestFirst(earlier.ofWallet)[CONFIRMATIONS_OF_WALLET_PER_DAY - 1]),
    ),
  )
}

function newestFirst(dates: readonly Date[]): readonly number[] {
  return dates.map((date) => date.getTime()).sort((a, b) => b - a)
}

function dayAfter(time: number | undefined): number {
  return time === undefined ? 0 : time + DAY_MS
}

const RETRY_MINUTES = [1, 5, 15, 60] as const
const RETRY_HOURS_MAX = 72

/**
 * Time of the next attempt after a failed confirmation e-mail; undefined if there are no more attempts.
 *
 * @param attempts number of attempts so far, at least one
 */
export function retryConfirmationAt(attempts: number, dueAt: Date, now: Date): Date | undefined {
  if (now.getTime() - dueAt.getTime() >= RETRY_HOURS_MAX * HOUR_MS) return undefined
  const minutes = RETRY_MINUTES[Math.min(attempts, RETRY_MINUTES.length) - 1] ?? RETRY_MINUTES[0]
  return new Date(now.getTime() + minutes * MINUTE_MS)
}

/** Result of one attempt to reach a recipient. */
export interface AttemptOutcome {
  readonly recipientId: number
  readonly at: Date
  readonly ok: boolean
  /** The channel's code of the failure. */
  readonly reason?: string
  /** Whether the destination is switched off immediately. */
  readonly disable?: 'disabled' | 'blocked'
  /** New destination to store. */
  readonly movedTo?: unknown
}

/** Combined results of a recipient: the new values of its row. */
export interface OutcomeSum {
  readonly recipientId: number
  readonly successAt: Date | null
  readonly failureAt: Date | null
  /** The first failure since the last success; null if a success came last. */
  readonly failingSince: Date | null
  /** Reason of the last failure after the last success. */
  readonly reason: string | null
  readonly disable: 'disabled' | 'blocked' | null
}

/** Combines results, which may be in any order, to one per recipient. Sorted by recipient. */
export function sumOutcomes(outcomes: readonly AttemptOutcome[]): readonly OutcomeSum[] {
  const byRecipient = Map.groupBy(outcomes, ({ recipientId }) => recipientId)
  return [...byRecipient]
    .map(([recipientId, all]) => {
      const inOrder = all.toSorted((a, b) => a.at.getTime() - b.at.getTime())
      const lastSuccess = inOrder.findLast(({ ok }) => ok)
      const lastFailure = inOrder.findLast(({ ok }) => !ok)
      const since = inOrder.slice(inOrder.findLastIndex(({ ok }) => ok) + 1)
      return {
        recipientId,
        successAt: lastSuccess?.at ?? null,
        failureAt: lastFailure?.at ?? null,
        failingSince: since[0]?.at ?? null,
        reason: since.at(-1)?.reason ?? null,
        disable: since.findLast(({ disable }) => disable)?.disable ?? null,
      }
    })
    .sort((a, b) => a.recipientId - b.recipientId)
}

/**
 * Scopes of a linked chat: the requested scopes and `read`; by default `read` and `write`. `spend` implies
 * `write`. A chat never gets a scope that the caller does not have.
 */
export function linkScopes(
  held: readonly Scope[],
  asked: readonly Scope[] | undefined,
):
  | { readonly ok: true; readonly scopes: readonly Scope[] }
  | { readonly ok: false; readonly missing: Scope } {
  const wanted = new Set<Scope>(asked ?? ['write']).add('read')
  if (wanted.has('spend')) wanted.add('write')
  const scopes = SCOPES.filter((scope) => wanted.has(scope))
  const missing = scopes.findLast((scope) => !held.includes(scope))
  if (missing !== undefined) return { ok: false, missing }
  return { ok: true, scopes }
}

/**
 * Whether a destination's name is its own address, as that of a mailbox that nobody named.
 * @param target the address, as it is shown: its middle may be replaced by `…`
 */
export function isNameOf(target: string, name: string): boolean {
  const [start = '', ...rest] = target.split('…')
  return rest.length === 0
    ? name === target
    : name.startsWith(start) && name.endsWith(rest.join('…'))
}

/**
 * Address of a destination for its owner: masked, unless its name is the address. Then everything that names the
 * destination shows the address in full, so that it is not masked beside it.
 */
export function shownTarget({
  name,
  target,
}: {
  readonly name: string | null
  readonly target: string
}): string {
  return name !== null && isNameOf(target, name) ? name : target
}
