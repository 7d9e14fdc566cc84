import { messageStates } from '#src/alerts/message-state.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Job } from './define.ts'

/** Woken by the commit of what is to be sent; the second is for retries and lost wake-ups. */
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
