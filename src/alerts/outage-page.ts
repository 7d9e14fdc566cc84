/** The outage that an alert belongs to, as its page shows it: what its alerts have in common, and each of them. */
import { randomUUID } from 'node:crypto'
import { cardOf } from '#src/channels/card.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { groupHelp } from '#src/channels/group.ts'
import { withoutNames } from '#src/channels/shown.ts'
import { hasEnded } from '#src/channels/wording.ts'
import { currentContent, type ShownPart } from '#src/delivery/message-sync.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { withCurrentFigures } from './current-figures.ts'
import type { ReadDeps } from './history.ts'
import { messageStates } from './message-state.ts'
import { type AlertsTogether, describeOthers, type OtherAlert } from './other-alerts.ts'
import { type OutageTimes, readOutages } from './outage-times.ts'
import { recordedFromRow, renderListedAlert } from './recorded-alert.ts'
import type { Reader } from './render.ts'
import type { AlertRow } from './store.ts'

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
  const ids = rows.map(({ id }) => id)
  const states = await messageStates(deps, ids)
  const parts = rows.flatMap((row) => partOf(deps, row, reader))
  if (parts.length < 2) return undefined
  const now = deps.clock.now()
  const content = currentContent(
    { id: randomUUID(), kind: 'group', help: null, sentAt: now },
    parts,
    states,
  )
  if (content === undefined) return undefined
  const state = isNamed ? content.state : withoutNames(content.state)
  const { title, glyph, lines, body } = cardOf(content.envelope, { state, isCut: around.isCut })
  const alerts = await describeOthers(deps, rows, reader)
  return {
    title,
    glyph,
    lines,
    body,
    help: groupHelp(content.envelope, state)?.text,
    isOver: hasEnded(state),
    isAcknowledged: state.acknowledged !== undefined,
    alerts,
    more: parts.length - alerts.length,
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

/** The newest alert of each episode, newest first. */
function newestOfEach(rows: readonly AlertRow[]): readonly AlertRow[] {
  const byAge = rows.toSorted((a, b) => a.firedAt.getTime() - b.firedAt.getTime() || a.id - b.id)
  const newest = new Map(byAge.map((row) => [row.increaseOf ?? row.id, row]))
  return [...newest.values()].toReversed()
}

/** An alert as a part of a message; none if it cannot be rendered. */
function partOf(deps: ReadDeps, row: AlertRow, reader: Reader): readonly ShownPart[] {
  try {
    const { alertId, type, signal, group, data } = recordedFromRow(row)
    const startedAt = row.startedAt?.toISOString()
    const envelope: Envelope = {
      deliveryId: randomUUID(),
      type,
      signal,
      group,
      data,
      ...reader,
      ...(startedAt !== undefined && { startedAt }),
      message: renderListedAlert(deps, row, reader),
    }
    return [{ alertId, envelope }]
  } catch {
    return []
  }
}
