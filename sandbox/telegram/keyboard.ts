import { isObject, textField } from './arguments.ts'
import { checkLink } from './links.ts'
import type { InlineButton, Keyboard, Wire } from './model.ts'
import { badRequest } from './refusal.ts'

const BUTTONS_PER_ROW_MAX = 8
const BUTTONS_MAX = 100
const CALLBACK_DATA_BYTES_MAX = 64
const COPY_TEXT_UNITS_MAX = 256
const STYLES = ['primary', 'success', 'danger'] as const

/** Parsed `reply_markup`. */
export interface Markup {
  readonly keyboard: Keyboard
  /** A reply keyboard, its removal, or a forced reply. */
  readonly other: Wire | undefined
}

/** No buttons. */
const NO_MARKUP: Markup = { keyboard: [], other: undefined }

/**
 * Parses `reply_markup`.
 *
 * @throws BotApiRefusal 400 for everything that Telegram or its clients would refuse, cut or drop: invalid links,
 * data above 64 bytes, copied text above 256, buttons without text or action, more than 8 per row
 */
export function readMarkup(value: unknown): Markup {
  if (value === undefined) return NO_MARKUP
  if (!isObject(value)) throw badRequest('object expected as reply markup')
  const { inline_keyboard: inline, keyboard } = value
  if (Array.isArray(keyboard) && keyboard.length > 0) {
    checkReplyKeyboard(keyboard)
    return { keyboard: [], other: value }
  }
  if (inline !== undefined && !Array.isArray(inline)) {
    throw badRequest('field "inline_keyboard" must be of type Array')
  }
  if (Array.isArray(inline) && inline.length > 0) {
    return { keyboard: readRows(inline), other: undefined }
  }
  const isOther = value.remove_keyboard === true || value.force_reply === true
  return isOther ? { keyboard: [], other: value } : NO_MARKUP
}

/**
 * Checks buttons against the chat: Mini Apps open from private chats only.
 *
 * @throws BotApiRefusal 400 `BUTTON_TYPE_INVALID`
 */
export function checkKeyboardFits(keyboard: Keyboard, chatType: string): void {
  const hasWebApp = keyboard.some((row) => row.some((button) => button.web_app))
  if (hasWebApp && chatType !== 'private') throw badRequest('BUTTON_TYPE_INVALID')
}

function checkReplyKeyboard(rows: readonly unknown[]): void {
  for (const row of rows) {
    if (!Array.isArray(row)) throw badRequest('field "keyboard" must be an Array of Arrays')
    for (const button of row) {
      const label = isObject(button) ? textField(button, 'text') : button
      if (typeof label !== 'string') {
        throw badRequest(
          "can't parse keyboard button: KeyboardButton must be a String or an Object",
        )
      }
      if (label === '') throw badRequest('keyboard button text must be non-empty')
    }
  }
}

function readRows(rows: readonly unknown[]): Keyboard {
  const keyboard = rows.map((row) => {
    if (!Array.isArray(row)) {
      throw badRequest(
        'field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays',
      )
    }
    if (row.length > BUTTONS_PER_ROW_MAX) throw badRequest('reply markup is too long')
    return row.map(readButton)
  })
  if (keyboard.flat().length > BUTTONS_MAX) throw badRequest('reply markup is too long')
  return keyboard.filter((row) => row.length > 0)
}

function readButton(value: unknown): InlineButton {
  if (!isObject(value)) throw cannotParse('InlineKeyboardButton must be an Object')
  const label = textField(value, 'text')
  if (label === '') throw badRequest('inline keyboard button text must be non-empty')
  return { text: label, ...readStyle(value), ...readAction(value) }
}

function cannotParse(problem: string) {
  return badRequest(`can't parse inline keyboard button: ${problem}`)
}

function readStyle(value: Readonly<Record<string, unknown>>): Pick<InlineButton, 'style'> {
  const name = textField(value, 'style').toLowerCase()
  if (name === '' || name === 'default') return {}
  const style = STYLES.find((known) => known === name)
  if (!style) throw cannotParse('invalid button style specified')
  return { style }
}

/** Reads a button's action; of several, the first in the order of the Bot API server. */
function readAction(
  value: Readonly<Record<string, unknown>>,
): Omit<InlineButton, 'text' | 'style'> {
  const url = textField(value, 'url')
  if (url !== '') return { url: checkedUrl(url, '') }

  const data = textField(value, 'callback_data')
  if (data !== '') {
    if (Buffer.byteLength(data) > CALLBACK_DATA_BYTES_MAX) throw badRequest('BUTTON_DATA_INVALID')
    return { callback_data: data }
  }
  for (const name of ['switch_inline_query', 'switch_inline_query_current_chat'] as const) {
    if (value[name] !== undefined) return { [name]: textField(value, name) }
  }
  const chosen = value.switch_inline_query_chosen_chat
  if (isObject(chosen)) return { switch_inline_query_chosen_chat: chosen }

  const webApp = value.web_app
  if (isObject(webApp)) {
    return { web_app: { url: checkedUrl(textField(webApp, 'url'), 'Web App ', true) } }
  }
  const copy = value.copy_text
  if (isObject(copy)) {
    const copied = textField(copy, 'text')
    if (copied === '' || copied.length > COPY_TEXT_UNITS_MAX) {
      throw badRequest('BUTTON_COPY_TEXT_INVALID')
    }
    return { copy_text: { text: copied } }
  }
  if (isObject(value.disabled)) return { disabled: value.disabled }
  throw cannotParse('Text buttons are unallowed in the inline keyboard')
}

function checkedUrl(url: string, kind: string, httpsOnly = false): string {
  const checked = checkLink(url, { httpsOnly })
  if (checked.ok) return checked.url
  throw badRequest(`inline keyboard button ${kind}URL '${url}' is invalid: ${checked.reason}`)
}
