import { withRoundedAmounts } from '#src/i18n/amounts.ts'
import { sentenceValues } from '#src/i18n/format.ts'
import {
  checkedKey,
  type HtmlValue,
  hasText,
  html,
  type Translate,
  typed,
} from '#src/i18n/translate.ts'
import type { DisplayValue, DisplayValues } from '#src/kernel/display-values.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { SignalForm } from '#src/watches/form.ts'
import { findWatchType } from '#src/watches/types/index.ts'
import { nearTime } from './time.ts'
import { type Reader, wholeAddress } from './view.ts'

/** A watch or a draft, with the fields of a watch's record. */
export interface WatchDescription {
  readonly type: string
  readonly target: unknown
  readonly settings?: unknown
  readonly lastObservation?: unknown
  /** Public name of the watch's provider. */
  readonly providerName?: string | undefined
}

/** The form of a watch type; undefined for an unknown type. */
export function formOf(type: string): SignalForm | undefined {
  return findWatchType(type)?.form
}

/** Whether watches of a type show private data of the wallet, which groups do not see. */
export function isPrivateType(type: string): boolean {
  return findWatchType(type)?.reads === 'ledger'
}

/** Short name of a watch type, for a button. */
export function typeName(t: Translate, type: string): string {
  return t(checkedKey(`bot:button.type.${type}`))
}

/** Display values of a watch. Values of data that its type can no longer parse are omitted. */
export function factsOf(watch: WatchDescription): DisplayValues {
  return read(watch)?.facts ?? {}
}

/**
 * Parses a watch's data.
 * @returns display values, and the data that could be parsed
 */
function read({ type: name, target, settings, lastObservation }: WatchDescription) {
  const type = findWatchType(name)
  const seen = type?.target.safeParse(target)
  if (type === undefined || seen?.success !== true) return undefined
  const judged = settings === undefined ? undefined : type.settings.safeParse(settings)
  const observed = lastObservation ? type.observation.safeParse(lastObservation) : undefined
  const facts = type.form.facts({
    target: seen.data,
    settings: judged?.data,
    observation: observed?.data,
  })
  return { facts, isJudged: judged?.success === true, isSeen: observed?.success === true }
}

/** Display values for the placeholders of a screen. */
export function factValues(
  reader: Reader,
  facts: DisplayValues,
  now: Date,
): Record<string, HtmlValue> {
  const { t, timezone } = reader
  const plain = sentenceValues(withRoundedAmounts(facts), { locale: t.locale, timeZone: timezone })
  return Object.fromEntries(
    Object.entries(facts).map(([name, fact]) => [
      name,
      htmlValue(reader, fact, now) ?? plain[name] ?? '',
    ]),
  )
}

function htmlValue(reader: Reader, fact: DisplayValue, now: Date): HtmlValue | undefined {
  if (fact.kind === 'address') return wholeAddress(fact.address)
  if (fact.kind === 'instant') return nearTime(reader, fact.at, now)
  return fact.kind === 'name' ? typed(fact.text) : undefined
}

/** Kinds of lines about a watch: target, last observation, its value only, rule, and failure to read. */
type Line = 'target' | 'now' | 'value' | 'rule' | 'unread'

/**
 * One line about a watch in the texts of its type, HTML; undefined if the type has no such line, or its
 * values are unknown.
 */
export function typeLine(
  reader: Reader,
  watch: WatchDescription,
  line: Line,
  now: Date,
): string | undefined {
  const known = read(watch)
  if (line === 'rule' && formOf(watch.type)?.rules !== undefined) {
    return known?.isJudged === true ? rulesLines(reader, watch, known.facts, now) : undefined
  }
  const key = `bot:type.${watch.type}.${line === 'rule' ? ruleOf(watch) : line}`
  if (known === undefined || !hasText(key)) return undefined
  if ((line === 'now' || line === 'value') && !known.isSeen) return undefined
  if (line === 'rule' && !known.isJudged) return undefined
  const { provider } = known.facts
  const first = `${key}First`
  if (hasNoMoveYet(known.facts) && hasText(first)) {
    return reader.t.html(first, factValues(reader, known.facts, now))
  }
  const named =
    watch.providerName !== undefined && provider?.kind === 'address'
      ? { provider: namedProvider(reader, watch.providerName, provider.address) }
      : {}
  return reader.t.html(key, { ...factValues(reader, known.facts, now), ...named })
}

/**
 * Whether the oldest known price is of the same minute as the newest. The line then shows the price only, because there
 * is no move to show.
 */
function hasNoMoveYet({ since, time }: DisplayValues): boolean {
  if (since?.kind !== 'instant' || time?.kind !== 'instant') return false
  const minuteOf = (at: Date) => Math.floor(at.getTime() / MINUTE_MS)
  return minuteOf(since.at) >= minuteOf(time.at)
}

function namedProvider({ t }: Reader, name: string, address: string): HtmlValue {
  return html(t.html('bot:provider.head', { name: typed(name), address: wholeAddress(address) }))
}

/** A line for each rule that the watch has. The suggested rule has a sentence for each option of its choice. */
function rulesLines(
  reader: Reader,
  watch: WatchDescription,
  facts: DisplayValues,
  now: Date,
): string {
  const form = formOf(watch.type)
  const values = factValues(reader, facts, now)
  return (form?.rules ?? [])
    .flatMap(({ key, fields: [first] }, place) => {
      if ((propertyOf(watch.settings, first) ?? null) === null) return []
      const name = place === 0 ? ruleOf(watch) : key
      return reader.t.html(checkedKey(`bot:type.${watch.type}.${name}`), values)
    })
    .join('\n')
}

/** Key of the rule's sentence: the chosen options, joined; a type without options has one sentence. */
function ruleOf({ type, settings }: WatchDescription): string {
  const fields = formOf(type)?.settings ?? []
  const chosen = fields.flatMap((field) =>
    field.kind === 'choice' ? String(propertyOf(settings, field.key) ?? field.suggested) : [],
  )
  return chosen.length === 0 ? 'rule' : chosen.join('.')
}

/** A property of a decoded JSON value. */
export function propertyOf(record: unknown, key: string): unknown {
  return typeof record === 'object' && record !== null
    ? Object.entries(record).find(([name]) => name === key)?.[1]
    : undefined
}
