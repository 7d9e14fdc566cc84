/** Heading of several alerts of an incident: that of the message about them, with its figures of now. */
import { randomUUID } from 'node:crypto'
import type { Envelope, EnvelopeMessage, MessageState } from '#src/channels/envelope.ts'
import { namedIn } from '#src/channels/groups/times.ts'
import { currentContent, type ShownPart } from '#src/delivery/messages/message-sync.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import type { Reader } from '../messages/render.ts'
import { dataFor, recordedFromRow, renderListedAlert } from '../recorded-alert.ts'
import type { AlertRow } from '../store.ts'

interface Deps {
  readonly box: SecretBox
  readonly publicUrl: string
}

/** Several alerts as one message. */
interface Heading {
  readonly envelope: Envelope
  readonly state: MessageState
  /** Number of alerts that can be read. */
  readonly count: number
}

/**
 * The alerts as one message, for its heading. Only the alert that the heading names is rendered, because an incident can
 * have a thousand. Undefined for fewer than two alerts.
 *
 * @param all rows with the figures of now
 */
export function headingOf(
  deps: Deps,
  all: readonly AlertRow[],
  states: ReadonlyMap<number, MessageState>,
  { reader, at }: { readonly reader: Reader; readonly at: Date },
): Heading | undefined {
  // The rows have the figures of now already.
  const bare = new Map([...states].map(([id, { current: _, ...state }]) => [id, state]))
  const about = { id: randomUUID(), kind: 'group', openPart: null, sentAt: at } as const
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

/** The newest alert of each episode, newest first. */
export function newestOfEach(rows: readonly AlertRow[]): readonly AlertRow[] {
  const byAge = rows.toSorted((a, b) => a.firedAt.getTime() - b.firedAt.getTime() || a.id - b.id)
  const newest = new Map(byAge.map((row) => [row.increaseOf ?? row.id, row]))
  return [...newest.values()].toReversed()
}

/** An alert as a part of a message, without its texts; none if it cannot be read. */
function partOf(row: AlertRow, reader: Reader): readonly ShownPart[] {
  try {
    const { alertId, incidentId, type, signal, group, data, event, severity, firedAt } =
      recordedFromRow(row)
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
        ...{ alertId, incidentId, watchId, watchLabel, event, severity },
        firedAt: firedAt.toISOString(),
        ...{ ...texts, test: false, ...recoveryRoleOf(event) },
      },
    }
    return [{ alertId, envelope }]
  } catch {
    return []
  }
}

/** The alert as a list shows it; undefined if it cannot be rendered. */
export function listedMessage(
  deps: Deps,
  row: AlertRow,
  reader: Reader,
): EnvelopeMessage | undefined {
  try {
    return renderListedAlert(deps, row, reader)
  } catch {
    return undefined
  }
}
