/** The outage that an alert belongs to, as its page shows it: what its alerts have in common, and each of them. */
import { cardOf } from '#src/channels/card/card.ts'
import { hasEnded } from '#src/channels/card/wording.ts'
import { groupHelp } from '#src/channels/groups/group.ts'
import { withoutNames } from '#src/channels/updates/shown.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { headingOf, newestOfEach } from '../incidents/heading.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { type OutageTimes, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import type { AlertRow } from '../store.ts'
import type { ReadDeps } from './history.ts'
import { type AlertsTogether, describeOthers, type OtherAlert } from './other-alerts.ts'

/** An outage with several alerts. */
export interface OutagePage {
  /** What its alerts have in common, with its figures of now, as in the message about them. */
  readonly title: string
  readonly glyph: string
  /** Severity, times and what people have done. */
  readonly lines: readonly string[]
  /** Its damage; may be empty. */
  readonly body: string
  /** What to do first; undefined once it is over. */
  readonly help: string | undefined
  readonly isOver: boolean
  /** Whether its lines say who acknowledged it. */
  readonly isAcknowledged: boolean
  /** The newest alert of each of its episodes, as a list; the links may only read. */
  readonly alerts: readonly OtherAlert[]
  /** Number of further alerts that the list has no room for. */
  readonly more: number
  /** Whether there may be more than these. */
  readonly isCut: boolean
  /** Ids of all its alerts. */
  readonly ids: ReadonlySet<number>
}

/**
 * The outage of an alert: the alerts around it that were open at the same time. Undefined where no other alert was
 * open.
 *
 * @param around undefined for an event that nothing ends
 * @param isNamed whether the reader may know the names of recipients
 */
export async function readOutagePage(
  deps: ReadDeps & { readonly clock: Clock },
  row: AlertRow,
  around: AlertsTogether | undefined,
  { reader, isNamed }: { readonly reader: Reader; readonly isNamed: boolean },
): Promise<OutagePage | undefined> {
  if (around === undefined) return undefined
  const episodes = around.rows.filter(({ isEpisode }) => isEpisode)
  const times = await readOutages(deps.db, [row, ...episodes])
  const ownTimes = times.get(row.id)
  const together = [row, ...episodes].filter(({ id }) => areTogether(ownTimes, times.get(id)))
  const rows = await withCurrentFigures(deps.db, newestOfEach(together))
  const states = await messageStates(
    deps,
    rows.map(({ id }) => id),
  )
  const heading = headingOf(deps, rows, states, { reader, at: deps.clock.now() })
  if (heading === undefined) return undefined
  const { envelope, count } = heading
  const state = isNamed ? heading.state : withoutNames(heading.state)
  const { title, glyph, lines, body } = cardOf(envelope, { state, isCut: around.isCut })
  const alerts = await describeOthers(deps, rows, reader)
  return {
    title,
    glyph,
    lines,
    body,
    help: groupHelp(envelope, state)?.text,
    isOver: hasEnded(state),
    isAcknowledged: state.acknowledged !== undefined,
    alerts,
    more: count - alerts.length,
    isCut: around.isCut,
    ids: new Set(together.map(({ id }) => id)),
  }
}

/** Whether two outages have a moment in common. */
function areTogether(times: OutageTimes | undefined, otherTimes: OutageTimes | undefined): boolean {
  if (times === undefined || otherTimes === undefined) return false
  return (
    (times.to === null || otherTimes.from <= times.to) &&
    (otherTimes.to === null || times.from <= otherTimes.to)
  )
}
