import { expect, test } from 'vitest'
import { LOCALES, type Locale } from '#src/kernel/locale.ts'
import { EVENTS, findEventSource } from '#src/watches/events.ts'
import { createRenderer, type Renderable, renderMessage } from './render.ts'

const FIRED_AT = new Date('2026-11-20T14:05:10.000Z')

function alertOf(event: string, watchLabel: string, over: Partial<Renderable> = {}): Renderable {
  return {
    alertId: 1,
    incidentId: 1,
    watchId: 2,
    watchLabel,
    event,
    severity: 'info',
    data: findEventSource(event)?.signal.examples[event] ?? {},
    firedAt: FIRED_AT,
    link: 'https://watchdog.example.org/a/1',
    test: false,
    ...over,
  }
}

test('a renderer that writes many alerts writes each as if it were the only one', () => {
  const render = createRenderer()
  const notes = [{ kind: 'lasted', seconds: 3700 }] as const
  for (const event of EVENTS) {
    for (const locale of LOCALES) {
      for (const timezone of ['UTC', 'Asia/Kolkata']) {
        for (const alert of [
          alertOf(event, 'First'),
          alertOf(event, 'Second', { alertId: 7, link: 'https://watchdog.example.org/a/7' }),
          alertOf(event, 'Second', { severity: 'critical', notes }),
        ]) {
          const reader = { locale, timezone }
          expect(render(alert, reader)).toEqual(renderMessage(alert, reader))
        }
      }
    }
  }
})

test('a renderer does not mix up alerts with different content', () => {
  const render = createRenderer()
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const event = 'wallet-balance.moved'
  const { data } = alertOf(event, '')
  const message = render(alertOf(event, 'First'), reader)
  const other = render(
    alertOf(event, 'First', { data: { ...data, currentAmount: '7000000000000000000' } }),
    reader,
  )
  expect(message.body).not.toContain(' to 7\u00a0FLR')
  expect(other.body).toContain(' to 7\u00a0FLR')
})

/** The words with which titles say that something is over; the label of a time does not say it again. */
const AGAIN: Readonly<Record<Locale, RegExp>> = {
  en: /\bagain\b|no longer/i,
  de: /\bwieder\b/i,
  fr: /de nouveau/i,
  bn: /আবার/,
  zh: /恢复(?!时间：)|重新/,
  hi: /फिर/,
  ar: /من جديد|لم تعد/,
}

test.each(
  LOCALES,
)('the body of a recovery does not say again what its title says, in %s', (locale) => {
  const recoveries = EVENTS.filter((event) => findEventSource(event)?.isRecovery === true)
  expect(recoveries.length).toBeGreaterThan(20)
  const bodies = recoveries.map((event) => {
    const { title, body } = renderMessage(alertOf(event, 'Alpha'), { locale, timezone: 'UTC' })
    return { event, title, body }
  })
  expect(bodies.filter(({ body }) => AGAIN[locale].test(body))).toEqual([])
  expect(bodies.filter(({ title, body }) => body === '' || body.includes(title))).toEqual([])
})

test('a recovery says since when, how long and how many rounds', () => {
  const body = (event: string) =>
    renderMessage(alertOf(event, 'Alpha'), { locale: 'en', timezone: 'UTC' }).body
  expect(body('fsp.ftso-commit.recovered')).toBe(
    'Since 12:12\u00a0UTC (round 1519408). Gap: 12 minutes. 8 voting rounds missed.',
  )
  expect(body('fsp.reveal-offence.recovered')).toBe(
    'Since 12:12\u00a0UTC (round 1519408). Duration: 12 minutes. 8 voting rounds affected.',
  )
  expect(body('credits.recovered')).toBe('Your limit: 0.50\u00a0USD (500 credits).')
})

test('an incoming transfer asks for no action; an outgoing one advises to secure the wallet', () => {
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const alert = alertOf('wallet-balance.moved', 'Treasury')
  const {
    previousAmount = '',
    currentAmount = '',
    changeAmount = '',
  } = alert.data as Readonly<Record<string, string>>
  const incoming = {
    direction: 'incoming',
    previousAmount: currentAmount,
    currentAmount: previousAmount,
    changeAmount: changeAmount.replace('-', ''),
  }
  const titleFor = (direction: 'incoming' | 'outgoing') =>
    renderMessage(
      direction === 'outgoing' ? alert : { ...alert, data: { ...alert.data, ...incoming } },
      reader,
    )
  expect(titleFor('incoming').title).toContain('arrived')
  expect(titleFor('incoming').body).toContain('No action needed.')
  expect(titleFor('incoming').body).not.toContain('secure')
  expect(titleFor('outgoing').title).toContain('left the wallet')
  expect(titleFor('outgoing').body).toContain('secure the wallet now')
})

test.each([
  'fsp.ftso-commit',
  'fsp.ftso-reveal',
  'fsp.ftso-signature',
  'fsp.fdc-bitvote',
  'fsp.fdc-signature',
])('%s says in its title why a round did not count', (event) => {
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const alert = alertOf(event, 'Node A')
  const titles = ['missing', 'early', 'late'].map(
    (reason) => renderMessage({ ...alert, data: { ...alert.data, reason } }, reader).title,
  )
  expect(titles).toEqual([
    expect.stringContaining('missing'),
    expect.stringContaining('too early'),
    expect.stringContaining('too late'),
  ])
})
