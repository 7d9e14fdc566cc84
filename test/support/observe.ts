import { everySlice } from '#src/db/slices.ts'
import { type ObservePassDeps, observeSlices } from '#src/watches/observe/observe.ts'
import { publishTip, type TipDeps } from '#src/watches/observe/publish-tip.ts'
import { createTypePauses } from '#src/watches/observe/type-pauses.ts'
import { fireOutages } from '#src/watches/outage/outages.ts'
import { CHAIN_WATCH_TYPES } from '#src/watches/types/index.ts'

/** Dependencies of observing as a single process. */
export type ObserveDeps = Omit<ObservePassDeps, 'slices' | 'typePauses'> & TipDeps

/**
 * Observes the chain once, as the only process: publishes the newest block, observes every target, and then fires
 * alerts about outages, even if an earlier step failed.
 */
export async function observeWatches(deps: ObserveDeps, signal: AbortSignal): Promise<void> {
  try {
    await publishTip(deps, signal)
    const typePauses = createTypePauses()
    await observeSlices({ ...deps, slices: everySlice(), typePauses }, signal)
  } finally {
    if (!signal.aborted) await fireOutages(deps, CHAIN_WATCH_TYPES)
  }
}
