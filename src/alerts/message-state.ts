/** States of alerts, as their messages show them. */
import type { MessageState } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { FlappingState } from './episode-store.ts'
import { isMuted } from './rules.ts'
import * as store from './store.ts'

/** The state of each of these alerts that is not deleted, by id. */
export async function messageStates(
  deps: { readonly db: Db; readonly clock: Clock },
  alertIds: readonly number[],
): Promise<ReadonlyMap<number, MessageState>> {
  const rows = await store.listByIds(deps.db, alertIds)
  const watches = await listForNotification(
    deps.db,
    rows.map(({ watchId }) => watchId),
  )
  const now = deps.clock.now()
  return new Map(
    rows.map((row) => {
      const until = watches.get(row.watchId)?.mutedUntil ?? null
      return [row.id, stateOf(row, isMuted({ mutedUntil: until }, now) ? until : null)]
    }),
  )
}

function stateOf(row: store.AlertRow, mutedUntil: Date | null): MessageState {
  const flapping = FlappingState.nullable().catch(null).parse(row.flapping)
  const isClosed = row.state === 'closed'
  const endedAt = flapping === null || isClosed ? row.recoveredAt : flapping.recoveredAt
  const until = row.mutedAt !== null && endedAt === null ? 'recovered' : mutedUntil
  return {
    ...(row.acknowledgedAt !== null && {
      acknowledged: { at: row.acknowledgedAt, by: row.acknowledgedBy },
    }),
    ...(until !== null && { muted: { until } }),
    ...(endedAt !== null && (isClosed ? { closedAt: endedAt } : { recoveredAt: endedAt })),
    ...(flapping !== null && {
      flapping: { changes: flapping.changes, since: flapping.since },
    }),
  }
}
