/** Why an alert reached a recipient or not: its whole life, for the operator. */
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import type { DeliveryEntry } from '#src/delivery/model.ts'
import { RETENTION_DAYS } from '#src/delivery/retention.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { OperatorError } from '#src/kernel/operator-error.ts'
import { storedAddress } from '#src/kernel/units.ts'
import {
  chooseRecipients,
  getsAlertsOf,
  passesSettings,
  type RecipientCandidate,
} from '#src/recipients/rules.ts'
import {
  listCandidates,
  type RecipientFields,
  readRecipientsById,
} from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { hasRecovery } from './rules.ts'
import { type AlertRow, findAlert } from './store.ts'

/** What decides about one alert and one recipient. */
export interface ExplainedFacts {
  readonly alert: AlertRow
  /** Undefined if it was deleted. */
  readonly watch: WatchForNotification | undefined
  readonly recipientId: number
  /** Undefined if it was deleted, or never existed. */
  readonly recipient: RecipientFields | undefined
  /** All recipients of the wallet, as they are now. */
  readonly candidates: readonly RecipientCandidate[]
  readonly settings: Settings
  /** Deliveries of the alert to the recipient, oldest first. */
  readonly deliveries: readonly DeliveryEntry[]
  readonly now: Date
}

/**
 * Tells the life of an alert and what became of it for a recipient, in lines for the operator.
 *
 * @throws OperatorError when no such alert is stored
 */
export async function explainAlert(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { alertId, recipientId }: { readonly alertId: number; readonly recipientId: number },
): Promise<readonly string[]> {
  const alert = await findAlert(db, alertId)
  if (alert === undefined) {
    throw new OperatorError(
      `no alert ${alertId} is stored: it never was recorded, was deleted, or is too old`,
    )
  }
  const wallet = storedAddress(alert.wallet)
  const recipient = (await readRecipientsById(db, [recipientId])).get(recipientId)
  const all = (await delivery.listForAlerts(db, [alertId])).get(alertId) ?? []
  return explain({
    alert,
    watch: (await listForNotification(db, [alert.watchId])).get(alert.watchId),
    recipientId,
    recipient,
    candidates: await listCandidates(db, wallet),
    settings: (await listSettings(db, [wallet])).get(wallet) ?? DEFAULT_SETTINGS,
    deliveries: all.filter((entry) => entry.recipientId === recipientId),
    now: clock.now(),
  })
}

/** The lines. Pure. */
export function explain(facts: ExplainedFacts): readonly string[] {
  const { deliveries } = facts
  const found = deliveries.map(deliveryLine)
  const why = found.length > 0 ? found : whyNone(facts)
  return [...alertLines(facts.alert), ...recipientLines(facts), ...why]
}

function alertLines(alert: AlertRow): readonly string[] {
  const { id, wallet, watchId, watchLabel, event, severity, incidentId } = alert
  const moments: readonly (readonly [string, Date | null])[] = [
    ['fired on the chain or in the ledger', alert.firedAt],
    ['recorded', alert.createdAt],
    ['messages were written', alert.notifiedAt],
    [`acknowledged by ${alert.acknowledgedBy ?? 'a program'}`, alert.acknowledgedAt],
    ['muted until it recovers', alert.mutedAt],
    [`escalated to recipients ${alert.escalatedTo?.join(', ') ?? ''}`, alert.escalatedAt],
    ['ended', alert.recoveredAt],
    [`imposed a cooldown, because its signal changed often; until`, alert.cooldownUntil],
    ['next reminder', alert.remindAt],
  ]
  return [
    `alert ${id} of ${wallet}: ${event}, ${severity}, watch ${watchId} “${watchLabel}”, incident ${incidentId}`,
    ...(alert.recoveryOf === null ? [] : [`it is the end of alert ${alert.recoveryOf}`]),
    ...moments
      .flatMap(([what, at]) => (at === null ? [] : [{ what, at }]))
      .toSorted((a, b) => a.at.getTime() - b.at.getTime())
      .map(({ what, at }) => `${at.toISOString()} ${what}`),
  ]
}

function recipientLines({ recipient, recipientId, alert }: ExplainedFacts): readonly string[] {
  if (recipient === undefined) return [`recipient ${recipientId} does not exist (any more)`]
  const { channel, target, wallet, status, statusReason, failingSince, mutedUntil, name } =
    recipient
  return [
    `recipient ${recipientId}: ${channel} ${target}${name === null ? '' : ` “${name}”`}, ${status}${
      statusReason === null ? '' : ` (${statusReason})`
    } since ${recipient.switchedAt.toISOString()}`,
    ...(wallet === alert.wallet ? [] : [`it belongs to ${wallet}, not to the wallet of the alert`]),
    ...(failingSince === null
      ? []
      : [`every attempt has failed since ${failingSince.toISOString()}`]),
    ...(mutedUntil === null ? [] : [`it is muted until ${mutedUntil.toISOString()}`]),
  ]
}

/** What each state of a delivery means. */
const MEANINGS: Readonly<Record<DeliveryEntry['status'], string>> = {
  pending: 'waits for its first attempt',
  retrying: 'failed, and will be tried again',
  delivered: 'was delivered',
  failed: 'was given up',
  held: 'waits for a summary: quiet hours, a digest or a mute of the recipient',
  muted: 'was not sent: the alert or its watch was muted',
  throttled:
    'was not sent: the watch had used up its hourly messages to this recipient; a summary counts it',
  disabled: 'was not sent: the recipient was off; it is kept for a week for when it is switched on',
}

function deliveryLine(entry: DeliveryEntry): string {
  const { deliveryId, status, attempts, lastStatusCode, lastError, nextAttemptAt, deliveredAt } =
    entry
  const details = [
    `${attempts} attempts`,
    ...(lastStatusCode === null ? [] : [`last status ${lastStatusCode}`]),
    ...(lastError === null ? [] : [`last error ${lastError}`]),
    ...(deliveredAt === null ? [] : [`at ${deliveredAt.toISOString()}`]),
    ...(deliveredAt === null && nextAttemptAt !== null
      ? [`next at ${nextAttemptAt.toISOString()}`]
      : []),
  ]
  return `delivery ${deliveryId} ${MEANINGS[status]} (${details.join(', ')})`
}

/** Why no delivery was written, judged by what is set now. */
function whyNone({
  alert,
  watch,
  recipient,
  candidates,
  settings,
  recipientId,
  now,
}: ExplainedFacts): readonly string[] {
  const reasons: string[] = []
  const severity = alert.severity as Severity
  if (recipient === undefined || recipient.wallet !== alert.wallet)
    return [`so nothing was written for it; ${recipientsOf(candidates)}`]
  if (now.getTime() - alert.createdAt.getTime() > RETENTION_DAYS * DAY_MS) {
    return [
      `no message to it is stored any more: what became of messages is kept for ${RETENTION_DAYS} days`,
    ]
  }
  if (alert.during === 'maintenance') reasons.push(maintenanceReason(alert))
  else if (alert.notifiedAt === null) {
    reasons.push(
      'another open alert is its cause, so it waits: it is sent if it still holds when that one ends',
    )
  }
  if (recipient.createdAt > alert.createdAt) reasons.push('the recipient was added after the alert')
  if (watch === undefined)
    reasons.push('the watch was deleted since; who got its alerts is not known any more')
  const candidate = candidates.find(({ id }) => id === recipientId)
  if (watch !== undefined && candidate !== undefined) {
    reasons.push(...settingsAgainst({ alert, severity, watch, candidate, candidates, settings }))
  }
  if (reasons.length > 0) return ['no message was written for it:', ...reasons]
  return [
    'no message was written for it, and nothing that is set now says why: settings were changed since, its messages were deleted, or the service could not write the message. Search the log for this alertId',
  ]
}

function recipientsOf(candidates: readonly RecipientCandidate[]): string {
  if (candidates.length === 0) return 'the wallet has no recipients'
  return `the wallet’s recipients are ${candidates.map(({ id }) => id).join(', ')}`
}

/** Why an alert that fired in planned maintenance was not sent. */
function maintenanceReason({ event, recoveredAt }: AlertRow): string {
  const start = 'it fired in planned maintenance, in which nobody is sent anything'
  if (!hasRecovery(event)) return `${start}; nothing ends such an alert, so it is never sent`
  if (recoveredAt !== null) return `${start}, and it ended before that did`
  return `${start}: it is sent if it still holds when that ends`
}

function settingsAgainst(of: {
  readonly alert: AlertRow
  readonly severity: Severity
  readonly watch: WatchForNotification
  readonly candidate: RecipientCandidate
  readonly candidates: readonly RecipientCandidate[]
  readonly settings: Settings
}): readonly string[] {
  const { alert, severity, watch, candidate, candidates, settings } = of
  const effective = (alert.episodeSeverity ?? severity) as Severity
  const anyone = chooseRecipients(candidates, {
    recipientIds: watch.recipientIds,
    severity: 'critical',
  })
  const isChosen = anyone.some(({ id }) => id === candidate.id)
  const named = watch.recipientIds?.join(', ')
  const isPerson = !CHANNELS[candidate.channel].isProgrammatic
  const checks: readonly (readonly [boolean, string])[] = [
    [
      !isAtLeast(effective, watch.minSeverity),
      `the watch sends alerts from ${watch.minSeverity} on`,
    ],
    [!isChosen && named !== undefined, `the watch names other recipients: ${named}`],
    [
      !isChosen && named === undefined,
      'the watch names no recipients, and this one is not a default one',
    ],
    [
      !isAtLeast(effective, candidate.minSeverity),
      `the recipient wants alerts from ${candidate.minSeverity} on`,
    ],
    [
      !passesSettings(candidate, effective, settings.minSeverity),
      `the wallet’s people want alerts from ${settings.minSeverity} on`,
    ],
    [!getsAlertsOf(alert.type, candidate), 'it is a group, which gets no alerts about credits'],
    [
      isPerson && alert.recoveryOf !== null && !settings.recoveries,
      'the wallet’s people want no recoveries',
    ],
  ]
  return checks.flatMap(([isSo, text]) => (isSo ? [text] : []))
}
