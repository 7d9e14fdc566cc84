import { controls } from './controls.js'
import { h } from './dom.js'
import { avatar, bubble } from './messages.js'
import { about, known, messagesOf } from './store.js'

/** @import { ChatView, GroupChatView, MessageView, ChatPageState } from '../chat-page-types.ts' */

/** Distance from the end, in pixels, within which new messages scroll the view to the end. */
const NEAR_END = 120

/**
 * Head and messages of the chat in view.
 *
 * @param {ChatPageState} page
 */
export function conversation(page) {
  const head = h('header', { class: 'chat-head' })
  const topics = h('nav', { class: 'topics', 'aria-label': 'Topics' })
  const pinned = h('button', { type: 'button', class: 'pinned' })
  const list = h('div', { class: 'messages', role: 'log', 'aria-live': 'polite' })
  const scroll = h('div', { class: 'scroll' }, list)
  const menu = controls(page)
  /** @type {WeakMap<MessageView, HTMLElement>} */
  let nodes = new WeakMap()
  let shownKey = ''
  let isAtEnd = true
  const toEnd = () => {
    if (isAtEnd) scroll.scrollTop = scroll.scrollHeight
  }
  scroll.addEventListener('scroll', () => {
    isAtEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_END
  })
  // A loading picture or a growing field moves the end.
  const sizes = new ResizeObserver(toEnd)
  sizes.observe(scroll)
  sizes.observe(list)

  const update = () => {
    const chat = page.chat()
    const key = `${chat.id}:${page.author()}:${page.thread() ?? ''}`
    const isOther = key !== shownKey
    if (isOther) nodes = new WeakMap()
    shownKey = key
    if (isOther) isAtEnd = true

    head.replaceChildren(
      avatar(page.heading(), chat.type === 'private' ? known.bot.id : chat.id),
      h(
        'div',
        { class: 'chat-title' },
        h('h1', {}, h('bdi', {}, page.heading())),
        h('p', { class: 'state' }, state(chat)),
      ),
      menu,
    )
    renderTopics(topics, chat, page)
    renderPinned(pinned, chat, scrollTo)
    put(list, rows(page, nodes))
    toEnd()
  }
  /** @param {number} id */
  const scrollTo = (id) => {
    const target = list.querySelector(`[data-id="${id}"]`)
    target?.scrollIntoView({ block: 'center' })
    target?.classList.add('found')
    setTimeout(() => target?.classList.remove('found'), 1500)
  }
  return { parts: [head, topics, pinned, scroll], update, scrollTo }
}

const BOT_STATES = {
  administrator: 'bot is administrator',
  member: 'bot is member',
  restricted: 'bot may not write',
  left: 'bot not here',
  kicked: 'bot removed',
}

/** @param {ChatView} chat */
function state(chat) {
  if ((known.typing.get(chat.id) ?? 0) > Date.now()) return 'typing…'
  if (chat.type === 'private') {
    if (chat.blocked) return 'blocked by this person'
    return `bot · seen by ${chat.person.name} (${chat.person.language})`
  }
  const people = chat.members.filter((member) => member.status !== 'left').length
  const bot = BOT_STATES[chat.botStatus]
  return `${people} people · ${bot}`
}

/**
 * @param {HTMLElement} place
 * @param {ChatView} chat
 * @param {ChatPageState} page
 */
function renderTopics(place, chat, page) {
  place.hidden = !isForum(chat)
  if (!isForum(chat)) return
  /** @param {number | undefined} id @param {string} label */
  const tab = (id, label) =>
    h(
      'button',
      {
        type: 'button',
        class: page.thread() === id ? 'current' : '',
        'aria-current': page.thread() === id ? 'true' : undefined,
        onclick: () => page.chooseThread(id),
      },
      label,
    )
  place.replaceChildren(
    tab(undefined, 'General'),
    ...chat.topics.map((topic) => tab(topic.id, `${topic.closed ? '🔒 ' : '# '}${topic.name}`)),
  )
}

/**
 * @param {HTMLElement} place
 * @param {ChatView} chat
 * @param {(id: number) => void} scrollTo
 */
function renderPinned(place, chat, scrollTo) {
  const message = messagesOf(chat.id).get(chat.pinned.at(-1) ?? 0)
  place.hidden = !message
  if (!message) return
  place.onclick = () => scrollTo(message.id)
  place.replaceChildren(
    h('b', {}, '📌 Pinned'),
    h('span', { dir: 'auto' }, message.text || message.file?.kind || ''),
  )
}

/** @param {ChatView} chat @returns {chat is GroupChatView} */
function isForum(chat) {
  return chat.type !== 'private' && chat.isForum
}

/**
 * Messages with a separator for each new day, or the content of an empty chat.
 *
 * @param {ChatPageState} page
 * @param {WeakMap<MessageView, HTMLElement>} nodes
 * @returns {HTMLElement[]}
 */
function rows(page, nodes) {
  const chat = page.chat()
  const messages = [...messagesOf(chat.id).values()].filter(
    (message) => !isForum(chat) || message.threadId === page.thread(),
  )
  if (messages.length === 0) return [emptyChat(page)]
  let day = ''
  return messages.flatMap((message) => {
    const row = nodes.get(message) ?? bubble(message, page.messageContext())
    nodes.set(message, row)
    const own = message.at.slice(0, 10)
    if (own === day) return [row]
    day = own
    return [daySign(own), row]
  })
}

/** @param {string} day */
function daySign(day) {
  const text = new Intl.DateTimeFormat('en', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  })
  return h(
    'div',
    { class: 'service day' },
    h('span', {}, text.format(new Date(`${day}T00:00:00Z`))),
  )
}

/**
 * Content before the first message: the bot's description in the person's language.
 *
 * @param {ChatPageState} page
 */
function emptyChat(page) {
  const chat = page.chat()
  const place = h('div', { class: 'empty-chat' }, h('p', {}, 'No messages here yet.'))
  if (chat.type !== 'private') return place
  void about(chat.id, chat.id).then(({ name, description }) => {
    if (description === '') return
    place.replaceChildren(h('b', { dir: 'auto' }, name), h('p', { dir: 'auto' }, description))
  })
  return place
}

/**
 * Replaces the children of an element without moving those that stay, so that focus, pictures and opened
 * quotes are kept.
 *
 * @param {Element} place
 * @param {Element[]} wanted
 */
function put(place, wanted) {
  const stays = new Set(wanted)
  for (const child of [...place.children]) if (!stays.has(child)) child.remove()
  wanted.forEach((child, index) => {
    if (place.children[index] !== child) place.insertBefore(child, place.children[index] ?? null)
  })
}
