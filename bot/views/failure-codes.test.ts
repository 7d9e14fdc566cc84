import { expect, test } from 'vitest'
import { FAILURE_REASONS, failureWords } from '#src/channels/failure-reasons.ts'
import { hasText, translator } from '#src/i18n/translate.ts'
import { withoutJoiners } from '#src/kernel/inert-text.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { renderNotice } from '#src/notices/render.ts'
import { type RecipientCardData, recipientCard } from '../features/recipients/card-view.ts'
import { deliveryText } from '../features/recipients/delivery-log-view.ts'
import { outcomeLine } from '../features/watches/test-view.ts'
import { statusText } from './destination.ts'
import type { Reader } from './view.ts'

const now = new Date('2026-11-20T12:00:00Z')
/** A code that no release knows, as an older or newer one may have stored it. */
const UNKNOWN = 'some_code'
const CODES = [...FAILURE_REASONS, 'status_503', UNKNOWN]

test.each(LOCALES)('every failure has words of its own in %s', (locale) => {
  const t = translator(locale)
  const words = FAILURE_REASONS.map((code) => failureWords(t, code))
  for (const code of FAILURE_REASONS) expect(hasText(`notices:failure.${code}`), code).toBe(true)
  expect(words).not.toContain(failureWords(t, UNKNOWN))
})

test.each(LOCALES)('no card, test or notice prints the code of a failure in %s', (locale) => {
  const reader = { t: translator(locale), timezone: 'UTC', isGroup: false, bot: 'WatchdogBot' }
  for (const reason of CODES) {
    const shown = [
      recipientCard(reader, cardWith(reason), { now, hereId: undefined, canWrite: true }).html,
      deliveryText(reader, { ...FAILED, lastError: reason }, now).html,
      outcomeLine(reader, 'Ops', { kind: 'undelivered', statusCode: null, reason }),
      statusText(reader.t, { status: 'blocked', statusReason: reason }),
      ...[null, new Date('2026-11-15T12:00:00Z')].map((failingSince) =>
        offNotice(reason, failingSince, reader),
      ),
    ].map(withoutJoiners)
    for (const text of shown) {
      expect(text).not.toMatch(/[a-z]_[a-z]/)
      if (locale !== 'en') expect(text).not.toMatch(new RegExp(`\\b${reason}\\b`))
    }
  }
})

const FAILED = {
  status: 'failed',
  attempts: 1,
  lastStatusCode: null,
  nextAttemptAt: null,
  deliveredAt: null,
} as const

function offNotice(
  statusReason: string,
  failingSince: Date | null,
  { t, timezone }: Pick<Reader, 't' | 'timezone'>,
): string {
  const about = { id: 7, channel: 'webhook', name: 'Ops', target: 'hooks.example.org' } as const
  const off = {
    ...about,
    kind: 'destination-off',
    statusReason,
    failingSince,
    kept: 0,
    at: now,
  } as const
  const { title, lines } = renderNotice(off, { t, timezone })
  return [title, ...lines].join('\n')
}

/** The card of a mailbox whose confirmation was refused. */
function cardWith(statusReason: string): RecipientCardData {
  const destination = {
    ...{ id: 7, channel: 'email', name: 'Ops', target: 'ops@example.org', chat: null, own: false },
    ...{ status: 'pending', statusReason, lastSuccessAt: null, switchedAt: now, default: false },
    ...{
      minSeverity: 'info',
      mutedUntil: null,
      locale: 'en',
      timezone: 'UTC',
      secret: null,
      key: null,
    },
  }
  return {
    ...{ destination, missed: { count: 0, over: 0 }, failures: 0, namedBy: [], watches: [] },
  } as unknown as RecipientCardData
}
