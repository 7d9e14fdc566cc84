import { callColumn } from './calls.js'
import { composer } from './composer.js'
import { messageMenu } from './controls.js'
import { conversation } from './conversation.js'
import { dialog, h, toast } from './dom.js'
import { settle } from './keyboard.js'
import { looks } from './looks.js'
import { peopleColumn } from './people.js'
import { act, follow, known } from './store.js'

/** @import { AnswerView, ChatView, GroupChatView, ChatPageState, PageEvent, MessageContext } from '../chat-page-types.ts' */

/** Slightly longer than Telegram's typing indicator. */
const TYPING_MS = 5050

let current = 0

/**
 * Author by group: an id, or `<id>:anonymous`.
 *
 * @type {Map<number, string>}
 */
const authors = new Map()

/**
 * The topic in view, by forum.
 *
 * @type {Map<number, number | undefined>}
 */
const threads = new Map()

/**
 * Pending start parameters of the Start button, by private chat.
 *
 * @type {Map<number, string>}
 */
const payloads = new Map()

/** @type {ChatPageState} */
const page = {
  chat: currentChat,
  author() {
    const chat = currentChat()
    if (chat.type === 'private') return String(chat.id)
    const first = chat.members.find((member) => member.status !== 'left')
    return authors.get(chat.id) ?? String(first?.id ?? '')
  },
  me: () => Number.parseInt(page.author(), 10),
  isAnonymous: () => page.author().endsWith(':anonymous'),
  chooseAuthor(value) {
    authors.set(current, value)
    update()
  },
  thread: () => threads.get(current),
  chooseThread(id) {
    threads.set(current, id)
    update()
  },
  payload: () => payloads.get(current),
  started() {
    payloads.delete(current)
    update()
    writing.focus()
  },
  heading: () => (currentChat().type === 'private' ? known.bot.name : currentChat().title),
  reply: (message) => writing.reply(message),
  choose,
  open,
  messageContext,
}

const people = peopleColumn(choose)
const calls = callColumn()
const talk = conversation(page)
const writing = composer(page)
const middle = h(
  'section',
  { class: 'tg-chat', 'aria-label': 'Chat' },
  ...talk.parts,
  writing.place,
)

/** @returns {ChatView} */
function currentChat() {
  const chat = known.chats.get(current)
  if (!chat) throw new Error(`no chat ${current} is in view`)
  return chat
}

/** @returns {MessageContext} */
function messageContext() {
  const chat = currentChat()
  const me = page.me()
  const reader = chat.type === 'private' ? chat.person : chat.members.find((one) => one.id === me)
  return {
    me,
    isGroup: chat.type !== 'private',
    language: reader?.language ?? 'en',
    open,
    scrollTo: (id) => talk.scrollTo(id),
    openMenu: (message) => messageMenu(page, message),
    sendText: (text) =>
      void act({ act: 'send', chat: current, from: me, text, thread: page.thread() }),
    typeInline: (query) => writing.type(`@${known.bot.username} ${query}`),
  }
}

/**
 * Opens a link like Telegram: links to the bot stay here, web pages open in a new tab.
 *
 * @param {string} url
 */
function open(url) {
  const link = botLink(url)
  const chat = currentChat()
  const person = chat.type === 'private' ? chat.id : page.me()
  if (link?.startgroup !== undefined) chooseGroup(person, link.startgroup)
  else if (link) {
    if (link.start !== undefined) payloads.set(person, link.start)
    choose(person)
  } else if (/^https?:\/\//i.test(url)) window.open(url, '_blank', 'noopener')
  else toast(`Telegram would open ${url}`)
}

/**
 * Parameters of a link to the bot; undefined for any other link.
 *
 * @param {string} url
 */
function botLink(url) {
  const parsed = URL.parse(url)
  if (!parsed) return undefined
  const isWeb = ['t.me', 'telegram.me'].includes(parsed.hostname)
  const domain = parsed.protocol === 'tg:' ? parsed.searchParams.get('domain') : ''
  const name = isWeb ? parsed.pathname.slice(1) : domain
  if (name?.toLowerCase() !== known.bot.username.toLowerCase()) return undefined
  return {
    start: parsed.searchParams.get('start') ?? undefined,
    startgroup: parsed.searchParams.get('startgroup') ?? undefined,
  }
}

/**
 * Asks for the group to add the bot to.
 *
 * @param {number} from
 * @param {string} payload
 */
function chooseGroup(from, payload) {
  const groups = [...known.chats.values()].filter(
    /** @returns {chat is GroupChatView} */
    (chat) =>
      chat.type !== 'private' &&
      chat.migratedTo === undefined &&
      chat.members.some((member) => member.id === from && member.status !== 'left'),
  )
  const text = groups.length > 0 ? 'Add the bot to which group?' : 'This person is in no group.'
  dialog(text, [
    { label: 'Cancel' },
    ...groups.map((group) => ({
      label: group.title,
      primary: true,
      run: () => {
        choose(group.id)
        void act({ act: 'addBot', chat: group.id, from, payload })
      },
    })),
  ])
}

/** @param {number} chatId */
function choose(chatId) {
  current = chatId
  const chat = known.chats.get(chatId)
  const username = chat?.type === 'private' ? chat.username : undefined
  history.replaceState(null, '', username ? `/chat?person=${username}` : `/chat?chat=${chatId}`)
  update()
}

function update() {
  if (!known.chats.has(current)) return
  known.unread.delete(current)
  people.update(current)
  writing.update()
  talk.update()
}

/** Reads the chat from `?person=` or `?chat=`, and the link in the URL. */
function readAddress() {
  const query = new URLSearchParams(location.search)
  const wanted = (query.get('person') ?? query.get('chat') ?? '').toLowerCase()
  const chats = [...known.chats.values()]
  const named = chats.find((chat) => namesOf(chat).includes(wanted))
  current = (named ?? chats[0])?.id ?? 0
  const isPerson = known.chats.get(current)?.type === 'private'
  const start = query.get('start')
  if (start !== null && isPerson) payloads.set(current, start)
  const startgroup = query.get('startgroup')
  if (startgroup !== null && isPerson) chooseGroup(current, startgroup)
}

/** @param {ChatView} chat */
function namesOf(chat) {
  const username = chat.type === 'private' ? chat.username : undefined
  return [String(chat.id), chat.title, username ?? chat.title].map((name) => name.toLowerCase())
}

/** @param {PageEvent} event */
function onEvent(event) {
  switch (event.kind) {
    case 'all':
      if (!known.chats.has(current)) readAddress()
      calls.update()
      update()
      return
    case 'call':
      calls.update()
      return
    case 'answer':
      settle(event.answer.queryId)
      showAnswer(event.answer)
      return
    case 'inline':
      if (event.answer.personId === page.me()) writing.results(event.answer)
      return
    case 'action':
      update()
      setTimeout(update, TYPING_MS)
      return
    default:
      update()
  }
}

/** @param {AnswerView} answer */
function showAnswer(answer) {
  if (answer.chatId !== current || answer.personId !== page.me()) return
  if (answer.url) open(answer.url)
  if (answer.text === '') return
  if (answer.showAlert) {
    const text = h('p', { dir: 'auto', class: 'alert' }, answer.text)
    dialog(text, [{ label: 'OK', primary: true }])
  } else toast(answer.text)
}

people.column.append(looks([middle, people.column]))
document.querySelector('.tg')?.replaceChildren(people.column, middle, calls.column)
follow(onEvent)
