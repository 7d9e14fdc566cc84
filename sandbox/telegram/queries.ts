import type { Clock } from '#src/kernel/clock.ts'
import type { ChangeHub } from './change-hub.ts'
import type { CallbackAnswer, InlineAnswer } from './model.ts'
import { badRequest } from './refusal.ts'

/** A press without an answer so far. */
interface OpenPress {
  readonly queryId: string
  readonly chatId: number
  readonly messageId: number
  readonly personId: number
}

/** Presses and inline queries, with the bot's answers. */
export interface Queries {
  openPress(press: Omit<OpenPress, 'queryId'>): OpenPress
  /**
   * Answers a press.
   * @throws BotApiRefusal 400 for an unknown query, a late or a second answer
   */
  answerPress(queryId: string, answer: Pick<CallbackAnswer, 'text' | 'showAlert' | 'url'>): void
  openInline(personId: number): string
  /**
   * Answers an inline query.
   * @throws BotApiRefusal 400 for an unknown query, a late or a second answer
   */
  answerInline(queryId: string, answer: Omit<InlineAnswer, 'queryId' | 'personId'>): void
  answers(): readonly CallbackAnswer[]
  inlineAnswers(): readonly InlineAnswer[]
}

/** Time for which a client waits for the answer to a press. Telegram does not publish it; approximate. */
const PRESS_LIFETIME_SECONDS = 30

const INLINE_LIFETIME_SECONDS = 10
const FIRST_QUERY_ID = 880_000_000_000_000_001n
const TOO_OLD = 'query is too old and response timeout expired or query ID is invalid'

/** Creates an empty list of queries. */
export function createQueries(deps: { clock: Clock; changes: ChangeHub }): Queries {
  const presses = new Map<string, OpenPress & { at: Date }>()
  const inlines = new Map<string, { personId: number; at: Date }>()
  const answers: CallbackAnswer[] = []
  const inlineAnswers: InlineAnswer[] = []
  let nextId = FIRST_QUERY_ID
  const take = <T extends { at: Date }>(open: Map<string, T>, id: string, seconds: number): T => {
    const query = open.get(id)
    open.delete(id)
    const oldest = deps.clock.now().getTime() - seconds * 1000
    if (!query || query.at.getTime() < oldest) throw badRequest(TOO_OLD)
    return query
  }
  return {
    openPress(press) {
      const queryId = String(nextId++)
      presses.set(queryId, { ...press, queryId, at: deps.clock.now() })
      return { ...press, queryId }
    },
    answerPress(queryId, content) {
      const press = take(presses, queryId, PRESS_LIFETIME_SECONDS)
      const answer = { ...press, ...content, at: deps.clock.now() }
      answers.push(answer)
      deps.changes.emit({ kind: 'answer', answer })
    },
    openInline(personId) {
      const queryId = String(nextId++)
      inlines.set(queryId, { personId, at: deps.clock.now() })
      return queryId
    },
    answerInline(queryId, content) {
      const { personId } = take(inlines, queryId, INLINE_LIFETIME_SECONDS)
      const answer = { queryId, personId, ...content }
      inlineAnswers.push(answer)
      deps.changes.emit({ kind: 'inline', answer })
    },
    answers: () => answers,
    inlineAnswers: () => inlineAnswers,
  }
}
