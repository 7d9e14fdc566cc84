import { CHECK_EVERYTHING, type JobApp } from '#src/jobs/define.ts'
import { deliverByOne, deliverDue } from '#src/jobs/deliver-due.ts'

/** Sends due deliveries of every channel, as a single process does. */
export async function deliverAll(app: JobApp): Promise<void> {
  const { signal } = new AbortController()
  await Promise.all([deliverDue, deliverByOne].map((job) => job.run(app, signal, CHECK_EVERYTHING)))
}
