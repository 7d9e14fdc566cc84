/** Texts of a message with several alerts: its heading, the line and the text below it, the lines of its alerts. Pure. */
import { formatDuration } from '#src/i18n/format.ts'
import { type HtmlValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { causeHeading, outageSpan } from './cause.ts'
import type { Envelope, EnvelopeMessage, MessageState } from './envelope.ts'
import { type lossOf, sharedBody, stateIn } from './group.ts'
import { type LineWriter, severityLine, shownLabel } from './wording.ts'

/** The line below the heading of a group: severity, times, state. */
export function groupLine(
  envelope: Envelope,
  of: {
    readonly worst: EnvelopeMessage
    readonly since: string
    readonly recoveredAt: Date | undefined
    readonly loss: ReturnType<typeof lossOf>
    readonly isSilent: boolean
    readonly state: MessageState
    readonly writer: LineWriter<HtmlValue>
  },
): string {
  const { worst, since, recoveredAt, loss, isSilent, state, writer } = of
  const { cause } = envelope
  const span = recoveredAt && outageSpan(cause, loss, recoveredAt)
  return severityLine(
    {
      ...envelope,
      ...span?.start,
      kind: envelope.of === 'raised' ? 'raised' : 'group',
      message: {
        ...worst,
        watchLabel: null,
        firedAt: since,
        // The heading says since when; the line, when it was noticed.
        ...(isSilent && { severity: 'critical' as const, canRecover: false }),
      },
    },
    writer,
    {
      state: { ...state, ...span?.end },
      isLengthStated: cause?.kind === 'silent' || loss.seconds !== undefined,
    },
  )
}

/** The common cause of the alerts, or their number. */
export function groupHeading(
  envelope: Envelope,
  of: Omit<Parameters<typeof causeHeading>[1], 'watch'> & {
    readonly watch: string | null
    readonly count: number
  },
): string {
  const { watch, count, isOver } = of
  const t = translator(envelope.locale)
  if (watch === null) return t('messages:group.headingNoWatch', { count })
  const named = { count, watch: typed(shownLabel(watch)) }
  return (
    causeHeading(envelope, { ...of, watch }) ??
    t(isOver ? 'messages:group.over' : 'messages:group.heading', named)
  )
}

/** The text of a group: its damage, how long nobody has acknowledged it, or what its reminders say. */
export function groupBody(
  { locale, unacknowledgedSeconds: seconds }: Envelope,
  of: {
    readonly items: readonly EnvelopeMessage[]
    readonly isSilent: boolean
    readonly isOver: boolean
    readonly isReminder: boolean
    readonly state: MessageState
  },
): string {
  const { items, isSilent, isOver, isReminder, state } = of
  const t = translator(locale)
  const isTaken = items.some((item) => stateIn(state, item).acknowledged !== undefined)
  const isUntaken = seconds !== undefined && !isOver && !isTaken && !state.acknowledged
  return [
    ...(isSilent ? [t('messages:group.silentBody')] : isReminder ? [sharedBody(items)] : []),
    ...(isUntaken
      ? [t('messages:escalated', { duration: formatDuration(seconds, locale, 'long') })]
      : []),
  ].join('\n')
}

/** Title of an alert of a group: of one that has recovered, that of its recovery. */
export function titleIn(
  t: Translate,
  { title, isRecovery }: EnvelopeMessage,
  { recoveredAt }: MessageState,
  recovered: string | undefined,
): string {
  if (isRecovery || recoveredAt === undefined) return title
  return recovered ?? t('messages:recovered.over', { title })
}
