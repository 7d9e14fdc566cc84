import type { Api } from 'grammy'
import type { Leases } from '#src/db/leases.ts'
import { pause } from '#src/kernel/pause.ts'
import type { App } from '#src/operations/define.ts'
import { apiSignal } from '#src/telegram/api.ts'
import { isConflict } from '#src/telegram/errors.ts'
import { parseUpdate, putUpdates } from './inbox.ts'
import type { TelegramContact } from './telegram-contact.ts'

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
/** Least time of a request without updates; Telegram usually keeps it open. */
const EMPTY_MS = 1000

type Deps = Pick<App, 'db' | 'clock' | 'log' | 'meters'>

/**
 * Fetches updates into the inbox until the signal is aborted: each batch is stored before it is confirmed
 * to Telegram. Only one process polls at a time; when it dies, another takes over within seconds.
 *
 * Does not use the job runner (docs/decisions/0010): Telegram holds each request open, and after an error says how long
 * to wait.
 *
 * @param api client whose calls may take longer than `POLL_SECONDS`
 */
export async function keepPolling(
  deps: Deps,
  leases: Leases,
  api: Api,
  contact: TelegramContact,
  signal: AbortSignal,
): Promise<void> {
  await contact.untilAccepted('poller failed', signal, () =>
    leases.whileHolding('telegram poller', signal, (held) => poll(deps, api, contact, held)),
  )
}

async function poll(
  deps: Deps,
  api: Api,
  contact: TelegramContact,
  signal: AbortSignal,
): Promise<void> {
  let offset = 0
  let isWebhookDeleted = false
  let isFailing = false
  const fetchNext = async () => {
    // After a failure Telegram must answer at once, so that the end of the problem is known.
    const waitSeconds = isFailing ? 0 : POLL_SECONDS
    try {
      // While a webhook is set, polling gets no updates.
      if (!isWebhookDeleted) await api.deleteWebhook(undefined, apiSignal(signal))
      isWebhookDeleted = true
      const startedAt = performance.now()
      const next = await fetchUpdates(deps, api, { offset, waitSeconds }, signal)
      contact.setAnswered()
      const isEarly = performance.now() - startedAt < EMPTY_MS
      if (next === offset && isEarly && !isFailing) await pause(EMPTY_MS, signal)
      isFailing = false
      return next
    } catch (error) {
      isFailing = true
      if (isConflict(error)) isWebhookDeleted = false
      throw error
    }
  }
  contact.setReceiving(true)
  try {
    while (!signal.aborted) {
      const next = await contact.untilAccepted('updates could not be fetched', signal, fetchNext)
      offset = next ?? offset
    }
  } finally {
    contact.setReceiving(false)
  }
}

/**
 * Sends one getUpdates request and stores the result.
 *
 * @returns the offset of the next request, which confirms the updates to Telegram
 * @throws Error when the answer is no list
 */
export async function fetchUpdates(
  deps: Deps,
  api: Api,
  from: { readonly offset: number; readonly waitSeconds: number },
  signal: AbortSignal,
): Promise<number> {
  const { offset, waitSeconds: timeout } = from
  const answer: unknown = await api.getUpdates(
    { offset, limit: BATCH_MAX, timeout, allowed_updates: ALLOWED_UPDATES },
    apiSignal(signal),
  )
  if (!Array.isArray(answer)) throw new Error('the answer to getUpdates is no list')
  // One that cannot be read must not keep the others from being stored and confirmed.
  const updates = answer.flatMap((update) => parseUpdate(update) ?? [])
  if (updates.length < answer.length)
    deps.log.error({ unreadable: answer.length - updates.length }, 'updates cannot be read')
  await putUpdates(deps, updates)
  deps.meters.countTelegramUpdates(updates.length)
  return Math.max(offset, ...updates.map(({ update_id: id }) => id + 1))
}
