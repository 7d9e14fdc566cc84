import type { Settings } from '#src/recipients/settings.ts'
import type { ToldWatch } from '#src/watches/told.ts'
import { isMuted, nextReminder } from './rules.ts'
import type { AlertRow } from './store.ts'

const MINUTE_MS = 60_000

/** What follows for an alert that is due. */
export type Step =
  /** It is over, acknowledged, silenced, or nobody watches any more. */
  | { readonly act: 'none' }
  /** Its signal does not fire any more and nobody said so: the watch was paused meanwhile. */
  | { readonly act: 'close' }
  | { readonly act: 'wait'; readonly nextAt: Date | undefined }
  | { readonly act: 'remind'; readonly counts: boolean; readonly nextAt: Date | undefined }
  /** A recovery that was not told while its signal came and went. */
  | { readonly act: 'recovered' }

/** Decides for one alert that is due. Pure. */
export function stepFor(
  row: Pick<
    AlertRow,
    | 'isEpisode'
    | 'severity'
    | 'signal'
    | 'recoveredAt'
    | 'acknowledgedAt'
    | 'mutedAt'
    | 'toldAt'
    | 'flapOf'
  >,
  about: {
    readonly watch: ToldWatch | undefined
    readonly settings: Pick<Settings, 'repeat'>
    /** Its signal has changed again since. */
    readonly isOvertaken: boolean
    readonly now: Date
  },
): Step {
  const { watch, settings, isOvertaken, now } = about
  if (watch === undefined) return { act: 'none' }
  if (!row.isEpisode) {
    return row.flapOf !== null && !isOvertaken ? { act: 'recovered' } : { act: 'none' }
  }
  const isAnswered = row.acknowledgedAt !== null || row.mutedAt !== null || row.toldAt === null
  if (row.recoveredAt !== null || isAnswered || !watch.isJudged) return { act: 'none' }
  if (row.signal !== null && !watch.firing.includes(row.signal)) return { act: 'close' }
  const isCritical = row.severity === 'critical'
  const minutes = isCritical ? settings.repeat.critical : []
  const toldAt = row.toldAt ?? now
  if (isMuted(watch, now)) {
    // The end of the mute tells of it; afterwards its reminders go on.
    return { act: 'wait', nextAt: nextReminder(minutes, toldAt, watch.mutedUntil ?? now) }
  }
  const nextAt = nextReminder(minutes, toldAt, now)
  // The settings may have changed since it was planned.
  const counts = minutes.some((one) => toldAt.getTime() + one * MINUTE_MS <= now.getTime())
  if (row.flapOf === null && !counts) return { act: 'wait', nextAt }
  return { act: 'remind', counts, nextAt }
}
