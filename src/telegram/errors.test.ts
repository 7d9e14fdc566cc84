import { GrammyError, HttpError } from 'grammy'
import { describe, expect, test } from 'vitest'
import { finalFailureOf, judgeRefusal, describe as wordsForLog } from './errors.ts'

describe('judgeRefusal', () => {
  test.each([
    [403, 'Forbidden: bot was blocked by the user', 'blocked'],
    [403, 'Forbidden: user is deactivated', 'deactivated'],
    [403, 'Forbidden: bot was kicked from the supergroup chat', 'kicked'],
    [403, 'Forbidden: bot is not a member of the channel chat', 'not_a_member'],
    [403, 'Forbidden: the group chat was deleted', 'deleted'],
    [403, "Forbidden: bot can't initiate conversation with a user", 'not_started'],
    [403, 'Forbidden: something new', 'forbidden'],
  ])('blocks the destination: %i %s', (code, description, reason) => {
    expect(judgeRefusal({ code, description })).toMatchObject({
      kind: 'fail',
      error: { reason, permanent: true, becomes: 'blocked', statusCode: 403 },
    })
  })

  test.each([
    [400, 'Bad Request: not enough rights to send text messages to the chat'],
    [400, 'Bad Request: have no rights to send a message'],
    [400, 'Bad Request: need administrator rights in the channel chat'],
    [400, 'Bad Request: CHAT_WRITE_FORBIDDEN'],
    [403, 'Forbidden: CHAT_WRITE_FORBIDDEN'],
    [400, 'Bad Request: CHAT_SEND_PLAIN_FORBIDDEN'],
  ])('blocks a chat in which the bot may not write: %i %s', (code, description) => {
    expect(judgeRefusal({ code, description })).toMatchObject({
      kind: 'fail',
      error: { reason: 'no_rights', permanent: true, becomes: 'blocked', statusCode: code },
    })
  })

  test.each([
    'Bad Request: not enough rights to send photos to the chat',
    'Bad Request: not enough rights to manage pinned messages in the chat',
    'Bad Request: not enough rights to create a topic',
  ])('blocks no chat that refuses one action: %s', (description) => {
    expect(judgeRefusal({ code: 400, description })).toMatchObject({
      kind: 'fail',
      error: { reason: 'not_allowed', permanent: false },
    })
  })

  test('blocks a chat whose topic General is closed, too, so that no other form is left', () => {
    const verdict = judgeRefusal({ code: 400, description: 'Bad Request: TOPIC_CLOSED' })
    expect(finalFailureOf(verdict)).toMatchObject({
      reason: 'topic_closed',
      permanent: true,
      becomes: 'blocked',
    })
  })

  test('switches off a chat that does not exist', () => {
    expect(judgeRefusal({ code: 400, description: 'Bad Request: chat not found' })).toMatchObject({
      kind: 'fail',
      error: { reason: 'chat_not_found', permanent: true, becomes: 'disabled' },
    })
  })

  test.each([
    [400, "Bad Request: can't parse entities: Unsupported start tag", 'send_plain'],
    [400, "Bad Request: inline keyboard button URL 'x' is invalid: Wrong", 'send_without_button'],
    [400, 'Bad Request: WEBPAGE_URL_INVALID', 'send_without_preview'],
    [400, 'Bad Request: WEBPAGE_CURL_FAILED', 'send_without_preview'],
    [400, 'Bad Request: BUTTON_TYPE_INVALID', 'send_without_button'],
    [400, 'Bad Request: message thread not found', 'send_without_thread'],
    [400, 'Bad Request: TOPIC_CLOSED', 'send_without_thread'],
    [400, 'Bad Request: TOPIC_DELETED', 'send_without_thread'],
  ])('sends in another form: %i %s', (code, description, kind) => {
    expect(judgeRefusal({ code, description })).toEqual({ kind })
  })

  test('follows a chat to its new id', () => {
    const description = 'Bad Request: group chat was upgraded to a supergroup chat'
    expect(judgeRefusal({ code: 400, description, migrateToChatId: -100123 })).toEqual({
      kind: 'send_to',
      chatId: -100123,
    })
  })

  test.each([
    [undefined, 1],
    [0, 1],
    [-5, 1],
    ['soon', 1],
    [Number.NaN, 1],
    ['7', 7],
    [2.5, 3],
    [1e12, 3600],
  ])('waits for a time that makes sense if a flood limit states %s', (stated, seconds) => {
    const retryAfterSeconds = stated as number
    expect(judgeRefusal({ code: 429, description: '', retryAfterSeconds })).toMatchObject({
      error: { retryAfterSeconds: seconds },
    })
  })

  test('obeys the wait of a flood limit and counts no failure of the chat', () => {
    const description = 'Too Many Requests: retry after 35'
    expect(judgeRefusal({ code: 429, description, retryAfterSeconds: 35 })).toMatchObject({
      kind: 'fail',
      error: {
        reason: 'flood',
        retryAfterSeconds: 35,
        retryAfterIsMandatory: true,
        isOurFault: true,
      },
    })
  })

  test.each([
    [400, 'Bad Request: message is too long', 'rejected', false],
    [401, 'Unauthorized', 'bot_token', true],
    [404, 'Not Found', 'bot_token', true],
    [500, 'Internal Server Error', 'status_500', true],
    [502, 'Bad Gateway', 'status_502', true],
  ])('tries again later: %i %s', (code, description, reason, ours) => {
    expect(judgeRefusal({ code, description })).toMatchObject({
      kind: 'fail',
      error: { reason, permanent: false, isOurFault: ours },
    })
  })
})

test('the words of an error never contain the bot’s token', () => {
  const token = `4711:${'aB3-_'.repeat(7)}`
  const text = `request to https://api.telegram.org/bot${token}/sendMessage failed`
  const refusal = { ok: false, error_code: 400, description: text } as const
  const errors = [
    new HttpError(text, new Error(text)),
    new HttpError(text, text),
    new GrammyError(text, refusal, 'sendMessage', {}),
    new Error('outer', { cause: new Error(text) }),
    text,
  ]
  for (const error of errors) {
    expect(wordsForLog(error)).not.toContain('aB3')
    expect(wordsForLog(error)).toContain('/bot…/sendMessage')
  }
})
