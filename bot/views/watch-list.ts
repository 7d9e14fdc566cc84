import { isolate } from '#src/i18n/isolates.ts'
import { builtKey, html, id, typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { packed } from '../callback-data.ts'
import { nearTime } from './time.ts'
import {
  type Button,
  labelWithName,
  menuButton,
  type Reader,
  type Rows,
  screen,
  type View,
} from './view.ts'
import { GLYPHS, inOrder, standingOf } from './watch-state.ts'

/** Watches on one page, and on the only one there is without buttons. */
const PAGE_SIZE = 5
const PLAIN_SIZE = 20

interface ListOptions {
  /** Counts from 1; pages that are not there any more become the last one. */
  readonly page: number
  readonly now: Date
  /** Without, the same text and nothing to press. */
  readonly buttons: boolean
  /** A line about what has just happened, or about what the reader may not do: HTML. */
  readonly notice?: string
}

/** The wallet's watches, five a page, the worst first. */
export function watchList(reader: Reader, watches: readonly Watch[], options: ListOptions): View {
  const { t } = reader
  const { now, buttons, notice } = options
  if (watches.length === 0) {
    const empty = t.html('bot:watches.empty')
    return screen([notice, empty], buttons ? [[menuButton(t)]] : [])
  }
  const size = buttons ? PAGE_SIZE : PLAIN_SIZE
  const pages = Math.ceil(watches.length / size)
  const page = buttons ? Math.min(Math.max(options.page, 1), pages) : 1
  const shown = inOrder(watches, now).slice((page - 1) * size, page * size)
  const hidden = watches.length - shown.length
  const lines = [
    notice,
    t.html('bot:watches.title', { total: watches.length }),
    ...shown.map((watch) => watchLine(reader, watch, now)),
    buttons || hidden === 0 ? undefined : t.html('bot:watches.more', { count: hidden }),
  ]
  const rows: Rows = [
    ...shown.map((watch) => [cardButton(watch, now)]),
    ...(pages > 1 ? [pageRow(page, pages)] : []),
    [menuButton(t)],
  ]
  return screen(lines, buttons ? rows : [])
}

function watchLine(reader: Reader, watch: Watch, now: Date): string {
  const { t } = reader
  const standing = standingOf(watch, now)
  const values = {
    label: typed(watch.label),
    type: t(builtKey(`signals:type.${watch.type}.label`)),
  }
  if (standing === 'fine') return `${GLYPHS.fine} ${t.html('bot:watches.line', values)}`
  const until = watch.mutedUntil === null ? '' : nearTime(reader, watch.mutedUntil, now)
  const state = html(t.html(builtKey(`bot:state.${standing}`), { until }))
  return `${GLYPHS[standing]} ${t.html('bot:watches.lineState', { ...values, state })}`
}

function cardButton(watch: Watch, now: Date): Button {
  const glyph = GLYPHS[standingOf(watch, now)]
  const label = labelWithName(watch.label, (name) => `${glyph} ${isolate(name)}`)
  return { label, data: packed('watch.card', { id: watch.id }) }
}

/** Beyond the first and the last page the list begins again at the other end. */
function pageRow(page: number, pages: number): readonly Button[] {
  const before = page === 1 ? pages : page - 1
  const after = page === pages ? 1 : page + 1
  return [
    { label: '‹', data: packed('watch.list', { page: before }) },
    { label: `${id(page).text} / ${id(pages).text}`, data: packed('none') },
    { label: '›', data: packed('watch.list', { page: after }) },
  ]
}
