import { type ArgumentsOf, packed } from '#src/actions/codec.ts'
import { failureWords } from '#src/channels/failure-reasons.ts'
import { nameList } from '#src/i18n/name-list.ts'
import { typed } from '#src/i18n/translate.ts'
import { plainOf } from '#src/telegram/text.ts'
import type { Watch } from '#src/watches/model.ts'
import { knownReason, type StatusWithReason, statusText } from '../../views/destination.ts'
import { textHtml } from '../../views/markup.ts'
import { clockTime } from '../../views/time.ts'
import { act, type Reader, screen, type View } from '../../views/view.ts'
import { backToCard } from './edit-view.ts'
import { type RecipientChoice, recipientName } from './people-view.ts'

/** Whom a test of a watch is sent to: only this chat, or all recipients of the watch. */
export type TestReach = ArgumentsOf<'watch.testTo'>['to']

/** Outcome of a test message to one destination. */
export type TestOutcome =
  | { readonly kind: 'queued' }
  /** A queued test that the channel's service accepted. */
  | { readonly kind: 'arrived'; readonly latencyMs: number }
  /** A queued test that could not be delivered. */
  | {
      readonly kind: 'undelivered'
      readonly statusCode: number | null
      readonly reason: string | null
    }
  /** A test that was sent at once, and accepted. */
  | { readonly kind: 'delivered'; readonly statusCode: number | null; readonly latencyMs: number }
  | {
      readonly kind: 'failed'
      readonly statusCode: number | null
      readonly latencyMs: number
      readonly reason: string | null
    }
  /** The destination is off, its reader has not confirmed it, or its channel is unavailable. */
  | ({ readonly kind: 'off' } & StatusWithReason)
  | { readonly kind: 'tooMany'; readonly nextAt: Date }
  /** Not sent, because the same test was sent a moment ago. */
  | { readonly kind: 'recent'; readonly nextAt: Date }

/** Outcome at a destination that is off. */
export function offOutcome({ status, statusReason }: StatusWithReason): TestOutcome {
  return { kind: 'off', status, statusReason }
}

/** Choice between a test to this chat, if the watch notifies it, and one to all recipients. */
export function testChoice(
  reader: Reader,
  { id, label }: Pick<Watch, 'id' | 'label'>,
  notified: readonly RecipientChoice[],
): View {
  const { t } = reader
  const names = nameList(
    notified.map((choice) => recipientName(reader, choice)),
    t.locale,
  )
  const lines = [
    `🧪 ${t.html('bot:test.title', { label: typed(label) })}`,
    '',
    t.html('bot:test.ask'),
    t.html('bot:watch.tells', { names }),
  ]
  const to = (reach: TestReach) => packed('watch.testTo', { id, to: reach })
  return screen(lines, [
    notified.some(({ isHere }) => isHere) ? [act(t('bot:button.testHere'), to('here'))] : [],
    [act(t('bot:button.testAll'), to('all'))],
    [backToCard({ id, label })],
  ])
}

/** Outcomes of the test messages of a watch. */
export function testResults(
  reader: Reader,
  watch: Watch,
  {
    to,
    results,
  }: {
    readonly to: TestReach
    readonly results: readonly {
      readonly choice: RecipientChoice
      readonly outcome: TestOutcome
    }[]
  },
): View {
  const { t } = reader
  const outcomes =
    results.length === 0
      ? [t.html('bot:test.nobody')]
      : results.map(({ choice, outcome }) =>
          outcomeLine(reader, recipientName(reader, choice), outcome),
        )
  const title = `🧪 ${t.html('bot:test.title', { label: typed(watch.label) })}`
  const rows = [
    [
      act(t('bot:button.again'), packed('watch.testTo', { id: watch.id, to })),
      act(t('bot:button.recipients'), packed('watch.who', { id: watch.id, page: 1 })),
    ],
    [backToCard(watch)],
  ]
  return { ...screen([title, '', ...outcomes], rows), toast: plainOf(outcomes.join('\n')) }
}

/** Outcome of a test message to one destination, as a line of HTML. */
export function outcomeLine(reader: Reader, place: string, outcome: TestOutcome): string {
  const { t } = reader
  const name = typed(place)
  switch (outcome.kind) {
    case 'queued':
      return `⏳ ${t.html('bot:test.queued', { name })}`
    case 'arrived':
      return `✓ ${t.html('bot:test.arrived', { name, ms: outcome.latencyMs })}`
    case 'undelivered':
      return [`✕ ${t.html('bot:test.undelivered', { name })}`, reasonOf(t, outcome) ?? []]
        .flat()
        .join(' · ')
    case 'delivered': {
      const { statusCode, latencyMs } = outcome
      return `✓ ${t.html('bot:test.delivered', { name, status: statusCode ?? '', ms: latencyMs })}`
    }
    case 'failed': {
      const { statusCode, latencyMs } = outcome
      return statusCode === null
        ? [`✕ ${t.html('bot:test.noAnswer', { name, ms: latencyMs })}`, reasonOf(t, outcome) ?? []]
            .flat()
            .join(' · ')
        : `✕ ${t.html('bot:test.failed', { name, status: statusCode, ms: latencyMs })}`
    }
    case 'off':
      return outcome.status === 'active'
        ? `✕ ${t.html('bot:test.off', { name })}`
        : `✕ ${t.html('bot:people.off', { name, reason: statusText(t, outcome) })}`
    case 'tooMany':
      return `✕ ${t.html('bot:test.tooMany', { name, time: clockTime(reader, outcome.nextAt) })}`
    case 'recent': {
      const time = clockTime(reader, outcome.nextAt, { seconds: true })
      return `⏳ ${t.html('bot:test.recent', { name, time })}`
    }
    default:
      return outcome satisfies never
  }
}

/** Why a test was not delivered, as HTML: a sentence, or else the status of the response, or a few words. */
function reasonOf(
  t: Reader['t'],
  { statusCode, reason }: { readonly statusCode: number | null; readonly reason: string | null },
): string | undefined {
  if (reason === null) return statusCode?.toString()
  return knownReason(t, reason) ?? textHtml(failureWords(t, reason))
}
