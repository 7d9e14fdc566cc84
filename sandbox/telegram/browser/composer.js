import { dialog, h } from './dom.js'
import { act, known } from './store.js'
import { suggestions } from './suggestions.js'

/** @import { ChatView, GroupChatView, InlineView, MessageView, ChatPageState } from '../chat-page-types.ts' */

/**
 * Elements below the messages.
 *
 * @typedef {{
 *   nodes: HTMLElement[],
 *   reply?: (message: MessageView) => void,
 *   type?: (text: string) => void,
 *   results?: (answer: InlineView) => void,
 *   focus?: () => void,
 * }} Parts
 */

/** Pause in typing after which the page sends an inline query. */
const INLINE_PAUSE_MS = 300

const FIELD_HEIGHT_MAX_PX = 160

/**
 * The area below the messages: a text field with the command list, or the single big button that Telegram
 * shows instead.
 *
 * @param {ChatPageState} page
 */
export function composer(page) {
  const place = h('footer', { class: 'composer' })
  let shownKey = ''
  /** @type {Parts} */
  let parts = { nodes: [] }

  /** Rebuilds the area only when its kind changes, so that typed text is never lost. */
  const update = () => {
    const chat = page.chat()
    const kind = kindOf(chat, page.payload())
    const key = `${chat.id}:${kind}:${authors(chat).join()}`
    if (key === shownKey) return
    shownKey = key
    const isButton = kind === 'start' || kind === 'restart'
    parts = isButton ? bigButton(page, kind) : field(page, kind === 'outside')
    place.replaceChildren(...parts.nodes)
  }
  return {
    place,
    update,
    /** @param {MessageView} message */
    reply: (message) => parts.reply?.(message),
    /** @param {string} text */
    type: (text) => parts.type?.(text),
    /** @param {InlineView} answer */
    results: (answer) => parts.results?.(answer),
    focus: () => parts.focus?.(),
  }
}

/**
 * @param {ChatView} chat
 * @param {string | undefined} payload
 */
function kindOf(chat, payload) {
  if (chat.type === 'private') {
    if (chat.blocked) return 'restart'
    return chat.started && payload === undefined ? 'write' : 'start'
  }
  return chat.botStatus === 'left' || chat.botStatus === 'kicked' ? 'outside' : 'write'
}

/** @param {ChatView} chat */
function authors(chat) {
  if (chat.type === 'private') return []
  return chat.members.filter((one) => one.status !== 'left').map((one) => `${one.id}${one.status}`)
}

/**
 * @param {ChatPageState} page
 * @param {'start' | 'restart'} kind
 * @returns {Parts}
 */
function bigButton(page, kind) {
  const chat = page.chat()
  const payload = page.payload()
  const start = async () => {
    if (await act({ act: 'start', chat: chat.id, payload: payload ?? '' })) page.started()
  }
  const label = kind === 'restart' ? 'Restart bot' : 'Start'
  const big = h('button', { type: 'button', class: 'big', onclick: () => void start() }, label)
  if (chat.type !== 'private' || !chat.started || kind === 'restart') return { nodes: [big] }
  const skip = h('button', { type: 'button', class: 'plain', onclick: page.started }, 'Not now')
  return { nodes: [big, skip] }
}

/**
 * @param {ChatPageState} page
 * @param {boolean} isOutside the bot is not in this group
 * @returns {Parts}
 */
function field(page, isOutside) {
  const chat = page.chat()
  const own = `@${known.bot.username} `
  /** @type {number | undefined} */
  let replyTo
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let inlineTimer

  const replyBar = h('div', { class: 'reply-bar', hidden: true })
  const input = h('textarea', {
    rows: '1',
    dir: 'auto',
    placeholder: 'Message',
    'aria-label': 'Message',
    maxlength: '4096',
    oninput: () => typed(),
    onkeydown: (event) => {
      if (event.key === 'Escape') list.hide()
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
      event.preventDefault()
      void send(input.value)
    },
  })
  const clear = () => {
    input.value = ''
    list.hide()
    grow()
  }
  const grow = () => {
    input.style.height = 'auto'
    input.style.height = `${Math.min(input.scrollHeight, FIELD_HEIGHT_MAX_PX)}px`
  }
  /** @param {MessageView | undefined} message */
  const reply = (message) => {
    replyTo = message?.id
    replyBar.hidden = !message
    if (!message) return
    const what = `Reply to ${message.name}: ${message.text || (message.file?.kind ?? '')}`
    const drop = {
      type: 'button',
      class: 'plain',
      'aria-label': 'Do not reply',
      onclick: () => reply(undefined),
    }
    replyBar.replaceChildren(h('span', { dir: 'auto' }, what), h('button', drop, '✕'))
    input.focus()
  }
  /** @param {string} text */
  const send = async (text) => {
    if (text.trim() === '') return
    const sent = await act({
      act: 'send',
      chat: chat.id,
      from: page.me(),
      anonymous: page.isAnonymous() || undefined,
      text,
      thread: page.thread(),
      replyTo,
    })
    if (!sent) return
    clear()
    reply(undefined)
  }
  const typed = () => {
    grow()
    clearTimeout(inlineTimer)
    const { value } = input
    if (value.startsWith(own)) {
      const query = { act: 'inline', person: page.me(), query: value.slice(own.length) }
      inlineTimer = setTimeout(() => void act(query), INLINE_PAUSE_MS)
    } else if (/^\/\S*$/.test(value)) void list.commands(value)
    else list.hide()
  }
  const list = suggestions(page, (text) => void send(text), clear)
  const toggle = () => (list.isShown() ? list.hide() : void list.commands('/'))
  const round = { type: 'button', class: 'round' }
  const addBot = { act: 'addBot', chat: chat.id, from: page.me() }
  const line = h(
    'div',
    { class: 'field' },
    h('button', { ...round, title: 'Commands', 'aria-label': 'Commands', onclick: toggle }, '/'),
    h(
      'button',
      {
        ...round,
        title: 'Send something that is no text',
        'aria-label': 'Attach',
        onclick: () => attach(page),
      },
      '📎',
    ),
    chat.type === 'private' ? undefined : authorSelect(page, chat),
    input,
    h(
      'button',
      {
        type: 'button',
        class: 'round send',
        'aria-label': 'Send',
        onclick: () => void send(input.value),
      },
      '➤',
    ),
  )
  const add = h(
    'button',
    { type: 'button', class: 'big', onclick: () => void act(addBot) },
    `Add @${known.bot.username} to this group`,
  )
  return {
    nodes: [list.list, replyBar, ...(isOutside ? [add] : []), line],
    reply,
    results(answer) {
      if (input.value.startsWith(own)) list.results(answer)
    },
    focus: () => input.focus(),
    type(text) {
      input.value = text
      input.focus()
      typed()
    },
  }
}

/**
 * @param {ChatPageState} page
 * @param {GroupChatView} chat
 */
function authorSelect(page, chat) {
  const options = chat.members
    .filter((member) => member.status !== 'left')
    .flatMap((member) => {
      const plain = { value: String(member.id), label: member.name }
      const hidden = { value: `${member.id}:anonymous`, label: `${member.name}, anonymous` }
      return member.status === 'member' ? [plain] : [plain, hidden]
    })
  const select = h(
    'select',
    {
      'aria-label': 'Write as',
      title: 'Write as',
      onchange: () => page.chooseAuthor(select.value),
    },
    ...options.map(({ value, label }) =>
      h('option', { value, selected: value === page.author() }, label),
    ),
  )
  return select
}

/** @param {ChatPageState} page */
function attach(page) {
  const kinds = { photo: 'Photo', document: 'File', voice: 'Voice message', sticker: 'Sticker' }
  /** @param {string} kind */
  const send = (kind) =>
    void act({ act: 'media', chat: page.chat().id, from: page.me(), kind, thread: page.thread() })
  dialog('Send something that is no text', [
    ...Object.entries(kinds).map(([kind, label]) => ({ label, run: () => send(kind) })),
    { label: 'Cancel' },
  ])
}
