/** What happened to an alert, as its page lists it. */
import type { LinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { formatDuration, formatList, formatTimeOn } from '#src/i18n/format.ts'
import { type Translate, typed } from '#src/i18n/translate.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'

/** Events of the alert, in order. */
export function timeline(t: Translate, page: LinkedAlertPage, now: Date) {
  const { message, timezone, acknowledged, note, recoveredAt, durationSeconds } = page
  const { closedAt, escalated, startedAt } = page
  const firedAt = new Date(message.firedAt)
  const events: readonly (readonly [Date, string])[] = [
    ...(startedAt < firedAt && message.canRecover
      ? [[startedAt, t('pages:alert.event.began')] as const]
      : []),
    [firedAt, t('pages:alert.event.fired')],
    ...sentEvents(t, page),
    ...(acknowledged === null
      ? []
      : [
          [
            acknowledged.at,
            acknowledged.by === null
              ? t('pages:alert.acknowledged')
              : t('pages:alert.event.acknowledged', { name: typed(acknowledged.by) }),
          ] as const,
        ]),
    ...(note === null ? [] : [[note.at, lineOfNote(t, note)] as const]),
    ...(escalated === null ? [] : [[escalated.at, escalatedEvent(t, escalated)] as const]),
    ...(closedAt === null ? [] : [[closedAt, t('pages:alert.event.closed')] as const]),
    ...(recoveredAt === null || durationSeconds === null
      ? []
      : [
          [
            recoveredAt,
            t('pages:alert.event.recovered', {
              duration: formatDuration(durationSeconds, t.locale, 'long'),
            }),
          ] as const,
        ]),
  ]
  return events
    .toSorted(([a], [b]) => a.getTime() - b.getTime())
    .map(([at, text]) => ({
      at: at.toISOString(),
      time: formatTimeOn(at, t.locale, timezone, { seconds: true, offset: true, shownAt: now }),
      text,
    }))
}

/** What a person wrote about the alert. */
export function lineOfNote(
  t: Translate,
  { by, text }: NonNullable<LinkedAlertPage['note']>,
): string {
  const note = typed(text)
  return by === null
    ? t('pages:alert.note', { note })
    : t('pages:alert.noteBy', { note, name: typed(by) })
}

/** When and to how many recipients it was sent first: one event for those that got it within a minute. */
function sentEvents(
  t: Translate,
  { sentAt }: LinkedAlertPage,
): readonly (readonly [Date, string])[] {
  const parts: { readonly at: Date; count: number }[] = []
  for (const at of sentAt) {
    const part = parts.at(-1)
    if (part !== undefined && at.getTime() - part.at.getTime() < MINUTE_MS) part.count += 1
    else parts.push({ at, count: 1 })
  }
  return parts.map(({ at, count }) => [at, t('pages:alert.event.sent', { count })] as const)
}

function escalatedEvent(t: Translate, { to }: NonNullable<LinkedAlertPage['escalated']>): string {
  return to.length === 0
    ? t('pages:alert.event.escalated')
    : t('pages:alert.event.escalatedTo', { names: formatList(to, t.locale) })
}
