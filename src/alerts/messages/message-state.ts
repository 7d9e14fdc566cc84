/** States of alerts for the messages that show them. */
import type { MessageState, RecoverySummary } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { lostRewards, outageFiguresOf } from '#src/kernel/outage-figures.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { type RecipientFields, readRecipientsById } from '#src/recipients/service.ts'
import { findEventSource } from '#src/watches/events.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { recordedFromRow } from '../recorded-alert.ts'
import { isMuted, isOpenEpisode } from '../rules.ts'
import * as store from '../store.ts'
import { currentFiguresOf, withCurrentFigures } from './current-figures.ts'
import { hasRecovered, outageTimesOf } from './outage-times.ts'
import { type Reader, renderTitle } from './render.ts'

/** State of an alert that was deleted from the history. */
const DELETED: MessageState = { closedAt: new Date(0), isDeleted: true }

/** The state of each of these alerts, by id. */
export async function messageStates(
  deps: { readonly db: Db; readonly clock: Clock },
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, MessageState>> {
  const rows = await store.listAlertsByIds(deps.db, alertIds)
  const watches = await listForNotification(
    deps.db,
    rows.map(({ watchId }) => watchId),
  )
  const now = deps.clock.now()
  const names = await readRecipientsById(
    deps.db,
    rows.flatMap(({ escalatedTo }) => escalatedTo ?? []),
  )
  const recoveries = await store.listRecoveries(deps.db, rows.filter(hasRecovered))
  const current = await withCurrentFigures(deps.db, rows, recoveries)
  return new Map([
    ...alertIds.map((id): [number, MessageState] => [id, DELETED]),
    ...current.map((row): [number, MessageState] => {
      const until = watches.get(row.watchId)?.mutedUntil ?? null
      const state: MessageState = {
        ...stateOf(row, isMuted({ mutedUntil: until }, now) ? until : null),
        ...escalationOf(row, names),
        current: (reader) => currentFiguresOf(row, reader),
        ...(isGrowing(row) && { isGrowing: true }),
      }
      const recovery = recoveries.get(row.id)
      if (recovery === undefined || state.recoveredAt === undefined) return [row.id, state]
      const recoveredAt = outageTimesOf(row, recovery).to ?? state.recoveredAt
      const ended = {
        recoveredAt,
        ...lossOf(recovery),
        recovery: (reader: Reader) => summaryOf(recovery, reader),
      }
      return [row.id, { ...state, ...ended }]
    }),
  ])
}

/** Whether the signal of an open alert counts on while it fires. */
function isGrowing(row: store.AlertRow): boolean {
  return isOpenEpisode(row) && findEventSource(row.event)?.signal.current !== undefined
}

/** Time of an alert's escalation, with the names of its recipients. A deleted recipient has no name. */
function escalationOf(
  { escalatedAt, escalatedTo }: store.AlertRow,
  names: ReadonlyMap<number, RecipientFields>,
): Pick<MessageState, 'escalated'> {
  if (escalatedAt === null || escalatedTo === null) return {}
  const to = escalatedTo.flatMap((id) => {
    const recipient = names.get(id)
    return recipient === undefined ? [] : [recipient.name ?? recipient.target]
  })
  return { escalated: { at: escalatedAt, to } }
}

/**
 * Summary of a recovery; undefined if it cannot be rendered. If undefined, the message still says that the alert is
 * over, without how it ended.
 */
function summaryOf(row: store.AlertRow, reader: Reader): RecoverySummary | undefined {
  try {
    const recovery = recordedFromRow(row)
    const { gapSeconds: seconds } = recovery.data
    return {
      title: titleOnChain(renderTitle(recovery, reader)),
      ...(typeof seconds === 'number' && { seconds }),
    }
  } catch {
    return undefined
  }
}

/** Number of voting rounds that an outage cost, and about how much rewards, as its recovery states them. */
function lossOf(
  row: Pick<store.AlertRow, 'data'>,
): Pick<MessageState, 'lostRounds' | 'lostRewards'> {
  const data = JsonObject.catch({}).parse(row.data)
  const { missedRounds: rounds } = data
  const rewards = lostRewards(outageFiguresOf(data))
  return {
    ...(typeof rounds === 'number' && rounds > 0 && { lostRounds: rounds }),
    ...(rewards !== undefined && { lostRewards: rewards }),
  }
}

function stateOf(row: store.AlertRow, mutedUntil: Date | null): MessageState {
  const { recoveredAt: endedAt } = row
  const isClosed = row.state === 'closed'
  const until = row.mutedAt !== null && endedAt === null ? 'recovered' : mutedUntil
  return {
    ...(row.acknowledgedAt !== null && {
      acknowledged: { at: row.acknowledgedAt, by: row.acknowledgedBy },
    }),
    ...(row.note !== null &&
      row.notedAt !== null && { note: { at: row.notedAt, by: row.notedBy, text: row.note } }),
    ...(until !== null && { muted: { until } }),
    ...(endedAt !== null && (isClosed ? { closedAt: endedAt } : { recoveredAt: endedAt })),
  }
}
