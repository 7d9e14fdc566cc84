import { countIncidents } from '#src/alerts/service.ts'
import { sendWeeklyCards as send } from '#src/notices/weekly.ts'
import type { Job } from './define.ts'

/** Sends the cards of the last week to the wallets that ask for them. */
export const sendWeeklyCards: Job = {
  name: 'send-weekly-cards',
  role: 'watcher',
  everyMs: () => 300_000,
  needsAgreedClocks: true,
  run: (app, signal) => send({ ...app, countIncidents }, signal),
}
