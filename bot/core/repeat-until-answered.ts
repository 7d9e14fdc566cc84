import { isConnectionFailure } from '#src/db/session.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { pause } from '#src/kernel/pause.ts'
import { describe, floodWaitMs, isTokenRefused, isTransient } from '#src/telegram/errors.ts'

/** Whether a failed call may work later, because Telegram or the database is unavailable. */
export function isTransientFailure(error: unknown): boolean {
  return isTransient(error) || isConnectionFailure(error)
}

const BACKOFF_MS_MAX = 60_000

/**
 * Repeats a call until Telegram accepts it.
 *
 * @param what a fixed phrase for the log, such as `webhook could not be set`
 * @returns undefined if the signal was aborted, or Telegram refused the call or the token permanently; a
 * refusal is logged
 */
export async function repeatUntilAnswered<T>(
  log: Logger,
  what: string,
  signal: AbortSignal,
  run: () => Promise<T>,
): Promise<T | undefined> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      return await run()
    } catch (error) {
      if (signal.aborted) return undefined
      const waitMs = floodWaitMs(error)
      if (!isTransientFailure(error)) {
        const phrase = isTokenRefused(error) ? 'telegram refuses the bot token' : what
        log.error({ error: describe(error) }, phrase)
        return undefined
      }
      if (failures === 0) log.warn({ error: describe(error) }, what)
      await pause(waitMs ?? Math.min(1000 * 2 ** failures, BACKOFF_MS_MAX), signal)
    }
  }
  return undefined
}
