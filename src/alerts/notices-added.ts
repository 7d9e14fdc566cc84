/** Notices of one kind added up, and notices that come after the end that they announce. Pure. */
import type { Envelope } from '#src/channels/envelope.ts'
import { factsOf, type NoticeFacts } from '#src/channels/notice-facts.ts'
import { firstLabels } from '#src/i18n/first-labels.ts'
import { formatDate } from '#src/i18n/format.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { titleOnChain } from '#src/kernel/chains.ts'

const SLOTS_END = 'notice.slots-end'
const RENEWED = 'notice.renewed'
const SUSPENDED = 'notice.suspended'
const RESUMED = 'notice.resumed'
const TRIAL_ENDS = 'notice.trial-ends'

type Notices = readonly [Envelope, ...Envelope[]]

/**
 * Adds up notices of the same kind and the same day, in the place of the first. Renewals that cost
 * something different, and watches that also run again in the same message, stay separate.
 */
export function addedUp(t: Translate, notices: Notices): Notices {
  const isAgain = notices.some(({ message }) => message.event === RESUMED)
  const [first, ...others] = Map.groupBy(
    notices.map((notice, index) => ({ notice, index })),
    ({ notice, index }) => sumKeyOf(t, notice, isAgain) ?? String(index),
  ).values()
  const sumOf = (group: readonly { readonly notice: Envelope }[] = []) =>
    sum(
      t,
      group.map(({ notice }) => notice),
    )
  return [sumOf(first) ?? notices[0], ...others.flatMap((group) => sumOf(group) ?? [])]
}

/** Notices with the same key are added up; undefined for a notice that stays by itself. */
function sumKeyOf(t: Translate, notice: Envelope, isAgain: boolean): string | undefined {
  const facts = factsOf(notice)
  const { event } = notice.message
  const mayAdd =
    (event === SLOTS_END && facts?.stopping) ||
    event === RENEWED ||
    (event === SUSPENDED && !isAgain)
  if (facts === undefined || !mayAdd) return undefined
  return [event, dateOf(t, notice, facts)].join(' ')
}

function sum(t: Translate, notices: readonly Envelope[]): Envelope | undefined {
  const [first, ...later] = notices
  if (first === undefined || later.length === 0) return first
  const all = notices.flatMap((notice) => factsOf(notice) ?? [])
  const [oldest] = all
  if (oldest === undefined) return first
  const count = all.reduce((total, facts) => total + facts.count, 0)
  // Each later end suspends more, so the longest list has the watches of the others.
  const stopping = all
    .flatMap((facts) => (facts.stopping === null ? [] : [facts.stopping]))
    .reduce<string[]>((longest, labels) => (labels.length > longest.length ? labels : longest), [])
  const facts = { ...oldest, count, stopping: oldest.stopping && stopping }
  const { event } = first.message
  return {
    ...first,
    data: { ...first.data, facts },
    message: {
      ...first.message,
      title: titleOnChain(titleOf(t, event, { count, date: dateOf(t, first, oldest) })),
      body: event === SLOTS_END ? stopsText(t, stopping) : linesOf(notices),
    },
    buttons: notices.flatMap(({ buttons = [] }) => buttons),
  }
}

function titleOf(
  t: Translate,
  event: string,
  values: { readonly count: number; readonly date: string },
): string {
  if (event === SLOTS_END) return t('notices:slots-end.title', values)
  if (event === RENEWED) return t('notices:renewed.title', values)
  return t('notices:suspended.title', values)
}

function stopsText(t: Translate, stopping: readonly string[]): string {
  const watches = firstLabels(t, stopping)
  return watches === undefined
    ? t('notices:slots-end.nothing')
    : t('notices:slots-end.stops', { watches })
}

/** The lines of all; a line that several have is said once, at the end. */
function linesOf(notices: readonly Envelope[]): string {
  const lines = notices.flatMap(({ message }) => message.body.split('\n'))
  return [...new Set(lines.toReversed())].toReversed().join('\n')
}

/** A notice as it is true at this time: an end that it announced may be over. */
export function asOf(t: Translate, notice: Envelope, now: Date): Envelope {
  const facts = factsOf(notice)
  if (facts?.endsAt == null || new Date(facts.endsAt) > now) return notice
  const { event } = notice.message
  if (event !== SLOTS_END && event !== TRIAL_ENDS) return notice
  const title =
    event === TRIAL_ENDS
      ? t('notices:trial-ended.title')
      : t('notices:slots-end.over', { count: facts.count, date: dateOf(t, notice, facts) })
  const message = {
    ...notice.message,
    title: titleOnChain(title),
    body: t('notices:slots-end.late'),
  }
  return { ...notice, message }
}

function dateOf(t: Translate, { timezone }: Envelope, { endsAt }: NoticeFacts): string {
  return endsAt === null ? '' : formatDate(new Date(endsAt), t.locale, timezone)
}
