/** Adds up notices of one kind, and rewords notices that arrive after the end they announce. Pure. */
import { creditsWithUsd, missingCreditsText, renewalOfferText } from '#src/billing/price-text.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { factsOf, type NoticeFacts } from '#src/channels/notice-facts.ts'
import { formatDate } from '#src/i18n/format.ts'
import { firstLabels } from '#src/i18n/name-list.ts'
import type { Translate } from '#src/i18n/translate.ts'
import { titleOnChain } from '#src/kernel/chains.ts'

const SLOTS_END = 'notice.slots-end'
const RENEWAL_AHEAD = 'notice.renewal-ahead'
const RENEWED = 'notice.renewed'
const SUSPENDED = 'notice.suspended'
const RESUMED = 'notice.resumed'
const TRIAL_ENDS = 'notice.trial-ends'

type Notices = readonly [Envelope, ...Envelope[]]

/**
 * Adds up notices of the same kind and the same day, in the place of the first. Slots that end without
 * renewal, and slots whose renewal lacks credits, are two kinds. Suspended watches stay separate if watches
 * also run again in the same message.
 */
export function addUpNotices(t: Translate, notices: Notices): Notices {
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
    (event === SLOTS_END && facts?.renewal?.missingCredits !== 0) ||
    event === RENEWAL_AHEAD ||
    event === RENEWED ||
    (event === SUSPENDED && !isAgain)
  if (facts === undefined || !mayAdd) return undefined
  const kind = facts.renewal === null ? 'ends' : 'renews'
  return [event, kind, dateOf(t, notice, facts)].join(' ')
}

function sum(t: Translate, notices: readonly Envelope[]): Envelope | undefined {
  const [first, ...later] = notices
  if (first === undefined || later.length === 0) return first
  const all = notices.flatMap((notice) => factsOf(notice) ?? [])
  const [oldest] = all
  if (oldest === undefined) return first
  const count = all.reduce((total, facts) => total + facts.count, 0)
  // A later end also suspends the watches of earlier ones, so the longest list contains the others.
  const stopping = all
    .flatMap((facts) => (facts.stopping === null ? [] : [facts.stopping]))
    .reduce<string[]>((longest, labels) => (labels.length > longest.length ? labels : longest), [])
  const facts = {
    ...oldest,
    count,
    stopping: oldest.stopping && stopping,
    renewal: renewalOf(all),
    offers: offersOf(all),
    balanceCredits: all.at(-1)?.balanceCredits ?? null,
  }
  const { event } = first.message
  return {
    ...first,
    data: { ...first.data, facts },
    message: {
      ...first.message,
      title: titleOnChain(titleOf(t, event, facts, dateOf(t, first, oldest))),
      body: bodyOf(t, event, facts) ?? linesOf(notices),
    },
    buttons: notices.flatMap(({ buttons = [] }) => buttons),
  }
}

function titleOf(
  t: Translate,
  event: string,
  { count, renewal }: NoticeFacts,
  date: string,
): string {
  const values = { count, date }
  if (event === SLOTS_END) return t('notices:slots-end.title', values)
  if (event === SUSPENDED) return t('notices:suspended.title', values)
  const price = creditsWithUsd(t, renewal?.credits ?? 0)
  const key = event === RENEWED ? 'renewed' : 'renewal-ahead'
  return t(`notices:${key}.title`, { ...values, price })
}

/**
 * Price of several renewals, and the credits that are missing for all of them. Each missing amount was
 * computed from the credits left after earlier renewals; the smallest of these remainders is available for
 * all.
 */
function renewalOf(all: readonly NoticeFacts[]): NoticeFacts['renewal'] {
  const renewals = all.flatMap(({ renewal }) => renewal ?? [])
  if (renewals.length === 0) return null
  const credits = renewals.reduce((sum, renewal) => sum + renewal.credits, 0)
  const left = Math.min(...renewals.map((renewal) => renewal.credits - renewal.missingCredits))
  const isCovered = renewals.every(({ missingCredits }) => missingCredits === 0)
  return { credits, missingCredits: isCovered ? 0 : credits - left }
}

/** The prices of automatic renewals, those of one duration added up. */
function offersOf(all: readonly NoticeFacts[]): NoticeFacts['offers'] {
  const offers = all.flatMap(({ offers }) => offers)
  return [...Map.groupBy(offers, ({ periods }) => periods)].map(([periods, same]) => ({
    periods,
    credits: same.reduce((total, { credits }) => total + credits, 0),
  }))
}

/** The sentences of slots that end or are renewed; undefined for other notices. */
function bodyOf(t: Translate, event: string, facts: NoticeFacts): string | undefined {
  const { renewal, stopping, balanceCredits } = facts
  const price = renewal === null ? undefined : creditsWithUsd(t, renewal.credits)
  if (event === RENEWAL_AHEAD && price !== undefined) {
    const balance = creditsWithUsd(t, balanceCredits ?? 0)
    const left = t('notices:credited.balance', { balance })
    return `${left}\n${t('notices:renewal-ahead.nothing')}`
  }
  if (event === RENEWED) {
    return t('notices:renewed.left', { balance: creditsWithUsd(t, balanceCredits ?? 0) })
  }
  if (event !== SLOTS_END) return undefined
  const watches = firstLabels(t, stopping ?? [])
  if (price === undefined) {
    const stops = stopsText(t, watches, 'notices:slots-end.stops')
    const offers = facts.offers.map((offer) => renewalOfferText(t, offer))
    return [stops, ...offers].join('\n')
  }
  const count = renewal?.missingCredits ?? 0
  const missing = missingCreditsText(t, { price, count })
  return `${missing}\n${stopsText(t, watches, 'notices:slots-end.stopsIfShort')}`
}

function stopsText(
  t: Translate,
  watches: string | undefined,
  stops: 'notices:slots-end.stops' | 'notices:slots-end.stopsIfShort',
): string {
  return watches === undefined ? t('notices:slots-end.nothing') : t(stops, { watches })
}

/** The lines of all; a line that several have is kept once, where it occurs last. */
function linesOf(notices: readonly Envelope[]): string {
  const lines = notices.flatMap(({ message }) => message.body.split('\n'))
  return [...new Set(lines.toReversed())].toReversed().join('\n')
}

/** Rewords a notice whose announced end is over. */
export function rewordEnded(t: Translate, notice: Envelope, now: Date): Envelope {
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
