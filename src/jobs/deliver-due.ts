import { readIncidentState } from '#src/alerts/incidents/incident.ts'
import { messageStates } from '#src/alerts/messages/message-state.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Job, JobApp } from './define.ts'

const COMMON = {
  role: 'delivery',
  sends: true,
  wakeOn: 'deliveries',
  everyMs: () => 1000,
  onNotify: ({ sending }, channel) => sending.wake(channel),
} as const satisfies Partial<Job>

/**
 * Sends due deliveries, in every process. A run ends when the process stops; its looks for due deliveries count as runs. It
 * is woken by the commit of new deliveries.
 */
export const deliverDue: Job = {
  ...COMMON,
  name: 'deliver-due',
  everywhere: true,
  run: (app, signal) => deliver(app, signal, 'deliver-due', { byOne: false }),
}

/**
 * Sends due deliveries of channels for which only one process at a time sends: Telegram. One process can send
 * the most urgent deliveries first, within the limits of the bot.
 */
export const deliverByOne: Job = {
  ...COMMON,
  name: 'deliver-by-one',
  run: (app, signal) => deliver(app, signal, 'deliver-by-one', { byOne: true }),
}

async function deliver(
  app: JobApp,
  signal: AbortSignal,
  name: string,
  which: { readonly byOne: boolean },
): Promise<void> {
  const deps: delivery.DeliverDeps = {
    ...app,
    stateOf: (db, alertIds) => messageStates({ ...app, db }, alertIds),
    incidentOf: readIncidentState,
    onLook: ({ isSuccess, seconds }) =>
      app.meters.countJobRun(name, { isSuccess, seconds, at: app.clock.now() }),
  }
  await delivery.deliverDue(deps, signal, which)
}
