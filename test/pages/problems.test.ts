import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOCALES } from '#src/kernel/locale.ts'
import {
  ERROR_CODES,
  isErrorCode,
  kindOfErrorCode,
  statusOfErrorCode,
} from '#src/kernel/problems.ts'
import texts from '../../locales/en/errors.json' with { type: 'json' }
import { every } from '../support/every.ts'
import { openSite, type Site } from './site.ts'

let site: Site
beforeAll(async () => {
  site = await openSite()
})
afterAll(() => site.close())

const PUBLISHED: Readonly<Record<number, string>> = {
  400: 'malformed_json validation_failed invalid_idempotency_key',
  401: 'missing_token invalid_token invalid_signature message_mismatch nonce_expired nonce_used',
  402: 'payment_required insufficient_credits',
  403: 'insufficient_scope terms_not_accepted',
  404: 'not_found',
  405: 'method_not_allowed',
  406: 'not_acceptable',
  409:
    'token_limit_reached no_free_slot slot_limit_reached trial_already_used price_changed topup_state ' +
    'tx_already_used asset_unavailable asset_paused cap_exceeded use_telegram_link ' +
    'idempotency_in_progress recipient_limit_reached terms_version_changed',
  412: 'etag_mismatch',
  413: 'payload_too_large',
  415: 'unsupported_media_type',
  422: 'idempotency_key_reused',
  429: 'rate_limited',
  500: 'internal',
  503: 'dependency_unavailable channel_unavailable',
}

describe('the codes', () => {
  const published = Object.entries(PUBLISHED).flatMap(([status, codes]) =>
    codes.split(' ').map((code) => [code, Number(status)] as const),
  )
  test('have the published status', () =>
    every(
      published.filter(([code]) => isErrorCode(code)),
      (code, status) => {
        if (!isErrorCode(code)) throw new Error('filtered above')
        expect(statusOfErrorCode(code)).toBe(status)
      },
    ))
  test('are thrown with their listed kind everywhere', () => {
    const thrown = /new AppError\(\s*'(\w+)',\s*'(\w+)'/g
    const wrong = globSync('{src,bot}/**/*.ts').flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(thrown)]
        .filter(([, kind, code = '']) => !isErrorCode(code) || kindOfErrorCode(code) !== kind)
        .map(([, kind, code]) => `${path}: ${code} as ${kind}`),
    )
    expect(wrong).toEqual([])
  })
  test('have texts each, and are sorted by status', () => {
    const titles = Object.keys(texts).filter((key) => key.endsWith('.title'))
    expect(ERROR_CODES.toSorted()).toEqual(titles.map((key) => key.replace('.title', '')).sort())
    const statuses = ERROR_CODES.map(statusOfErrorCode)
    expect(statuses).toEqual(statuses.toSorted((a, b) => a - b))
  })
})

describe('/problems/<code>', () => {
  test('explains each code in seven languages', () =>
    every(ERROR_CODES, async (code) => {
      for (const locale of LOCALES) {
        const { status, html, text } = await site.get(`/problems/${code}?lang=${locale}`)
        expect(status).toBe(200)
        expect(text).toContain(code)
        expect(text).toContain(String(statusOfErrorCode(code)))
        expect(html).not.toContain('{{')
      }
    }))
  test('shows an example of the response', async () => {
    const { text } = await site.get('/problems/no_free_slot')
    expect(text).toContain('No free slot')
    expect(text).toContain('All 3 slots are in use.')
    const example = JSON.parse(/\{ "type".* \}(?= Operations)/.exec(text)?.[0] ?? '')
    expect(example).toMatchObject({
      type: `${site.app.publicUrl}/problems/no_free_slot`,
      status: 409,
      code: 'no_free_slot',
    })
  })
  test('repeats a valid reference, and no other text', async () => {
    const { text } = await site.get('/problems/internal?ref=01JD-abc.9')
    expect(text).toContain('Reference 01JD-abc.9')
    const { html } = await site.get('/problems/internal?ref=%3Cscript%3Ealert(1)%3C/script%3E')
    expect(html).not.toContain('alert(1)')
  })
  test('lists all codes for an unknown one', async () => {
    for (const code of ['nope', 'toString', '__proto__', '%3Cb%3E', 'field.required']) {
      const { status, text, html } = await site.get(`/problems/${code}`)
      expect(status).toBe(404)
      expect(text).toContain('There is no code with this name.')
      for (const known of ERROR_CODES) expect(html).toContain(`href="/problems/${known}"`)
    }
  })
  test('is the URL in the type of an error', async () => {
    const answer = await site.get('/api/x402/account')
    const { type, title } = JSON.parse(answer.html)
    const page = await site.get(new URL(type).pathname)
    expect(page.status).toBe(200)
    expect(page.text).toContain(title)
  })
})
