import type { ChannelKey } from '#src/channels/index.ts'
import { reportAnswer, reportOutage } from '#src/db/outage.ts'
import { backoffMs } from '#src/kernel/backoff.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { createSendingState } from './sending-state.ts'
import { createWorker, type Worker, type WorkerDeps } from './worker.ts'

/** Waits after failed claims in a row: the first, doubled up to the longest. */
const FAILED_MS = { min: 50, max: 2000 } as const
/** Time after which a failure that stays is logged again. */
const REPORT_AGAIN_MS = MINUTE_MS

/** One look of a channel's worker for due deliveries and outdated messages. */
export interface DeliveryLook {
  readonly channel: ChannelKey
  readonly isSuccess: boolean
  readonly seconds: number
  /** Whether there was nothing to do, and nothing is in progress. */
  readonly isQuiet: boolean
}

/** Dependencies of a run. */
export interface DeliverDeps extends WorkerDeps {
  /** Called after each look. */
  readonly onLook?: (look: DeliveryLook) => void
}

/**
 * Sends due deliveries until `stop`. Several processes may do so at once.
 *
 * Deliveries of one key are sent one after another; a slow destination, or a channel that is down or whose claims fail,
 * delays no other. After `stop` nothing more is claimed; messages in progress have five seconds, then their
 * deliveries are released.
 *
 * @param which `byOne`: only channels to which one process at a time sends (true), or only the other
 * channels (false)
 */
export async function deliverDue(
  deps: DeliverDeps,
  stop: AbortSignal,
  { byOne }: { readonly byOne?: boolean } = {},
): Promise<void> {
  const sending = deps.sending ?? createSendingState(deps.channels)
  const channels = Object.values(deps.channels).filter(
    (channel) =>
      channel.available() && (byOne === undefined || byOne === (channel.isSentByOne ?? false)),
  )
  await Promise.all(
    channels.map((channel) => {
      const worker = createWorker(deps, channel, sending.of(channel.key), stop)
      return work(deps, channel.key, worker, stop)
    }),
  )
}

/** Lets the worker of a channel look again and again. */
async function work(
  deps: DeliverDeps,
  channel: ChannelKey,
  worker: Worker,
  stop: AbortSignal,
): Promise<void> {
  let failed = 0
  let reportedAt: number | undefined
  while (!stop.aborted) {
    // A look that ran during a recording may have looked before the recording ended.
    const wasIdle = worker.isIdle()
    const startedAt = performance.now()
    let hasFound = false
    try {
      hasFound = await worker.claim()
      if (reportedAt !== undefined)
        deps.log.info({ channel, failed }, 'deliveries are claimed again')
      reportAnswer(deps.log)
      failed = 0
      reportedAt = undefined
    } catch (error) {
      failed += 1
      const isReported = reportedAt !== undefined && startedAt - reportedAt < REPORT_AGAIN_MS
      if (!reportOutage(deps.log, error) && !isReported) {
        reportedAt = startedAt
        const trace = loggableError(error)
        deps.log.error({ channel, failed, error: trace }, 'deliveries could not be claimed')
      }
    }
    const claimMs = performance.now() - startedAt
    const isSuccess = failed === 0
    const isQuiet = isSuccess && !hasFound && wasIdle && worker.isIdle()
    deps.onLook?.({ channel, isSuccess, seconds: claimMs / 1000, isQuiet })
    const restMs = isSuccess ? 0 : backoffMs(failed, FAILED_MS)
    await worker.pause({ claimMs, restMs, found: hasFound })
  }
  await worker.finish()
}
