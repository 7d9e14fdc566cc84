import type { Api } from 'grammy'
import type { Sql } from '#src/db/connection.ts'
import { whileHolding } from '#src/db/lock.ts'
import { pause } from '#src/kernel/pause.ts'
import type { App } from '#src/operations/define.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { describe, floodWaitMs, isConflict, isTokenRefused } from '#src/telegram/errors.ts'
import { putUpdates } from './inbox.ts'

/** Kinds of updates that the bot requests. Telegram stores the setting. */
export const ALLOWED_UPDATES = [
  'message',
  'callback_query',
  'my_chat_member',
  'inline_query',
] as const

/** Seconds for which Telegram keeps a request open while there are no updates. */
export const POLL_SECONDS = 30
const BATCH_MAX = 100
const BACKOFF_MS_MIN = 1000
const BACKOFF_MS_MAX = 30_000
/** Wait after a conflict with another poller, perhaps the one that this process replaces. */
const CONFLICT_MS = 5000

/** Wait before polling starts again after an unexpected failure. */
const RESTART_MS = 5000

type Deps = Pick<App, 'db' | 'clock' | 'log'>

/**
 * Polls for updates until the signal is aborted or Telegram refuses the token. Starts again after an unexpected failure,
 * which it logs.
 */
export async function keepPolling(
  deps: Deps,
  sql: Sql,
  api: Api,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await pollUpdates(deps, sql, api, signal)
    } catch (error) {
      deps.log.error({ error: describe(error) }, 'poller failed')
      await pause(RESTART_MS, signal)
    }
  }
}

/**
 * Fetches updates into the inbox until the signal is aborted: each batch is stored before it is confirmed
 * to Telegram. Only one process polls at a time; when it dies, another takes over within seconds.
 *
 * Returns before an abort only if Telegram rejects the token. Does not use the job runner
 * (docs/decisions/0010): Telegram holds each request open, and after an error says how long to wait.
 *
 * @param api client whose calls may take longer than `POLL_SECONDS`
 */
async function pollUpdates(deps: Deps, sql: Sql, api: Api, signal: AbortSignal): Promise<void> {
  await whileHolding(sql, 'telegram poller', signal, (held) => poll(deps, api, held))
}

async function poll(deps: Deps, api: Api, signal: AbortSignal): Promise<void> {
  let offset = 0
  let failures = 0
  let isWebhookDeleted = false
  while (!signal.aborted) {
    try {
      // While a webhook is set, polling gets no updates.
      if (!isWebhookDeleted) await api.deleteWebhook(undefined, apiSignal(signal))
      isWebhookDeleted = true
      offset = await fetchUpdates(deps, api, { offset, waitSeconds: POLL_SECONDS }, signal)
      if (failures > 0) deps.log.info({ failures }, 'updates are fetched again')
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (isTokenRefused(error)) {
        deps.log.error({ error: describe(error) }, 'telegram refuses the bot token')
        return
      }
      failures += 1
      if (isConflict(error)) isWebhookDeleted = false
      // Updates that were fetched but could not be stored are logged in the same way.
      if (failures === 1) deps.log.warn({ error: describe(error) }, 'updates could not be fetched')
      await pause(waitMs(error, failures), signal)
    }
  }
}

function waitMs(error: unknown, failures: number): number {
  const backoffMs = Math.min(BACKOFF_MS_MIN * 2 ** (failures - 1), BACKOFF_MS_MAX)
  return floodWaitMs(error) ?? (isConflict(error) ? CONFLICT_MS : backoffMs)
}

/**
 * Sends one getUpdates request and stores the result.
 *
 * @returns the offset of the next request, which confirms the updates to Telegram
 */
export async function fetchUpdates(
  deps: Deps,
  api: Api,
  from: { readonly offset: number; readonly waitSeconds: number },
  signal: AbortSignal,
): Promise<number> {
  const { offset, waitSeconds: timeout } = from
  const updates = await api.getUpdates(
    { offset, limit: BATCH_MAX, timeout, allowed_updates: ALLOWED_UPDATES },
    apiSignal(signal),
  )
  await putUpdates(deps, updates)
  const last = updates.at(-1)
  return last === undefined ? offset : last.update_id + 1
}
