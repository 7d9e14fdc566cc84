/**
 * Planned maintenance: windows in which nobody is sent the alerts of some watches, programs included. An alert that
 * fires in a window is recorded; if it is still open at the end of the window, it is sent then. Pure.
 */
import { Temporal } from 'temporal-polyfill'
import { z } from 'zod'
import { DAY_MS, MINUTE_MS, type TimePeriod } from '#src/kernel/durations.ts'
import { Label } from '#src/kernel/label.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { Id, Instant } from '#src/kernel/units.ts'

/** Maximum number of windows of a wallet. */
export const MAINTENANCE_MAX = 20
const WATCHES_MAX = 100
const WEEK_MS = 7 * DAY_MS
/** Longest window: shorter than a week, so that a weekly one always ends. */
const MAINTENANCE_MINUTES_MAX = 6 * 24 * 60

const WindowId = textFormat(/^[A-Za-z0-9_-]{1,36}$/, () => ({ code: 'maintenance_id' })).meta({
  description: 'operations:field.maintenanceId',
  examples: ['node-upgrade'],
})
const WatchIds = z
  .array(Id)
  .min(1)
  .max(WATCHES_MAX)
  .nullable()
  .meta({ description: 'operations:field.maintenanceWatches' })
const Repeat = z
  .literal('weekly')
  .nullable()
  .meta({ description: 'operations:field.maintenanceRepeat' })

const fields = {
  name: Label,
  watchIds: WatchIds,
  from: Instant.meta({ description: 'operations:field.maintenanceFrom' }),
  until: Instant.meta({ description: 'operations:field.maintenanceUntil' }),
  repeat: Repeat,
}

/** A window of planned maintenance, as stored and shown. */
export const MaintenanceWindow = z
  .strictObject({ id: WindowId, ...fields })
  .meta({ id: 'MaintenanceWindow' })
export type MaintenanceWindow = z.output<typeof MaintenanceWindow>

/** The windows in a body of `PUT /settings`. A window without an id is new. */
export const NewMaintenance = z
  .array(
    z
      .strictObject({ id: WindowId.optional(), ...fields })
      .check((context) => {
        const { from, until } = context.value
        const minutes = (until.getTime() - from.getTime()) / MINUTE_MS
        const code =
          minutes <= 0 ? 'ends_before' : minutes > MAINTENANCE_MINUTES_MAX ? 'too_long_window' : ''
        if (code === '') return
        context.issues.push({
          code: 'custom',
          input: until,
          path: ['until'],
          params: { code, maximum: MAINTENANCE_MINUTES_MAX / (24 * 60) },
        })
      })
      .meta({ id: 'MaintenanceWindowRequest' }),
  )
  .max(MAINTENANCE_MAX)
  .refine(
    (windows) => {
      const ids = windows.flatMap(({ id }) => id ?? [])
      return new Set(ids).size === ids.length
    },
    { params: { code: 'duplicate' } },
  )
  .meta({ description: 'operations:field.maintenance' })
export type NewMaintenance = z.output<typeof NewMaintenance>

/** Body of `POST /maintenance`: a window that begins now or at `from`, and lasts some minutes. */
export const MaintenanceRequest = z
  .strictObject({
    name: Label,
    minutes: z.int().min(1).max(MAINTENANCE_MINUTES_MAX),
    watchIds: WatchIds.optional(),
    from: fields.from.optional(),
    repeat: Repeat.optional(),
  })
  .meta({ id: 'MaintenanceRequest' })
export type MaintenanceRequest = z.output<typeof MaintenanceRequest>

/** The settings on which maintenance depends. */
export interface MaintenanceSettings {
  readonly maintenance: readonly MaintenanceWindow[]
  /** IANA name. A weekly window keeps the time that clocks show there. */
  readonly timezone: string
}

/**
 * The maintenance of a watch at an instant; undefined if there is none. Of several windows it is the period that ends
 * last.
 */
export function maintenanceAt(
  { maintenance, timezone }: MaintenanceSettings,
  watchId: number,
  at: Date,
): TimePeriod | undefined {
  return maintenance
    .filter(({ watchIds }) => watchIds?.includes(watchId) ?? true)
    .flatMap((window) => {
      const period = periodFrom(window, timezone, at)
      return period !== undefined && period.from <= at ? [period] : []
    })
    .toSorted((a, b) => b.to.getTime() - a.to.getTime())
    .at(0)
}

/** The period of a window that contains an instant, else its next one; undefined if it is over for good. */
export function periodFrom(
  { from, until, repeat }: Pick<MaintenanceWindow, 'from' | 'until' | 'repeat'>,
  timezone: string,
  at: Date,
): TimePeriod | undefined {
  if (until > at) return { from, to: until }
  if (repeat === null) return undefined
  const start = Temporal.Instant.fromEpochMilliseconds(from.getTime()).toZonedDateTimeISO(timezone)
  const lengthMs = until.getTime() - from.getTime()
  // A change of clocks moves a period by some hours, so the estimate is at most one week wrong.
  const estimate = Math.floor((at.getTime() - from.getTime()) / WEEK_MS)
  for (let weeks = Math.max(estimate - 1, 0); ; weeks += 1) {
    const begins = start.add({ weeks }).epochMilliseconds
    if (begins + lengthMs > at.getTime()) {
      return { from: new Date(begins), to: new Date(begins + lengthMs) }
    }
  }
}

/** The windows that are not over for good, the next one first. */
export function currentWindows(
  { maintenance, timezone }: MaintenanceSettings,
  now: Date,
): readonly (MaintenanceWindow & { readonly period: TimePeriod })[] {
  return maintenance
    .flatMap((window) => {
      const period = periodFrom(window, timezone, now)
      return period === undefined ? [] : [{ ...window, period }]
    })
    .toSorted((a, b) => a.period.from.getTime() - b.period.from.getTime())
}
