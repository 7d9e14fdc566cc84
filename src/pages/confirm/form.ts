import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { App } from '#src/operations/define.ts'
import { sendPage } from '../layout.ts'

/** A question on a page, with its possible answers. */
export interface Question {
  readonly title: string
  readonly about: readonly string[]
  readonly choices: readonly {
    readonly value: string
    readonly label: string
    readonly isPrimary?: boolean
  }[]
  /** Hidden field of the form. */
  readonly hidden?: { readonly name: string; readonly value: string } | undefined
}

/**
 * Responds with a page that only asks a question. Only the answer, a POST to the same URL, changes
 * anything.
 */
export function sendQuestion(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: {
    readonly locale: Locale
    readonly status?: number
    question(t: Translate): Question
  },
): FastifyReply {
  return sendPage(app, request, reply, {
    view: 'question',
    status: asked.status ?? 200,
    isUncached: true,
    locale: asked.locale,
    data: (t) => ({ ...asked.question(t) }),
  })
}
