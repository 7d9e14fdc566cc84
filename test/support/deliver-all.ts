import { sql } from 'drizzle-orm'
import { readIncidentState } from '#src/alerts/incidents/incident.ts'
import { messageStates } from '#src/alerts/messages/message-state.ts'
import type { JobApp } from '#src/jobs/define.ts'
import { drain } from './drain.ts'

/**
 * Sends due deliveries, as a single process does. Channels without recipients have none, and are not asked: that would
 * cost more than the others send.
 */
export async function deliverAll(app: JobApp): Promise<void> {
  const rows = await app.db.execute<{ channel: string }>(
    sql`select distinct channel from recipients`,
  )
  const used = new Set(rows.map(({ channel }) => channel))
  const channels = { ...app.channels }
  for (const channel of Object.values(app.channels)) {
    if (!used.has(channel.key)) Object.assign(channels, { [channel.key]: off(channel) })
  }
  await drain({
    ...app,
    channels,
    stateOf: (db, alertIds) => messageStates({ ...app, db }, alertIds),
    incidentOf: readIncidentState,
  })
}

function off<Channel extends object>(channel: Channel): Channel & { available(): boolean } {
  return { ...channel, available: () => false }
}
