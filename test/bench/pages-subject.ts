import { alertUrl } from '#src/alerts/alert-urls.ts'
import { createApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { connect } from '#src/db/connection.ts'
import { silentLogger } from '#src/kernel/logger.ts'
import { registerPages } from '#src/pages/index.ts'
import { walletBalance } from '#src/watches/types/wallet-balance.ts'
import { testEnvironment } from '../support/environment.ts'

const ALERTS = 60

/**
 * The service's own server with its own limits, behind a proxy that names its clients, and the page of an alert
 * beside which the wallet has many others. Run as a process of its own: `pages-subject.ts <database url>`. It
 * prints the address of that page.
 */
const databaseUrl = process.argv[2] ?? ''
const config = loadConfig({ ...testEnvironment(), TRUST_PROXY: '1' })
const { app, server } = createApp(config, { databaseUrl, log: silentLogger })
await server.register(registerPages, { app })
const address = await server.listen({ host: '127.0.0.1', port: 0 })
const { pathname } = new URL(alertUrl(app, { alertId: await fillAlerts(), recipientId: null }))
process.stdout.write(`${address}${pathname}\n`)

/** Writes alerts of one watch, and returns the newest one's id. */
async function fillAlerts(): Promise<number> {
  const { sql, close } = connect(databaseUrl)
  const data = JSON.stringify(walletBalance.signals[0]?.examples['wallet-balance.moved'])
  const rows = await sql<{ id: string }[]>`
    insert into alerts (wallet, watch_id, watch_label, type, signal, "group", event, severity, state, is_episode,
      notified_at, reminders_sent, data, position, fired_at, created_at, incident_id, opens_incident)
    select '0x' || repeat('a', 40), 42, 'Treasury', ${walletBalance.name}, 'balance-change', 'alerts',
      'wallet-balance.moved', 'info', 'firing', true, now(), 0, ${data}, 41880123 + n, now() - n * interval '1 s', now(), n, true
    from generate_series(1, ${ALERTS}::int) n returning id`
  await close()
  return Math.max(...rows.map(({ id }) => Number(id)))
}
