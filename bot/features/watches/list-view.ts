import { packed } from '#src/actions/codec.ts'
import { formatDuration } from '#src/i18n/format.ts'
import { isolate } from '#src/i18n/isolates.ts'
import { checkedKey, html, typed } from '#src/i18n/translate.ts'
import type { Button, Rows } from '#src/telegram/buttons.ts'
import type { Watch } from '#src/watches/model.ts'
import { getWatchType } from '#src/watches/types/index.ts'
import type { SlotUse } from '../../views/slot-use.ts'
import { nearTime } from '../../views/time.ts'
import {
  act,
  inRows,
  labelWithName,
  menuButton,
  pageRow,
  type Reader,
  screen,
  type View,
} from '../../views/view.ts'
import { typeLine, typeName } from '../../views/watch-facts.ts'
import {
  glyphOf,
  STATUS_GLYPHS,
  severityOf,
  sortWatches,
  watchStatusOf,
} from '../../views/watch-state.ts'
import { typeButtons } from '../new/view.ts'
import { signalShort } from '../signals/view.ts'

/** Number of watches on a page, and on the single page of a list without buttons. */
const PAGE_SIZE = 5
const PLAIN_SIZE = 20
/** Types offered to a wallet without watches. */
const TYPES_OFFERED = 3

interface ListOptions {
  /** Number of the page, from 1; a number beyond the last page means the last page. */
  readonly page: number
  readonly now: Date
  /** Whether there are buttons. */
  readonly hasButtons: boolean
  /** Line about the last action, or about missing rights: HTML. */
  readonly notice?: string
  /** Slots of the wallet; undefined if this chat may not see them. */
  readonly slots: SlotUse | undefined
  /** Whether watches can be created from here. */
  readonly canCreate?: boolean
}

/** The wallet's watches, the worst first: five per page, or without buttons up to 20. */
export function watchList(reader: Reader, watches: readonly Watch[], options: ListOptions): View {
  const { t } = reader
  const { now, hasButtons, notice } = options
  if (watches.length === 0) {
    const empty = t.html('bot:watches.nothing')
    const first = options.canCreate ? typeButtons(reader, TYPES_OFFERED) : []
    return screen([notice, empty], hasButtons ? [...inRows(first, 2), [menuButton(t)]] : [])
  }
  const size = hasButtons ? PAGE_SIZE : PLAIN_SIZE
  const pages = Math.ceil(watches.length / size)
  const page = hasButtons ? Math.min(Math.max(options.page, 1), pages) : 1
  const shown = sortWatches(watches, now).slice((page - 1) * size, page * size)
  const hidden = watches.length - shown.length
  const lines = [
    notice,
    ...titleLines(reader, watches.length, options.slots),
    ...shown.map((watch) => watchLine(reader, watch, now)),
    hasButtons || hidden === 0 ? undefined : t.html('bot:watches.more', { count: hidden }),
  ]
  const rows: Rows = [
    ...shown.map((watch) => [cardButton(watch, now)]),
    pageRow(page, pages, (to) => packed('watch.list', { page: to })),
    [
      ...(options.canCreate ? [act(t('bot:button.newWatch'), packed('new.start'))] : []),
      act(t('bot:button.status'), packed('status')),
    ],
    [menuButton(t)],
  ]
  return screen(lines, hasButtons ? rows : [])
}

function titleLines(
  { t, isBillingOff }: Reader,
  total: number,
  slots: SlotUse | undefined,
): readonly (string | undefined)[] {
  if (slots === undefined || isBillingOff === true) return [t.html('bot:watches.title', { total })]
  const { used, waiting } = slots
  return [
    t.html('bot:watches.titleSlots', { used, slots: slots.total }),
    waiting === 0
      ? undefined
      : `${STATUS_GLYPHS.suspended} ${t.html('bot:count.suspended', { count: waiting })}`,
  ]
}

/** A watch in one line: emoji, name, type, and state or last observation. */
export function watchLine(reader: Reader, watch: Watch, now: Date): string {
  const { t } = reader
  const status = watchStatusOf(watch, now)
  const glyph = glyphOf(watch, now)
  const values = {
    label: typed(watch.label),
    type: typeName(t, watch.type),
  }
  const isFine = status === 'fine'
  const state = isFine ? typeLine(reader, watch, 'value', now) : stateText(reader, watch, now)
  if (state === undefined) return `${glyph} ${t.html('bot:watches.line', values)}`
  return `${glyph} ${t.html('bot:watches.lineState', { ...values, state: html(state) })}`
}

/** State of a watch that is not fine: if a signal fires, its name and for how long. */
function stateText(reader: Reader, watch: Watch, now: Date): string {
  const { t } = reader
  const status = watchStatusOf(watch, now)
  const worst = severityOf(watch)
  const open = watch.signalStates.find(
    ({ state, severity }) => state === 'firing' && (severity ?? 'warning') === worst,
  )
  if (status === 'firing' && open?.since) {
    const seconds = (now.getTime() - open.since.getTime()) / 1000
    return t.html('bot:state.firingSignal', {
      signal: signalShort(t, watch.type, open.id),
      duration: formatDuration(seconds, t.locale, 'short'),
    })
  }
  const until = watch.mutedUntil === null ? '' : nearTime(reader, watch.mutedUntil, now)
  return t.html(checkedKey(`bot:state.${status}`), { until })
}

/**
 * Button of a watch: its state, the glyph of its type, which distinguishes watches of one name, and
 * its name.
 */
function cardButton(watch: Watch, now: Date): Button {
  const glyphs = `${glyphOf(watch, now)} ${getWatchType(watch.type).form.icon}`
  const label = labelWithName(watch.label, (name) => `${glyphs} ${isolate(name)}`)
  return { label, data: packed('watch.card', { id: watch.id }) }
}
