import type { Api } from 'grammy'
import { TURN_WAIT_MS_MAX } from '#src/channels/requests/rate-limiter.ts'
import type { TelegramPace } from '#src/channels/telegram/pace.ts'
import { REPLY_URGENCY } from '#src/channels/telegram/pace-rules.ts'
import { floodSeconds } from '#src/telegram/errors.ts'

/**
 * Makes calls of the bot wait for their turn. New messages wait for the limits of the bot and of their
 * chat. Edits skip the chat's limit to keep presses responsive. If the next turn is too far away, the call
 * fails with a local 429, and the update is retried at that time.
 */
export function paceCalls(api: Api, pace: TelegramPace): Api {
  api.config.use(async (call, method, payload, signal) => {
    const chatId = chatOf(payload)
    const isSend = method.startsWith('send') && method !== 'sendChatAction'
    if (isSend || method.startsWith('editMessage')) {
      const earlyMs = await pace.turn(isSend ? chatId : undefined, {
        patienceMs: TURN_WAIT_MS_MAX,
        urgency: REPLY_URGENCY,
        signal: new AbortController().signal,
      })
      if (earlyMs !== undefined) return tooMany(earlyMs)
    }
    const answer = await call(method, payload, signal)
    if (!answer.ok && answer.error_code === 429 && chatId !== undefined) {
      await pace.flooded(chatId, floodSeconds(answer.parameters?.retry_after) * 1000)
    }
    return answer
  })
  return api
}

function tooMany(ms: number) {
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  return {
    ok: false,
    error_code: 429,
    description: `Too Many Requests: retry after ${seconds}`,
    parameters: { retry_after: seconds },
  } as const
}

/** The chat of a call, if it has one. */
function chatOf(payload: object | undefined): number | undefined {
  const { chat_id: chatId } = (payload ?? {}) as { readonly chat_id?: unknown }
  return typeof chatId === 'number' ? chatId : undefined
}
