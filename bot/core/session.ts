/**
 * The open question of a person in a private chat: the last question without an answer. Questions are
 * stored in the database, so a restart between two steps changes nothing. A press on the question's
 * message or a command closes it; an unknown command repeats it. It expires after 24 hours.
 */
import type { z } from 'zod'
import { DAY_MS, MINUTE_MS } from '#src/kernel/durations.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { withRefusal } from '../views/refusals.ts'
import type { View } from '../views/view.ts'
import type { BotContext, ChatState } from './context.ts'
import { findQuestion, putQuestion, type QuestionRow, type SessionKey } from './session-store.ts'
import { show } from './show.ts'
import type { Task } from './store.ts'

/** Lifetime of a question, and of a draft between two steps. */
export const QUESTION_AND_DRAFT_MS = DAY_MS

/** Explains why an answer is invalid: the error, what is allowed, and an example. */
export interface Refusal {
  readonly html: string
  /** Buttons with suggestions. */
  readonly rows?: Rows
}

/** A question that is answered by typing. */
interface QuestionEntry<About> {
  /** Unique name among all features. */
  readonly kind: string
  readonly task?: Task
  /** Subject of the question, as stored JSON. */
  readonly about: z.ZodType<About>
  /** Returns the screen of the question. */
  ask(ctx: BotContext, about: About): Promise<View>
  /** Called after `open` has shown the screen without a refusal. */
  shown?(ctx: BotContext, about: About, messageId: number): Promise<void>
  /** Handles the answer and shows the result, or returns why the answer is invalid. */
  answer(ctx: BotContext, about: About, text: string): Promise<Refusal | undefined>
  /** Shows the previous screen after `/cancel`. */
  cancel(ctx: BotContext, about: About): Promise<void>
}

/** A question in the registry; its subject is not decoded yet. */
export interface Question {
  readonly kind: string
  /**
   * Whether the subject can be decoded. It may not be possible if another version of the service stored it.
   */
  canDecode(about: unknown): boolean
  /** Handles a typed answer. @returns why the answer is invalid; undefined if it is valid */
  handleAnswer(ctx: BotContext, about: unknown, text: string): Promise<Refusal | undefined>
  /** Repeats the question, with the reason above it. */
  askAgain(ctx: BotContext, row: QuestionRow, refusal: Refusal): Promise<void>
  cancel(ctx: BotContext, about: unknown): Promise<void>
}

/** A question that a feature can ask. */
export interface AskedQuestion<About> extends Question {
  /**
   * Shows the screen of the question and waits for the answer. In groups it only shows the screen,
   * because answers are not typed there.
   *
   * @param refusal why the previous input or press is invalid, shown above the question
   */
  open(ctx: BotContext, about: About, refusal?: Refusal): Promise<void>
}

/** Defines a question for features to list and open. */
export function defineQuestion<About>(entry: QuestionEntry<About>): AskedQuestion<About> {
  const { kind, task } = entry
  const showAndStore = async (ctx: BotContext, about: About, view: View, refusals: number) => {
    const messageId = await show(ctx, view, task, { isForm: true })
    const sessionKey = sessionKeyOf(ctx)
    if (sessionKey === undefined || ctx.reader.isGroup) return messageId
    await storeQuestion(ctx, sessionKey, { kind, about, messageId, refusals })
    if (ctx.answering !== undefined) ctx.answering.isAsked = true
    return messageId
  }
  return {
    kind,
    canDecode: (about) => entry.about.safeParse(about).success,
    open: async (ctx, about, refusal) => {
      const view = await entry.ask(ctx, about)
      const refused = refusal && withRefusal(ctx.reader, view, { ...refusal, refusals: 0 })
      const messageId = await showAndStore(ctx, about, refused ?? view, 0)
      if (refused === undefined) await entry.shown?.(ctx, about, messageId)
    },
    handleAnswer: async (ctx, about, text) => entry.answer(ctx, entry.about.parse(about), text),
    askAgain: async (ctx, row, refusal) => {
      const about = entry.about.parse(row.about)
      const refusals = row.refusals + 1
      const view = withRefusal(ctx.reader, await entry.ask(ctx, about), { ...refusal, refusals })
      await showAndStore(ctx, about, view, refusals)
    },
    cancel: async (ctx, about) => entry.cancel(ctx, entry.about.parse(about)),
  }
}

/** Time for which a number that follows a saved value changes that value again. */
const CORRECTED_MS = 2 * MINUTE_MS

/**
 * Keeps a question after its value was saved, by a typed answer or a button, so that a number that follows soon changes the
 * value again.
 *
 * @param messageId of the screen that shows the saved value
 */
export async function keepAnswered(
  ctx: BotContext,
  question: Pick<QuestionRow, 'kind' | 'about' | 'messageId'>,
): Promise<void> {
  const sessionKey = sessionKeyOf(ctx)
  if (sessionKey === undefined || ctx.reader.isGroup) return
  const askedAt = ctx.app.clock.now()
  const expiresAt = new Date(askedAt.getTime() + CORRECTED_MS)
  const row = { ...sessionKey, ...question, refusals: 0, isAnswered: true, askedAt, expiresAt }
  await putQuestion(ctx.app.db, row)
  if (ctx.answering !== undefined) ctx.answering.isAsked = true
}

/** Stores a question that a message shows as the open one of the person; it replaces the one before. */
export async function storeQuestion(
  { app }: Pick<ChatState, 'app'>,
  sessionKey: SessionKey,
  question: Pick<QuestionRow, 'kind' | 'about' | 'messageId' | 'refusals'>,
): Promise<void> {
  const askedAt = app.clock.now()
  const expiresAt = new Date(askedAt.getTime() + QUESTION_AND_DRAFT_MS)
  await putQuestion(app.db, { ...sessionKey, ...question, isAnswered: false, askedAt, expiresAt })
}

/** The open question of the person. */
export async function findOpenQuestion(ctx: ChatState): Promise<QuestionRow | undefined> {
  const sessionKey = sessionKeyOf(ctx)
  if (sessionKey === undefined || ctx.reader.isGroup) return undefined
  const row = await findQuestion(ctx.app.db, sessionKey, ctx.app.clock.now())
  return row?.isAnswered === true ? undefined : row
}

/** Person and chat of an update; undefined for updates without a person. */
export function sessionKeyOf(ctx: ChatState): SessionKey | undefined {
  const { from, knownChat } = ctx
  return from === undefined ? undefined : { chatId: knownChat.id, personId: from.id }
}
