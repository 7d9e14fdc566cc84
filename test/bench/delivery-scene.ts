import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from '#src/db/connection.ts'
import type { WalletWithHook } from './delivery-hooks.ts'

const PATIENCE_MS = 120_000
/** Interval of polls; long, so that they need little processor time. */
const LOOK_MS = 100

/** Database, processes and hooks that the parts of `delivery` share. */
export interface DeliveryScene {
  readonly connection: Connection
  readonly databaseUrl: string
  /** Id of PostgreSQL's main process. */
  readonly postmaster: number
  /** URL of the receiver that answers after 20 ms. */
  readonly url: string
  readonly receiverPid: number
  readonly hooks: readonly WalletWithHook[]
  /** Hooks that never answer, each on a separate host. */
  readonly hanging: readonly WalletWithHook[]
}

/** The id of a delivery, and the time of its first bytes. */
export type Arrival = readonly [id: string, at: number]

/** Waits until as many deliveries have arrived since the last `takeArrivals`. */
export async function waitForArrivals(url: string, count: number): Promise<void> {
  const endsAt = performance.now() + PATIENCE_MS
  for (;;) {
    const there = Number(await (await fetch(url)).text())
    if (there >= count) return
    if (performance.now() > endsAt) throw new Error(`only ${there} of ${count} arrived`)
    await wait(LOOK_MS)
  }
}

export async function takeArrivals(url: string): Promise<readonly Arrival[]> {
  return await (await fetch(`${url}take`)).json()
}
