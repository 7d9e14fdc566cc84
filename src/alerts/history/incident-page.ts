/** The incident of an alert, as its page shows it: what its alerts have in common, and each of them. */
import { cardOf } from '#src/channels/card/card.ts'
import { hasEnded } from '#src/channels/card/wording.ts'
import type { MessageField } from '#src/channels/envelope.ts'
import { groupHelp } from '#src/channels/groups/group.ts'
import { withoutNames } from '#src/channels/updates/shown.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { headingOf, newestOfEach } from '../incidents/heading.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import type { Reader } from '../messages/render.ts'
import type { ReadDeps } from './history.ts'
import { describeOthers, type IncidentAlerts, type OtherAlert } from './other-alerts.ts'

/** An incident with several alerts. */
export interface IncidentPage {
  /** What its alerts have in common, with its figures of now, as in the message about them. */
  readonly title: string
  readonly glyph: string
  /** Severity, times and what people have done. */
  readonly lines: readonly string[]
  /** Its damage; may be empty. */
  readonly body: string
  /** What is known of the other providers and of the cost, and what its alerts share. */
  readonly fields: readonly MessageField[]
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
 * The incident of an alert; undefined if it has no other alert.
 *
 * @param parts its alerts that the reader may see
 * @param isNamed whether the reader may know the names of recipients
 */
export async function readIncidentPage(
  deps: ReadDeps & { readonly clock: Clock },
  parts: IncidentAlerts,
  { reader, isNamed }: { readonly reader: Reader; readonly isNamed: boolean },
): Promise<IncidentPage | undefined> {
  const rows = await withCurrentFigures(deps.db, newestOfEach(parts.rows))
  const states = await messageStates(
    deps,
    rows.map(({ id }) => id),
  )
  const heading = headingOf(deps, rows, states, { reader, at: deps.clock.now() })
  if (heading === undefined) return undefined
  const { envelope, count } = heading
  const state = isNamed ? heading.state : withoutNames(heading.state)
  const { title, glyph, lines, body, fields } = cardOf(envelope, { state, isCut: parts.isCut })
  const alerts = await describeOthers(deps, rows, reader)
  return {
    title,
    glyph,
    lines,
    body,
    fields,
    help: groupHelp(envelope, state)?.text,
    isOver: hasEnded(state),
    isAcknowledged: state.acknowledged !== undefined,
    alerts,
    more: count - alerts.length,
    isCut: parts.isCut,
    ids: new Set(parts.rows.map(({ id }) => id)),
  }
}
