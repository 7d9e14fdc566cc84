import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { id, typed } from '#src/i18n/translate.ts'
import { modernZone } from '#src/i18n/zones.ts'
import type { currentWindows } from '#src/recipients/maintenance.ts'
import { nearTime } from '../../views/time.ts'
import {
  act,
  back,
  inRows,
  labelWithName,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'

export type ShownWindow = ReturnType<typeof currentWindows>[number]

/** Lengths that are offered, in minutes. */
const LENGTHS = [30, 60, 120, 240, 480] as const
const NOW_MINUTES = 60

interface Options {
  readonly now: Date
  /** Line about the last action: HTML. */
  readonly notice?: string | undefined
}

/** Planned maintenance of the wallet: a line for each window, and buttons to plan more. */
export function maintenanceScreen(
  reader: Reader,
  windows: readonly ShownWindow[],
  { now, notice }: Options,
): View {
  const { t, timezone } = reader
  const lines = [
    notice,
    t.html('bot:maintenance.title'),
    ...(windows.length === 0 ? [t.html('bot:maintenance.none')] : []),
    ...windows.map((window) => windowLine(reader, window, now)),
    '',
    t.html('bot:maintenance.effect'),
    t.html('bot:quiet.zone', { zone: id(modernZone(timezone)) }),
  ]
  const open = windows.map((window) => [
    act(
      labelWithName(window.name, (name) => name),
      packed('maintenance.card', { windowId: window.id }),
    ),
  ])
  const start = packed('maintenance.add', { opened: undefined, minutes: NOW_MINUTES })
  return screen(lines, [
    [act(t('bot:button.maintenance.now'), start, 'primary')],
    [act(t('bot:button.maintenance.later'), packed('maintenance.ask'))],
    ...open,
    [back(t('bot:button.mute'), packed('mute.list'))],
  ])
}

/** One window, with what can be changed about it. */
export function windowScreen(reader: Reader, window: ShownWindow, { now }: Options): View {
  const { t } = reader
  const isRunning = window.period.from <= now
  return screen(
    [windowLine(reader, window, now), watchesLine(reader, window)],
    [
      [
        act(
          t(isRunning ? 'bot:button.maintenance.end' : 'bot:button.maintenance.cancel'),
          packed('maintenance.end', { windowId: window.id }),
        ),
      ],
      [back(t('bot:button.maintenance'), packed('maintenance'))],
    ],
  )
}

function windowLine(reader: Reader, window: ShownWindow, now: Date): string {
  const { t } = reader
  const { name, period, repeat } = window
  const values = {
    name: typed(name),
    from: nearTime(reader, period.from, now),
    until: nearTime(reader, period.to, now),
  }
  const line =
    period.from <= now
      ? t.html('bot:maintenance.running', values)
      : t.html('bot:maintenance.line', values)
  return repeat === null ? line : `${line} ${t.html('bot:maintenance.weekly')}`
}

function watchesLine({ t }: Reader, { watchIds }: ShownWindow): string {
  return watchIds === null
    ? t.html('bot:maintenance.allWatches')
    : t.html('bot:maintenance.someWatches')
}

/** Question for the start of a window. */
export function startQuestion({ t, timezone }: Reader): View {
  return screen(
    [t.html('bot:ask.maintenance'), t.html('bot:quiet.zone', { zone: id(modernZone(timezone)) })],
    [[back(t('bot:button.maintenance'), packed('maintenance'))]],
  )
}

/** Choice of the length of a window that begins at a time. */
export function lengthScreen(reader: Reader, from: Date, now: Date): View {
  const { t } = reader
  const opened = Math.floor(from.getTime() / 1000)
  const lengths = LENGTHS.map((minutes) =>
    act(
      formatDuration(minutes * 60, t.locale, 'short'),
      packed('maintenance.add', { opened, minutes }),
    ),
  )
  return screen(
    [t.html('bot:maintenance.howLong', { from: nearTime(reader, from, now) })],
    [...inRows(lengths, 3), [back(t('bot:button.maintenance'), packed('maintenance'))]],
  )
}

/** A window that was just planned, with the offer to repeat it. */
export function plannedScreen(reader: Reader, window: ShownWindow, now: Date): View {
  const { t } = reader
  return screen(
    [`✓ ${t.html('bot:maintenance.planned')}`, windowLine(reader, window, now)],
    [
      [
        act(
          t(`bot:button.maintenance.${window.repeat === null ? 'weekly' : 'once'}`),
          packed('maintenance.repeat', { windowId: window.id, on: window.repeat === null }),
        ),
      ],
      [back(t('bot:button.maintenance'), packed('maintenance'))],
    ],
  )
}
