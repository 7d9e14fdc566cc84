import { sql } from 'drizzle-orm'
import { CHECK_EVERYTHING, type JobApp } from '#src/jobs/define.ts'
import { deliverByOne, deliverDue } from '#src/jobs/deliver-due.ts'

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
  const { signal } = new AbortController()
  const jobs = [deliverDue, deliverByOne]
  await Promise.all(jobs.map((job) => job.run({ ...app, channels }, signal, CHECK_EVERYTHING)))
}

function off<Channel extends object>(channel: Channel): Channel & { available(): boolean } {
  return { ...channel, available: () => false }
}
