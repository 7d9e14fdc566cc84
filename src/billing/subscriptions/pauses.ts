/** Pauses of billing, in which terms and trials stand still. */
import { type Db, transact } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import type { Logger } from '#src/kernel/logger.ts'
import * as store from './store.ts'

interface Deps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/** Records that billing is off. Idempotent: the first record keeps its time. */
export async function recordBillingOff({ db, clock }: Omit<Deps, 'log'>): Promise<void> {
  await transact(db, async (tx) => {
    const open = await store.lockOpenPause(tx)
    if (open === undefined) await store.beginBillingPause(tx, clock.now())
  })
}

/**
 * Records that billing is on: one transaction adds the length of the pause to every term and trial that ran at its
 * beginning or began since, and ends the pause. Of several processes the first does it; the others wait for it.
 */
export async function recordBillingOn({ db, clock, log }: Deps): Promise<void> {
  const now = clock.now()
  const ended = await transact(db, async (tx) => {
    const offAt = await store.lockOpenPause(tx)
    if (offAt === undefined) return undefined
    const pause = { offAt, onAt: now > offAt ? now : offAt }
    await store.extendTerms(tx, pause)
    await store.extendTrials(tx, pause)
    // While billing was off, watches needed no slots; from now on they do.
    await store.insertCapacityChangesOfAll(tx, pause.onAt)
    await store.endBillingPause(tx, pause.onAt)
    return pause
  })
  if (ended) log.info(ended, 'billing is on again; terms and trials were extended by its pause')
}
