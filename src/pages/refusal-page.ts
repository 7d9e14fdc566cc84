import type { FastifyReply, FastifyRequest } from 'fastify'
import { refusalText } from '#src/i18n/refusal.ts'
import { translator } from '#src/i18n/translate.ts'
import { AppError, ERROR_STATUS, retryAfterOf } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { localeOf } from './layout.ts'

/** Whether a page's own script asks, which reads an answer itself. */
export function isScript({ headers }: FastifyRequest): boolean {
  return headers.accept === 'application/json'
}

/** Answers a page's script. */
function sendFacts(reply: FastifyReply, facts: object): FastifyReply {
  return reply.header('cache-control', 'no-store').send(facts)
}

/** A refusal as a page tells it. */
export interface RefusalView {
  readonly code: string
  /** What happened and what to do, in one or two sentences. */
  readonly text: string
}

/**
 * What a refusal says in the reader's language.
 *
 * @throws whatever is none
 */
export function refusalOf(error: unknown, locale: Locale): RefusalView {
  if (!(error instanceof AppError) || error.kind === 'internal') throw error
  return { code: error.code, text: refusalText(translator(locale), error) }
}

/**
 * Runs what a script asked for and answers with its result, or with why it was refused.
 *
 * @throws whatever is no refusal
 */
export async function answerScript(
  request: FastifyRequest,
  reply: FastifyReply,
  run: () => Promise<object>,
): Promise<FastifyReply> {
  try {
    return sendFacts(reply, await run())
  } catch (error) {
    const refusal = refusalOf(error, localeOf(request))
    if (error instanceof AppError) {
      const seconds = retryAfterOf(error)
      if (seconds !== undefined) reply.header('retry-after', String(seconds))
      reply.code(ERROR_STATUS[error.kind])
    }
    return sendFacts(reply, refusal)
  }
}
