import { SEVERITIES, type Severity, worstSeverity } from '#src/kernel/display-values.ts'
import type { Watch } from '#src/watches/model.ts'

/** Statuses of a watch, in the order of lists. */
export const WATCH_STATUSES = [
  'firing',
  'noData',
  'suspended',
  'pending',
  'fine',
  'muted',
  'paused',
] as const
export type WatchStatus = (typeof WATCH_STATUSES)[number]

/** Emoji of each status; a firing watch has the emoji of its severity, see `glyphOf`. */
export const STATUS_GLYPHS: Readonly<Record<WatchStatus, string>> = {
  firing: '🔴',
  noData: '⚪',
  suspended: '🎟️',
  pending: '🟡',
  fine: '🟢',
  muted: '🔕',
  paused: '⏸️',
}

/** Emoji of a severity. */
export const SEVERITY_GLYPHS: Readonly<Record<Severity, string>> = {
  critical: '🔴',
  warning: '🟠',
  info: '🔵',
}

/** The emoji of a watch. */
export function glyphOf(watch: Watch, now: Date): string {
  const status = watchStatusOf(watch, now)
  return status === 'firing' ? SEVERITY_GLYPHS[severityOf(watch)] : STATUS_GLYPHS[status]
}

/** Emoji of the highest severity among the firing signals of these watches; of a warning if none fires. */
export function worstGlyph(firing: readonly Watch[] = []): string {
  return SEVERITY_GLYPHS[worstSeverity(firing.map(severityOf)) ?? 'warning']
}

/** The highest severity of the firing signals; `warning` if none fires. */
export function severityOf({ signalStates }: Pick<Watch, 'signalStates'>): Severity {
  const open = signalStates.filter(({ state }) => state === 'firing')
  return worstSeverity(open.map(({ severity }) => severity)) ?? 'warning'
}

/**
 * Status of a watch at `now`: the first that applies of firing, no data (active watches only), suspended, paused, muted,
 * pending. A watch that is not judged can still be firing.
 */
export function watchStatusOf(watch: Watch, now: Date): WatchStatus {
  const isActive = watch.status === 'active'
  const has = (state: string) => watch.signalStates.some((signal) => signal.state === state)
  if (has('firing')) return 'firing'
  if (isActive && watch.health === 'no_data') return 'noData'
  if (watch.status === 'suspended') return 'suspended'
  if (watch.status === 'paused') return 'paused'
  if (isMuted(watch, now)) return 'muted'
  return has('pending') ? 'pending' : 'fine'
}

/** Whether the watch is muted at `now`. */
export function isMuted(watch: Watch, now: Date): boolean {
  return watch.mutedUntil !== null && watch.mutedUntil > now
}

/** Sorts watches by status and severity, the most severe first, then by name, then by id. */
export function sortWatches(watches: readonly Watch[], now: Date): readonly Watch[] {
  const statusRank = (watch: Watch) => WATCH_STATUSES.indexOf(watchStatusOf(watch, now))
  const severityRank = (watch: Watch) =>
    watchStatusOf(watch, now) === 'firing' ? -SEVERITIES.indexOf(severityOf(watch)) : 0
  return watches.toSorted(
    (a, b) =>
      statusRank(a) - statusRank(b) ||
      severityRank(a) - severityRank(b) ||
      compareText(a.label, b.label) ||
      a.id - b.id,
  )
}

/** Compares texts by code units, in the same way for readers of every language, so that a watch stays on its page. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
