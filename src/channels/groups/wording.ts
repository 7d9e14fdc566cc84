/** Texts of a message with several alerts: its heading, the line and the text below it, the lines of its alerts. Pure. */
import { formatDuration } from '#src/i18n/format.ts'
import { type HtmlValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import { titleAfterWatchName } from '#src/kernel/title-after-watch-name.ts'
import { movedDifference } from '../card/transfer.ts'
import { type LineWriter, severityLine, shownLabel } from '../card/wording.ts'
import type { Envelope, EnvelopeMessage, MessageState } from '../envelope.ts'
import { causeHeading, type Times } from './cause.ts'
import { type Failure, stateIn } from './group.ts'

/** The line below the heading of a group: severity, times, state. */
export function groupLine(
  envelope: Envelope,
  of: Times & {
    /** The alerts that the heading is about. */
    readonly about: readonly EnvelopeMessage[]
    readonly worst: EnvelopeMessage
    readonly isSilent: boolean
    /** Whether the heading says how long the outage lasted. */
    readonly isLengthStated: boolean
    readonly state: MessageState
    readonly writer: LineWriter<HtmlValue>
  },
): string {
  const { about, worst, from, to, shownAt, isSilent, isLengthStated, state, writer } = of
  const first = about.map(({ firedAt }) => firedAt).sort()[0] ?? worst.firedAt
  return severityLine(
    {
      ...envelope,
      kind: envelope.of === 'raised' ? 'raised' : 'group',
      message: {
        ...worst,
        firedAt: first,
        canRecover: about.some(({ canRecover }) => canRecover),
        ...(isSilent && { severity: 'critical' as const }),
      },
    },
    writer,
    { state: { ...state, ...(to && { recoveredAt: to }), shownAt }, from, isLengthStated },
  )
}

/**
 * What the alerts have in common; else the title of the most severe one, and how many there are beside it. Like every
 * title it names the chain, unless that is Flare.
 */
export function groupHeading(
  envelope: Envelope,
  of: Omit<Parameters<typeof causeHeading>[1], 'watch'> & {
    readonly worst: EnvelopeMessage
    readonly count: number
    /** Whether there may be more than `count`. */
    readonly isCut: boolean
  },
): string {
  const { worst, count, isOver, isCut } = of
  const { watchLabel: watch, title } = worst
  const t = translator(envelope.locale)
  if (watch === null) return titleOnChain(t('messages:group.headingNoWatch', { count }))
  const label = shownLabel(watch)
  const shared = causeHeading(envelope, { ...of, watch })
  if (shared !== undefined) return titleOnChain(shared)
  if (isOver) {
    const key = isCut ? 'messages:group.overAtLeast' : 'messages:group.over'
    return titleOnChain(t(key, { watch: typed(label), count }))
  }
  // The title of the alert names the chain.
  const named = { watch: typed(label), title: titleAfterWatchName(label, title) }
  if (count === 1) return t('messages:item', named)
  return isCut
    ? `${t('messages:item', named)} · ${t('messages:items.moreAtLeast', { count: count - 1 })}`
    : t('messages:group.more', { ...named, count: count - 1 })
}

/** The text of a group: its damage, what its transfers come to, the reminder of the alert that it names, and how long nobody has acknowledged it. */
export function groupBody(
  { locale, cause, unacknowledgedSeconds: seconds }: Envelope,
  of: {
    readonly items: readonly EnvelopeMessage[]
    readonly worst: EnvelopeMessage
    /** The common cause that still holds. */
    readonly failure: Failure | undefined
    readonly isOver: boolean
    readonly isReminder: boolean
    readonly state: MessageState
  },
): string {
  const { items, worst, failure, isOver, isReminder, state } = of
  const t = translator(locale)
  const difference = cause?.kind === 'moved' ? movedDifference(t, cause) : ''
  const isTaken = items.some((item) => stateIn(state, item).acknowledged !== undefined)
  const isUntaken = seconds !== undefined && !isOver && !isTaken && !state.acknowledged
  return [
    ...(failure ? [t(`messages:group.${failure}Body`)] : []),
    ...(difference === '' ? [] : [difference]),
    ...(isReminder ? [worst.body] : []),
    ...(isUntaken
      ? [t('messages:escalated', { duration: formatDuration(seconds, locale, 'long') })]
      : []),
  ].join('\n')
}

/** Title of one alert of a group. Once the alert has recovered, it is the title of the recovery. */
export function groupItemTitle(
  t: Translate,
  { title, isRecovery }: EnvelopeMessage,
  { recoveredAt }: MessageState,
  recovered: string | undefined,
): string {
  if (isRecovery || recoveredAt === undefined) return title
  return recovered ?? t('messages:recovered.over', { title })
}
