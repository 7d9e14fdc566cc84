import { isolate, withoutDirections } from '#src/i18n/isolates.ts'
import { builtKey, type HtmlValue, type Translate, translator, typed } from '#src/i18n/translate.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import type { Envelope, EnvelopeMessage, MessageField, MessageState } from './define.ts'
import {
  cut,
  glyphOf,
  hasEnded,
  type LineWriter,
  lineStart,
  plainLines,
  severityLine,
  shownLabel,
  TEST_GLYPH,
  worstOf,
  written,
} from './wording.ts'

/** Fields of a message that a chat shows; more would hide its text. */
export const CARD_FIELDS_MAX = 6

/** The colours a message can have. */
export type Tone = 'critical' | 'warning' | 'fine' | 'info'

/** One message of a group or summary. */
export interface CardItem {
  /** Glyph, time where it matters, title. */
  readonly glyph: string
  readonly time: string | undefined
  readonly text: string
  readonly message: EnvelopeMessage
}

/** A message of any kind, as every channel for people shows it: plain text, not cut to any limit yet. */
export interface Card {
  /** Stands before the title; empty where the title speaks for itself. */
  readonly glyph: string
  readonly title: string
  /** Lines under the title: test, severity, what became of it; as the writer writes them. */
  readonly lines: readonly string[]
  readonly body: string
  readonly fields: readonly MessageField[]
  readonly items: readonly CardItem[]
  /** "and 12 more", where not every item is shown. */
  readonly more: string | undefined
  /** Pages to open. */
  readonly links: readonly { readonly label: string; readonly url: string }[]
  /** The alert's number, so that a repeat is recognized. */
  readonly number: string | undefined
  readonly tone: Tone
}

/** Most messages of a group or summary that are named. */
const ITEMS_MAX = 20
const TITLE_MAX = 300
/** Fields that many alerts of one moment can share. */
const SHARED_FIELDS: readonly string[] = ['sender', 'from', 'round', 'rounds']

interface CardOptions {
  /** Of the first telling. */
  readonly now?: Date
  readonly state?: MessageState
  /** How lines are written; as plain text unless given. */
  readonly writer?: LineWriter<HtmlValue>
}

/** What a channel for people shows of an envelope, in its language and on its reader's clock. */
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
      return plainCard(envelope)
    default:
      return kind satisfies never
  }
}

function alertCard(
  envelope: Envelope,
  { state = {}, now, writer = plainLines(envelope) }: CardOptions,
): Card {
  const { message } = envelope
  const t = translator(envelope.locale)
  const test = message.test ? [`${TEST_GLYPH} ${t('messages:test.label')}`] : []
  return {
    glyph: glyphOf(message, state),
    title: cut(message.title, TITLE_MAX),
    lines: [...test, severityLine(envelope, writer, { state, now })],
    body: message.body,
    fields: message.fields,
    items: [],
    more: undefined,
    links: [{ label: t('messages:details'), url: message.link }],
    number: message.alertId === null ? undefined : `#${message.alertId}`,
    tone: toneOf(message, state),
  }
}

/** Several alerts of one watch: the worst speaks for all, each has a line. */
function groupCard(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  { state = {}, writer = plainLines(envelope) }: CardOptions,
): Card {
  const t = translator(envelope.locale)
  const stateOf = ({ alertId }: EnvelopeMessage) =>
    (alertId === null ? undefined : state.items?.get(alertId)) ?? {}
  const open = items.filter((item) => !item.isRecovery && !hasEnded(stateOf(item)))
  const worst = worstOf(open.length === 0 ? items : open) ?? envelope.message
  const isOver = open.length === 0 || hasEnded(state)
  const count = items.length
  const { watchLabel } = worst
  const since = items.map(({ firedAt }) => firedAt).sort()[0] ?? worst.firedAt
  const isClosed = isOver && state.closedAt !== undefined
  const recoveredAt = isOver && !isClosed ? lastRecovery(items, state) : undefined
  const line = severityLine(
    {
      ...envelope,
      kind: envelope.of === 'raised' ? 'raised' : 'group',
      message: { ...worst, watchLabel: null, firedAt: since },
    },
    writer,
    { state: { ...state, ...(recoveredAt && { recoveredAt }) } },
  )
  const heading =
    watchLabel === null
      ? t('messages:group.headingNoWatch', { count })
      : t('messages:group.heading', { count, watch: typed(shownLabel(watchLabel)) })
  // Once somebody has seen to them nobody is reminded any more.
  const isReminder = envelope.of === 'reminder' && !isOver && !state.acknowledged && !state.muted
  return {
    glyph: glyphOf(worst, isOver ? endOf(worst, state) : {}),
    title: isReminder ? t('messages:reminder.head', { title: heading }) : heading,
    lines: [line],
    body: isReminder ? sharedBody(items) : '',
    fields: sharedField(items),
    ...listed(t, items, 0, (item) => ({
      glyph: glyphOf(item, stateOf(item)),
      time: undefined,
      text: cut(item.title, TITLE_MAX),
      message: item,
    })),
    links: [{ label: t('messages:details'), url: worst.link }],
    number: undefined,
    tone: isOver ? 'fine' : toneOf(worst, {}),
  }
}

/** Many alerts of a minute, counted. */
function rollupCard(
  envelope: Envelope,
  items: readonly EnvelopeMessage[],
  { writer = plainLines(envelope) }: CardOptions,
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
  const about = {
    time: writer.time(new Date(newest.firedAt), { seconds: true }),
    title: cut(newest.title, TITLE_MAX),
  }
  return {
    glyph: glyphOf(worst),
    title: t('messages:rollup.heading', { count: items.length }),
    lines: [
      counts.map(({ key, count }) => t(builtKey(`messages:rollup.${key}`), { count })).join(' · '),
      ...(byWatch.length === 0 ? [] : [writer.text(watchCounts(t, byWatch))]),
      newest.watchLabel === null
        ? writer.write('messages:rollup.newestNoWatch', about)
        : writer.write('messages:rollup.newest', {
            ...about,
            watch: typed(shownLabel(newest.watchLabel)),
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

/**
 * A summary or a notice: it says itself what it is, a notice with the sign among its data; its messages,
 * where it has some, one a line.
 */
function plainCard(envelope: Envelope): Card {
  const { message, items = [], more, buttons = [], locale } = envelope
  const t = translator(locale)
  const writer = plainLines(envelope)
  const { glyph } = envelope.data
  return {
    glyph: typeof glyph === 'string' ? glyph : '',
    title: cut(message.title, TITLE_MAX),
    lines: message.test ? [`${TEST_GLYPH} ${t('messages:test.label')}`] : [],
    body: message.body,
    fields: message.fields,
    ...listed(t, items, more, (item) => ({
      glyph: glyphOf(item),
      time: String(writer.time(new Date(item.firedAt), {})),
      text:
        item.watchLabel === null
          ? cut(item.title, TITLE_MAX)
          : t('messages:item', {
              watch: typed(shownLabel(item.watchLabel)),
              title: cut(item.title, TITLE_MAX),
            }),
      message: item,
    })),
    links: buttons.flat().flatMap((button) => ('url' in button ? [button] : [])),
    number: undefined,
    tone: message.severity,
  }
}

/** @param more messages beyond the items */
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

/** An item as one line of text. */
export function itemLine(
  { glyph, time, text, message }: CardItem,
  locale: Envelope['locale'],
): string {
  const number = time !== undefined || message.alertId === null ? [] : [`#${message.alertId}`]
  const start = time === undefined ? [] : [written(locale, time)]
  return lineStart(locale) + [...start, glyph, text, ...number].join(' ')
}

/** For how long they have all been open; empty where that differs. */
function sharedBody([first, ...others]: readonly EnvelopeMessage[]): string {
  return first !== undefined && others.every(({ body }) => body === first.body) ? first.body : ''
}

/** What all of them share: a sender, a round. At most one. */
function sharedField(items: readonly EnvelopeMessage[]): readonly MessageField[] {
  if (items.length < 2) return []
  for (const key of SHARED_FIELDS) {
    const values = items.map(({ fields }) => fields.find((field) => field.key === key))
    const [first] = values
    if (first !== undefined && values.every((field) => field?.value === first.value)) return [first]
  }
  return []
}

const WATCHES_MAX = 5

function watchCounts(
  { locale }: Translate,
  counts: readonly { readonly label: string; readonly count: number }[],
): string {
  const named = counts.slice(0, WATCHES_MAX).map(({ label, count }) => {
    const name = isolate(withoutDirections(shownLabel(label)))
    // A bare number behind a name that ends in one would be a part of it.
    return count === 1 ? name : `${name} (${count})`
  })
  return lineStart(locale) + named.join(' · ') + (counts.length > WATCHES_MAX ? ' · …' : '')
}

function toneOf({ isRecovery, severity }: EnvelopeMessage, state: MessageState): Tone {
  return isRecovery || state.recoveredAt !== undefined ? 'fine' : severity
}

/** How a group that is over ended. */
function endOf({ firedAt }: EnvelopeMessage, { closedAt }: MessageState): MessageState {
  return closedAt === undefined ? { recoveredAt: new Date(firedAt) } : { closedAt }
}

function lastRecovery(items: readonly EnvelopeMessage[], state: MessageState): Date | undefined {
  const times = items.flatMap(({ alertId }) => {
    const at = alertId === null ? undefined : state.items?.get(alertId)?.recoveredAt
    return at === undefined ? [] : [at.getTime()]
  })
  if (state.recoveredAt !== undefined) return state.recoveredAt
  return times.length === 0 ? undefined : new Date(Math.max(...times))
}
