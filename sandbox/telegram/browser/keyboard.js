import { copy, h, toast } from './dom.js'
import { act } from './store.js'

/** @import { InlineButton } from '../model.ts' */
/** @import { MessageView, MessageContext } from '../chat-page-types.ts' */

/** Time after which the page reports a missing answer to a press. */
const PATIENCE_MS = 15_000

/**
 * Callbacks for the answers to presses, by query.
 *
 * @type {Map<string, () => void>}
 */
const waiting = new Map()

/**
 * The buttons below a message; undefined when it has none.
 *
 * @param {MessageView} message
 * @param {MessageContext} context
 */
export function keyboard(message, context) {
  if (message.keyboard.length > 0) {
    return h(
      'div',
      { class: 'keyboard' },
      ...message.keyboard.map((row) =>
        h(
          'div',
          { class: 'button-row' },
          ...row.map((button) => inlineButton(message, button, context)),
        ),
      ),
    )
  }
  if (message.replyKeyboard.length === 0) return undefined
  return h(
    'div',
    { class: 'keyboard' },
    ...message.replyKeyboard.map((row) =>
      h('div', { class: 'button-row' }, ...row.map((label) => replyButton(label, context))),
    ),
  )
}

/**
 * @param {string} label
 * @param {MessageContext} context
 */
function replyButton(label, context) {
  return h(
    'button',
    { type: 'button', class: 'inline', onclick: () => context.sendText(label) },
    h('span', { class: 'label', dir: 'auto' }, label),
  )
}

/**
 * @param {MessageView} message
 * @param {InlineButton} button
 * @param {MessageContext} context
 */
function inlineButton(message, button, context) {
  const sign = signOf(button)
  const element = h(
    'button',
    {
      type: 'button',
      class: `inline ${button.style ?? ''}`,
      title: hint(button),
      disabled: button.disabled !== undefined,
      onclick: () => run(message, button, context, element),
    },
    h('span', { class: 'label', dir: 'auto' }, button.text),
    sign && h('span', { class: 'corner', 'aria-hidden': 'true' }, sign),
  )
  return element
}

/** @param {InlineButton} button */
function signOf(button) {
  if (button.url) return '↗'
  if (button.copy_text) return '⧉'
  if (button.web_app) return '▣'
  return button.callback_data === undefined && button.disabled === undefined ? '@' : undefined
}

/** @param {InlineButton} button */
function hint(button) {
  return button.callback_data ?? button.url ?? button.web_app?.url ?? button.copy_text?.text ?? ''
}

/**
 * @param {MessageView} message
 * @param {InlineButton} button
 * @param {MessageContext} context
 * @param {Element} element
 */
function run(message, button, context, element) {
  const inline = button.switch_inline_query_current_chat ?? button.switch_inline_query
  if (button.callback_data !== undefined)
    void press(message, button.callback_data, context, element)
  else if (button.url) context.open(button.url)
  else if (button.web_app) context.open(button.web_app.url)
  else if (button.copy_text) void copy(button.copy_text.text)
  else if (inline !== undefined) context.typeInline(inline)
}

/**
 * Presses a button, or sends data of no existing button.
 *
 * @param {{ readonly chatId: number, readonly id: number }} message
 * @param {string} data
 * @param {MessageContext} context
 * @param {Element} [element] shows that the answer is awaited
 */
export async function press(message, data, context, element) {
  element?.classList.add('waiting')
  const sent = await act({
    act: 'press',
    chat: message.chatId,
    message: message.id,
    data,
    from: context.me,
  })
  if (!sent?.queryId) {
    element?.classList.remove('waiting')
    return
  }
  const { queryId } = sent
  const timer = setTimeout(() => {
    settle(queryId)
    toast('The bot did not answer this press.', true)
  }, PATIENCE_MS)
  waiting.set(queryId, () => {
    clearTimeout(timer)
    element?.classList.remove('waiting')
  })
  if (answered.has(queryId)) settle(queryId)
}

/**
 * Received answers, some before the page knew that their press was sent.
 *
 * @type {Set<string>}
 */
const answered = new Set()

/**
 * Removes the indicator from the button whose press was answered.
 *
 * @param {string} queryId
 */
export function settle(queryId) {
  answered.add(queryId)
  waiting.get(queryId)?.()
  waiting.delete(queryId)
}
