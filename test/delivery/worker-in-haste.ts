/**
 * A worker on a clock that runs faster than the machine's, so that retries and leases take seconds.
 * Prints the deliveries that it starts to send and those that were accepted. Started as a process
 * of its own, to be killed. On the input `halt` it finishes the deliveries in progress and prints a
 * line; `go` with a clock continues.
 *
 * Arguments: the database, the start of the clock, its time at the start, and its speed.
 */
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '#src/db/connection.ts'
import { deliverDue } from '#src/delivery/service.ts'
import { outboxDeps } from './outbox.ts'

const [url = '', ...args] = process.argv.slice(2)
let [startedAt = 0, instant = 0] = args.map(Number)
const speed = Number(args[2])
const clock = { now: () => new Date(instant + (Date.now() - startedAt) * speed) }
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
let halt = new AbortController()
let goes = Promise.withResolvers<void>()
const orders = createInterface({ input: process.stdin })
orders.on('line', (line) => {
  const [what, ...times] = line.split(' ')
  if (what === 'halt') {
    goes = Promise.withResolvers()
    halt.abort()
  } else {
    ;[startedAt = 0, instant = 0] = times.map(Number)
    halt = new AbortController()
    goes.resolve()
  }
})
process.once('SIGTERM', () => stop.abort())
process.stdout.write('ready\n')
while (!stop.signal.aborted) {
  const over = AbortSignal.any([stop.signal, halt.signal])
  await deliverDue({ ...deps, clock, channels: { ...channels, webhook } }, over)
  if (halt.signal.aborted) {
    process.stdout.write('halted\n')
    await goes.promise
  }
  await wait(50)
}
orders.close()
await close()
