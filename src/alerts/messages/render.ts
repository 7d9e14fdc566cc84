import type { EnvelopeMessage, Message, MessageField } from '#src/channels/envelope.ts'
import { withRoundedAmounts } from '#src/i18n/amounts.ts'
import {
  formatDateTime,
  formatDisplayValue,
  formatDuration,
  formatList,
  formatMoment,
  formatTimeOn,
  sentenceValues,
} from '#src/i18n/format.ts'
import { formatSpan } from '#src/i18n/span.ts'
import {
  checkedKey,
  hasText,
  id,
  type TextValues,
  type Translate,
  translator,
} from '#src/i18n/translate.ts'
import { servedChain, titleOnChain } from '#src/kernel/chains.ts'
import type { DisplayValue, Severity } from '#src/kernel/display-values.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { JsonObject } from '#src/kernel/units.ts'
import { findEventSource, recoveryRoleOf } from '#src/watches/events.ts'

/** Locale and time zone of the reader. */
export interface Reader {
  readonly locale: Locale
  /** IANA name of a time zone. */
  readonly timezone: string
  /** Whether a group reads it, where nothing speaks of the wallet's credits. */
  readonly isGroup?: boolean | undefined
}

/** Input of a message: a recorded alert, or an example. */
export interface Renderable {
  readonly alertId: number | null
  readonly incidentId: number | null
  readonly watchId: number | null
  readonly watchLabel: string | null
  readonly event: string
  readonly severity: Severity
  readonly data: JsonObject
  readonly firedAt: Date
  readonly link: string
  readonly test: boolean
  /** Notes after the body. */
  readonly notes?: readonly AlertNote[]
}

/** Another open alert of the same watch. */
export interface OtherOpenAlert {
  readonly type: string
  readonly signal: string | null
  readonly event: string
  /** Seconds since it fired. */
  readonly seconds: number
}

/** A sentence after the body that the signal does not provide. */
export type AlertNote =
  /** Of a recovery: its duration. */
  | { readonly kind: 'lasted'; readonly seconds: number }
  /** The alert fired during planned maintenance. */
  | { readonly kind: 'maintenance' }
  /** Of a recovery: the alert was not sent separately. */
  | { readonly kind: 'held'; readonly firedAt: Date }
  /** The alert has been unacknowledged for this time. */
  | { readonly kind: 'escalated'; readonly seconds: number }
  /** The signal changes often, so that no alert follows before this time. */
  | { readonly kind: 'cooldown'; readonly until: Date }
  | { readonly kind: 'stillFiring'; readonly alerts: readonly OtherOpenAlert[] }

/** The texts of a message that do not depend on the watch. */
type Words = Pick<Message, 'title' | 'body' | 'fields'> & { readonly stated: readonly string[] }

/** A noncharacter that stands for a value where only the position of the value in a text matters. */
const MARK = '\ufdd0'

/**
 * By field: other values that make the field unnecessary where the text states them. With the first round of an outage,
 * the last one is not shown.
 */
const STATED_BY: Readonly<Record<string, readonly string[]>> = { round: ['firstRound'] }

/**
 * Renders the complete message of an alert in one language: texts by event, values by kind.
 *
 * Pure: equal alerts and readers give equal messages.
 */
export function renderMessage(alert: Renderable, reader: Reader): EnvelopeMessage {
  return createRenderer()(alert, reader)
}

/**
 * `renderMessage` for many alerts: equal alerts for equal readers are rendered once. It caches
 * everything, so create one for each batch.
 */
export function createRenderer(): typeof renderMessage {
  const known = new Map<string, Words>()
  /**
   * The last alert of each event and reader, with its texts. The next alert is compared with it, and gets
   * the same texts if their values are equal.
   */
  const last = new Map<string, { readonly alert: Renderable; readonly words: Words }>()
  const find = (alert: Renderable, reader: Reader): Words => {
    const { event, severity, data, notes = [], firedAt } = alert
    const textKey = `${reader.locale} ${reader.timezone} ${event} ${severity}`
    const before = last.get(textKey)
    if (before !== undefined && saysSame(before.alert, alert)) return before.words
    const key = JSON.stringify([textKey, data, notes, firedAt])
    const words = known.get(key) ?? wordsOf(alert, reader)
    known.set(key, words)
    last.set(textKey, { alert, words })
    return words
  }
  return (alert, reader) => {
    const { event, severity } = alert
    const words = find(alert, reader)
    return {
      alertId: alert.alertId,
      incidentId: alert.incidentId,
      watchId: alert.watchId,
      watchLabel: alert.watchLabel,
      event,
      severity,
      title: words.title,
      body: words.body,
      fields: words.fields,
      link: alert.link,
      firedAt: alert.firedAt.toISOString(),
      test: alert.test,
      ...recoveryRoleOf(event),
      stated: words.stated,
    }
  }
}

/** Whether two alerts of an event have the same values, and no notes. Objects count as different. */
function saysSame(alert: Renderable, other: Renderable): boolean {
  if ((alert.notes?.length ?? 0) + (other.notes?.length ?? 0) > 0) return false
  if (alert.firedAt.getTime() !== other.firedAt.getTime()) return false
  const keys = Object.keys(other.data)
  return (
    keys.length === Object.keys(alert.data).length &&
    keys.every((key) => Object.hasOwn(alert.data, key) && alert.data[key] === other.data[key])
  )
}

/** The title of an alert. Works even if data is missing that only the body names. */
export function renderTitle(
  alert: Pick<Renderable, 'event' | 'severity' | 'data' | 'firedAt'>,
  reader: Reader,
): string {
  const { values, ...of } = valuesOf(alert, reader)
  return titleOf(of, values)
}

/** The title of the texts `key`, which also says if the cause is probably the network. */
function titleOf(
  { t, key, isNetworkWide }: Pick<ReturnType<typeof valuesOf>, 't' | 'key' | 'isNetworkWide'>,
  values: TextValues,
): string {
  const title = t(checkedKey(`messages:${key}.title`), values)
  return isNetworkWide ? t('messages:network', { title }) : title
}

/** Title of an alert that has recovered: its title, and the time after which it recovered. */
export function recoveredTitle(t: Translate, title: string, seconds: number): string {
  const duration = id(formatDuration(seconds, t.locale, 'short'))
  return t('messages:summary.recovered', { title, duration })
}

/** The values for the texts of an event, and the key of the texts. */
function valuesOf(
  { event, severity, data, firedAt }: Pick<Renderable, 'event' | 'severity' | 'data' | 'firedAt'>,
  reader: Reader,
) {
  const source = findEventSource(event)
  if (source === undefined) throw new Error(`no signal emits ${event}`)
  const presented = source.signal.present(event, data)
  const { fields, count, form, advice, isNetworkWide = false } = presented
  const facts = withRoundedAmounts(presented.facts)
  const clock = { locale: reader.locale, timeZone: reader.timezone }
  const values = {
    ...sentenceValues(facts, clock),
    ...(facts.since?.kind === 'instant' && {
      since: formatMoment(facts.since.at, reader.locale, reader.timezone, firedAt),
    }),
    ...(facts.window?.kind === 'duration' && {
      span: formatSpan(facts.window.seconds, reader.locale),
    }),
    ...(count !== undefined && { count }),
    context: severity,
  }
  const key = form === undefined ? event : `${event}.${form}`
  const t = translator(reader.locale)
  return { t, key, values, facts, fields, advice, isNetworkWide, clock }
}

function wordsOf(
  {
    event,
    severity,
    data,
    firedAt,
    notes = [],
  }: Pick<Renderable, 'event' | 'severity' | 'data' | 'firedAt' | 'notes'>,
  reader: Reader,
): Words {
  const { t, key, values, facts, fields, advice, isNetworkWide, clock } = valuesOf(
    { event, severity, data, firedAt },
    reader,
  )
  const write = (values: TextValues) => ({
    title: titleOf({ t, key, isNetworkWide }, values),
    body: [
      t(checkedKey(`messages:${key}.body`), values),
      ...(advice === undefined ? [] : [t(checkedKey(`messages:advice.${advice}`), values)]),
    ].join('\n'),
  })
  const { title, body } = write(values)
  // A text that states the duration needs no note with the duration.
  const shown = notes.filter(({ kind }) => kind !== 'lasted' || facts.duration === undefined)
  return {
    title: titleOnChain(title),
    body: shown.reduce((text, note) => {
      const between = note.kind === 'lasted' ? ' ' : '\n'
      return `${text}${between}${textOfNote(t, note, { reader, shownAt: firedAt })}`
    }, body),
    stated: fields.filter((name) =>
      [name, ...(STATED_BY[name] ?? [])].some((value) => {
        const marked = write({ ...values, [value]: MARK })
        return `${marked.title}${marked.body}`.includes(MARK)
      }),
    ),
    fields: fieldsOf({ t, facts, fields, clock }),
  }
}

/** The fields of an alert, as `renderMessage` writes them. */
export function renderFields(
  alert: Pick<Renderable, 'event' | 'severity' | 'data' | 'firedAt'>,
  reader: Reader,
): readonly MessageField[] {
  return fieldsOf(valuesOf(alert, reader))
}

function fieldsOf({
  t,
  facts,
  fields,
  clock,
}: Pick<ReturnType<typeof valuesOf>, 't' | 'facts' | 'fields' | 'clock'>): readonly MessageField[] {
  return fields.flatMap((name): MessageField[] => {
    const fact = facts[name]
    if (fact === undefined) return []
    const href = linkOf(fact)
    const label = t(checkedKey(`messages:field.${name}`))
    const value = formatDisplayValue(fact, clock)
    return [{ key: name, label, value, ...(href !== undefined && { href }) }]
  })
}

/**
 * Message of a reminder: title and fields of the alert; the body says how long it has been open.
 *
 * @param message of the alert
 */
export function toReminderMessage(
  message: EnvelopeMessage,
  reminder: {
    readonly openSeconds: number
    /** Number of the reminder, from 1; undefined if the message does not ask for an acknowledgement. */
    readonly number: number | undefined
    readonly nextAt: Date | undefined
    /** Time of the reminder. */
    readonly now: Date
  },
  { locale, timezone }: Reader,
): EnvelopeMessage {
  const t = translator(locale)
  const { openSeconds, number, nextAt, now: shownAt } = reminder
  const duration = formatDuration(openSeconds, locale, 'long')
  const lines = [
    number === undefined
      ? t('messages:reminder.open', { duration })
      : t('messages:reminder.unacknowledged', { duration, number }),
    ...(nextAt === undefined
      ? []
      : [
          t('messages:reminder.next', {
            time: formatTimeOn(nextAt, locale, timezone, { shownAt, offset: true }),
          }),
        ]),
  ]
  const title = t('messages:reminder.head', { title: message.title })
  return { ...message, title, body: lines.join(' ') }
}

function textOfNote(
  t: Translate,
  note: AlertNote,
  { reader: { locale, timezone }, shownAt }: { readonly reader: Reader; readonly shownAt: Date },
): string {
  switch (note.kind) {
    case 'lasted':
      return t('messages:recovered.lasted', {
        duration: formatDuration(note.seconds, locale, 'long'),
      })
    case 'maintenance':
      return t('messages:maintenance')
    case 'escalated':
      return t('messages:escalated', { duration: formatDuration(note.seconds, locale, 'long') })
    case 'cooldown': {
      const time = formatTimeOn(note.until, locale, timezone, {
        shownAt,
        offset: true,
        isPhrase: true,
      })
      return t('messages:cooldown', { time })
    }
    case 'held':
      return t('messages:recovered.held', { time: formatDateTime(note.firedAt, locale, timezone) })
    case 'stillFiring': {
      const alerts = note.alerts.map(({ type, signal, event, seconds }) =>
        t('messages:firing.entry', {
          signal: signalName(t, type, signal, event),
          duration: formatDuration(seconds, locale, 'short'),
        }),
      )
      return t('messages:recovered.stillFiring', { alerts: formatList(alerts, locale) })
    }
    default:
      return note satisfies never
  }
}

/** Name of a signal, or the title of an event that has no signal. */
function signalName(t: Translate, type: string, signal: string | null, event: string): string {
  const key = `signals:${type}.${signal}.label`
  return hasText(key) ? t(key) : t(checkedKey(`messages:${event}.title`))
}

function linkOf(fact: DisplayValue): string | undefined {
  const { url } = servedChain().explorer
  if (fact.kind === 'address') return `${url}/address/${fact.address}`
  if (fact.kind === 'transaction') return `${url}/tx/${fact.hash}`
  if (fact.kind === 'block') return `${url}/block/${fact.number}`
  return undefined
}
