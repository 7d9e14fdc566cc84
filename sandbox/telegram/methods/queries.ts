import {
  flagArgument,
  integerArgument,
  isObject,
  jsonArgument,
  textArgument,
  textField,
} from '../arguments.ts'
import type { Backend } from '../backend.ts'
import { readMarkup } from '../keyboard.ts'
import type { FormattedText, Wire } from '../model.ts'
import { badRequest } from '../refusal.ts'
import { checkText } from '../text.ts'
import { parseText } from './content.ts'
import type { BotApiMethod } from './define.ts'

const TOAST_UNITS_MAX = 200
const INLINE_RESULTS_MAX = 50
const RESULT_ID_BYTES_MAX = 64

/** Methods that answer a press or an inline query. */
export const QUERIES: readonly BotApiMethod[] = [
  {
    name: 'answerCallbackQuery',
    run(backend, args) {
      const toast = textArgument(args, 'text')
      if (toast.length > TOAST_UNITS_MAX) throw badRequest('MESSAGE_TOO_LONG')
      const url = textArgument(args, 'url')
      const startUrl = `https://t.me/${backend.bot.username}?start=`
      if (url !== '' && !url.startsWith(startUrl)) throw badRequest('URL_INVALID')
      backend.queries.answerPress(textArgument(args, 'callback_query_id'), {
        text: toast,
        showAlert: flagArgument(args, 'show_alert'),
        url: url === '' ? undefined : url,
      })
      return true
    },
  },
  {
    name: 'answerInlineQuery',
    run(backend, args) {
      const results = jsonArgument(args, 'results', 'inline query results')
      if (!Array.isArray(results)) throw badRequest('expected an Array of inline query results')
      if (results.length > INLINE_RESULTS_MAX) {
        throw badRequest('too many inline query results specified')
      }
      const read = results.map((result) => readResult(backend, result))
      if (new Set(read.map((result) => result.id)).size < read.length) {
        throw badRequest('RESULT_ID_DUPLICATE')
      }
      const button = jsonArgument(args, 'button', 'inline query results button')
      backend.queries.answerInline(textArgument(args, 'inline_query_id'), {
        results: read,
        button: isObject(button) ? readButton(button) : undefined,
        cacheSeconds: args.texts.has('cache_time') ? integerArgument(args, 'cache_time') : 300,
        isPersonal: flagArgument(args, 'is_personal'),
      })
      return true
    },
  },
]

function readResult(backend: Backend, value: unknown): Wire {
  if (!isObject(value))
    throw badRequest("can't parse inline query result: Inline query result must be an object")
  const id = textField(value, 'id')
  if (id === '' || Buffer.byteLength(id) > RESULT_ID_BYTES_MAX)
    throw badRequest('RESULT_ID_INVALID')
  if (value.type !== 'article') {
    throw badRequest(
      `can't parse inline query result: type "${textField(value, 'type')}" is unsupported for the inline query result`,
    )
  }
  if (textField(value, 'title') === '') throw badRequest('ARTICLE_TITLE_EMPTY')
  // Only to refuse what is malformed.
  readInlineContent(backend, value)
  readMarkup(value.reply_markup)
  return value
}

/**
 * The text that an inline result posts.
 *
 * @throws BotApiRefusal 400 if the text is missing, empty, too long or malformed
 */
export function readInlineContent(backend: Backend, result: Wire): FormattedText {
  const content = result.input_message_content
  if (!isObject(content)) {
    throw badRequest("can't parse inline query result: Input message content is not specified")
  }
  return checkText(
    parseText(backend, {
      source: textField(content, 'message_text'),
      mode: textField(content, 'parse_mode'),
      entities: content.entities,
    }),
  )
}

function readButton(button: Wire): Wire {
  const parameter = textField(button, 'start_parameter')
  if (textField(button, 'text') === '') throw badRequest('BUTTON_TEXT_INVALID')
  if (!button.web_app && !/^[\w-]{1,64}$/.test(parameter)) {
    throw badRequest('START_PARAM_INVALID')
  }
  return button
}
