import type { Middleware } from 'grammy'
import { escapeHtml, typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { cut } from '../../views/fields.ts'
import type { BotContext } from '../context.ts'
import { sentenceOf } from '../refusals.ts'
import { openQuestion, placeOf, type Question, type Refusal } from '../session.ts'
import { deleteQuestion, type QuestionRow } from '../session-store.ts'

/**
 * Brings what is typed to the question it answers. A command closes the question and goes on as if there
 * had been none, unless there is no such command; so does a press on the message that asks. A question that
 * cannot be read is closed.
 *
 * @param all asked for when something comes: the questions of every feature
 */
export function questions(all: () => readonly Question[]): Middleware<BotContext> {
  return async (ctx, next) => {
    const row = await openQuestion(ctx)
    const place = placeOf(ctx)
    if (row === undefined || place === undefined) return next()
    const question = all().find(({ kind, reads }) => kind === row.kind && reads(row.about))
    const { message, callbackQuery } = ctx
    const isPressed = callbackQuery?.message?.message_id === row.messageId
    const isCommand = message?.text?.startsWith('/') === true
    if (isPressed || isCommand || question === undefined) {
      await deleteQuestion(ctx.app.db, place)
      if (question === undefined) return next()
      if (isCancel(ctx)) return question.cancel(ctx, row.about)
      if (isCommand) ctx.askAgain = () => refuseCommand(ctx, question, row)
      return next()
    }
    if (message === undefined || !isAnswer(ctx)) return next()
    ctx.answering = { messageId: row.messageId, askedAt: row.askedAt, isAsked: false }
    const refusal = await takeAnswer(ctx, question, row)
    if (refusal !== undefined) return question.askAgain(ctx, row, refusal)
    if (!ctx.answering.isAsked) await deleteQuestion(ctx.app.db, place)
  }
}

/** Keeps a question open that somebody meant to answer, or to leave, by a command there is none of. */
async function refuseCommand(ctx: BotContext, question: Question, row: QuestionRow): Promise<void> {
  ctx.answering = { messageId: row.messageId, askedAt: row.askedAt, isAsked: false }
  const input = typed(cut(ctx.message?.text ?? ''))
  await question.askAgain(ctx, row, { html: ctx.t.html('bot:typed.noCommand', { input }) })
}

async function takeAnswer(
  ctx: BotContext,
  question: Question,
  row: QuestionRow,
): Promise<Refusal | undefined> {
  const text = ctx.message?.text?.trim()
  if (text === undefined) return { html: ctx.t.html('bot:typed.noText') }
  try {
    return await question.take(ctx, row.about, text)
  } catch (error) {
    if (!(error instanceof AppError) || !REFUSED.has(error.kind)) throw error
    return { html: escapeHtml(sentenceOf(ctx.t, error)) }
  }
}

/** Refusals of the gate that another answer, or the same a little later, can overcome. */
const REFUSED: ReadonlySet<string> = new Set(['invalid', 'upstream', 'rate_limited'])

function isCancel({ message }: BotContext): boolean {
  return /^\/cancel(?:@\w+)?(?:\s|$)/.test(message?.text ?? '')
}

/** Whether the update is something a person sends, text or not; service messages answer nothing. */
function isAnswer(ctx: BotContext): boolean {
  return ctx.has([
    'message:text',
    'message:file',
    'message:contact',
    'message:location',
    'message:poll',
    'message:dice',
    'message:story',
  ])
}
