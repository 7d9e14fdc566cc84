import { MINUTE_MS } from '#src/kernel/durations.ts'
import { type MaintenanceSettings, maintenanceAt } from '#src/recipients/maintenance.ts'
import type { Settings } from '#src/recipients/settings.ts'
import type { WatchForNotification } from '#src/watches/notification-model.ts'
import { isMuted, isSignalFiring, nextReminder } from '../rules.ts'
import type { AlertRow } from '../store.ts'

/** Next step for an alert whose reminder is due. */
export type ReminderStep =
  /** The alert is over, acknowledged or muted, or its watch was deleted. */
  | { readonly act: 'none' }
  /** The signal no longer fires, and no recovery was recorded. */
  | { readonly act: 'end' }
  | { readonly act: 'wait'; readonly nextAt: Date | undefined }
  | { readonly act: 'remind'; readonly counts: boolean; readonly nextAt: Date | undefined }

/** Decides the step for one alert whose reminder is due. Pure. */
export function reminderStepFor(
  row: Pick<
    AlertRow,
    | 'isEpisode'
    | 'severity'
    | 'signal'
    | 'recoveredAt'
    | 'acknowledgedAt'
    | 'mutedAt'
    | 'notifiedAt'
    | 'watchId'
  >,
  options: {
    readonly watch: WatchForNotification | undefined
    readonly settings: Pick<Settings, 'repeat'> & MaintenanceSettings
    /** Whether the alert was never sent to a recipient because of a mute. */
    readonly isUnsent: boolean
    readonly now: Date
  },
): ReminderStep {
  const { watch, settings, isUnsent, now } = options
  if (watch === undefined || !row.isEpisode) return { act: 'none' }
  const isAnswered = row.acknowledgedAt !== null || row.mutedAt !== null || row.notifiedAt === null
  if (row.recoveredAt !== null || isAnswered) return { act: 'none' }
  const isCritical = row.severity === 'critical'
  const minutes = isCritical ? settings.repeat.critical : []
  const notifiedAt = row.notifiedAt ?? now
  // The signal is not judged: its watch is paused or suspended, or the signal is off. The alert stays open.
  const isFrozen = !watch.isJudged || (row.signal !== null && watch.off.includes(row.signal))
  if (isFrozen) return { act: 'wait', nextAt: nextReminder(minutes, notifiedAt, now) }
  if (!isSignalFiring(watch, row.signal)) return { act: 'end' }
  if (isMuted(watch, now)) {
    // When the mute ends, the alert is notified; its reminders continue afterwards.
    return { act: 'wait', nextAt: nextReminder(minutes, notifiedAt, watch.mutedUntil ?? now) }
  }
  const maintenance = maintenanceAt(settings, row.watchId, now)
  if (maintenance !== undefined) return { act: 'wait', nextAt: maintenance.to }
  const nextAt = nextReminder(minutes, notifiedAt, now)
  // The settings may have changed since the reminder was scheduled.
  const counts = minutes.some(
    (minute) => notifiedAt.getTime() + minute * MINUTE_MS <= now.getTime(),
  )
  if (!counts && !isUnsent) return { act: 'wait', nextAt }
  return { act: 'remind', counts, nextAt }
}

/** Time after an escalation in which its recipients get no reminder of the same alert. */
const ESCALATED_REST_MS = MINUTE_MS

/**
 * Whether the recipients of an alert's escalation get the reminder that was due at `dueAt`: only if it was due at least
 * `ESCALATED_REST_MS` after the escalation. Pure.
 */
export function isReminderForEscalated(escalatedAt: Date, dueAt: Date): boolean {
  return dueAt.getTime() - escalatedAt.getTime() >= ESCALATED_REST_MS
}

/**
 * Plans the next reminders of open critical alerts that were notified and are neither acknowledged nor
 * muted. Pure.
 *
 * @returns null as the time after the last reminder
 */
export function planReminders(
  open: readonly Pick<AlertRow, 'id' | 'severity' | 'notifiedAt' | 'acknowledgedAt' | 'mutedAt'>[],
  { repeat }: Pick<Settings, 'repeat'>,
  now: Date,
): readonly { readonly id: number; readonly remindAt: Date | null }[] {
  return open.flatMap(({ id, severity, notifiedAt, acknowledgedAt, mutedAt }) => {
    const isReminded = severity === 'critical' && acknowledgedAt === null && mutedAt === null
    if (!isReminded || notifiedAt === null) return []
    return [{ id, remindAt: nextReminder(repeat.critical, notifiedAt, now) ?? null }]
  })
}
