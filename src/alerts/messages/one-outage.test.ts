import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endedOutage } from '#src/channels/card/outage.ts'
import type { Envelope, MessageState } from '#src/channels/envelope.ts'
import { REGISTRY as CHANNELS } from '#src/channels/index.ts'
import { alertMail } from '#src/channels/mail/content.ts'
import { alertView } from '#src/channels/telegram/alert.ts'
import {
  currentContent,
  groupEnvelope,
  type ShownPart,
} from '#src/delivery/messages/message-sync.ts'
import { formatDuration, formatTimeOn } from '#src/i18n/format.ts'
import { translator } from '#src/i18n/translate.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import { recoveredTitle, renderMessage } from './render.ts'

const WALLET = '0x3f12B8ac9D2e7F4b6A1c5D8E0F9A7B3c2d1ea91C'

const DUTIES = ['ftso-commit', 'ftso-reveal', 'ftso-signature', 'fdc-bitvote', 'fdc-signature']
const ROUND_MS = 90_000
const READER = {
  address: 'a@example.org',
  wallet: `0x${'1'.repeat(40)}`,
  unsubscribeUrl: undefined,
}
/** Half an hour before midnight, so that many outages begin on one day and end on the next. */
const EVENING = Date.parse('2026-11-20T23:30:00Z')

/** One failed duty: its first bad round, the number of bad rounds, and delays of alert and recovery. */
interface Failure {
  readonly duty: string
  readonly first: number
  readonly bad: number
  readonly delayMs: number
}

const history = fc.uniqueArray(
  fc.record({
    duty: fc.constantFrom(...DUTIES),
    first: fc.nat(20),
    bad: fc.integer({ min: 2, max: 40 }),
    delayMs: fc.integer({ min: 1000, max: 89_000 }),
  }),
  { minLength: 2, maxLength: 5, selector: ({ duty }) => duty },
)

const instant = (ms: number) => new Date(ms).toISOString()
const startMs = ({ first }: Failure) => EVENING + first * ROUND_MS
const endMs = (failure: Failure) => startMs(failure) + failure.bad * ROUND_MS

function envelopeOf(
  alertId: number,
  event: string,
  of: { readonly data: JsonObject; readonly firedMs: number; readonly startedMs?: number },
): Envelope {
  const { data, firedMs, startedMs } = of
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const message = renderMessage(
    {
      ...{
        alertId,
        incidentId: 1,
        watchId: 1,
        watchLabel: 'Alpha',
        event,
        severity: 'warning',
        test: false,
      },
      ...{ data, firedAt: new Date(firedMs), link: 'https://watchdog.example.org/a/x' },
    },
    reader,
  )
  const signal = event.replace(/^fsp\.|\.recovered$/g, '')
  return {
    ...{ deliveryId: '0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a11', type: 'provider-fsp', signal },
    ...{ group: 'ftso', data, ...reader, message },
    ...(startedMs !== undefined && { startedAt: instant(startedMs) }),
  }
}

function exampleOf(event: string): JsonObject {
  return findEventSource(event)?.signal.examples[event] ?? {}
}

/** The alert of a failure, and its recovery, with the data that the evaluator writes. */
function recorded(failure: Failure, index: number) {
  const event = `fsp.${failure.duty}`
  const firedMs = startMs(failure) + 2 * ROUND_MS + failure.delayMs
  const alert = envelopeOf(index + 1, event, {
    data: { ...exampleOf(event), since: instant(startMs(failure)), reason: 'missing', streak: 2 },
    firedMs,
  })
  const [end, seconds] = [instant(endMs(failure)), (failure.bad * ROUND_MS) / 1000]
  const recoveredMs = endMs(failure) + ROUND_MS + failure.delayMs
  const recovery = envelopeOf(index + 101, `${event}.recovered`, {
    data: {
      ...exampleOf(`${event}.recovered`),
      ...{ roundStart: end, since: end, gapSeconds: seconds, missedRounds: failure.bad },
    },
    firedMs: recoveredMs,
    startedMs: firedMs,
  })
  const times = {
    data: recovery.data,
    firedAt: new Date(recoveredMs),
    startedAt: new Date(firedMs),
  }
  const state: MessageState = {
    recoveredAt: endedOutage(times).to,
    recovery: () => ({ title: recovery.message.title, seconds }),
    lostRounds: failure.bad,
  }
  return { alert, recovery, state }
}

/** Texts of all channels that send a message and do not change it. */
function sentTexts(envelope: Envelope, now: Date): readonly string[] {
  const { subject, text, html } = alertMail(envelope, READER, now)
  return [
    alertView(envelope, {}, { now }).plain,
    `${subject}\n${text}`,
    html,
    ...(['ntfy', 'slack', 'discord'] as const).map((channel) =>
      JSON.stringify(CHANNELS[channel].preview.write(envelope)),
    ),
  ].map(plain)
}

const plain = (text: string) =>
  text.replace(/[\u2066-\u2069\u200e\u200f]/g, '').replace(/\u00a0|\s+/g, ' ')

function parts(envelopes: readonly Envelope[]): readonly ShownPart[] {
  return envelopes.map((envelope) => ({ alertId: envelope.message.alertId, envelope }))
}

/** Whether the failures have a common cause: they are all duties, or all duties of one protocol. */
function areCaused(failures: readonly Failure[]): boolean {
  return [DUTIES, DUTIES.slice(0, 3), DUTIES.slice(3)].some((set) => {
    return set.length === failures.length && failures.every(({ duty }) => set.includes(duty))
  })
}

/**
 * Start of what the heading says, after the first so many alerts have recovered: of the common cause of those that are
 * open, or of the alert that it names, which is the first of them.
 */
function namedStart(failures: readonly Failure[], recovered: number): Date {
  const open = failures.slice(recovered)
  // Before the last of its duties failed, some votes were valid.
  if (areCaused(open)) return new Date(Math.max(...open.map(startMs)))
  const firedMs = (failure: Failure) => startMs(failure) + failure.delayMs
  const [first] = open.toSorted((a, b) => firedMs(a) - firedMs(b))
  if (first === undefined) throw new Error('no failure')
  return new Date(startMs(first))
}

/** All times since which a text says that something is so. */
const sinces = (text: string) => [...text.matchAll(/since (.*?\d\d:\d\d)/g)].map(([, at]) => at)

/** Both ends of an outage, both with their dates if they are on different days. */
function range(from: Date, to: Date, shownAt: Date): string {
  const isOneDay = from.toISOString().slice(0, 10) === to.toISOString().slice(0, 10)
  const time = (at: Date, other: Date) =>
    plain(formatTimeOn(at, 'en', 'UTC', { shownAt: isOneDay ? shownAt : other }))
  return `${time(from, to)} to ${time(to, from)}`
}

describe('one outage has one start and one end', () => {
  test('in the first message, its changes, the mail, the push, the page of the duty manager and the recovery', () => {
    fc.assert(
      fc.property(history, fc.nat(4), (failures, recoveredFirst) => {
        const all = failures.map(recorded)
        const from = new Date(Math.min(...failures.map(startMs)))
        const to = new Date(Math.max(...failures.map(endMs)))
        const group = groupEnvelope('group', 'd', parts(all.map(({ alert }) => alert)))
        const sentAt = new Date(
          Math.max(...all.map(({ alert }) => Date.parse(alert.message.firedAt))),
        )
        const about = { id: 'd', kind: 'group', openPart: null, sentAt } as const
        const time = (at: Date, shownAt: Date) => plain(formatTimeOn(at, 'en', 'UTC', { shownAt }))
        const sinceIn = (recovered: number) => time(namedStart(failures, recovered), sentAt)
        const length = formatDuration((to.getTime() - from.getTime()) / 1000, 'en', 'short')

        for (const text of sentTexts(group, sentAt)) {
          expect(sinces(text)).toContain(sinceIn(0))
          expect(new Set(sinces(text)).size).toBe(1)
        }
        const page = JSON.parse(CHANNELS.pagerduty.preview.write(group, WALLET).body)
        expect(page.payload.timestamp).toBe(namedStart(failures, 0).toISOString())

        const edited = (count: number) => {
          const states = new Map(
            all.slice(0, count).map(({ alert, state }) => [alert.message.alertId ?? 0, state]),
          )
          const content = currentContent(about, parts(all.map(({ alert }) => alert)), states)
          return plain(
            content === undefined ? '' : alertView(content.envelope, content.state).plain,
          )
        }
        const recovered = Math.min(recoveredFirst, all.length - 1)
        expect(edited(recovered)).toContain(`since ${sinceIn(recovered)}`)
        expect(edited(all.length)).toContain(`${range(from, to, sentAt)} UTC`)
        const down = failures.length === DUTIES.length ? 'down ' : ''
        expect(edited(all.length)).toContain(` · ${down}${length}`)

        const recovery = groupEnvelope(
          'group',
          'r',
          parts(all.map((recorded) => recorded.recovery)),
        )
        const end = new Date(
          Math.max(...all.map((recorded) => Date.parse(recorded.recovery.message.firedAt))),
        )
        for (const text of sentTexts(recovery, end)) {
          expect(text).toContain(`${range(from, to, end)} UTC`)
          // Where rewards are lost too, the heading has no room for “down”.
          expect(text).toMatch(new RegExp(`healthy again · (?:down )?${length}`))
        }
      }),
    )
  })

  test('in the messages about one alert: its text, its line, its mail and its recovery', () => {
    fc.assert(
      fc.property(history, ([failure]) => {
        if (failure === undefined) throw new Error('no failure')
        const { alert, recovery, state } = recorded(failure, 0)
        const [from, to] = [new Date(startMs(failure)), new Date(endMs(failure))]
        const sentAt = new Date(alert.message.firedAt)
        const time = (at: Date, shownAt: Date) => plain(formatTimeOn(at, 'en', 'UTC', { shownAt }))
        const since = time(from, sentAt)
        for (const text of sentTexts(alert, sentAt)) expect(text).toContain(`since ${since} UTC`)
        const seconds = (to.getTime() - from.getTime()) / 1000
        const edited = plain(alertView(alert, { ...state, shownAt: sentAt }).plain)
        expect(edited).toContain(`${range(from, to, sentAt)} UTC`)
        expect(edited).toContain(`Duration: ${formatDuration(seconds, 'en', 'long')}.`)
        const end = new Date(recovery.message.firedAt)
        for (const text of sentTexts(recovery, end)) {
          expect(text).toContain(`${range(from, to, end)} UTC`)
        }
        expect(recovery.message.body).toContain(formatDuration(seconds, 'en', 'long'))
        expect(recoveredTitle(translator('en'), 'x', seconds)).toContain(
          formatDuration(seconds, 'en', 'short'),
        )
      }),
    )
  })

  test.each(
    LOCALES,
  )('with the date where it is another day than that of the message, in %s', (locale) => {
    const failure = { duty: 'ftso-commit', first: 0, bad: 40, delayMs: 1000 }
    const { alert, state } = recorded(failure, 0)
    const over = { ...state, shownAt: new Date(EVENING) }
    const line = alertView({ ...alert, locale }, over).plain.split('\n')[1] ?? ''
    expect(plain(line)).toMatch(/\D20\D.*\D23:30\D.*\D21\D.*\D00:30\D/)
    const later = alertView({ ...alert, locale }, { shownAt: new Date(EVENING + 3_600_000) }).plain
    expect(plain(later.split('\n')[1] ?? '')).toMatch(/\D20\D.*\D23:30\D/)
  })
})
