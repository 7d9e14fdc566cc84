/** From a recorded alert to the outbox: who is told, in which words, now, later or not at all. */
import type { Envelope, EnvelopeKind } from '#src/channels/define.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { isAtLeast, type Severity } from '#src/kernel/display-values.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import type { NotificationTarget } from '#src/recipients/model.ts'
import * as recipients from '#src/recipients/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import { type Timing, timingOf } from '#src/recipients/timing.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { alertUrl } from './alert-urls.ts'
import { announcement, applyBudget, type Planned } from './budget.ts'
import type { OpenAlert } from './episodes.ts'
import type { NotifyDeps } from './notify-deps.ts'
import { createRenderer, type Note, type Renderable, remind, type renderMessage } from './render.ts'

/** An alert as it was recorded. */
export interface Recorded {
  readonly alertId: number
  readonly type: string
  readonly signal: string | null
  readonly group: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly firedAt: Date
  readonly position: number
}

/** An alert that is told, and how. */
export interface Notification extends Recorded {
  readonly watch: Omit<WatchForNotification, 'isJudged' | 'firing' | 'off'>
  readonly kind: Extract<EnvelopeKind, 'alert' | 'raised' | 'reminder'>
  /** The recipients that get it, of those it is for; all of them without this. */
  readonly only?: ReadonlySet<number>
  /** Recipients that do not get it. */
  readonly except?: ReadonlySet<number>
  /** How bad it is to whoever heard of the episode: a recovery itself is only info. */
  readonly effectiveSeverity: Severity
  readonly isRecovery: boolean
  /** The alert this one answers. */
  readonly answers?: Recorded
  /** Of a recovery, and of an episode that became worse: when it began. */
  readonly startedAt?: Date
  readonly notes?: readonly Note[]
  readonly reminder?: Parameters<typeof remind>[1]
  /** Recorded for chats and mailboxes and not sent: muted, or the signal comes and goes. */
  readonly isQuiet: boolean
}

/** Milliseconds between the reminders of an alert, so that they stay in order behind it. */
const REMINDER_GAP_MS = 1

/** One delivery per alert and recipient, in the language and on the clock of each. */
export async function notify(
  deps: NotifyDeps,
  tx: Db,
  all: readonly Notification[],
): Promise<void> {
  const notifications = all.filter(({ effectiveSeverity, watch }) =>
    isAtLeast(effectiveSeverity, watch.minSeverity),
  )
  if (notifications.length === 0) return
  const requests = notifications.map(({ watch, effectiveSeverity }) => ({
    wallet: watch.wallet,
    recipientIds: watch.recipientIds,
    severity: effectiveSeverity,
  }))
  const settings = await listSettings(tx, [
    ...new Set(notifications.map(({ watch }) => watch.wallet)),
  ])
  const targets = await recipients.recipientsFor(tx, requests)
  const unnotified = await listUnnotified(tx, notifications)
  const createdAt = deps.clock.now()
  const timings = createTimings(createdAt)
  const render = createRenderer()
  const planned = notifications.flatMap((notification, index) => {
    const own = settings.get(notification.watch.wallet) ?? DEFAULT_SETTINGS
    return attempt(deps, notification, () =>
      (targets[index] ?? []).flatMap((recipient): Planned[] => {
        if (!isFor(notification, recipient)) return []
        const plan = planFor(notification, recipient, own, timings)
        if (plan === undefined) return []
        const wasDeferred =
          unnotified.get(notification.answers?.alertId ?? 0)?.has(recipient.id) ?? false
        const row = deliveryOf(deps, notification, recipient, {
          plan,
          createdAt,
          render,
          wasDeferred,
        })
        return [{ watchId: notification.watch.id, row, counts: countsFor(notification, plan) }]
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
    if (reader.off) return []
    const own = settings.get(watch.wallet) ?? DEFAULT_SETTINGS
    const about = { watch, settings: own, now: createdAt }
    return [announcement(deps, { ...about, reader: { ...reader, wallet: watch.wallet } })]
  })
  await delivery.enqueue(tx, [...rows, ...announced])
}

/**
 * Runs `plan`, which touches no database. When it fails, the alert is put into quarantine and has no
 * deliveries.
 */
function attempt(
  { quarantine }: NotifyDeps,
  { alertId }: Notification,
  plan: () => readonly Planned[],
): readonly Planned[] {
  try {
    return plan()
  } catch (error) {
    quarantine.add('alert', alertId, error)
    return []
  }
}

/** Whether a recipient gets it: what a wallet has here is not for groups, whose members manage nothing. */
function isFor({ type, only, except }: Notification, { id, isGroup }: NotificationTarget): boolean {
  if (only?.has(id) === false || except?.has(id) === true) return false
  return !isGroup || findWatchType(type)?.reads !== 'ledger'
}

/** Whether a delivery counts against the hour of its watch: an alert that is sent, now or later. */
function countsFor({ kind, isRecovery }: Notification, { status }: Plan): boolean {
  return kind !== 'reminder' && !isRecovery && status !== 'muted'
}

function deliveryOf(
  deps: NotifyDeps,
  notification: Notification,
  recipient: NotificationTarget,
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
    firedAt: new Date(firedAt.getTime() + (reminder?.number ?? 0) * REMINDER_GAP_MS),
    position,
    envelope: envelopeOf(deps, notification, recipient, { render, deliveryId: id, wasDeferred }),
    createdAt,
  }
}

type Plan = Pick<delivery.NewDelivery, 'status' | 'deferredUntil'>

/** Settings, mutes and time hold for chats and mailboxes; programs get everything but reminders. */
function planFor(
  notification: Notification,
  recipient: NotificationTarget,
  settings: Settings,
  timings: (
    notification: Notification,
    recipient: NotificationTarget,
    settings: Settings,
  ) => Timing,
): Plan | undefined {
  const { kind, effectiveSeverity, isRecovery, isQuiet } = notification
  if (kind === 'reminder' && recipient.off) return undefined
  if (CHANNELS[recipient.channel].isProgrammatic) {
    return kind === 'reminder' ? undefined : { status: recipient.off ? 'disabled' : 'pending' }
  }
  if (!isAtLeast(effectiveSeverity, settings.minSeverity) || (isRecovery && !settings.recoveries)) {
    return undefined
  }
  if (isQuiet) return { status: 'muted' }
  const timing = timings(notification, recipient, settings)
  if (timing.act === 'drop') return undefined
  if (recipient.off) return { status: 'disabled' }
  return timing.act === 'hold'
    ? { status: 'held', deferredUntil: timing.until }
    : { status: 'pending' }
}

/** `timingOf` for one moment, asked once for readers who share settings and clock. */
function createTimings(now: Date) {
  const known = new Map<Settings, Map<string, Timing>>()
  return (
    { kind, effectiveSeverity: severity }: Notification,
    reader: NotificationTarget,
    settings: Settings,
  ): Timing => {
    const ofSettings = known.get(settings) ?? new Map<string, Timing>()
    known.set(settings, ofSettings)
    const key = [kind, severity, reader.timezone, reader.mutedUntil?.getTime()].join(' ')
    const timing = ofSettings.get(key) ?? timingOf(settings, reader, { kind, severity, now })
    ofSettings.set(key, timing)
    return timing
  }
}

/** Who has had no message of the alerts that recoveries answer, by alert. */
async function listUnnotified(
  tx: Db,
  notifications: readonly Notification[],
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const ids = notifications.flatMap(({ isRecovery, answers }) =>
    isRecovery && answers !== undefined ? [answers.alertId] : [],
  )
  return await delivery.listUnnotified(tx, [...new Set(ids)])
}

function envelopeOf(
  deps: NotifyDeps,
  notification: Notification,
  recipient: NotificationTarget,
  how: {
    readonly render: typeof renderMessage
    readonly deliveryId: string
    readonly wasDeferred: boolean
  },
): Envelope {
  const { locale, timezone } = recipient
  const { type, signal, group, data, kind, answers, startedAt, reminder, watch } = notification
  const reader = { locale, timezone }
  const held: readonly Note[] =
    how.wasDeferred && answers !== undefined ? [{ kind: 'held', firedAt: answers.firedAt }] : []
  const render = (alert: Recorded, notes: readonly Note[]) =>
    how.render(renderable(deps, alert, watch, { recipientId: recipient.id, notes }), reader)
  const message = render(notification, [...held, ...(notification.notes ?? [])])
  const title = answers === undefined ? '' : titleOf(deps, answers, (one) => render(one, []).title)
  return {
    deliveryId: how.deliveryId,
    type,
    signal,
    group,
    data,
    locale,
    timezone,
    message: reminder === undefined ? message : remind(message, reminder, reader),
    ...(kind !== 'alert' && { kind }),
    ...(startedAt !== undefined && { startedAt: startedAt.toISOString() }),
    ...(answers !== undefined && {
      answers: answers.alertId,
      answered: { severity: answers.severity, title },
    }),
  }
}

/** An open alert as its messages need it. */
export function recordOf(alert: OpenAlert): Recorded {
  const { id: alertId, type, signal, group, event, severity, data, firedAt, position } = alert
  return { alertId, type, signal, group, event, severity, data, firedAt, position }
}

/** The title of an alert that another one answers; empty where it cannot be put into words. */
function titleOf(
  { quarantine }: NotifyDeps,
  answers: Recorded,
  write: (alert: Recorded) => string,
): string {
  try {
    return write(answers)
  } catch (error) {
    quarantine.add('alert', answers.alertId, error)
    return ''
  }
}

/** An alert of a watch, with the link that this recipient gets. */
export function renderable(
  deps: Pick<NotifyDeps, 'box' | 'publicUrl'>,
  alert: Recorded,
  watch: { readonly id: number; readonly label: string },
  { recipientId, notes = [] }: { recipientId: number | null; notes?: readonly Note[] },
): Renderable {
  const { alertId, event, severity, data, firedAt } = alert
  const link = alertUrl(deps, { alertId, recipientId })
  return {
    alertId,
    watchId: watch.id,
    watchLabel: watch.label,
    event,
    severity,
    data,
    firedAt,
    link,
    test: false,
    notes,
  }
}
