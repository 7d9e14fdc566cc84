/**
 * The one open question of a person in a private chat: what they were asked last and have not answered.
 * It is kept in the database, so a restart between two steps changes nothing. A press on the message
 * that asks, and any command, closes it; so does a day.
 */
import type { z } from 'zod'
import { DAY_MS } from '#src/kernel/durations.ts'
import type { Rows } from '#src/telegram/buttons.ts'
import { withRefusal } from '../views/notices.ts'
import type { View } from '../views/view.ts'
import type { BotContext } from './context.ts'
import { findQuestion, type Place, putQuestion, type QuestionRow } from './session-store.ts'
import { show } from './show.ts'
import type { Task } from './store.ts'

/** How long a question waits for its answer, and a draft for its next step. */
export const SESSION_MS = DAY_MS

/** Why an answer cannot be taken: what is wrong, what is allowed, an example. */
export interface Refusal {
  readonly html: string
  /** What may have been meant. */
  readonly rows?: Rows
}

/** Something that is answered by typing. */
interface QuestionEntry<About> {
  /** Its name, once among all features. */
  readonly kind: string
  readonly task?: Task
  /** What it is about, as JSON keeps it. */
  readonly about: z.ZodType<About>
  /** The screen that asks. */
  ask(ctx: BotContext, about: About): Promise<View>
  /** Takes the answer and shows what comes of it, or says why it cannot be taken. */
  answer(ctx: BotContext, about: About, text: string): Promise<Refusal | undefined>
  /** Shows what is there when the question is left by `/cancel`. */
  cancel(ctx: BotContext, about: About): Promise<void>
}

/** A question as the registry knows it: what it is about is still to be read. */
export interface Question {
  readonly kind: string
  /** Whether what it is about can be read; not where another version of the service wrote it. */
  reads(about: unknown): boolean
  /** @returns why the answer was refused */
  take(ctx: BotContext, about: unknown, text: string): Promise<Refusal | undefined>
  /** Asks once more, with the reason above. */
  askAgain(ctx: BotContext, row: QuestionRow, refusal: Refusal): Promise<void>
  cancel(ctx: BotContext, about: unknown): Promise<void>
}

/** A question that a feature can ask. */
export interface AskedQuestion<About> extends Question {
  /**
   * Shows the screen that asks, and waits for the answer. In groups it only shows: nobody types there.
   *
   * @param refusal why what was pressed before cannot be
   */
  open(ctx: BotContext, about: About, refusal?: Refusal): Promise<void>
}

/** Gives the question back in the form that features list and open. */
export function defineQuestion<About>(entry: QuestionEntry<About>): AskedQuestion<About> {
  const { kind, task } = entry
  const keep = async (ctx: BotContext, about: About, view: View, refusals: number) => {
    const messageId = await show(ctx, view, task)
    const place = placeOf(ctx)
    if (place === undefined || ctx.reader.isGroup) return
    const askedAt = ctx.app.clock.now()
    const expiresAt = new Date(askedAt.getTime() + SESSION_MS)
    await putQuestion(ctx.app.db, {
      ...place,
      kind,
      about,
      messageId,
      refusals,
      askedAt,
      expiresAt,
    })
    if (ctx.answering !== undefined) ctx.answering.isAsked = true
  }
  return {
    kind,
    reads: (about) => entry.about.safeParse(about).success,
    open: async (ctx, about, refusal) => {
      const view = await entry.ask(ctx, about)
      const refused = refusal && withRefusal(ctx.reader, view, { ...refusal, refusals: 0 })
      await keep(ctx, about, refused ?? view, 0)
    },
    take: async (ctx, about, text) => entry.answer(ctx, entry.about.parse(about), text),
    askAgain: async (ctx, row, refusal) => {
      const about = entry.about.parse(row.about)
      const refusals = row.refusals + 1
      const view = withRefusal(ctx.reader, await entry.ask(ctx, about), { ...refusal, refusals })
      await keep(ctx, about, view, refusals)
    },
    cancel: async (ctx, about) => entry.cancel(ctx, entry.about.parse(about)),
  }
}

/** The question the person behind the update has not answered. */
export async function openQuestion(ctx: BotContext): Promise<QuestionRow | undefined> {
  const place = placeOf(ctx)
  if (place === undefined || ctx.reader.isGroup) return undefined
  return findQuestion(ctx.app.db, place, ctx.app.clock.now())
}

/** Who acts, and where; undefined for updates without a person. */
export function placeOf(ctx: BotContext): Place | undefined {
  const { from, known } = ctx
  return from === undefined ? undefined : { chatId: known.id, personId: from.id }
}
