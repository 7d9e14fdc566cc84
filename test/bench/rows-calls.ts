/** The calls that `rows` measures. */

import { listAlerts } from '#src/alerts/history/history.ts'
import { listAlertLines } from '#src/alerts/history/lines.ts'
import { getAccount } from '#src/billing/overview.ts'
import type { Db } from '#src/db/connection.ts'
import { claimDueDeliveries, releaseAbortedDeliveries } from '#src/delivery/claims/claim-store.ts'
import { returnHeads, takeDueHeads } from '#src/delivery/claims/head-store.ts'
import { countWaiting } from '#src/delivery/log/count-store.ts'
import { countFailures, listDeliveryLog } from '#src/delivery/log/delivery-log.ts'
import type { Caller } from '#src/kernel/caller.ts'
import { systemClock } from '#src/kernel/clock.ts'
import { createSecretBox } from '#src/kernel/secret-box.ts'
import { readStats, refreshStats } from '#src/operations/figures/figures.ts'
import { listWatches } from '#src/watches/manage/service.ts'
import {
  addressOf,
  LARGE_RECIPIENTS,
  LARGE_WALLET,
  recipientOf,
  WATCH_COUNT,
  walletOf,
} from './rows-fill.ts'

/** A claim of 64 recipients with one delivery each. */
const TAKEN = {
  full: { partitions: [], recipients: [] },
  headsMax: 64,
  rowsMax: { ofAll: 64, ofHead: 1 },
  rowsOfHeadMin: 1,
}

/** A call that is measured on tables of ten million rows. */
export interface Call {
  readonly name: string
  /**
   * Makes the call.
   * @param row number of a random row, whose wallet makes the call
   * @param claimsDb pool whose statements keep their plans, as that of the claims in the service
   */
  run(db: Db, row: number, claimsDb: Db): Promise<unknown>
  /** Whether a job makes the call, so that no person waits for it. */
  readonly isJob?: boolean
}

const deps = {
  clock: systemClock,
  box: createSecretBox(Buffer.alloc(32, 7)),
  publicUrl: 'https://watchdog.example.org',
}
const reader = { locale: 'en', timezone: 'UTC' } as const
const callerOf = (wallet: number): Caller => ({
  wallet: addressOf(wallet),
  scopes: ['read'],
  via: 'http',
})
const large = callerOf(LARGE_WALLET)

/** The measured calls: some are made by the large wallet, others by the wallet of a random row. */
export const CALLS: readonly Call[] = [
  { name: 'list of alerts, large wallet', run: (db) => listAlerts({ ...deps, db }, large, {}) },
  {
    name: 'list of alerts, any wallet',
    run: (db, row) => listAlerts({ ...deps, db }, callerOf(walletOf(row)), {}),
  },
  {
    name: 'list of alerts of one watch, large wallet',
    run: (db, row) =>
      listAlerts({ ...deps, db }, large, { watchId: 1 + (row % WATCH_COUNT) - (row % 10) }),
  },
  {
    name: 'list of critical alerts, large wallet',
    run: (db) => listAlerts({ ...deps, db }, large, { severity: 'critical' }),
  },
  {
    name: 'list of info alerts (none), large wallet',
    run: (db) => listAlerts({ ...deps, db }, large, { severity: 'info' }),
  },
  {
    name: 'list of acknowledged alerts, large wallet',
    run: (db) => listAlerts({ ...deps, db }, large, { state: 'acknowledged' }),
  },
  {
    name: 'list of alerts of a type (none), large wallet',
    run: (db) => listAlerts({ ...deps, db }, large, { type: 'wallet-balance' }),
  },
  {
    name: 'list of watches, large wallet',
    run: (db) => listWatches({ db, clock: systemClock } as never, large, {}),
  },
  {
    name: 'history in a chat, large wallet',
    run: (db) => listAlertLines({ ...deps, db }, large, { wanted: {}, limit: 10, reader }),
  },
  {
    name: 'history of a day in a chat, large wallet',
    run: (db) =>
      listAlertLines({ ...deps, db }, large, { wanted: { hours: 24 }, limit: 10, reader }),
  },
  {
    name: 'history of a recipient, large wallet',
    run: (db, row) =>
      listDeliveryLog({ db }, large, { recipientId: 1 + (row % LARGE_RECIPIENTS), limit: 10 }),
  },
  {
    name: 'failures of a recipient, large wallet',
    run: (db, row) =>
      countFailures({ db, clock: systemClock }, large, 1 + (row % LARGE_RECIPIENTS)),
  },
  {
    name: 'waiting for a recipient',
    run: (db, row) => countWaiting(db, [recipientOf(row)], systemClock.now()),
  },
  {
    name: 'waiting for a recipient, large wallet',
    run: (db, row) => countWaiting(db, [1 + (row % LARGE_RECIPIENTS)], systemClock.now()),
  },
  {
    name: 'ledger, large wallet',
    run: (db) =>
      getAccount({ db, clock: systemClock, billing: { enabled: true } } as never, large, {}),
  },
  { name: 'claim of due deliveries', run: (db, _row, claimsDb) => claim(db, claimsDb) },
  { name: 'stats', run: (db) => readStats({ db, clock: { ...systemClock } }) },
  {
    name: 'count of the stats, each half minute',
    run: (db) => refreshStats({ db, clock: systemClock }),
    isJob: true,
  },
]

async function claim(db: Db, claimsDb: Db): Promise<void> {
  const now = systemClock.now()
  const lease = { now, leasedUntil: new Date(now.getTime() + 60_000) }
  const { heads, due } = await takeDueHeads(claimsDb, 'webhook', { ...lease, ...TAKEN })
  const ids = due.map(({ id }) => id)
  const { claimed } = await claimDueDeliveries(claimsDb, ids, lease)
  if (claimed.length === 0) throw new Error('nothing was due')
  await releaseAbortedDeliveries(
    db,
    claimed.map(({ id, attempts }) => ({ id, attempt: attempts })),
  )
  await returnHeads(
    claimsDb,
    heads.map((head) => ({ ...head, notBefore: null })),
    now,
  )
}
