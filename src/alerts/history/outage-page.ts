/** The outage that an alert belongs to, as its page shows it: what its alerts have in common, and each of them. */
import { randomUUID } from 'node:crypto'
import { cardOf } from '#src/channels/card/card.ts'
import { hasEnded } from '#src/channels/card/wording.ts'
import type {
  Envelope,
  EnvelopeMessage,
  MessageField,
  MessageState,
} from '#src/channels/envelope.ts'
import { groupHelp } from '#src/channels/groups/group.ts'
import { namedIn } from '#src/channels/groups/times.ts'
import { withoutNames } from '#src/channels/updates/shown.ts'
import { currentContent, type ShownPart } from '#src/delivery/message-sync.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { type OutageTimes, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import { dataFor, recordedFromRow, renderListedAlert } from '../recorded-alert.ts'
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
  const heading = headingOf(deps, rows, states, reader)
  if (heading === undefined) return undefined
  const { envelope, count } = heading
  const state = isNamed ? heading.state : withoutNames(heading.state)
  const { title, glyph, lines, body, fields } = cardOf(envelope, { state, isCut: around.isCut })
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
    isCut: around.isCut,
    ids: new Set(together.map(({ id }) => id)),
  }
}

/**
 * The alerts as one message, for its heading. Only the alert that the heading names is rendered, because an outage can
 * have a thousand. Undefined for fewer than two alerts.
 */
function headingOf(
  deps: ReadDeps & { readonly clock: Clock },
  all: readonly AlertRow[],
  states: ReadonlyMap<number, MessageState>,
  reader: Reader,
) {
  // The rows have the figures of now already.
  const bare = new Map([...states].map(([id, { current: _, ...state }]) => [id, state]))
  const about = { id: randomUUID(), kind: 'group', help: null, sentAt: deps.clock.now() } as const
  for (let rows = all; ; ) {
    const parts = rows.flatMap((row) => partOf(row, reader))
    const content = parts.length < 2 ? undefined : currentContent(about, parts, bare)
    if (content === undefined) return undefined
    const { alertId } = namedIn(content.envelope, content.state)
    const named = rows.find(({ id }) => id === alertId)
    const message = named && listedMessage(deps, named, reader)
    if (message !== undefined) {
      const items = content.envelope.items?.map((item) =>
        item.alertId === alertId ? { ...item, title: message.title, link: message.link } : item,
      )
      const envelope = { ...content.envelope, ...(items !== undefined && { items }) }
      return { envelope, state: content.state, count: parts.length }
    }
    rows = rows.filter(({ id }) => id !== alertId)
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

/** An alert as a part of a message, without its texts; none if it cannot be read. */
function partOf(row: AlertRow, reader: Reader): readonly ShownPart[] {
  try {
    const { alertId, type, signal, group, data, event, severity, firedAt } = recordedFromRow(row)
    const startedAt = row.startedAt?.toISOString()
    const { watchId, watchLabel } = row
    const texts = { title: '', body: '', fields: [], link: '' }
    const envelope: Envelope = {
      deliveryId: randomUUID(),
      type,
      signal,
      group,
      data: dataFor(reader, data),
      ...reader,
      ...(startedAt !== undefined && { startedAt }),
      message: {
        ...{ alertId, watchId, watchLabel, event, severity, firedAt: firedAt.toISOString() },
        ...{ ...texts, test: false, ...recoveryRoleOf(event) },
      },
    }
    return [{ alertId, envelope }]
  } catch {
    return []
  }
}

/** The alert as a list shows it; undefined if it cannot be rendered. */
function listedMessage(deps: ReadDeps, row: AlertRow, reader: Reader): EnvelopeMessage | undefined {
  try {
    return renderListedAlert(deps, row, reader)
  } catch {
    return undefined
  }
}
