import { loggableError } from '#src/kernel/loggable-error.ts'
import { createSendingState } from './sending-state.ts'
import { createWorker, type Worker, type WorkerDeps } from './worker.ts'

/** Wait after a failed claim, multiplied by the number of failed claims in a row. */
const FAILED_MS = 50
const FAILED_MS_MAX = 2000

/**
 * Sends due deliveries until there are none. Several processes may do so at once.
 *
 * Deliveries of one key are sent one after another; a slow destination, or a channel that is down, delays
 * no other. After `stop` nothing more is claimed; messages in progress have five seconds, then their
 * deliveries are released.
 *
 * Long because the run ends only when the workers of all channels are done.
 *
 * @param which `byOne`: only channels to which one process at a time sends (true), or only the other
 * channels (false)
 * @throws the last error of a claim, after everything else was sent
 */
export async function deliverDue(
  deps: WorkerDeps,
  stop: AbortSignal,
  { byOne }: { readonly byOne?: boolean } = {},
): Promise<void> {
  const channels = Object.values(deps.channels).filter(
    (channel) =>
      channel.available() && (byOne === undefined || byOne === (channel.isSentByOne ?? false)),
  )
  if (channels.length === 0) return
  const sending = deps.sending ?? createSendingState(deps.channels)
  const workers = channels.map((channel) =>
    createWorker(deps, channel, sending.of(channel.key), stop),
  )
  const over = new AbortController()
  const claiming = new Set<Worker>()
  /**
   * For each worker whose last claim found nothing due: the number of recordings of all workers before that
   * claim.
   */
  const quietSince = new Map<Worker, number>()
  const failures: unknown[] = []
  const recordings = () => workers.reduce((sum, worker) => sum + worker.recordings(), 0)
  const isOver = () =>
    workers.every((worker) => worker.isIdle() && quietSince.get(worker) === recordings())

  /**
   * The run ends when every worker has looked for due deliveries after the last recording. Wakes the
   * workers that pause, so that they look now.
   */
  function askOthers(): void {
    if (!workers.every((worker) => worker.isIdle())) return
    for (const worker of workers) {
      if (!claiming.has(worker) && quietSince.get(worker) !== recordings()) worker.wake()
    }
  }

  async function work(worker: Worker): Promise<void> {
    let failed = 0
    while (!stop.aborted && !over.signal.aborted) {
      const before = recordings()
      claiming.add(worker)
      quietSince.delete(worker)
      // A claim that ran during a recording may have looked before the recording ended.
      const wasIdle = worker.isIdle()
      const startedAt = performance.now()
      let hasFound = false
      try {
        hasFound = await worker.claim()
        failed = 0
      } catch (error) {
        failed += 1
        failures.push(error)
        if (failed === 1)
          deps.log.warn({ error: loggableError(error) }, 'deliveries could not be claimed')
      }
      claiming.delete(worker)
      if (!hasFound && wasIdle && worker.isIdle()) quietSince.set(worker, before)
      if (isOver()) {
        over.abort()
        for (const other of workers) other.wake()
        return
      }
      if (quietSince.has(worker)) askOthers()
      const restMs = failed === 0 ? 0 : Math.min(FAILED_MS * 2 ** (failed - 1), FAILED_MS_MAX)
      await worker.pause({ claimMs: performance.now() - startedAt, restMs, found: hasFound })
    }
  }

  try {
    await Promise.all(workers.map(work))
  } finally {
    await Promise.all(workers.map((worker) => worker.finish()))
  }
  if (failures.length > 0 && !stop.aborted) throw failures.at(-1)
}
