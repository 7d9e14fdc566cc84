import { listen } from '/live.js'
import { toast } from './dom.js'

/** Number of calls shown. */
const CALLS_SHOWN = 100

/** @import { AboutView, ActResult, BotView, CallView, ChatView, MessageView, PageEvent } from '../chat-page-types.ts' */

/**
 * State of the page, updated by the server's events. `typing` contains end times.
 *
 * @type {{
 *   bot: BotView,
 *   chats: Map<number, ChatView>,
 *   messages: Map<number, Map<number, MessageView>>,
 *   calls: readonly CallView[],
 *   unread: Map<number, number>,
 *   typing: Map<number, number>,
 * }}
 */
export const known = {
  bot: { id: 0, username: '', name: '' },
  chats: new Map(),
  messages: new Map(),
  calls: [],
  unread: new Map(),
  typing: new Map(),
}

/** @param {number} chatId */
export function messagesOf(chatId) {
  const messages = known.messages.get(chatId)
  if (messages) return messages
  /** @type {Map<number, MessageView>} */
  const none = new Map()
  known.messages.set(chatId, none)
  return none
}

/**
 * Follows events, from a full snapshot on.
 *
 * @param {(event: PageEvent) => void} changed called after each applied event
 */
export function follow(changed) {
  /** @param {PageEvent} event */
  const take = (event) => {
    takeIn(event)
    changed(event)
  }
  /** Events during the loading of the snapshot; undefined afterwards. @type {PageEvent[] | undefined} */
  let early = []
  listen(
    'chat',
    (event) => (early === undefined ? take(event) : early.push(event)),
    async () => {
      /** @type {PageEvent[]} */
      const waiting = []
      early = waiting
      const response = await fetch('/chat/all').catch(() => undefined)
      // The sandbox has stopped, or restarted meanwhile: then the next start sends a snapshot.
      if (!response?.ok || early !== waiting) return
      take(await response.json())
      for (const event of waiting) take(event)
      early = undefined
    },
  )
}

/** @param {PageEvent} event */
function takeIn(event) {
  switch (event.kind) {
    case 'all':
      known.bot = event.bot
      known.chats = new Map(event.chats.map((chat) => [chat.id, chat]))
      known.messages = new Map()
      for (const message of event.messages) messagesOf(message.chatId).set(message.id, message)
      known.calls = event.calls
      return
    case 'chat':
      known.chats.set(event.chat.id, event.chat)
      return
    case 'message': {
      const { message } = event
      const isNew = !messagesOf(message.chatId).has(message.id)
      messagesOf(message.chatId).set(message.id, message)
      if (message.from === known.bot.id) known.typing.delete(message.chatId)
      if (isNew && message.from === known.bot.id && !message.service) {
        known.unread.set(message.chatId, (known.unread.get(message.chatId) ?? 0) + 1)
      }
      return
    }
    case 'gone':
      messagesOf(event.chatId).delete(event.messageId)
      return
    case 'call':
      if (known.calls.some(({ sequence }) => sequence === event.call.sequence)) return
      known.calls = [...known.calls, event.call].slice(-CALLS_SHOWN)
      return
    case 'action':
      known.typing.set(event.chatId, Date.now() + 5000)
      return
    default:
  }
}

/**
 * Runs an action of a person. A refusal is shown, and undefined returned.
 *
 * @param {Record<string, unknown>} act
 * @returns {Promise<ActResult | undefined>}
 */
export async function act(act) {
  const response = await fetch('/chat/act', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(act),
  })
  const answer = await response.json()
  if (response.ok) return answer
  toast(answer.error ?? 'That did not work', true)
  return undefined
}

/**
 * The commands and texts of the bot as one person sees them in one chat.
 *
 * @param {number} chat
 * @param {number} person
 * @returns {Promise<AboutView>}
 */
export async function about(chat, person) {
  const response = await fetch(`/chat/about?chat=${chat}&person=${person}`)
  return response.ok ? await response.json() : { commands: [], name: '', description: '' }
}
