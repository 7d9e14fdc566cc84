import { packed } from '#src/actions/codec.ts'
import { failureWords } from '#src/channels/failure-reasons.ts'
import type { DeliveryLogEntry } from '#src/delivery/log/delivery-log.ts'
import type { DeliveryEntry, DeliveryStatus } from '#src/delivery/model.ts'
import { id, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { destinationName } from '../../views/destination.ts'
import { textHtml } from '../../views/markup.ts'
import { clockTime, nearTime } from '../../views/time.ts'
import { act, type Reader, screen, type View } from '../../views/view.ts'
import { backToRecipient, type DestinationData } from './card-view.ts'

/** Deliveries on one page. */
export const LOG_PAGE = 10

const TITLE_MAX = 60

const MARKS: Readonly<Record<DeliveryStatus, string>> = {
  pending: '⏳',
  retrying: '⏳',
  delivered: '✅',
  failed: '✕',
  held: '⏸️',
  muted: '🔕',
  throttled: '⏸️',
  disabled: '📪',
}

interface LogOptions {
  readonly now: Date
  /** Cursor of the next page. */
  readonly nextCursor: string | null
  readonly canWrite: boolean
}

/** Deliveries to a destination, newest first. */
export function deliveryLog(
  reader: Reader,
  about: DestinationData,
  entries: readonly DeliveryLogEntry[],
  options: LogOptions,
): View {
  const { t } = reader
  const { destination, hereId } = about
  const { now, nextCursor, canWrite } = options
  const params = { id: destination.id }
  const isEmpty = entries.length === 0
  const lines = [
    t.html('bot:log.title', { name: typed(destinationName(t, destination, hereId)) }),
    ...entries.map((entry) => {
      const values = {
        time: nearTime(reader, entry.createdAt, now),
        event: cutText(entry.title, TITLE_MAX),
        what: deliveryText(reader, entry, now),
      }
      return `${MARKS[entry.status]}${entry.test ? ' 🧪' : ''} ${t.html('bot:log.line', values)}`
    }),
    isEmpty ? t.html('bot:log.none') : undefined,
  ]
  return screen(lines, [
    [
      ...(nextCursor === null
        ? []
        : [
            act(`${t('bot:button.older')} ›`, packed('rec.log', { ...params, cursor: nextCursor })),
          ]),
      ...(isEmpty && canWrite ? [act(t('bot:button.test'), packed('rec.test', params))] : []),
    ],
    [backToRecipient(reader, destination, hereId)],
  ])
}

/** State of a delivery, as markup for a text. */
export function deliveryText(
  reader: Reader,
  entry: Pick<
    DeliveryEntry,
    'status' | 'attempts' | 'lastStatusCode' | 'lastError' | 'nextAttemptAt' | 'deliveredAt'
  >,
  now: Date,
): { readonly kind: 'html'; readonly html: string } {
  const { t } = reader
  const { status, attempts, lastStatusCode, lastError, nextAttemptAt, deliveredAt } = entry
  const failure =
    lastStatusCode === null
      ? lastError === null || status === 'delivered'
        ? []
        : [textHtml(failureWords(t, lastError))]
      : [t.html('bot:deliveries.reason', { reason: id(lastStatusCode) })]
  const parts = [
    status === 'delivered' && deliveredAt !== null
      ? t.html('bot:deliveries.delivered', {
          time: clockTime(reader, deliveredAt, { seconds: true }),
        })
      : status === 'retrying' && nextAttemptAt !== null
        ? t.html('bot:deliveries.retrying', { time: nearTime(reader, nextAttemptAt, now) })
        : t.html(`bot:deliveries.status.${status}`),
    ...(attempts > 1 || (attempts === 1 && status !== 'delivered')
      ? [t.html('bot:deliveries.try', { number: id(attempts) })]
      : []),
    ...failure,
  ]
  return { kind: 'html', html: parts.join(' · ') }
}
