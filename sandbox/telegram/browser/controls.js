import { dialog, h } from './dom.js'
import { press } from './keyboard.js'
import { act, known, messagesOf } from './store.js'

/** @import { GroupChatView, MessageView, ChatPageState, PrivateChatView } from '../chat-page-types.ts' */

/**
 * An entry of the menu: a heading, or a label with its action.
 *
 * @typedef {{ heading: string } | { label: string, run: () => unknown, isGrave?: boolean }} Entry
 */

/**
 * Menu of all actions on a chat besides writing.
 *
 * @param {ChatPageState} page
 */
export function controls(page) {
  const panel = h('div', { class: 'menu-panel' })
  const menu = h(
    'details',
    { class: 'menu' },
    h('summary', { title: 'Controls', 'aria-label': 'Controls of this chat' }, '⋮'),
    panel,
  )
  const close = () => {
    menu.open = false
  }
  menu.addEventListener('toggle', () => {
    if (menu.open) panel.replaceChildren(...entries(page).map((entry) => render(entry, close)))
  })
  document.addEventListener('click', (event) => {
    if (event.target instanceof Node && !menu.contains(event.target)) close()
  })
  menu.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
  })
  return menu
}

/**
 * @param {Entry} entry
 * @param {() => void} close
 */
function render(entry, close) {
  if ('heading' in entry) return h('h3', { dir: 'auto' }, entry.heading)
  const run = () => {
    close()
    entry.run()
  }
  const look = entry.isGrave ? 'grave' : ''
  return h('button', { type: 'button', class: look, onclick: run }, entry.label)
}

/**
 * @param {ChatPageState} page
 * @returns {Entry[]}
 */
function entries(page) {
  const chat = page.chat()
  const own = chat.type === 'private' ? privateEntries(chat) : groupEntries(chat, page)
  return [
    ...own,
    { heading: 'Forged clients' },
    { label: 'Send callback data by hand…', run: () => byHand(page) },
  ]
}

/**
 * @param {PrivateChatView} chat
 * @returns {Entry[]}
 */
function privateEntries(chat) {
  const name = chat.blocked ? 'unblock' : 'block'
  const label = chat.blocked ? 'Unblock the bot' : 'Block the bot'
  return [{ label, run: () => act({ act: name, chat: chat.id }), isGrave: !chat.blocked }]
}

/**
 * @param {GroupChatView} chat
 * @param {ChatPageState} page
 * @returns {Entry[]}
 */
function groupEntries(chat, page) {
  return [...botEntries(chat, page), ...memberEntries(chat, page), ...shapeEntries(chat, page)]
}

/**
 * @param {GroupChatView} chat
 * @param {ChatPageState} page
 * @returns {Entry[]}
 */
function botEntries(chat, page) {
  /** @param {string} name @param {Record<string, unknown>} [more] */
  const does = (name, more) => () => act({ act: name, chat: chat.id, ...more })
  const heading = `@${known.bot.username}: ${chat.botStatus}`
  if (chat.botStatus === 'left' || chat.botStatus === 'kicked') {
    const from = page.me()
    return [
      { heading },
      { label: 'Add the bot', run: does('addBot', { from }) },
      { label: 'Add the bot as administrator', run: does('addBot', { from, admin: true }) },
    ]
  }
  const isMember = chat.botStatus === 'member'
  const isAdministrator = chat.botStatus === 'administrator'
  return [
    { heading },
    ...(isAdministrator ? [] : [{ label: 'Make the bot an administrator', run: does('promote') }]),
    ...(isMember ? [] : [{ label: 'Make the bot an ordinary member', run: does('demote') }]),
    ...(chat.botStatus === 'restricted'
      ? []
      : [{ label: 'Forbid the bot to write', run: does('mute') }]),
    { label: 'Remove the bot', run: does('kick'), isGrave: true },
  ]
}

/**
 * @param {GroupChatView} chat
 * @param {ChatPageState} page
 * @returns {Entry[]}
 */
function memberEntries(chat, page) {
  const me = chat.members.find((member) => member.id === page.me())
  /** @param {string} name @param {number} person */
  const does = (name, person) => () => act({ act: name, chat: chat.id, person })
  const inside = chat.members.filter((member) => member.status !== 'left').map(({ id }) => id)
  const joining = [...known.chats.values()]
    .filter((other) => other.type === 'private' && !inside.includes(other.id))
    .map((other) => ({ label: `${other.title} joins`, run: does('join', other.id) }))
  if (!me) return joining
  const change =
    me.status === 'member'
      ? { label: `Make ${me.name} an administrator`, run: does('promote', me.id) }
      : { label: `Make ${me.name} an ordinary member`, run: does('demote', me.id) }
  const leave = { label: `${me.name} leaves`, run: does('leave', me.id), isGrave: true }
  return [
    { heading: `${me.name}: ${me.status}` },
    ...(me.status === 'creator' ? [] : [change, leave]),
    ...joining,
  ]
}

/**
 * @param {GroupChatView} chat
 * @param {ChatPageState} page
 * @returns {Entry[]}
 */
function shapeEntries(chat, page) {
  if (!chat.isForum && chat.type === 'supergroup') return []
  const topic = chat.topics.find((one) => one.id === page.thread())
  /** @param {string} name @param {number} thread */
  const does = (name, thread) => () => act({ act: name, chat: chat.id, thread })
  const migrate = async () => {
    const moved = await act({ act: 'migrate', chat: chat.id })
    if (moved?.chatId) page.choose(moved.chatId)
  }
  if (!chat.isForum) {
    return [{ heading: 'Basic group' }, { label: 'Make it a supergroup', run: migrate }]
  }
  const create = { label: 'New topic…', run: () => newTopic(page) }
  if (!topic) return [{ heading: 'Forum' }, create]
  const toggle = topic.closed
    ? { label: `Reopen topic “${topic.name}”`, run: does('reopenTopic', topic.id) }
    : { label: `Close topic “${topic.name}”`, run: does('closeTopic', topic.id) }
  const remove = {
    label: `Delete topic “${topic.name}”`,
    run: does('deleteTopic', topic.id),
    isGrave: true,
  }
  return [{ heading: 'Forum' }, create, toggle, remove]
}

/** @param {ChatPageState} page */
function newTopic(page) {
  const name = h('input', { maxlength: '128', autocomplete: 'off' })
  const form = h('div', { class: 'form' }, h('h2', {}, 'New topic'), h('label', {}, 'Name', name))
  const create = () => void act({ act: 'topic', chat: page.chat().id, name: name.value })
  dialog(form, [{ label: 'Cancel' }, { label: 'Create', primary: true, run: create }])
}

const MONO = { autocomplete: 'off', spellcheck: 'false', class: 'mono', dir: 'ltr' }

/**
 * Sends data to the newest message of the bot, or to any other by its id.
 *
 * @param {ChatPageState} page
 */
function byHand(page) {
  const chat = page.chat()
  const last = [...messagesOf(chat.id).values()].findLast((one) => one.from === known.bot.id)
  const number = h('input', { ...MONO, type: 'number', min: '1', value: last?.id ?? 1 })
  const data = dataField()
  const form = h(
    'div',
    { class: 'form' },
    h('h2', {}, 'Callback data by hand'),
    h('label', {}, 'Message', number),
    data.label,
  )
  const send = () => data.send({ chatId: chat.id, id: Number(number.value) }, page)
  dialog(form, [{ label: 'Close' }, { label: 'Send data', primary: true, run: send }])
}

/**
 * Actions on one message: reply, press a former button, send any data.
 *
 * @param {ChatPageState} page
 * @param {MessageView} message
 */
export function messageMenu(page, message) {
  const data = dataField()
  const reply = () => {
    box.close()
    page.reply(message)
  }
  const old = message.oldButtons.flatMap(({ text, callback_data: sent }) => {
    if (sent === undefined) return []
    const run = () => {
      box.close()
      void press(message, sent, page.messageContext())
    }
    return [h('button', { type: 'button', onclick: run }, h('bdi', {}, text), h('code', {}, sent))]
  })
  const form = h(
    'div',
    { class: 'form' },
    h('h2', {}, `Message ${message.id}`),
    h('button', { type: 'button', onclick: reply }, 'Reply'),
    old.length > 0 && h('h3', {}, 'Buttons it had before'),
    ...old,
    data.label,
  )
  const send = () => data.send(message, page)
  const box = dialog(form, [{ label: 'Close' }, { label: 'Send data', primary: true, run: send }])
}

/** A field for callback data, with its sender. */
function dataField() {
  const input = h('input', { ...MONO, placeholder: '1:home' })
  return {
    label: h('label', {}, 'Callback data, as a forged client could send it', input),
    /** @param {{ chatId: number, id: number }} message @param {ChatPageState} page */
    send(message, page) {
      if (input.value !== '') void press(message, input.value, page.messageContext())
    },
  }
}
