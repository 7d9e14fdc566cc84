import { messageStates } from '#src/alerts/message-state.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Job } from './define.ts'

/**
 * Sends due deliveries. Woken by the commit of new ones; the interval of a second is for retries and missed
 * wake-ups.
 */
export const deliverDue: Job = {
  name: 'deliver-due',
  role: 'delivery',
  everywhere: true,
  wakeOn: 'deliveries',
  everyMs: () => 1000,
  run: (app, signal) =>
    delivery.deliverDue(
      {
        ...app,
        clock: app.deliveryClock,
        stateOf: (db, alertIds) => messageStates({ ...app, db }, alertIds),
      },
      signal,
    ),
}
