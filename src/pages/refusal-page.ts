import type { FastifyReply, FastifyRequest } from 'fastify'
import { translator } from '#src/i18n/translate.ts'
import { AppError, ERROR_STATUS, retryAfterOf } from '#src/kernel/errors.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { refusalText } from '#src/operations/problem.ts'
import { localeOf } from './layout.ts'

/** Whether the request comes from a page's script, which reads JSON. */
export function isScript({ headers }: FastifyRequest): boolean {
  return headers.accept === 'application/json'
}

/** Sends JSON to a page's script. */
function sendFacts(reply: FastifyReply, facts: object): FastifyReply {
  return reply.header('cache-control', 'no-store').send(facts)
}

/** A refusal, with its texts for a page. */
export interface RefusalView {
  readonly code: string
  /** The problem and the remedy, in one or two sentences. */
  readonly text: string
}

/**
 * Text of a refusal in the reader's locale.
 *
 * @throws the error if it is not a refusal
 */
export function refusalOf(error: unknown, locale: Locale): RefusalView {
  if (!(error instanceof AppError) || error.kind === 'internal') throw error
  return { code: error.code, text: refusalText(translator(locale), error) }
}

/**
 * Runs a script's request and answers with its result or refusal.
 *
 * @throws errors other than refusals
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
