import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { anyUnicodeCharacter } from '../../test/support/any-character.ts'
import type { StoredChallenge } from './model.ts'
import {
  challengeExpiry,
  grantedScopes,
  judgeChallenge,
  mustRecordUse,
  tokenExpiry,
  tokenStatus,
} from './rules.ts'

const AT = new Date('2026-11-20T15:00:00.000Z')
const plus = (ms: number) => new Date(AT.getTime() + ms)

const challenge: StoredChallenge = {
  nonce: '0123456789abcdef',
  wallet: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  scopes: ['read'],
  label: undefined,
  message: 'the text',
  expiresAt: challengeExpiry(AT),
  usedAt: undefined,
}
const used = { ...challenge, usedAt: plus(1) }

describe('judgeChallenge', () => {
  test('accepts the exact text for five minutes', () => {
    expect(judgeChallenge(challenge, 'the text', AT)).toEqual({ ok: true, challenge })
    expect(judgeChallenge(challenge, 'the text', plus(5 * MINUTE_MS - 1)).ok).toBe(true)
    expect(judgeChallenge(challenge, 'the text', plus(5 * MINUTE_MS))).toEqual({
      ok: false,
      reason: 'nonce_expired',
    })
  })

  test.each([
    'the text ',
    ' the text',
    'the  text',
    'The text',
    'the text\n',
    '',
  ])('refuses the text %j, which differs', (text) => {
    expect(judgeChallenge(challenge, text, AT)).toEqual({ ok: false, reason: 'message_mismatch' })
  })

  test('refuses a text with any one character changed', () => {
    const long = { ...challenge, message: 'watch.example wants you to sign in\n\nNonce: 01234567' }
    const { message } = long
    fc.assert(
      fc.property(
        fc.nat({ max: message.length - 1 }),
        fc.string({ unit: anyUnicodeCharacter, minLength: 0, maxLength: 2 }),
        (at, typed) => {
          fc.pre(typed !== message.charAt(at))
          const text = `${message.slice(0, at)}${typed}${message.slice(at + 1)}`
          expect(judgeChallenge(long, text, AT)).toEqual({ ok: false, reason: 'message_mismatch' })
        },
      ),
    )
  })

  test('refuses an unknown nonce with message_mismatch', () => {
    expect(judgeChallenge(undefined, 'the text', AT)).toEqual({
      ok: false,
      reason: 'message_mismatch',
    })
  })

  test('refuses a used nonce with nonce_used, also after it expired', () => {
    const refusal = { ok: false, reason: 'nonce_used' }
    expect(judgeChallenge(used, 'the text', plus(2))).toEqual(refusal)
    expect(judgeChallenge(used, 'the text', plus(6 * MINUTE_MS))).toEqual(refusal)
  })

  test('refuses another text with message_mismatch, even if the nonce was used or expired', () => {
    const refusal = { ok: false, reason: 'message_mismatch' }
    expect(judgeChallenge(used, 'other', plus(2))).toEqual(refusal)
    expect(judgeChallenge(challenge, 'other', plus(6 * MINUTE_MS))).toEqual(refusal)
  })
})

describe('tokens', () => {
  test('always have the scope read, and no scope twice', () => {
    expect(grantedScopes([])).toEqual(['read'])
    expect(grantedScopes(['read'])).toEqual(['read'])
    expect(grantedScopes(['spend'])).toEqual(['read', 'spend'])
    expect(grantedScopes(['spend', 'write', 'write'])).toEqual(['read', 'write', 'spend'])
  })

  test('are active for thirty days', () => {
    const token = { expiresAt: tokenExpiry(AT), revokedAt: null }
    expect(token.expiresAt).toEqual(new Date('2026-12-20T15:00:00.000Z'))
    expect(tokenStatus(token, AT)).toBe('active')
    expect(tokenStatus(token, new Date(token.expiresAt.getTime() - 1))).toBe('active')
    expect(tokenStatus(token, token.expiresAt)).toBe('expired')
  })

  test('are revoked from the instant of the revocation, also after they expire', () => {
    const token = { expiresAt: tokenExpiry(AT), revokedAt: AT }
    expect(tokenStatus(token, AT)).toBe('revoked')
    expect(tokenStatus(token, plus(40 * 24 * 60 * MINUTE_MS))).toBe('revoked')
  })

  test('record the first use, then one use a minute', () => {
    expect(mustRecordUse(null, AT)).toBe(true)
    expect(mustRecordUse(AT, AT)).toBe(false)
    expect(mustRecordUse(AT, plus(MINUTE_MS - 1))).toBe(false)
    expect(mustRecordUse(AT, plus(MINUTE_MS))).toBe(true)
  })
})
