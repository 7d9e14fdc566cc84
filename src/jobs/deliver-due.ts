import { messageStates } from '#src/alerts/messages/message-state.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Job, JobApp, JobWakeUps } from './define.ts'

const COMMON = {
  role: 'delivery',
  wakeOn: 'deliveries',
  everyMs: () => 1000,
  onNotify: ({ sending }, channel) => sending.wake(channel),
} as const satisfies Partial<Job>

/**
 * Sends due deliveries, in every process. Woken by the commit of new deliveries; the interval of a second
 * is for retries and missed wake-ups.
 */
export const deliverDue: Job = {
  ...COMMON,
  name: 'deliver-due',
  everywhere: true,
  run: (app, signal, wakeUps) => deliver(app, signal, wakeUps, { byOne: false }),
}

/**
 * Sends due deliveries of channels for which only one process at a time sends: Telegram. One process can send
 * the most urgent deliveries first, within the limits of the bot.
 */
export const deliverByOne: Job = {
  ...COMMON,
  name: 'deliver-by-one',
  run: (app, signal, wakeUps) => deliver(app, signal, wakeUps, { byOne: true }),
}

async function deliver(
  app: JobApp,
  signal: AbortSignal,
  { payloads, mayHaveMissed }: JobWakeUps,
  which: { readonly byOne: boolean },
): Promise<void> {
  const isOurs = Object.values(app.channels).some(
    ({ key, isSentByOne = false }) => payloads.has(key) && isSentByOne === which.byOne,
  )
  if (!mayHaveMissed && !isOurs) return
  const deps = {
    ...app,
    stateOf: (db: JobApp['db'], alertIds: readonly number[]) =>
      messageStates({ ...app, db }, alertIds),
  }
  await delivery.deliverDue(deps, signal, which)
}
