/** Notifies of recorded alerts: chooses recipients and times, renders messages and writes the outbox. */
import type { Envelope, EnvelopeKind } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import type { NotifiedRecipient } from '#src/recipients/model.ts'
import { getsAlertsOf, passesSettings } from '#src/recipients/rules.ts'
import * as recipients from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { type SendTiming, sendTimingOf } from '#src/recipients/timing.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { logNotified } from '../log-lines.ts'
import {
  type AlertNote,
  createRenderer,
  type renderMessage,
  toReminderMessage,
} from '../messages/render.ts'
import {
  dataFor,
  notesOf,
  type RecordedAlert,
  recordedFromRow,
  toRenderable,
} from '../recorded-alert.ts'
import type { AlertRow } from '../store.ts'
import { applyBudget, budgetMessage, type PlannedDelivery } from './budget.ts'
import type { NotifyDeps } from './deps.ts'
import { readEpisodeDeliveries } from './episode-deliveries.ts'

/** An alert to notify, with its options. */
export interface Notification extends RecordedAlert {
  readonly watch: Omit<
    WatchForNotification,
    'isJudged' | 'firing' | 'off' | 'escalateTo' | 'escalateAfterMinutes'
  >
  readonly kind: Extract<EnvelopeKind, 'alert' | 'raised' | 'reminder'>
  /** Restricts the recipients to these; all by default. */
  readonly only?: ReadonlySet<number>
  /** Recipients that are excluded. */
  readonly except?: ReadonlySet<number>
  /** Further recipients, because the alert was not acknowledged in time. */
  readonly escalatedTo?: readonly number[]
  /** Whether the alert is sent only to `escalatedTo`, without recipients that already got it. */
  readonly isEscalation?: boolean
  /** Severity that decides about delivery: the episode's, because a recovery itself is only info. */
  readonly effectiveSeverity: Severity
  readonly isRecovery: boolean
  /** The earlier alert that this notification follows. */
  readonly answers?: RecordedAlert
  /** Of a recovery or severity increase: start of the episode. */
  readonly startedAt?: Date
  /** Of a recovery: the alerts of its episode. */
  readonly episode?: readonly number[]
  /** Of a recovery: name of the person who acknowledged the alert. */
  readonly takenBy?: string
  readonly notes?: readonly AlertNote[]
  readonly reminder?: Parameters<typeof toReminderMessage>[1]
  /** Whether it is recorded for people but not sent, because it is muted. */
  readonly isQuiet: boolean
}

/** Notifies of a recorded alert that has not recovered, once more. */
export function notificationOf(row: AlertRow, watch: Notification['watch']): Notification {
  const record = recordedFromRow(row)
  return {
    ...record,
    watch,
    kind: 'alert',
    effectiveSeverity: record.severity,
    isRecovery: false,
    ...(row.startedAt && { startedAt: row.startedAt }),
    notes: notesOf(row),
    isQuiet: false,
  }
}

/** Milliseconds between the reminders of several alerts, so that they stay in order. */
const REMINDER_GAP_MS = 1

/** A recipient that is sent an alert, now or later. */
interface Notified {
  readonly alertId: number
  readonly recipientId: number
}

/**
 * Writes one delivery per alert and recipient, in the recipient's language and time zone.
 *
 * @returns the recipients that are sent the alerts
 */
export async function notifyRecipients(
  deps: NotifyDeps,
  tx: Db,
  all: readonly Notification[],
): Promise<readonly Notified[]> {
  const notifications = all.filter(({ effectiveSeverity, watch }) =>
    isAtLeast(effectiveSeverity, watch.minSeverity),
  )
  if (notifications.length === 0) return []
  const wallets = [...new Set(notifications.map(({ watch }) => watch.wallet))]
  const [settings, targets, deferred] = await Promise.all([
    listSettings(tx, wallets),
    targetsOf(tx, notifications),
    readEpisodeDeliveries(tx, notifications),
  ])
  const createdAt = deps.clock.now()
  const timings = createTimings(createdAt)
  const render = createRenderer()
  const planned = notifications.flatMap((notification, index) => {
    const walletSettings = settings.get(notification.watch.wallet) ?? DEFAULT_SETTINGS
    return attempt(deps, notification, () =>
      (targets[index] ?? []).flatMap((recipient): PlannedDelivery[] => {
        if (!isFor(notification, recipient)) return []
        // A program may get it twice, but must not miss the end of an incident.
        const isPerson = !CHANNELS[recipient.channel].isProgrammatic
        if (isPerson && !deferred.concerns(notification, recipient.id)) return []
        const usual = planFor(notification, recipient, walletSettings, timings)
        const missed = isPerson ? deferred.missed(notification, recipient.id) : undefined
        const plan = withMissed(usual, missed)
        if (plan === undefined) return []
        const until = deferred.deferredUntil(notification, recipient.id)
        const row = deliveryOf(deps, notification, recipient, {
          plan: withAlert(plan, until),
          createdAt,
          render,
          wasDeferred: deferred.wasDeferred(notification, recipient.id),
        })
        return [{ row, ...budgetOf(notification, recipient, plan) }]
      }),
    )
  })
  const { rows, first } = await applyBudget(tx, planned, createdAt)
  const announced = first.flatMap(({ watchId, recipientId }) => {
    const notification = notifications.findIndex(({ watch }) => watch.id === watchId)
    const watch = notifications[notification]?.watch
    const reader = targets[notification]?.find(({ id }) => id === recipientId)
    if (watch === undefined || reader === undefined || CHANNELS[reader.channel].isProgrammatic)
      return []
    if (reader.isOff) return []
    const walletSettings = settings.get(watch.wallet) ?? DEFAULT_SETTINGS
    const about = { watch, settings: walletSettings, now: createdAt }
    return [budgetMessage(deps, { ...about, reader: { ...reader, wallet: watch.wallet } })]
  })
  await delivery.enqueue(tx, [...rows, ...announced])
  logNotified(deps, notifications, rows)
  return rows.flatMap(({ status, alertId, recipientId }) => {
    const isSent = status === 'pending' || status === 'held'
    return isSent && alertId !== null ? [{ alertId, recipientId }] : []
  })
}

/** The recipients of each notification, in the order given. */
async function targetsOf(
  tx: Db,
  notifications: readonly Notification[],
): Promise<readonly (readonly NotifiedRecipient[])[]> {
  const requestOf = ({ watch, effectiveSeverity: severity }: Notification) => ({
    wallet: watch.wallet,
    recipientIds: watch.recipientIds,
    severity,
  })
  const escalated = notifications.filter(({ escalatedTo = [] }) => escalatedTo.length > 0)
  const recipientsOfEach = await recipients.chooseRecipientsOfEach(tx, [
    ...notifications.map(requestOf),
    ...escalated.map((entry) => ({ ...requestOf(entry), recipientIds: entry.escalatedTo ?? null })),
  ])
  return notifications.map((notification, index) => {
    const usual = recipientsOfEach[index] ?? []
    const further = recipientsOfEach[notifications.length + escalated.indexOf(notification)]
    if (further === undefined || !escalated.includes(notification)) return usual
    const others = further.filter(({ id }) => usual.every((target) => target.id !== id))
    return notification.isEscalation === true ? others : [...usual, ...others]
  })
}

/** Runs `plan`. If it throws, the alert is put into quarantine and has no deliveries. */
function attempt(
  { quarantine }: NotifyDeps,
  { alertId }: Notification,
  plan: () => readonly PlannedDelivery[],
): readonly PlannedDelivery[] {
  try {
    return plan()
  } catch (error) {
    quarantine.add('alert', alertId, error, { alertId })
    return []
  }
}

/** Event of the service without data. It says nothing of a provider, so its followers do not get it. */
const NO_DATA_EVENT = 'fsp.monitoring'

/** Whether a recipient gets a notification. */
function isFor({ type, event, only, except }: Notification, recipient: NotifiedRecipient): boolean {
  const { id, isFollower } = recipient
  if (isFollower && event.startsWith(NO_DATA_EVENT)) return false
  if (only?.has(id) === false || except?.has(id) === true) return false
  return getsAlertsOf(type, recipient)
}

/** The budget of a delivery. It counts if its alert is sent, now or later. */
function budgetOf(
  { kind, isRecovery, watch }: Notification,
  { isFollower }: NotifiedRecipient,
  { status }: Plan,
): Omit<PlannedDelivery, 'row'> {
  const counts = kind !== 'reminder' && !isRecovery && status !== 'muted'
  return { watchId: watch.id, isFollower, counts }
}

function deliveryOf(
  deps: NotifyDeps,
  notification: Notification,
  recipient: NotifiedRecipient,
  how: {
    readonly plan: Plan
    readonly createdAt: Date
    readonly render: typeof renderMessage
    readonly wasDeferred: boolean
  },
): delivery.NewDelivery {
  const { plan, createdAt, render, wasDeferred } = how
  const { watch, alertId, signal, firedAt, reminder, position } = notification
  const id = delivery.newDeliveryId(createdAt)
  return {
    ...plan,
    id,
    wallet: watch.wallet,
    alertId,
    recipientId: recipient.id,
    channel: recipient.channel,
    partitionKey: recipient.partitionKey,
    orderKey: `${recipient.id} ${watch.id} ${signal}`,
    firedAt:
      reminder?.number === undefined
        ? firedAt
        : new Date(firedAt.getTime() + reminder.number * REMINDER_GAP_MS),
    position,
    envelope: envelopeOf(deps, notification, recipient, { render, deliveryId: id, wasDeferred }),
    createdAt,
  }
}

type Plan = Pick<delivery.NewDelivery, 'status' | 'deferredUntil'>

/** Plans a delivery. Settings and mutes apply to people; programs get all except reminders. */
function planFor(
  notification: Notification,
  recipient: NotifiedRecipient,
  settings: Settings,
  timings: (
    notification: Notification,
    recipient: NotifiedRecipient,
    settings: Settings,
  ) => SendTiming,
): Plan | undefined {
  const { kind, effectiveSeverity, isRecovery, isQuiet } = notification
  if (kind === 'reminder' && recipient.isOff) return undefined
  if (CHANNELS[recipient.channel].isProgrammatic) {
    return kind === 'reminder' ? undefined : { status: recipient.isOff ? 'disabled' : 'pending' }
  }
  if (!passesSettings(recipient, effectiveSeverity, settings.minSeverity)) return undefined
  if (isRecovery && !settings.recoveries) return undefined
  if (isQuiet) return { status: 'muted' }
  const timing = timings(notification, recipient, settings)
  if (timing.act === 'drop') return undefined
  if (recipient.isOff) return { status: 'disabled' }
  return timing.act === 'hold'
    ? { status: 'held', deferredUntil: timing.until }
    : { status: 'pending' }
}

/** Keeps a recovery with its kept alert until the person decides, and drops it with an alert that was discarded. */
function withMissed(
  plan: Plan | undefined,
  missed: 'retained' | 'dropped' | undefined,
): Plan | undefined {
  if (plan === undefined || missed === undefined) return plan
  return missed === 'retained' ? { status: 'disabled' } : undefined
}

/** Delays a recovery until the summary that contains its alert, if there is one. */
function withAlert(plan: Plan, deferredUntil: Date | undefined): Plan {
  const isSent = plan.status === 'pending' || plan.status === 'held'
  return isSent && deferredUntil !== undefined ? { status: 'held', deferredUntil } : plan
}

/** Caches `sendTimingOf` for one moment, for readers with equal settings and time zone. */
function createTimings(now: Date) {
  const known = new Map<Settings, Map<string, SendTiming>>()
  return (
    { kind, effectiveSeverity: severity }: Notification,
    reader: NotifiedRecipient,
    settings: Settings,
  ): SendTiming => {
    const ofSettings = known.get(settings) ?? new Map<string, SendTiming>()
    known.set(settings, ofSettings)
    const key = [kind, severity, reader.timezone, reader.mutedUntil?.getTime()].join(' ')
    const timing = ofSettings.get(key) ?? sendTimingOf(settings, reader, { kind, severity, now })
    ofSettings.set(key, timing)
    return timing
  }
}

function envelopeOf(
  deps: NotifyDeps,
  notification: Notification,
  recipient: NotifiedRecipient,
  how: {
    readonly render: typeof renderMessage
    readonly deliveryId: string
    readonly wasDeferred: boolean
  },
): Envelope {
  const { locale, timezone } = recipient
  const { type, signal, group, kind, answers, startedAt, takenBy, reminder, watch } = notification
  const data = dataFor(recipient, notification.data)
  const reader = { locale, timezone }
  const held: readonly AlertNote[] =
    how.wasDeferred && answers !== undefined ? [{ kind: 'held', firedAt: answers.firedAt }] : []
  const render = (alert: RecordedAlert, notes: readonly AlertNote[]) =>
    how.render(toRenderable(deps, alert, watch, { recipientId: recipient.id, notes }), reader)
  const message = render({ ...notification, data }, [...held, ...(notification.notes ?? [])])
  const title =
    answers === undefined ? '' : titleOf(deps, answers, (alert) => render(alert, []).title)
  return {
    deliveryId: how.deliveryId,
    type,
    signal,
    group,
    data,
    locale,
    timezone,
    message: reminder === undefined ? message : toReminderMessage(message, reminder, reader),
    ...(kind !== 'alert' && { kind }),
    ...(startedAt !== undefined && { startedAt: startedAt.toISOString() }),
    ...(takenBy !== undefined && { takenBy }),
    ...envelopeNotes(notification),
    ...(answers !== undefined && {
      answers: answers.alertId,
      answered: { severity: answers.severity, title },
    }),
  }
}

/** What the notes of a notification tell a message with several alerts. */
function envelopeNotes({ notes = [] }: Notification) {
  const escalated = notes.find((note) => note.kind === 'escalated')
  return {
    ...(notes.some(({ kind }) => kind === 'stillFiring') && { hasOthers: true }),
    ...(escalated && { unacknowledgedSeconds: escalated.seconds }),
  }
}

/** Title of the alert that another alert follows; empty if it cannot be rendered. */
function titleOf(
  { quarantine }: NotifyDeps,
  answers: RecordedAlert,
  write: (alert: RecordedAlert) => string,
): string {
  try {
    return write(answers)
  } catch (error) {
    quarantine.add('alert', answers.alertId, error, { alertId: answers.alertId })
    return ''
  }
}
