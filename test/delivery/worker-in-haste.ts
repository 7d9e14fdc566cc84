/**
 * A worker on a clock that runs faster than the machine's, so that retries and leases take seconds.
 * Says which deliveries it begins to send and which it sees taken. Started as a process of its own, to
 * be killed.
 *
 * Arguments: the database, when the clock was started, its instant then, and how fast it runs.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '#src/db/connection.ts'
import { deliverDue } from '#src/delivery/service.ts'
import { outboxDeps } from './outbox.ts'

const [url = '', startedAt, instant, speed] = process.argv.slice(2)
const clock = {
  now: () => new Date(Number(instant) + (Date.now() - Number(startedAt)) * Number(speed)),
}
const { db, close } = connect(url)
const { channels, ...deps } = outboxDeps(db, { timeoutMs: 300 })
const webhook: typeof channels.webhook = {
  ...channels.webhook,
  send: async (destination, envelope, context) => {
    process.stdout.write(`begins ${envelope.deliveryId}\n`)
    const receipt = await channels.webhook.send(destination, envelope, context)
    process.stdout.write(`taken ${envelope.deliveryId}\n`)
    return receipt
  },
}
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
process.stdout.write('ready\n')
while (!stop.signal.aborted) {
  await deliverDue({ ...deps, clock, channels: { ...channels, webhook } }, stop.signal)
  await wait(20)
}
await close()
