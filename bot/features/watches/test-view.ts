import { packed } from '#src/actions/codec.ts'
import { typed } from '#src/i18n/translate.ts'
import type { Watch } from '#src/watches/model.ts'
import { clockTime } from '../../views/time.ts'
import { act, type Reader, screen, type View } from '../../views/view.ts'
import { backToCard } from './edit-view.ts'
import { personName, type RecipientChoice } from './people-view.ts'

/** Outcome of a test message to one destination. */
export type TestOutcome =
  | { readonly kind: 'queued' }
  /** A test that was queued: the channel's service accepted it (`arrived`), or its delivery did not succeed. */
  | { readonly kind: 'arrived'; readonly latencyMs: number }
  | { readonly kind: 'undelivered'; readonly statusCode: number | null }
  | { readonly kind: 'delivered'; readonly statusCode: number | null; readonly latencyMs: number }
  | { readonly kind: 'failed'; readonly statusCode: number | null; readonly latencyMs: number }
  /** The destination is off, or its reader has not confirmed it. */
  | { readonly kind: 'off' }
  | { readonly kind: 'tooMany'; readonly nextAt: Date }

/** Outcomes of test messages to all recipients of a watch. */
export function testResults(
  reader: Reader,
  watch: Watch,
  results: readonly { readonly person: RecipientChoice; readonly outcome: TestOutcome }[],
): View {
  const { t } = reader
  const lines = [
    `🧪 ${t.html('bot:test.title', { label: typed(watch.label) })}`,
    '',
    ...results.map(({ person, outcome }) =>
      outcomeLine(reader, personName(reader, person), outcome),
    ),
    results.length === 0 ? t.html('bot:test.nobody') : undefined,
  ]
  return screen(lines, [
    [
      act(t('bot:button.again'), packed('watch.test', { id: watch.id })),
      act(t('bot:button.recipients'), packed('watch.who', { id: watch.id, page: 1 })),
    ],
    [backToCard(watch)],
  ])
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
      return [`✕ ${t.html('bot:test.undelivered', { name })}`, outcome.statusCode ?? []]
        .flat()
        .join(' · ')
    case 'delivered': {
      const { statusCode, latencyMs } = outcome
      return `✓ ${t.html('bot:test.delivered', { name, status: statusCode ?? '', ms: latencyMs })}`
    }
    case 'failed': {
      const { statusCode, latencyMs } = outcome
      return statusCode === null
        ? `✕ ${t.html('bot:test.noAnswer', { name, ms: latencyMs })}`
        : `✕ ${t.html('bot:test.failed', { name, status: statusCode, ms: latencyMs })}`
    }
    case 'off':
      return `✕ ${t.html('bot:test.off', { name })}`
    case 'tooMany':
      return `✕ ${t.html('bot:test.tooMany', { name, time: clockTime(reader, outcome.nextAt) })}`
    default:
      return outcome satisfies never
  }
}
