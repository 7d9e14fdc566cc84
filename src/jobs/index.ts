import type { Job } from './define.ts'
import { deliverDue } from './deliver-due.ts'
import { observeWatches } from './observe-watches.ts'
import { prune } from './prune.ts'
import { sendConfirmations } from './send-confirmations.ts'

/** Everything that runs by the clock. */
export const REGISTRY: readonly Job[] = [observeWatches, deliverDue, sendConfirmations, prune]
