/**
 * A synthetic alert that tests the whole path of alerts: it is recorded, notified and sent, and its
 * receipt is recorded as for a webhook; only the HTTP request is omitted.
 */
import { transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { CANARY_WALLET, CANARY_WEBHOOK_URL } from '#src/kernel/canary.ts'
import { configureChannel } from '#src/recipients/destinations.ts'
import { findEventSource } from '#src/watches/events.ts'
import { listAlertPart } from './history/part-store.ts'
import { recordAlerts } from './service.ts'

type Deps = Parameters<typeof recordAlerts>[0] & Parameters<typeof configureChannel>[0]

/** Arrival and latency of the last synthetic alert. */
export interface CanaryArrival {
  readonly at: Date
  readonly tookMs: number
}

const CALLER: Caller = { wallet: CANARY_WALLET, scopes: [], via: 'http' }
/** Event of the synthetic alert, which neither recovers nor is repeated. */
const EVENT = 'wallet-balance.moved'
/** Id of the synthetic alert's watch; no real watch has it. */
const WATCH_ID = 0
/**
 * Number of newest synthetic alerts that are checked; the arrival of an older one proves nothing
 * about now.
 */
const ALERTS_READ_MAX = 4

/** Raises the synthetic alert. */
export async function raiseCanary(deps: Deps): Promise<void> {
  const source = findEventSource(EVENT)
  if (source === undefined) throw new Error(`no signal emits ${EVENT}`)
  await configureChannel(deps, CALLER, { key: 'webhook', setup: { url: CANARY_WEBHOOK_URL } })
  const now = deps.clock.now()
  const watch = {
    ...{ id: WATCH_ID, wallet: CANARY_WALLET, label: 'Canary', recipientIds: null },
    ...({ minSeverity: 'info', mutedUntil: null } as const),
  }
  await transact(deps.db, (tx) =>
    recordAlerts(deps, tx, [
      {
        watch,
        type: source.type ?? '',
        signal: source.signal.id,
        group: source.signal.group,
        event: EVENT,
        severity: 'info',
        data: source.signal.examples[EVENT] ?? {},
        isRecovery: false,
        isNotified: true,
        position: Math.floor(now.getTime() / 1000),
        firedAt: now,
      },
    ]),
  )
}

/** The last synthetic alert that arrived; undefined if none of the newest alerts arrived. */
export async function findCanary({ db }: Pick<Deps, 'db'>): Promise<CanaryArrival | undefined> {
  const { rows } = await listAlertPart(db, CANARY_WALLET, {}, undefined, ALERTS_READ_MAX)
  const entries = await delivery.listForAlerts(
    db,
    rows.map(({ id }) => id),
  )
  for (const { id, createdAt } of rows) {
    const at = entries.get(id)?.find(({ deliveredAt }) => deliveredAt !== null)?.deliveredAt
    if (at) return { at, tookMs: at.getTime() - createdAt.getTime() }
  }
  return undefined
}
