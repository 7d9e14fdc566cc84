import { ALERT_LINK_ACTIONS, type AlertLinkAction } from '#src/alerts/acknowledge/link-actions.ts'
import type { IncidentPage } from '#src/alerts/history/incident-page.ts'
import type { OtherAlert } from '#src/alerts/history/other-alerts.ts'
import type { LinkedAlertPage } from '#src/alerts/history/public-view.ts'
import { recoveredTitle } from '#src/alerts/messages/render.ts'
import { glyphOf, isCode, severityWord, TEST_GLYPH } from '#src/channels/card/wording.ts'
import type { MessageField } from '#src/channels/envelope.ts'
import { failureWords } from '#src/channels/failure-reasons.ts'
import { ALERTS_ANCHOR } from '#src/channels/mail/content.ts'
import {
  formatDateTime,
  formatDuration,
  formatList,
  formatTimeOn,
  shortAddress,
} from '#src/i18n/format.ts'
import { checkedKey, id, type Translate, typed } from '#src/i18n/translate.ts'
import type { App } from '#src/operations/define.ts'
import { countRounds } from '#src/watches/provider-rounds.ts'
import type { ProviderView } from '#src/watches/provider-view.ts'
import { botUrl } from '../bot-url.ts'
import { parseHelpText } from '../help-text.ts'
import { roundsGrid } from '../providers/rounds-view.ts'
import { lineOfNote, timeline } from './timeline.ts'

/** Input of the alert's page. */
export interface AlertFacts {
  readonly page: LinkedAlertPage
  /** The alert's provider, with its rounds. */
  readonly provider: ProviderView | undefined
  readonly now: Date
}

/** The action that the page's form requests; empty for an unknown action. */
export function alertFormOf({ answer }: Readonly<Record<string, unknown>>) {
  const act = ALERT_LINK_ACTIONS.find((each) => each === answer)
  return act === undefined ? {} : { act }
}

/** Sections of the help that follow the facts; what to do comes before them. */
const REASONS = ['checked', 'why', 'causes'] as const

/** Template data of the alert's page. */
export function alertPageData(app: App, t: Translate, facts: AlertFacts) {
  const { page, provider, now } = facts
  const { message, timezone } = page
  const { watchId } = message
  const isFiring = page.isOpen && !message.isRecovery
  const { incident } = page
  const isIncidentOpen = isFiring || incident?.isOver === false
  const lasted = (now.getTime() - page.startedAt.getTime()) / 1000
  return {
    title: incident?.title ?? page.heading,
    incident: incident && incidentParts(t, page, incident),
    name: message.title,
    paragraphs: paragraphsOf(message.body),
    chips: chips(t, page),
    startedAt: page.startedAt.toISOString(),
    time: startText(t, page),
    number: t('pages:alert.number', { id: id(page.incidentId) }),
    lasts: isFiring && lasted >= 60 ? formatDuration(lasted, t.locale, 'long') : undefined,
    recovered: recoveredLine(t, page),
    states: stateLines(t, page, now),
    acts: page.mayAct ? acts(t, page, isIncidentOpen) : [],
    mayNot: !page.mayAct && isIncidentOpen,
    fields: message.fields.map(shownField),
    rounds: shownRounds(t, page, provider),
    first: firstStep(t, page),
    reasons: helpParts(t, page, REASONS),
    timeline: timeline(t, page, now),
    deliveries: deliveryRows(t, page, now),
    alertsAnchor: ALERTS_ANCHOR,
    others: alertRows(t, page.others, timezone),
    botUrl: watchId === null ? undefined : botUrl(app, `w${watchId}`),
    hasEvidence: page.hasEvidence,
    isLive: isIncidentOpen,
    script: '/scripts/alert.js',
  }
}

/** A field of the message. An address or hash with a link is shortened as in a chat; its link and copy button have all. */
function shownField(field: MessageField) {
  const isLinked = isCode(field) && field.href !== undefined
  return {
    ...field,
    isCode: isCode(field),
    shown: isLinked ? shortAddress(field.value) : field.value,
  }
}

/** The provider's voting rounds; none if nothing is known about any of them. */
function shownRounds(
  t: Translate,
  { message, timezone, endedAt }: LinkedAlertPage,
  provider: ProviderView | undefined,
) {
  if (provider === undefined || countRounds(provider.rounds).known === 0) return undefined
  const label = message.watchLabel
  return roundsGrid(t, provider, { timezone, label, isPast: endedAt !== null })
}

function helpParts(
  t: Translate,
  { help }: LinkedAlertPage,
  parts: readonly (keyof LinkedAlertPage['help'])[],
) {
  return parts.flatMap((part) => {
    const text = help[part]
    if (text === undefined) return []
    return [{ title: t(`pages:alert.help.${part}`), blocks: parseHelpText(text) }]
  })
}

/** What to do first, about the incident or its only alert. What is over needs no action. */
function firstStep(t: Translate, page: LinkedAlertPage) {
  const { incident, help } = page
  const text = incident === undefined ? (isOver(page) ? undefined : help.action) : incident.help
  return text === undefined
    ? undefined
    : { title: t('pages:alert.help.action'), blocks: parseHelpText(text) }
}

/** The head of the page of an incident with several alerts, and the list of its alerts. */
function incidentParts(t: Translate, { timezone }: LinkedAlertPage, incident: IncidentPage) {
  const { glyph, lines, body, fields, alerts, more, isCut } = incident
  return {
    glyph,
    lines,
    paragraphs: [
      ...paragraphsOf(body),
      ...fields.map(({ label, value }) => t('messages:fieldLine', { label, value })),
    ],
    alerts: alertRows(t, alerts, timezone),
    more:
      more > 0
        ? t(isCut ? 'messages:items.moreAtLeast' : 'messages:items.more', { count: more })
        : undefined,
  }
}

function paragraphsOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

interface Chip {
  readonly tone: string
  readonly text: string
}

/** Severity as glyph and word, so that it does not depend on colour. */
function chips(t: Translate, page: LinkedAlertPage): readonly Chip[] {
  const { message, state, muted } = page
  const end = page.closedAt === null ? {} : { closedAt: page.closedAt }
  const severity = isOver(page)
    ? { tone: 'fine', text: `🟢 ${t('messages:recovered')}` }
    : { tone: message.severity, text: `${glyphOf(message, end)} ${severityWord(t, message)}` }
  const seen = { tone: '', text: `✓ ${t('pages:alert.acknowledged')}` }
  const quiet = { tone: '', text: `🔕 ${t('pages:alert.muted')}` }
  const test = { tone: '', text: `${TEST_GLYPH} ${t('pages:alert.test')}` }
  return [
    ...(message.test ? [test] : []),
    severity,
    ...(state === 'acknowledged' ? [seen] : []),
    ...(muted == null ? [] : [quiet]),
  ]
}

/** Whether the page's alert has recovered, or is a recovery. */
function isOver({ message, recoveredAt }: LinkedAlertPage): boolean {
  return recoveredAt !== null || message.isRecovery
}

function recoveredLine(t: Translate, page: LinkedAlertPage): string | undefined {
  const { recoveredAt, durationSeconds, timezone } = page
  if (recoveredAt === null || durationSeconds === null) return undefined
  return t('pages:alert.recovered', {
    time: formatDateTime(recoveredAt, t.locale, timezone),
    duration: formatDuration(durationSeconds, t.locale, 'long'),
  })
}

/** Start of the outage of an alert that can recover, or time of any other alert. */
function startText(
  t: Translate,
  { message, startedAt, recoveredAt, timezone }: LinkedAlertPage,
): string {
  const time = formatDateTime(startedAt, t.locale, timezone)
  // After the recovery, the line below has start and end.
  return message.canRecover && recoveredAt === null ? t('pages:alert.since', { time }) : time
}

/** Lines about acknowledgement, escalation and mute. */
function stateLines(t: Translate, page: LinkedAlertPage, now: Date): readonly string[] {
  const { acknowledged, escalated, escalatesAt, note, timezone } = page
  const muted = page.muted ?? null
  const at = (date: Date) => formatTimeOn(date, t.locale, timezone, { offset: true, shownAt: now })
  const done = [
    ...(acknowledged === null || page.incident?.isAcknowledged
      ? []
      : [[acknowledged.at, acknowledgedLine(t, acknowledged, at(acknowledged.at))] as const]),
    ...(escalated === null
      ? []
      : [[escalated.at, escalatedLine(t, escalated, at(escalated.at))] as const]),
    ...(note === null ? [] : [[note.at, lineOfNote(t, note)] as const]),
  ]
  return [
    ...(page.closedAt === null ? [] : [t('pages:alert.closed', { time: at(page.closedAt) })]),
    ...done.toSorted(([a], [b]) => a.getTime() - b.getTime()).map(([, line]) => line),
    ...(escalatesAt === null ? [] : [t('pages:alert.escalatesAt', { time: at(escalatesAt) })]),
    ...(muted === null
      ? []
      : muted.until === 'recovered'
        ? [t('pages:alert.mutedRecovered')]
        : [t('pages:alert.mutedUntil', { time: at(muted.until) })]),
  ]
}

function acknowledgedLine(
  t: Translate,
  { by }: NonNullable<LinkedAlertPage['acknowledged']>,
  time: string,
): string {
  return by === null
    ? t('pages:alert.acknowledgedAt', { time })
    : t('pages:alert.acknowledgedBy', { time, name: typed(by) })
}

/** Time of the escalation, and its recipients where the reader may know them. */
function escalatedLine(
  t: Translate,
  { to }: NonNullable<LinkedAlertPage['escalated']>,
  time: string,
): string {
  return to.length === 0
    ? t('pages:alert.escalatedAt', { time })
    : t('pages:alert.escalatedTo', { time, names: formatList(to, t.locale) })
}

/**
 * The page's buttons: the actions that a chat offers for the incident, too.
 *
 * @param isOpen whether the incident lasts
 */
function acts(t: Translate, { incidentState, muted }: LinkedAlertPage, isOpen: boolean) {
  const act = (answer: AlertLinkAction, isPrimary = false): Act => ({
    answer,
    isPrimary,
    label: t(`pages:alert.act.${answer}`),
  })
  // An incident that is over needs neither acknowledgement nor mute; a mute that still lasts can be ended.
  if (incidentState === 'over') return muted == null ? [] : [act('unmute')]
  const quiet =
    muted == null
      ? [act('mute1'), act('mute8'), ...(isOpen ? [act('muteRecovered')] : [])]
      : [act('unmute')]
  return [incidentState === 'open' ? act('ack', true) : act('unack'), ...quiet]
}

interface Act {
  readonly answer: AlertLinkAction
  readonly isPrimary: boolean
  readonly label: string
}

/** One line for each alert of a list. */
function alertRows(t: Translate, alerts: readonly OtherAlert[], timezone: string) {
  return alerts.map(({ message, state, startedAt, recoveredAfter: seconds }) => ({
    glyph: glyphOf(message, state),
    severity: severityWord(t, message, state),
    title: seconds === null ? message.title : recoveredTitle(t, message.title, seconds),
    href: message.link,
    startedAt: startedAt.toISOString(),
    time: formatDateTime(startedAt, t.locale, timezone, { year: false }),
  }))
}

function deliveryRows(t: Translate, { deliveries, timezone }: LinkedAlertPage, now: Date) {
  return deliveries.map((delivery) => {
    const at = delivery.deliveredAt ?? delivery.nextAttemptAt
    return {
      to: delivery.to ?? t(checkedKey(`pages:channel.${delivery.channel}`)),
      status: t(checkedKey(`pages:delivery.${delivery.status}`)),
      tries: t('pages:alert.tries', { count: delivery.attempts }),
      time:
        at === null
          ? undefined
          : formatTimeOn(at, t.locale, timezone, { seconds: true, offset: true, shownAt: now }),
      statusCode: delivery.lastStatusCode,
      failure:
        delivery.lastStatusCode === null && delivery.lastError !== null
          ? failureWords(t, delivery.lastError)
          : undefined,
    }
  })
}
