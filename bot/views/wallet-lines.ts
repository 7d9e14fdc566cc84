import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import type { SlotUse } from './slot-use.ts'
import { nearTime } from './time.ts'
import type { Reader } from './view.ts'
import { STATUS_GLYPHS, WATCH_STATUSES, watchStatusOf, worstGlyph } from './watch-state.ts'

/** Line that says until when the chat is muted, as HTML; undefined if it is not muted. */
export function mutedLine(reader: Reader, until: Date | null, now: Date): string | undefined {
  if (until === null || until <= now) return undefined
  return `🔕 ${reader.t.html('bot:muted.chatUntil', { until: nearTime(reader, until, now) })}`
}

/** Line with the numbers of used slots and of all slots, as HTML. A suspended watch uses no slot. */
export function slotsText(t: Translate, { used, total }: SlotUse): string {
  return `🎟️ ${t.html('bot:home.slots', { used, total })}`
}

/**
 * Lines with the number of watches of each status, in the order of `WATCH_STATUSES`, as HTML. One line if there are no
 * watches, or all are fine.
 */
export function watchSummaryLines(
  { t }: Reader,
  watches: readonly Watch[],
  now: Date,
): readonly string[] {
  if (watches.length === 0) return [t.html('bot:home.empty')]
  const counts = Map.groupBy(watches, (watch) => watchStatusOf(watch, now))
  if (counts.get('fine')?.length === watches.length) {
    return [`${STATUS_GLYPHS.fine} ${t.html('bot:home.quiet', { count: watches.length })}`]
  }
  return WATCH_STATUSES.flatMap((status) => {
    const count = counts.get(status)?.length ?? 0
    if (count === 0) return []
    const glyph = status === 'firing' ? worstGlyph(counts.get(status)) : STATUS_GLYPHS[status]
    return [`${glyph} ${t.html(checkedKey(`bot:count.${status}`), { count })}`]
  })
}
