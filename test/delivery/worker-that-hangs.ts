/**
 * A worker that claims due deliveries and never sends them, like a process that dies between claim
 * and send. Prints `claimed` for each. Started as a process of its own, to be killed.
 */
import { connect } from '#src/db/connection.ts'
import { deliverDue } from '#src/delivery/service.ts'
import { outboxDeps } from './outbox.ts'

const { db } = connect(process.argv[2] ?? '')
const deps = outboxDeps(db)
const webhook = {
  ...deps.channels.webhook,
  send: () => {
    process.stdout.write('claimed\n')
    return new Promise<never>(() => undefined)
  },
}
await deliverDue({ ...deps, channels: { ...deps.channels, webhook } }, new AbortController().signal)
