import { packed } from '#src/actions/codec.ts'
import type { AlertFilter } from '#src/actions/verbs.ts'
import type { AlertLine } from '#src/alerts/history/lines.ts'
import { lineStart } from '#src/channels/card/wording.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { listData, USUAL_FILTER } from '../../views/alert-list.ts'
import { linkHtml } from '../../views/markup.ts'
import { nearTime } from '../../views/time.ts'
import { act, deepLink, menuButton, type Reader, screen, type View } from '../../views/view.ts'
import { SEVERITY_GLYPHS } from '../../views/watch-state.ts'
import { backToCard } from '../watches/edit-view.ts'

/** Number of incidents on one page. */
export const ALERTS_PAGE = 8
/** Maximum length of a title in a line, with the name of its watch. */
const TITLE_MAX = 120
const LABEL_MAX = 40
const NOTE_MAX = 60
const RECOVERED_GLYPH = '🟢'

/** A page of the history. */
export interface AlertsShown {
  readonly lines: readonly AlertLine[]
  readonly nextCursor: string | null
  /** Time of the oldest alert that was looked at, if there are older ones that may match. */
  readonly searchedTo: Date | null
  /** Whether the page is not the first. */
  readonly isOlder: boolean
}

/** The watch of a filter. */
export interface ChosenWatch {
  readonly id: number
  readonly label: string
  /** Whether the watch was deleted, so that it has no card. */
  readonly isGone: boolean
}

interface ListOptions {
  readonly now: Date
  readonly watch: ChosenWatch | undefined
  /** Whether there are buttons. */
  readonly buttons: boolean
  /** Line about the last action, or about missing rights: HTML. */
  readonly notice?: string
}

/** List of incidents, newest first, one line each. */
export function alertList(
  reader: Reader,
  page: AlertsShown,
  filter: AlertFilter,
  options: ListOptions,
): View {
  const { t } = reader
  const { now, watch, buttons, notice } = options
  const lines = [
    notice,
    `${t.html('bot:alerts.title')} · ${filterText(reader, filter, watch)}`,
    ...page.lines.map((line) => alertLine(reader, line, now)),
    page.lines.length === 0 ? emptyLine(reader, page, filter, now) : undefined,
  ]
  return screen(lines, buttons ? rowsOf(reader, page, filter, watch) : [])
}

/** Hours of each time range. */
const HOURS: Readonly<Record<AlertFilter['time'], number | undefined>> = {
  '24h': 24,
  '7d': 7 * 24,
  '30d': 30 * 24,
  all: undefined,
}

/** Converts the filter to the operations' input. */
export function filterInput({ isGroup }: Pick<Reader, 'isGroup'>, { time, watchId }: AlertFilter) {
  const hours = HOURS[time]
  return {
    isGroup,
    ...(watchId !== undefined && { watchId }),
    ...(hours !== undefined && { hours }),
  }
}

/** Description of a filter, in one line of HTML. */
function filterText({ t }: Reader, { time }: AlertFilter, watch?: ChosenWatch): string {
  const whose =
    watch === undefined
      ? t.html('bot:alerts.allWatches')
      : t.html('bot:alerts.ofWatch', { label: typed(watch.label) })
  return `${whose} · ${t.html(`bot:alerts.time.${time}`)}`
}

function rowsOf(
  { t }: Reader,
  page: AlertsShown,
  filter: AlertFilter,
  watch: ChosenWatch | undefined,
): Rows {
  const older = packed('alert.list', { filter, cursor: page.nextCursor ?? undefined })
  const isEmpty = page.lines.length === 0
  return [
    [
      ...(page.nextCursor === null ? [] : [act(`${t('bot:button.older')} ›`, older)]),
      ...(page.isOlder ? [act(`« ${t('bot:button.newest')}`, listData(filter))] : []),
    ],
    isEmpty && filter.time !== 'all'
      ? [act(t('bot:button.allTime'), listData({ ...USUAL_FILTER, time: 'all' }))]
      : [],
    watch === undefined
      ? [menuButton(t)]
      : [
          watch.isGone ? menuButton(t) : backToCard(watch),
          act(t('bot:button.allWatches'), listData({ ...filter, watchId: undefined })),
        ],
  ]
}

function alertLine(reader: Reader, line: AlertLine, now: Date): string {
  const { t } = reader
  const values = {
    time: nearTime(reader, line.startedAt, now),
    // Only the number is a link, because a name in another script would reorder a linked title.
    number: linkHtml(`#${line.incidentId}`, deepLink(reader, `a${line.id}`)),
    title: cutText(line.title, TITLE_MAX),
  }
  const { durationSeconds: seconds } = line
  const text =
    seconds === null
      ? t.html('bot:alerts.line', values)
      : t.html('bot:alerts.lineFor', {
          ...values,
          duration: formatDuration(seconds, t.locale, 'short'),
        })
  const start = `${lineStart(t.locale)}${alertGlyph(line)}`
  const during = line.during === null ? [] : [t.html('bot:alerts.during')]
  const noted =
    line.note === null
      ? []
      : [t.html('bot:alerts.note', { note: typed(cutText(line.note.text, NOTE_MAX)) })]
  return [start, text, ...acknowledged(reader, line), ...noted, ...during].join(' ')
}

/** Glyph of an alert's severity, or of a recovered alert. */
function alertGlyph({ state, severity }: Pick<AlertLine, 'state' | 'severity'>): string {
  return state === 'recovered' ? RECOVERED_GLYPH : SEVERITY_GLYPHS[severity]
}

function acknowledged({ t }: Reader, { acknowledged: by }: AlertLine): readonly string[] {
  if (by === null) return []
  return by.by === null
    ? ['✓']
    : [t.html('bot:alerts.by', { name: typed(cutText(by.by, LABEL_MAX)) })]
}

function emptyLine(
  reader: Reader,
  { searchedTo }: AlertsShown,
  { time, watchId }: AlertFilter,
  now: Date,
): string {
  const { t } = reader
  if (searchedTo !== null)
    return t.html('bot:alerts.noneYet', { time: nearTime(reader, searchedTo, now) })
  return watchId === undefined ? t.html(`bot:alerts.none.${time}`) : t.html('bot:alerts.noneFits')
}
