import { REGISTRY as CHANNELS, type ChannelKey } from '#src/channels/index.ts'
import { SCOPES, type Scope } from '#src/kernel/caller.ts'
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import {
  CONFIRMATION_GAP_MINUTES,
  CONFIRMATIONS_OF_WALLET_PER_DAY,
  CONFIRMATIONS_PER_DAY,
  type NotificationTarget,
  OFF_BY_OWNER,
  type RecipientStatus,
} from './model.ts'

/** A recipient as the choice of who is told sees it. */
export interface Candidate extends Omit<NotificationTarget, 'off'> {
  readonly status: RecipientStatus
  readonly minSeverity: Severity
  /** The wallet's own channel, or marked as default. */
  readonly byDefault: boolean
}

/** Something that happened on a wallet's watch: who the watch names, and how bad it is. */
export interface NotificationRequest {
  readonly wallet: Address
  readonly recipientIds: readonly number[] | null
  readonly severity: Severity
}

/**
 * Who of a wallet's recipients is told.
 *
 * Those the watch names, if any of them still exists; else the wallet's own channels and defaults. Of
 * these only those whose lowest severity lets it through; also those that are off, for whom it is kept.
 *
 */
export function chooseRecipients(
  candidates: readonly Candidate[],
  { recipientIds, severity }: Pick<NotificationRequest, 'recipientIds' | 'severity'>,
): readonly Candidate[] {
  const named = recipientIds ? candidates.filter(({ id }) => recipientIds.includes(id)) : []
  const chosen = named.length > 0 ? named : candidates.filter(({ byDefault }) => byDefault)
  return chosen.filter(({ minSeverity }) => isAtLeast(severity, minSeverity))
}

/** How a recipient stands. */
export interface StatusFields {
  readonly status: RecipientStatus
  readonly statusReason: string | null
  readonly verifiedAt: Date | null
}

/**
 * How a recipient stands after its owner moved its destination or switched it on or off.
 *
 * A mailbox is never on before its reader agreed; where it waits for that, `ask` says that a mail has
 * to go out. Another place is another try, unless the owner had switched the recipient off.
 */
export function standAfter(
  before: StatusFields & { readonly channel: ChannelKey },
  change: { readonly moved: boolean; readonly wanted: 'active' | 'disabled' | undefined },
): StatusFields & { readonly ask: boolean } {
  const needsConsent = CHANNELS[before.channel].needsConsent
  const verifiedAt = change.moved && needsConsent ? null : before.verifiedAt
  if (change.wanted === 'disabled') {
    return { status: 'disabled', statusReason: OFF_BY_OWNER, verifiedAt, ask: false }
  }
  const isOffByOwner = before.status === 'disabled' && before.statusReason === OFF_BY_OWNER
  const isTriedAnew = change.moved && !isOffByOwner
  if (change.wanted !== 'active' && !isTriedAnew) {
    return { status: before.status, statusReason: before.statusReason, verifiedAt, ask: false }
  }
  return needsConsent && verifiedAt === null
    ? { status: 'pending', statusReason: null, verifiedAt, ask: true }
    : { status: 'active', statusReason: null, verifiedAt, ask: false }
}

/**
 * The earliest instant another confirmation mail may go to a mailbox, not before `now`.
 *
 * Mails that are not sent yet count too.
 */
export function nextConfirmationAt(
  earlier: {
    /** When the mails to the mailbox were due, for all wallets, in any order. */
    readonly toMailbox: readonly Date[]
    /** When the mails that the wallet caused were due, in any order. */
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
 * When a confirmation mail that could not be sent is tried again; undefined when it is given up.
 *
 * @param attempts tries so far, at least one
 */
export function retryConfirmationAt(attempts: number, dueAt: Date, now: Date): Date | undefined {
  if (now.getTime() - dueAt.getTime() >= RETRY_HOURS_MAX * HOUR_MS) return undefined
  const minutes = RETRY_MINUTES[Math.min(attempts, RETRY_MINUTES.length) - 1] ?? RETRY_MINUTES[0]
  return new Date(now.getTime() + minutes * MINUTE_MS)
}

/** What one attempt to reach a recipient came to. */
export interface AttemptOutcome {
  readonly recipientId: number
  readonly at: Date
  readonly ok: boolean
  /** The channel's word for the failure. */
  readonly reason?: string
  /** The destination is to be switched off at once. */
  readonly disable?: 'disabled' | 'blocked'
  /** The destination as it is to be stored from now on. */
  readonly movedTo?: unknown
}

/** A recipient's outcomes in one: what its row has to say afterwards. */
export interface OutcomeSum {
  readonly recipientId: number
  readonly successAt: Date | null
  readonly failureAt: Date | null
  /** The first failure since the last success among them; null if a success came last. */
  readonly failingSince: Date | null
  /** Reason of the last failure after the last success. */
  readonly reason: string | null
  readonly disable: 'disabled' | 'blocked' | null
}

/** Joins outcomes to one sum a recipient, whatever order they came in. Ordered by recipient. */
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
 * The scopes a linked chat gets: what was asked for and `read`, else read and write. `spend` implies
 * `write`. A chat never gets a scope that the caller does not hold.
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
