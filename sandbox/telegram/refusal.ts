/** An answer with `ok: false`, in the words of the Bot API. */
export class BotApiRefusal extends Error {
  readonly code: number
  readonly parameters: Readonly<Record<string, number>> | undefined

  /** `description` is the whole text of the answer, including its prefix (`Bad Request: `). */
  constructor(code: number, description: string, parameters?: Readonly<Record<string, number>>) {
    super(description)
    this.code = code
    this.parameters = parameters
  }
}

/**
 * A 400. Server codes in capitals keep their case, other texts begin in lower case, like on the real
 * server.
 */
export function badRequest(
  text: string,
  parameters?: Readonly<Record<string, number>>,
): BotApiRefusal {
  const isCode = /^.[_A-Z]/.test(text)
  const worded = isCode ? text : text.charAt(0).toLowerCase() + text.slice(1)
  return new BotApiRefusal(400, `Bad Request: ${worded}`, parameters)
}

/** A 403: the bot may not write there. */
export function forbidden(text: string): BotApiRefusal {
  return new BotApiRefusal(403, `Forbidden: ${text}`)
}

/** A 409: two readers of the same updates. */
export function conflict(text: string): BotApiRefusal {
  return new BotApiRefusal(409, `Conflict: ${text}`)
}

/** A 429 with a waiting time in seconds. */
export function tooManyRequests(retryAfterSeconds: number): BotApiRefusal {
  return new BotApiRefusal(429, `Too Many Requests: retry after ${retryAfterSeconds}`, {
    retry_after: retryAfterSeconds,
  })
}
