import { GrammyError, HttpError } from 'grammy'
import { loggableError } from '#src/kernel/loggable-error.ts'
import { orderedSeconds } from '#src/kernel/ordered-wait.ts'

/** An error response of the Bot API. */
export interface ApiRefusal {
  readonly code: number
  readonly description: string
  readonly retryAfterSeconds?: number
  readonly migrateToChatId?: number
}

/**
 * Consequence of an error response: the message is sent in another form, or the call fails temporarily or
 * permanently.
 */
export type EditVerdict =
  | { readonly kind: 'send_plain' }
  | { readonly kind: 'send_without_preview' }
  | { readonly kind: 'send_without_button' }
  | { readonly kind: 'send_without_thread' }
  | { readonly kind: 'send_to'; readonly chatId: number }
  /** Nothing is left to do, because the message already has this content, or was deleted. */
  | { readonly kind: 'settled'; readonly gone: boolean }
  | { readonly kind: 'fail'; readonly error: ApiFailure }

/** Reason why a message cannot be sent, now or ever. */
export interface ApiFailure {
  readonly reason: Reason
  /** Absent if Telegram did not respond. */
  readonly statusCode?: number
  /** Whether the chat no longer accepts messages from the bot. */
  readonly permanent: boolean
  /** Status of a chat that is gone permanently. */
  readonly becomes: 'disabled' | 'blocked'
  readonly retryAfterSeconds?: number
  readonly retryAfterIsMandatory: boolean
  /** Whether the cause is Telegram or the bot's token, and not the chat. */
  readonly isOurFault: boolean
}

/** Codes of failures of the Bot API; an answer with another status has `status_` and the status. */
export const TELEGRAM_REASONS = [
  'blocked',
  'deactivated',
  'kicked',
  'not_a_member',
  'deleted',
  'not_started',
  'no_rights',
  'topic_closed',
  'chat_not_found',
  'forbidden',
  'not_allowed',
  'bot_token',
  'rejected',
  'flood',
  'timeout',
  'unreachable',
] as const
type Reason = (typeof TELEGRAM_REASONS)[number] | `status_${number}`

/** Permanent failures, with the reason for switching the destination off. Matched on the description. */
const GONE: readonly (readonly [RegExp, Reason])[] = [
  [/bot was blocked by the user/, 'blocked'],
  [/user is deactivated/, 'deactivated'],
  [/bot was kicked/, 'kicked'],
  [/bot is not a (member|participant)/, 'not_a_member'],
  [/group chat was deleted/, 'deleted'],
  [/can't initiate conversation/, 'not_started'],
]

/** The bot is in the chat, but may not write there, whatever it writes. */
const SILENCED =
  /not enough rights to send text messages|need administrator rights in the channel chat|CHAT_WRITE_FORBIDDEN|CHAT_SEND_PLAIN_FORBIDDEN|have no (rights to send a message|write access)/
/** One action is refused, such as pinning a message or sending a picture. */
const NOT_ALLOWED = /not enough rights|need administrator rights|have no rights/
const UNKNOWN_CHAT = /chat not found|user not found|PEER_ID_INVALID|chat_id is empty/
const TOPIC_GONE = /message thread not found|TOPIC_CLOSED|TOPIC_DELETED/
const UNCHANGED = /message is not modified/
const MESSAGE_GONE =
  /message to (edit|delete) not found|message can't be edited|MESSAGE_ID_INVALID|there is no text in the message/
/** The picture that the message shows is refused. */
const PREVIEW_REFUSED = /WEBPAGE_|link preview/i
const BUTTON_REFUSED = /inline keyboard button|BUTTON_\w+_INVALID|reply markup is too long/i

/**
 * Classifies an error response by code and description, because the same code has many meanings.
 *
 * @see Bot API server sources; the texts begin with "Bad Request: " or "Forbidden: "
 */
export function judgeRefusal(refusal: ApiRefusal): EditVerdict {
  const { code, description } = refusal
  if (refusal.migrateToChatId !== undefined) {
    return { kind: 'send_to', chatId: refusal.migrateToChatId }
  }
  if (code === 429) {
    const retryAfterSeconds = floodSeconds(refusal.retryAfterSeconds)
    return failed('flood', code, {
      retryAfterSeconds,
      retryAfterIsMandatory: true,
      isOurFault: true,
    })
  }
  if (code === 400 && /can't parse entities/.test(description)) return { kind: 'send_plain' }
  if (code === 400 && UNCHANGED.test(description)) return { kind: 'settled', gone: false }
  if (code === 400 && MESSAGE_GONE.test(description)) return { kind: 'settled', gone: true }
  if (TOPIC_GONE.test(description)) return { kind: 'send_without_thread' }
  if (SILENCED.test(description)) {
    return failed('no_rights', code, { permanent: true, becomes: 'blocked' })
  }
  if (NOT_ALLOWED.test(description)) return failed('not_allowed', code)
  if (code === 400 && PREVIEW_REFUSED.test(description)) return { kind: 'send_without_preview' }
  if (code === 400 && BUTTON_REFUSED.test(description)) return { kind: 'send_without_button' }
  if (code === 400 && UNKNOWN_CHAT.test(description)) {
    return failed('chat_not_found', code, { permanent: true })
  }
  if (code === 403) {
    const known = GONE.find(([pattern]) => pattern.test(description))
    return failed(known?.[1] ?? 'forbidden', code, { permanent: true, becomes: 'blocked' })
  }
  if (code === 401 || code === 404) return failed('bot_token', code, { isOurFault: true })
  return code === 400
    ? failed('rejected', code)
    : failed(`status_${code}`, code, { isOurFault: true })
}

/**
 * Classifies an error that a call of the Bot API threw.
 *
 * @throws the error itself if it is unrelated to the call
 */
export function verdictOf(error: unknown): EditVerdict {
  if (error instanceof GrammyError) {
    const { retry_after: retryAfterSeconds, migrate_to_chat_id: migrateToChatId } =
      error.parameters ?? {}
    return judgeRefusal({
      code: error.error_code,
      description: error.description,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
      ...(migrateToChatId !== undefined && { migrateToChatId }),
    })
  }
  if (!(error instanceof HttpError)) throw error
  const isAborted = error.error instanceof Error && error.error.name === 'AbortError'
  return failed(isAborted ? 'timeout' : 'unreachable', undefined, { isOurFault: true })
}

/**
 * The failure to report when the caller does not send the message in another form. A refused thread counts as a
 * blocked chat: the message was for the topic General, which is closed and has no thread that could be left out.
 */
export function finalFailureOf(verdict: EditVerdict): ApiFailure {
  if (verdict.kind === 'fail') return verdict.error
  return verdict.kind === 'send_without_thread'
    ? failure('topic_closed', 400, { permanent: true, becomes: 'blocked' })
    : failure('rejected', 400)
}

function failed(...failing: Parameters<typeof failure>): EditVerdict {
  return { kind: 'fail', error: failure(...failing) }
}

function failure(
  reason: Reason,
  statusCode: number | undefined,
  options: Partial<ApiFailure> = {},
): ApiFailure {
  const usual = {
    permanent: false,
    becomes: 'disabled',
    retryAfterIsMandatory: false,
    isOurFault: false,
  } as const
  return { reason, ...(statusCode !== undefined && { statusCode }), ...usual, ...options }
}

/** The wait that an answer 429 orders, in whole seconds; 1 if it states none, or something else than a wait. */
export function floodSeconds(stated: unknown): number {
  const seconds = Math.ceil(Number(stated ?? 1))
  return seconds >= 1 ? orderedSeconds(seconds) : 1
}

/** The wait that Telegram requests, in milliseconds; undefined for every other failure. */
export function floodWaitMs(error: unknown): number | undefined {
  if (!(error instanceof GrammyError) || error.error_code !== 429) return undefined
  return floodSeconds(error.parameters?.retry_after) * 1000
}

/**
 * Whether Telegram refuses the bot's token. It may be revoked; but Telegram was also seen to refuse a valid one for some
 * time.
 */
export function isTokenRefused(error: unknown): boolean {
  return isRefused(error, 401, 404)
}

/** Whether another process or a webhook fetches the updates. */
export function isConflict(error: unknown): boolean {
  return isRefused(error, 409)
}

/**
 * Whether Telegram is unreachable, fails (5xx), requests a pause or refuses the token, so that the same call may work
 * later.
 */
export function isTransient(error: unknown): boolean {
  if (error instanceof HttpError || isTokenRefused(error)) return true
  return error instanceof GrammyError && (error.error_code >= 500 || error.error_code === 429)
}

/** Whether Telegram refused the call with one of these codes. */
export function isRefused(error: unknown, ...codes: readonly number[]): boolean {
  return error instanceof GrammyError && codes.includes(error.error_code)
}

/** State of the message that follows from a refused edit; undefined for every other error. */
export function settledAs(error: unknown): 'unchanged' | 'gone' | undefined {
  if (!(error instanceof GrammyError)) return undefined
  const verdict = verdictOf(error)
  if (verdict.kind !== 'settled') return undefined
  return verdict.gone ? 'gone' : 'unchanged'
}

/** An error in a few words for the operator, without the URL of the call, which contains the token. */
export function wordsOf(error: unknown): string {
  if (error instanceof GrammyError) return `${error.method}: ${error.description}`
  if (!(error instanceof HttpError)) return 'internal error'
  return finalFailureOf(verdictOf(error)).reason
}

/** Token of a bot, which the URL of every call contains. */
const TOKEN = /\d+:[\w-]{30,}/g

/** An error in one line for a log, without the bot's token, with its stack if it is a bug. */
export function describe(error: unknown): string {
  return withToken(error).replaceAll(TOKEN, '…')
}

function withToken(error: unknown): string {
  if (error instanceof GrammyError) return `${error.method}: ${error.description}`
  if (error instanceof HttpError) {
    return error.error instanceof Error ? error.error.message : error.message
  }
  return loggableError(error)
}
