import type { Middleware } from 'grammy'
import { typed } from '#src/i18n/translate.ts'
import { AppError } from '#src/kernel/errors.ts'
import { cut } from '../../views/fields.ts'
import { textHtml } from '../../views/markup.ts'
import type { BotContext } from '../context.ts'
import { sentenceOf } from '../error-sentences.ts'
import { type Question, type Refusal, sessionKeyOf } from '../session.ts'
import { deleteQuestion, type QuestionRow } from '../session-store.ts'
import { isDelivered } from '../show.ts'

/**
 * Passes typed text to the open question. A command closes the question and is handled; an unknown command
 * leaves it open. A press on the question's message closes it, too. A question that cannot be decoded is
 * closed.
 *
 * @param all returns the questions of every feature
 */
export function questions(all: () => readonly Question[]): Middleware<BotContext> {
  return async (ctx, next) => {
    const row = ctx.openQuestion
    const sessionKey = sessionKeyOf(ctx)
    if (row === undefined || sessionKey === undefined) return next()
    const question = all().find(({ kind, canDecode }) => kind === row.kind && canDecode(row.about))
    const { message, callbackQuery } = ctx
    // Of an answered question only a number is of interest, until another screen is opened. A press of an alert opens none.
    if (row.isAnswered && !isNumber(message?.text)) {
      const isOver = message !== undefined || !(await isDelivered(ctx))
      if (isOver) await deleteQuestion(ctx.app.db, sessionKey)
      return next()
    }
    const isPressed = callbackQuery?.message?.message_id === row.messageId
    const isCommand = message?.text?.startsWith('/') === true
    if (isPressed || isCommand || question === undefined) {
      await deleteQuestion(ctx.app.db, sessionKey)
      ctx.isQuestionPressed = isPressed
      if (question === undefined) return next()
      if (isCancel(ctx)) return question.cancel(ctx, row.about)
      if (isCommand) ctx.askAgain = () => refuseCommand(ctx, question, row)
      return next()
    }
    if (message === undefined || !isAnswer(ctx)) return next()
    ctx.answering = { messageId: row.messageId, askedAt: row.askedAt, isAsked: false }
    const refusal = await takeAnswer(ctx, question, row)
    if (refusal !== undefined) return question.askAgain(ctx, row, refusal)
    if (!ctx.answering.isAsked) await deleteQuestion(ctx.app.db, sessionKey)
  }
}

/** Whether a text is a number, perhaps with a short unit, in any digits: `12`, `1,5 %`, `250 FLR`. */
function isNumber(text: string | undefined): boolean {
  return text !== undefined && /^[-+]?\p{Nd}[\p{Nd}.,:\s]*\s?[^\p{Nd}\s]{0,8}$/u.test(text.trim())
}

/** Keeps a question open after an unknown command, which was meant as an answer or to cancel. */
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
    return await question.handleAnswer(ctx, row.about, text)
  } catch (error) {
    if (!(error instanceof AppError) || !ASK_AGAIN_KINDS.has(error.kind)) throw error
    return { html: textHtml(sentenceOf(ctx.t, error)) }
  }
}

/** Kinds of errors after which the question stays open. */
const ASK_AGAIN_KINDS: ReadonlySet<string> = new Set(['invalid', 'upstream', 'rate_limited'])

function isCancel({ message }: BotContext): boolean {
  return /^\/cancel(?:@\w+)?(?:\s|$)/.test(message?.text ?? '')
}

/**
 * Whether the update is a message of a person, with or without text; a service message is never an answer.
 */
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
