import { isolate, withoutDirections } from '#src/i18n/isolates.ts'
import {
  checkedKey,
  type HtmlValue,
  type Translate,
  translator,
  typed,
} from '#src/i18n/translate.ts'
import { titleOnChain } from '#src/kernel/chains.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { titleAfterWatchName } from '#src/kernel/title-after-watch-name.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from '../envelope.ts'
import { figuresOfCause, isNetworkCause } from '../groups/cause.ts'
import {
  type Failure,
  failureIn,
  isHealthy,
  isStillCaused,
  numberOf,
  openIn,
  sharedField,
  sharedNumber,
} from '../groups/group.ts'
import { groupTimes, lostRewardsIn, lostRounds, namedIn } from '../groups/times.ts'
import { groupBody, groupHeading, groupLine } from '../groups/wording.ts'
import { alertHeading } from './heading.ts'
import { type CardItem, groupItem, TITLE_MAX, transferItem } from './items.ts'
import {
  glyphOf,
  hasEnded,
  type LineWriter,
  lineStart,
  plainLineWriter,
  severityLine,
  shownAtOf,
  shownLabel,
  TEST_GLYPH,
  worstOf,
} from './wording.ts'

/** Maximum number of fields of a notice that a chat shows; more would hide the text. */
export const CARD_FIELDS_MAX = 6

/** Colours of a message. */
export type MessageTone = 'critical' | 'warning' | 'fine' | 'info'

/** Content of a message of any kind for channels that people read: plain text, not yet cut to a limit. */
export interface Card {
  /** Glyph before the title; empty if the title needs none. */
  readonly glyph: string
  readonly title: string
  /** Lines below the title: severity, state; as the writer formats them. */
  readonly lines: readonly string[]
  readonly body: string
  /** Fields of a notice, or what alerts of a group share; values of one alert are its facts. */
  readonly fields: readonly MessageField[]
  readonly items: readonly CardItem[]
  /** Text such as "and 12 more"; undefined if every item is shown. */
  readonly more: string | undefined
  /** Pages that can be opened. */
  readonly links: readonly { readonly label: string; readonly url: string }[]
  /** Number of the incident, the same in every message about it. */
  readonly number: string | undefined
  readonly tone: MessageTone
}

/** Maximum number of messages of a group or summary that are listed. */
const ITEMS_MAX = 20

const HEADING_OVER = 'messages:recovered.over'
const HEADING_STILL_ACTIVE = 'messages:reminder.head'

interface CardOptions {
  /** Time of sending, for a first message only; later it is `shownAt` of the state. */
  readonly now?: Date
  readonly state?: MessageState
  /** Formats lines; plain text by default. */
  readonly writer?: LineWriter<HtmlValue>
  /** Whether a group has more messages than its envelope. */
  readonly isCut?: boolean
}

/** Content of an envelope for channels that people read, in its language and the reader's time zone. */
export function cardOf(envelope: Envelope, options: CardOptions = {}): Card {
  const { kind = 'alert', message, items = [] } = envelope
  switch (kind) {
    case 'alert':
    case 'raised':
    case 'reminder':
      return alertCard(envelope, options)
    case 'group':
      return groupCard(envelope, items.length === 0 ? [message] : items, options)
    case 'rollup':
      return rollupCard(envelope, items.length === 0 ? [message] : items, options)
    case 'summary':
    case 'notice':
      return plainCard(envelope, options)
    default:
      return kind satisfies never
  }
}

function alertCard(
  envelope: Envelope,
  { state = {}, now, writer = plainLineWriter(envelope) }: CardOptions,
): Card {
  const { message } = envelope
  const t = translator(envelope.locale)
  const glyph = glyphOf(message, state)
  // The body of an alert that has recovered says how long its outage lasted.
  const isLengthStated = state.recovery?.(envelope)?.seconds !== undefined
  return {
    glyph: message.test ? `${TEST_GLYPH} ${t('messages:test.label')} · ${glyph}` : glyph,
    title: cutText(alertHeading(envelope), TITLE_MAX),
    lines: [severityLine(envelope, writer, { state, now, isLengthStated })],
    body: message.body,
    fields: [],
    items: [],
    more: undefined,
    links: [{ label: t('messages:details'), url: message.link }],
    number: numberOf(message),
    tone: toneOf(message, state),
  }
}

/**
 * Several alerts of one watch: the heading says what they have in common, and each alert has a line. The line of an
 * alert that has recovered says so.
 */
function groupCard(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  { state = {}, now, writer = plainLineWriter(envelope), isCut = false }: CardOptions,
): Card {
  const t = translator(envelope.locale)
  const open = openIn(envelope, state)
  const worst = namedIn(envelope, state)
  const isOver = open.length === 0 || hasEnded(state)
  const failure = failureIn(envelope, state)
  const isSilent = failure === 'silent' && !isNetworkCause(envelope.cause)
  const times = { ...groupTimes(envelope, state), shownAt: shownAtOf(envelope, state, now) }
  const { cause, ...uncaused } = envelope
  const isWell = (isOver && isHealthy(items, state)) || cause?.kind === 'healthy'
  const hasCause = isWell || isStillCaused(envelope, state)
  // A follow-up message leaves it to the recovery to say what has ended, and after how long.
  const isFollowUpOver = isOver && envelope.of !== undefined
  const isLengthStated =
    isFollowUpOver || (isWell && (cause?.kind === 'silent' || cause?.kind === 'healthy'))
  const heading = groupHeading(hasCause ? envelope : uncaused, {
    ...times,
    worst: { ...worst, title: cutText(worst.title, TITLE_MAX) },
    count: isOver ? items.length : open.length,
    isOver: isOver && !isFollowUpOver,
    isCut,
    rounds: lostRounds(envelope, state),
    rewards: lostRewardsIn(envelope, state),
  })
  // The line is about what the heading says.
  const about = hasCause || isOver ? items : [worst]
  // An alert that is over, acknowledged or muted needs no reminder any more.
  const isReminder = envelope.of === 'reminder' && !isOver && !state.acknowledged && !state.muted
  const areTransfers = cause?.kind === 'moved'
  const shown = isSilent ? { ...worst, severity: 'critical' as const } : worst
  return {
    glyph: glyphOf(shown, isOver ? endOf(worst, state) : {}),
    title:
      isReminder || isFollowUpOver
        ? t(isFollowUpOver ? HEADING_OVER : HEADING_STILL_ACTIVE, { title: heading })
        : heading,
    lines: [
      groupLine(envelope, { ...times, about, worst, isSilent, isLengthStated, state, writer }),
    ],
    body: groupBody(envelope, { items, worst, failure, isOver, isReminder, state }),
    fields:
      isFollowUpOver || areTransfers ? [] : groupFields(envelope, items, { failure, hasCause }),
    // A group of recoveries replies to the message that lists its alerts. That message shows these lines already, so
    // they are not repeated.
    ...listed(t, isFollowUpOver || envelope.repliesToList === true ? [] : items, 0, (item) =>
      areTransfers ? transferItem(envelope, item, times.shownAt) : groupItem(envelope, item, state),
    ),
    links: [{ label: t('messages:details'), url: worst.link }],
    number: sharedNumber(items),
    tone: isOver ? 'fine' : isSilent ? 'critical' : toneOf(worst, {}),
  }
}

/** What is known of a common cause, then what the alerts share. */
function groupFields(
  { cause, locale }: Envelope,
  items: readonly EnvelopeMessage[],
  { failure, hasCause }: { readonly failure: Failure | undefined; readonly hasCause: boolean },
): readonly MessageField[] {
  return [
    ...(failure === undefined ? [] : figuresOfCause(cause, locale)),
    // A heading about a common cause counts the lost rounds, so the field with the id of one round is left out.
    ...sharedField(items).filter(({ key }) => !hasCause || key !== 'round'),
  ]
}

/** Alerts of one minute, with their count. */
function rollupCard(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  { state = {}, now, writer = plainLineWriter(envelope) }: CardOptions,
): Card {
  const t = translator(envelope.locale)
  const worst = worstOf(items) ?? envelope.message
  const recovered = items.filter(({ isRecovery }) => isRecovery)
  const counts = [
    ...SEVERITIES.toReversed().map((severity) => ({
      key: severity as string,
      count: items.filter((item) => item.severity === severity && !item.isRecovery).length,
    })),
    { key: 'recovered', count: recovered.length },
  ].filter(({ count }) => count > 0)
  const byWatch = [...Map.groupBy(items, ({ watchLabel }) => watchLabel ?? '')]
    .map(([label, all]) => ({ label, count: all.length }))
    .filter(({ label }) => label !== '')
    .sort((a, b) => b.count - a.count)
  const newest = items.toSorted((a, b) => b.firedAt.localeCompare(a.firedAt))[0] ?? worst
  const shownAt = shownAtOf({ message: newest }, state, now)
  const about = {
    time: writer.time(new Date(newest.firedAt), { seconds: true, shownAt }),
    title: cutText(newest.title, TITLE_MAX),
  }
  return {
    glyph: glyphOf(worst),
    title: titleOnChain(t('messages:rollup.heading', { count: items.length })),
    lines: [
      counts
        .map(({ key, count }) => t(checkedKey(`messages:rollup.${key}`), { count }))
        .join(' · '),
      ...(byWatch.length === 0 ? [] : [writer.text(watchCounts(t, byWatch))]),
      newest.watchLabel === null
        ? writer.write('messages:rollup.newestNoWatch', about)
        : writer.write('messages:rollup.newest', {
            ...about,
            watch: typed(shownLabel(newest.watchLabel)),
            title: cutText(
              titleAfterWatchName(shownLabel(newest.watchLabel), newest.title),
              TITLE_MAX,
            ),
          }),
    ],
    body: '',
    fields: [],
    items: [],
    more: undefined,
    links: [{ label: t('messages:details'), url: worst.link }],
    number: undefined,
    tone: toneOf(worst, {}),
  }
}

/** A summary or notice. The title names its kind; each of its messages, if any, has one line. */
function plainCard(envelope: Envelope, { state = {}, now }: CardOptions): Card {
  const { message, items = [], more, buttons = [], locale } = envelope
  const t = translator(locale)
  const writer = plainLineWriter(envelope)
  const { glyph } = envelope.data
  const shownAt = shownAtOf(envelope, state, now)
  return {
    glyph: typeof glyph === 'string' ? glyph : '',
    title: cutText(message.title, TITLE_MAX),
    lines: [],
    body: message.body,
    fields: message.fields,
    ...listed(t, items, more, (item) => ({
      glyph: glyphOf(item),
      time: String(writer.time(new Date(item.firedAt), { shownAt })),
      fields: [],
      number: undefined,
      text:
        item.watchLabel === null
          ? cutText(item.title, TITLE_MAX)
          : t('messages:item', {
              watch: typed(shownLabel(item.watchLabel)),
              title: cutText(
                titleAfterWatchName(shownLabel(item.watchLabel), item.title),
                TITLE_MAX,
              ),
            }),
      message: item,
    })),
    links: buttons.flat().flatMap((button) => ('url' in button ? [button] : [])),
    number: undefined,
    tone: message.severity,
  }
}

/** @param more number of messages beyond the items */
function listed(
  t: Translate,
  items: readonly EnvelopeMessage[],
  more: number | undefined,
  write: (item: EnvelopeMessage) => CardItem,
) {
  const rest = Math.max(0, items.length - ITEMS_MAX) + (more ?? 0)
  return {
    items: items.slice(0, ITEMS_MAX).map(write),
    more: rest > 0 ? t('messages:items.more', { count: rest }) : undefined,
  }
}

const WATCHES_MAX = 5

function watchCounts(
  { locale }: Translate,
  counts: readonly { readonly label: string; readonly count: number }[],
): string {
  const named = counts.slice(0, WATCHES_MAX).map(({ label, count }) => {
    const name = isolate(withoutDirections(shownLabel(label)))
    // Without brackets, the count would read as part of a name that ends in a number.
    return count === 1 ? name : `${name} (${count})`
  })
  return lineStart(locale) + named.join(' · ') + (counts.length > WATCHES_MAX ? ' · …' : '')
}

function toneOf({ isRecovery, severity }: EnvelopeMessage, state: MessageState): MessageTone {
  return isRecovery || state.recoveredAt !== undefined ? 'fine' : severity
}

/** State that says how a group ended: all its alerts recovered, or its watch was deleted. */
function endOf({ firedAt }: EnvelopeMessage, { closedAt }: MessageState): MessageState {
  return closedAt === undefined ? { recoveredAt: new Date(firedAt) } : { closedAt }
}
