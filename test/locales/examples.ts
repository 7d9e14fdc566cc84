import { z } from 'zod'
import { readDuration, readFeed, readNumber, readStart, readTime } from '#bot/core/typed-input.ts'
import { AlertSelectionQuery } from '#src/alerts/model.ts'
import { createChannels } from '#src/channels/index.ts'
import { isTimeZone } from '#src/i18n/format.ts'
import { findZones } from '#src/i18n/zones.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { IdParam } from '#src/kernel/pagination.ts'
import { readAddress } from '#src/kernel/typed-address.ts'
import { Address, Instant } from '#src/kernel/units.ts'
import { Settings } from '#src/recipients/settings.ts'
import { getWatchType } from '#src/watches/types/index.ts'

/** Parses a typed text as the service does; undefined if the service refuses it. */
type Reader = (text: string, locale: Locale) => string | number | undefined

const DAY = 86_400
const CHANNELS = createChannels({
  telegram: undefined,
  mailer: undefined,
  from: '',
  publicUrl: 'https://watchdog.example.org',
  allowPrivateUrls: false,
})
const FEEDS = ['FLR/USD', 'SOL/USD', 'BTC/USD']

function readBy(decimals: number): Reader {
  return (text, locale) => {
    const read = readNumber(text, { min: '0', max: '1000000', decimals, unit: 'percent' }, locale)
    return read.ok ? read.value : undefined
  }
}

const duration: Reader = (text, locale) => {
  const read = readDuration(text.replace(/^\/mute\s+/, ''), { min: 60, max: DAY }, locale)
  return read.ok ? read.value : undefined
}

const address: Reader = (text) => {
  const read = readAddress(text)
  return read.ok ? read.value : undefined
}

const feed: Reader = (text) => {
  const read = readFeed(text, FEEDS)
  return FEEDS.includes(read) ? read : undefined
}

/** A start as people type it, at a time before that of the examples. */
const start: Reader = (text) => readStart(text, 'UTC', new Date('2026-12-01T12:00:00Z'))?.getTime()

const zone: Reader = (text) => {
  const found = findZones(text)
  return found.length === 1 ? found[0] : undefined
}

/** Reads what a schema of the API accepts. */
function accepted(schema: z.ZodType): Reader {
  return (text) => (schema.safeParse(text).success ? text : undefined)
}

/** The schema of a property of a watch. */
function propertyOf(type: string, part: 'settings' | 'target', name: string): z.ZodType {
  const schema = getWatchType(type)[part]
  if (!(schema instanceof z.ZodObject)) throw new Error(`${type} has no object ${part}`)
  return schema.shape[name]
}

/** Parser of the input that a text asks for, by key. */
const READERS: Readonly<Record<string, Reader>> = {
  'bot:typed.notDuration': duration,
  'bot:edit.sendDuration': duration,
  'bot:muted.notUnderstood': duration,
  'bot:edit.sendNumber': readBy(4),
  'bot:edit.sendWhole': readBy(0),
  'bot:edit.sendPercent': readBy(2),
  'bot:new.ask.address': address,
  'bot:new.ask.feed': feed,
  'bot:rec.ask.email': (text) => z.email().safeParse(text).data,
  'bot:rec.ask.webhook': (text) => z.url({ protocol: /^https$/ }).safeParse(text).data,
  'bot:rec.ask.ntfy': (text) =>
    CHANNELS.ntfy.form?.check({ url: text }).length === 0 ? text : undefined,
  'bot:ask.from': readTime,
  'bot:ask.to': readTime,
  'bot:ask.digest': readTime,
  'bot:ask.maintenance': start,
  'bot:ask.notStart': start,
  'bot:ask.notTime': readTime,
  'bot:zone.send': zone,
  'bot:zone.unknown': zone,
  'errors:field.address': accepted(Address),
  'errors:field.decimal': accepted(propertyOf('wallet-balance', 'settings', 'threshold')),
  'errors:field.email': accepted(z.email()),
  'errors:field.feed_name': accepted(propertyOf('feed-move', 'target', 'feed')),
  'errors:field.id_list': accepted(AlertSelectionQuery.shape.ids),
  'errors:field.instant': accepted(Instant),
  'errors:field.integer': accepted(IdParam.shape.id),
  'errors:field.time_of_day': accepted(Settings.shape.digestAt),
  'errors:field.timezone': (text) => (isTimeZone(text) ? text : undefined),
}

/** Texts whose answer is read elsewhere, or whose example is shortened by “…”. */
const EXEMPT = /^bot:(?:topup\.askHash)$/
const ASKS = /^bot:(?:typed|edit|new\.ask|rec\.ask|muted|ask|zone|topup)\.|^errors:field\./

const BEFORE: Readonly<Record<Locale, string>> = {
  en: 'such as|for example|like|e\\.g\\.',
  // “wie” also asks (“Wie soll …”, “wie lange”) and compares (“so wie”): no example is a plain lower-case word.
  de: '[Zz]um Beispiel|[Bb]eispielsweise|[Ee]twa|(?<!\\bso )wie(?=\\s+(?![„“]?[a-zäöüß]+(?![^\\s,;:.?)“])))|z\\.[ \\u00a0]B\\.',
  fr: 'par exemple|comme|tel que|telle que|p\\. ex\\.',
  bn: 'যেমন',
  zh: '例如|比如',
  hi: 'जैसे',
  ar: 'مثلًا|مثل|على سبيل المثال',
}
const AND = / (?:or|oder|ou|বা|অথবা|या|أو) | ?或 ?|、|, |، /

/** The examples of input in a text. */
export function examplesIn(text: string, locale: Locale): readonly string[] {
  const bare = text
    .replace(/<[^>]*>|[\u2066-\u2069\u200f]/g, '')
    // “…, or choose:” asks for a press.
    .replace(/[,，،]?\s*(?:\b(?:or|oder|ou)\b|অথবা|বা|或|या|أو)[^,，،()]*[:：]$/u, '')
  const before = new RegExp(
    `(?<!\\p{Script=Latin}|[ঀ-৿ऀ-ॣ])(?:${BEFORE[locale]})(?![a-z])[:：,，]?`,
    // The case of German words decides.
    locale === 'de' ? 'gu' : 'giu',
  )
  const [, ...after] = bare.split(before)
  return after.flatMap((part) => {
    const ending = /[)）。।;；]|[.](?=\s|$)|，/.exec(part)
    const examples = part.slice(0, ending?.index ?? part.length)
    return examples
      .split(AND)
      .map((example) => example.replace(/^[\s“„«]+|[\s”“».]+$/g, ''))
      .filter((example) => example !== '' && !example.includes('{{') && isInput(example))
  })
}

/**
 * Whether a piece is input: words of the sentence, such as “or a name” before the next example, are
 * not.
 */
function isInput(text: string): boolean {
  return !/^(?:or|a|oder|einen|ou|un|une|أو)\s|\s(?:নাম|नाम)$|^(?:নাম|नाम|اسم)$/.test(text)
}

/**
 * Examples of typed input that the service would refuse, or would read as another value than the
 * English ones.
 */
export function faultsOfExamples(
  locale: Locale,
  key: string,
  text: string,
  english: string,
): readonly string[] {
  const read = READERS[key]
  const originals = examplesIn(english, 'en')
  if (read === undefined) {
    const isAsked = ASKS.test(key) && !EXEMPT.test(key) && originals.length > 0
    return isAsked ? [`has an example that no parser is named for: ${originals.join(' | ')}`] : []
  }
  const examples = examplesIn(text, locale)
  if (examples.length === 0) return ['has no example of what to type']
  return examples.flatMap((example) =>
    read(example, locale) === undefined ? [`“${example}” is refused when it is typed`] : [],
  )
}
