import { connect } from '#src/db/connection.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { createYearOfPartitions, withDatabase } from './database.ts'
import { fillHooks } from './delivery-hooks.ts'
import { benchRate } from './delivery-rate.ts'
import { benchWaits } from './delivery-waits.ts'
import type { Measurement } from './report.ts'
import { findPostmaster } from './scale-cpu.ts'
import { startServer } from './start-server.ts'

const WALLETS = 100
const HANGING_HOSTS = 300

/**
 * Measures deliveries per second to a receiver with a latency of 20 ms, and the time from an alert to its request
 * at 200 alerts per second, without and with many hanging hosts.
 */
export async function benchDelivery(
  show: (measurements: readonly Measurement[]) => void,
): Promise<readonly Measurement[]> {
  const receiver = await startServer('./delivery-receiver.ts', '')
  const [url = '', hangingPort = ''] = receiver.url.split(' ')
  try {
    return await withDatabase(
      async (databaseUrl) => {
        const connection = connect(databaseUrl)
        try {
          await createYearOfPartitions(connection, systemClock.now())
          const hooks = await fillHooks(connection, url, WALLETS)
          const hanging = []
          for (let host = 1; host <= HANGING_HOSTS; host++) {
            const address = `127.0.${1 + (host >> 8)}.${host & 255}`
            hanging.push(...(await fillHooks(connection, `http://${address}:${hangingPort}/`, 1)))
          }
          const postmaster = await findPostmaster(connection.sql)
          const scene = {
            ...{ connection, databaseUrl, postmaster, url, hooks, hanging },
            receiverPid: receiver.pid,
          }
          show([await benchRate(scene)])
          return await benchWaits(scene)
        } finally {
          await connection.close()
        }
      },
      { durable: true },
    )
  } finally {
    receiver.stop()
  }
}
