import { MINUTE_MS } from '#src/kernel/durations.ts'
import { resealAnswers } from '#src/operations/gate/idempotency.ts'
import { resealDestinations } from '#src/recipients/destination-box.ts'
import type { Job } from './define.ts'

/**
 * Re-encrypts the stored texts of `SECRET_KEY_PREVIOUS` with `SECRET_KEY`. Repeated while both are set, because
 * processes that still run with the old key may store such texts during a rolling restart.
 */
export const resealSecrets: Job = {
  name: 'reseal-secrets',
  role: 'watcher',
  everyMs: () => 10 * MINUTE_MS,
  run: async (app, signal) => {
    if (!app.box.isRotating) return
    const destinations = await resealDestinations(app, signal)
    const answers = await resealAnswers(app, signal)
    const text =
      destinations + answers === 0
        ? 'every readable secret in the database is encrypted with SECRET_KEY'
        : 'secrets in the database re-encrypted with SECRET_KEY'
    app.log.info({ destinations, answers }, text)
  },
}
