import { packed } from '#src/actions/codec.ts'
import type { AlertFilter } from '#src/actions/verbs.ts'
import type { BoundedCount } from '#src/alerts/history/parts.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { typed } from '#src/i18n/translate.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import type { Button } from '#src/telegram/buttons.ts'
import { listData } from '../../views/alert-list.ts'
import { act, back, labelWithName, type Reader, screen, type View } from '../../views/view.ts'

/** Values of each part of a filter, in the order of presses. */
const CHOICES = {
  state: ['all', 'firing', 'recovered', 'acknowledged', 'closed'],
  severity: ['all', 'critical', 'warning', 'info'],
  time: ['24h', '7d', '30d', 'all'],
} as const satisfies Partial<{ [Part in keyof AlertFilter]: readonly AlertFilter[Part][] }>

/** Hours of each time range. */
const HOURS: Readonly<Record<AlertFilter['time'], number | undefined>> = {
  '24h': 24,
  '7d': 7 * 24,
  '30d': 30 * 24,
  all: undefined,
}

/** Converts the filter to the operations' input. */
export function filterInput(
  { isGroup }: Pick<Reader, 'isGroup'>,
  { state, severity, time, watchId }: AlertFilter,
) {
  const hours = HOURS[time]
  return {
    isGroup,
    ...(state !== 'all' && { state }),
    ...(severity !== 'all' && { severity }),
    ...(watchId !== undefined && { watchId }),
    ...(hours !== undefined && { hours }),
  }
}

/** Start of a filter's time range; undefined if the filter has none. */
export function filterStart({ time }: AlertFilter, now: Date): Date | undefined {
  const hours = HOURS[time]
  return hours === undefined ? undefined : new Date(now.getTime() - hours * HOUR_MS)
}

/**
 * Description of a filter, in one line of HTML.
 * @param watch the label of the filter's watch
 */
export function filterText({ t }: Reader, filter: AlertFilter, watch: string | undefined): string {
  const { state, severity, time } = filter
  const parts = [
    t.html(`bot:alerts.state.${state}`),
    ...(severity === 'all' ? [] : [t.html(`bot:severity.${severity}`)]),
    watch === undefined
      ? t.html('bot:alerts.allWatches')
      : t.html('bot:alerts.ofWatch', { label: typed(watch) }),
    t.html(`bot:alerts.time.${time}`),
  ]
  return parts.join(' · ')
}

interface FilterOptions {
  /** Label of the chosen watch. */
  readonly watch: string | undefined
  /** Every watch that can be chosen, in order. */
  readonly watchIds: readonly number[]
  /** Number of matching alerts. */
  readonly counted: BoundedCount
}

/** The filter's screen: each part has a button that switches to its next value. */
export function alertFilterScreen(
  reader: Reader,
  filter: AlertFilter,
  options: FilterOptions,
): View {
  const { t } = reader
  const { watch, watchIds, counted } = options
  const lines = [
    t.html('bot:alerts.filterTitle'),
    filterText(reader, filter, watch),
    '',
    t.html('bot:alerts.filterHint'),
  ]
  const to = (next: Partial<AlertFilter>) =>
    packed('alert.filter', { filter: { ...filter, ...next } })
  const { count, isAll } = counted
  const show = isAll ? t('bot:button.showAlerts', { count }) : t('bot:button.showMany')
  return screen(lines, [
    [
      act(t(`bot:button.state.${filter.state}`), to({ state: after(CHOICES.state, filter.state) })),
      act(
        t(`bot:button.severity.${filter.severity}`),
        to({ severity: after(CHOICES.severity, filter.severity) }),
      ),
    ],
    [act(t(`bot:button.time.${filter.time}`), to({ time: after(CHOICES.time, filter.time) }))],
    ...watchRows(reader, filter, { watch, watchIds, to }),
    [act(show, listData(filter), 'primary')],
    [back(t('bot:button.alerts'), listData(filter))],
  ])
}

/**
 * Buttons that choose the watch. The first clears the choice, or chooses the next watch while none is chosen;
 * the arrows choose the previous and the next one.
 */
function watchRows(
  { t }: Reader,
  { watchId }: AlertFilter,
  options: Pick<FilterOptions, 'watch' | 'watchIds'> & {
    readonly to: (next: Pick<AlertFilter, 'watchId'>) => string
  },
): readonly (readonly Button[])[] {
  const { watch, watchIds, to } = options
  const all: readonly (number | undefined)[] = [undefined, ...watchIds]
  if (watchIds.length === 0 && watchId === undefined) return []
  const at = all.indexOf(watchId)
  const before = all.at(at <= 0 ? -1 : at - 1)
  const chosen =
    watch === undefined
      ? act(t('bot:button.allWatches'), to({ watchId: after(all, watchId) }))
      : act(labelWithName(watch, isolate), to({ watchId: undefined }))
  return [
    [chosen],
    [act('‹', to({ watchId: before })), act('›', to({ watchId: after(all, watchId) }))],
  ]
}

function after<Value>(values: readonly Value[], current: Value): Value {
  const next = values[values.indexOf(current) + 1] ?? values[0]
  // Safe: the lists have at least two entries, and `Value` includes undefined only where `values` does.
  return next as Value
}

/** Asks for confirmation of deleting alerts older than a filter's range. */
export function alertsDeletionView(
  reader: Reader,
  filter: AlertFilter,
  options: { readonly watch: string | undefined; readonly counted: BoundedCount },
): View {
  const { t } = reader
  const { watch, counted } = options
  const { count, isAll } = counted
  const parts = [
    ...(filter.state === 'all' ? [] : [t.html(`bot:alerts.state.${filter.state}`)]),
    ...(filter.severity === 'all' ? [] : [t.html(`bot:severity.${filter.severity}`)]),
    watch === undefined
      ? t.html('bot:alerts.allWatches')
      : t.html('bot:alerts.ofWatch', { label: typed(watch) }),
    t.html(`bot:alerts.older.${filter.time}`),
  ]
  const lines = [
    isAll ? t.html('bot:alerts.clearQuestion', { count }) : t.html('bot:alerts.clearMany'),
    parts.join(' · '),
    t.html('bot:alerts.clearEffect'),
  ]
  return screen(lines, [
    [
      act(
        isAll ? t('bot:button.clearAlerts', { count }) : t('bot:button.clearMany'),
        packed('alert.clearYes', { filter, index: numberAsked(counted) }),
        'danger',
      ),
    ],
    [back(t('bot:button.keep'), listData(filter))],
  ])
}

/** The number in the question of `alertsDeletionView`; zero if there are too many to count. */
export function numberAsked({ count, isAll }: BoundedCount): number {
  return isAll ? count : 0
}
