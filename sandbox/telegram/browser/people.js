import { dialog, h } from './dom.js'
import { avatar } from './messages.js'
import { act, known, messagesOf } from './store.js'

/** @import { ChatView, MessageView } from '../chat-page-types.ts' */

const LANGUAGES = ['en', 'de', 'fr', 'bn', 'zh-hans', 'hi', 'ar', 'es', 'ja']

/**
 * The column of people and groups.
 *
 * @param {(chatId: number) => void} choose
 */
export function peopleColumn(choose) {
  const list = h('ul', { class: 'chats' })
  const column = h(
    'nav',
    { class: 'tg-people', 'aria-label': 'People and groups' },
    h(
      'div',
      { class: 'column-head' },
      h('h2', {}, 'People'),
      h('button', { type: 'button', class: 'plain', onclick: () => addPerson(choose) }, '+ Add'),
    ),
    list,
  )
  /** @param {number} current */
  const update = (current) => {
    const rows = [...known.chats.values()]
      .filter((chat) => chat.type === 'private' || chat.migratedTo === undefined)
      .map((chat) => h('li', {}, chatRow(chat, chat.id === current, choose)))
    list.replaceChildren(...rows)
  }
  return { column, update }
}

/**
 * @param {ChatView} chat
 * @param {boolean} isCurrent
 * @param {(chatId: number) => void} choose
 */
function chatRow(chat, isCurrent, choose) {
  const last = [...messagesOf(chat.id).values()].at(-1)
  const unread = known.unread.get(chat.id) ?? 0
  return h(
    'button',
    {
      type: 'button',
      class: `chat-row${isCurrent ? ' current' : ''}`,
      'aria-current': isCurrent ? 'true' : undefined,
      onclick: () => choose(chat.id),
    },
    avatar(chat.title, chat.id),
    h(
      'span',
      { class: 'chat-text' },
      h(
        'span',
        { class: 'chat-name' },
        h('bdi', {}, chat.title),
        h(
          'small',
          {},
          chat.type === 'private' ? chat.person.language : chat.isForum ? 'forum' : chat.type,
        ),
        chat.type === 'private' && chat.blocked && h('span', { title: 'Blocked the bot' }, '⛔'),
      ),
      h('span', { class: 'chat-last', dir: 'auto' }, lastLine(chat, last)),
    ),
    unread > 0 && h('span', { class: 'badge', 'aria-label': `${unread} unread` }, String(unread)),
  )
}

/**
 * @param {ChatView} chat
 * @param {MessageView | undefined} last
 */
function lastLine(chat, last) {
  if (last) return last.service ?? (last.text || last.file?.kind || '')
  if (chat.type === 'private') return chat.started ? 'Nothing yet' : 'Has not started the bot'
  return chat.botStatus === 'left' ? 'The bot is not in this group' : 'Nothing yet'
}

/** @param {(chatId: number) => void} choose */
function addPerson(choose) {
  const name = h('input', { name: 'name', required: true, maxlength: '64', autocomplete: 'off' })
  const language = h(
    'select',
    { name: 'language' },
    ...LANGUAGES.map((code) => h('option', {}, code)),
  )
  const form = h(
    'div',
    { class: 'form' },
    h('h2', {}, 'Add a person'),
    h('label', {}, 'First name', name),
    h('label', {}, 'Language of the app', language),
  )
  dialog(form, [
    { label: 'Cancel' },
    {
      label: 'Add',
      primary: true,
      run: async () => {
        const added = await act({ act: 'person', name: name.value, language: language.value })
        if (added?.chatId) choose(added.chatId)
      },
    },
  ])
}
