import { expect, test } from 'vitest'
import { translator } from '#src/i18n/translate.ts'
import { deliveryText } from './card-view.ts'

const now = new Date('2026-11-20T12:00:00Z')
const reader = { t: translator('de'), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
const failed = {
  status: 'failed',
  attempts: 1,
  lastStatusCode: null,
  lastError: null,
  nextAttemptAt: null,
  deliveredAt: null,
} as const

const said = (over: object) => deliveryText(reader, { ...failed, ...over }, now).html

test('a failed delivery says in words why nothing arrived, and the response', () => {
  expect(said({ lastError: 'unknown_host' })).toMatch(/ · Servername nicht gefunden$/)
  expect(said({ lastError: 'status_503', lastStatusCode: 503 })).toMatch(/ · letzte Antwort: 503$/)
  expect(said({ lastError: 'chat_not_found' })).toMatch(/ · letzte Antwort: chat_not_found$/)
})
