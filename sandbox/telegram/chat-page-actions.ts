import { z } from 'zod'
import type { TelegramApi } from '../telegram-api.ts'
import type { ActResult } from './chat-page-types.ts'

const ChatId = z.int()
const Id = z.int().positive()
const Words = z.string().trim().min(1).max(4096)
const Payload = z.string().regex(/^[\w-]{0,64}$/)

/** An action of a person on the chat page. */
export const ChatPageAction = z.discriminatedUnion('act', [
  z.strictObject({
    act: z.literal('send'),
    chat: ChatId,
    from: Id.optional(),
    text: Words,
    thread: Id.optional(),
    replyTo: Id.optional(),
    anonymous: z.boolean().optional(),
  }),
  z.strictObject({
    act: z.literal('media'),
    chat: ChatId,
    from: Id.optional(),
    kind: z.enum(['photo', 'document', 'voice', 'sticker']),
    thread: Id.optional(),
  }),
  z.strictObject({
    act: z.literal('press'),
    chat: ChatId,
    message: Id,
    data: z.string().min(1),
    from: Id.optional(),
  }),
  z.strictObject({ act: z.literal('start'), chat: ChatId, payload: Payload }),
  z.strictObject({ act: z.enum(['block', 'unblock', 'kick', 'mute', 'migrate']), chat: ChatId }),
  z.strictObject({ act: z.enum(['promote', 'demote']), chat: ChatId, person: Id.optional() }),
  z.strictObject({ act: z.enum(['join', 'leave']), chat: ChatId, person: Id }),
  z.strictObject({
    act: z.literal('addBot'),
    chat: ChatId,
    from: Id.optional(),
    admin: z.boolean().optional(),
    payload: Payload.optional(),
  }),
  z.strictObject({
    act: z.literal('topic'),
    chat: ChatId,
    name: z.string().trim().min(1).max(128),
  }),
  z.strictObject({
    act: z.enum(['closeTopic', 'reopenTopic', 'deleteTopic']),
    chat: ChatId,
    thread: Id,
  }),
  z.strictObject({
    act: z.literal('person'),
    name: z.string().trim().min(1).max(64),
    language: z.string().regex(/^[a-z]{2,3}(?:-[A-Za-z0-9]+)*$/),
  }),
  z.strictObject({ act: z.literal('inline'), person: Id, query: z.string().max(256) }),
  z.strictObject({
    act: z.literal('choose'),
    query: z.string(),
    result: z.string(),
    chat: ChatId,
  }),
])
export type ChatPageAction = z.output<typeof ChatPageAction>

/**
 * Runs an action and returns data for the page: the id of a press or of a new chat.
 *
 * @throws Error in readable words when it is impossible
 */
export function performChatPageAction(api: TelegramApi, act: ChatPageAction): ActResult {
  switch (act.act) {
    case 'send':
      api.send(act.chat, act.text, place(act))
      return {}
    case 'media':
      api.sendMedia(act.chat, act.kind, place(act))
      return {}
    case 'press': {
      const from = act.from === undefined ? {} : { from: act.from }
      return { queryId: api.pressRaw(act.chat, act.message, act.data, from).queryId }
    }
    case 'start':
      api.unblock(act.chat)
      api.send(act.chat, `/start ${act.payload}`)
      return {}
    case 'block':
    case 'unblock':
    case 'kick':
    case 'mute':
      api[act.act](act.chat)
      return {}
    case 'migrate':
      return { chatId: api.migrate(act.chat).id }
    case 'promote':
    case 'demote':
      api[act.act](act.chat, act.person)
      return {}
    case 'join':
    case 'leave':
      api[act.act](act.chat, act.person)
      return {}
    case 'addBot':
      api.addBot(act.chat, {
        admin: act.admin ?? false,
        ...(act.from === undefined ? {} : { from: act.from }),
        ...(act.payload === undefined ? {} : { payload: act.payload }),
      })
      return {}
    case 'topic':
      return { threadId: api.topic(act.chat, act.name) }
    case 'closeTopic':
    case 'reopenTopic':
    case 'deleteTopic':
      api[act.act](act.chat, act.thread)
      return {}
    case 'person':
      return { chatId: api.person({ firstName: act.name, languageCode: act.language }).id }
    case 'inline':
      return { queryId: api.inlineQuery(act.person, act.query).queryId }
    case 'choose': {
      const answer = api.inlineAnswers.find((inlineAnswer) => inlineAnswer.queryId === act.query)
      if (!answer) throw new Error('the bot did not answer this query')
      api.chooseInline(answer, act.result, act.chat)
      return {}
    }
    default:
      return act satisfies never
  }
}

function place(act: Extract<ChatPageAction, { act: 'send' | 'media' }>) {
  return {
    ...(act.from === undefined ? {} : { from: act.from }),
    ...(act.thread === undefined ? {} : { threadId: act.thread }),
    ...('replyTo' in act && act.replyTo !== undefined ? { replyTo: act.replyTo } : {}),
    ...('anonymous' in act && act.anonymous ? { anonymous: true } : {}),
  }
}
