/** Parses typed text into values. Pure. */
import { parseUnits } from 'viem/utils'
import { parseChance } from '#src/i18n/chance.ts'
import { parseAmount } from '#src/i18n/parse.ts'
import type { Locale } from '#src/kernel/locale.ts'
import type { DurationField, NumberField } from '#src/watches/form.ts'
import type { Parameter } from '#src/watches/signal.ts'

/** A parsed value, or the reason why the text is invalid. */
export type ParsedInput<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: InputProblem }
export type InputProblem = 'not_understood' | 'too_small' | 'too_big' | 'too_many_decimals'

/** Decimal places in comparisons: more than any value has. */
const SCALE = 40

function compare(a: string, b: string): number {
  const difference = parseUnits(a, SCALE) - parseUnits(b, SCALE)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

function refused(reason: InputProblem): { readonly ok: false; readonly reason: InputProblem } {
  return { ok: false, reason }
}

/** Parses a number for a setting into decimal text. */
export function readNumber(
  text: string,
  field: Pick<NumberField, 'min' | 'max' | 'decimals'>,
  locale: Locale,
): ParsedInput<string> {
  const value = parseAmount(text, locale)
  if (value === undefined) return refused('not_understood')
  if (compare(value, field.min) < 0) return refused('too_small')
  if (compare(value, field.max) > 0) return refused('too_big')
  const decimals = value.split('.')[1]?.length ?? 0
  return decimals > field.decimals ? refused('too_many_decimals') : { ok: true, value }
}

/** Parses a duration into whole seconds: `90m`, `2 h`, `1 day 12 hours`, in the words of every language. */
export function readDuration(
  text: string,
  field: Pick<DurationField, 'min' | 'max'>,
  locale: Locale,
): ParsedInput<number> {
  const counted = withCounts(text.toLowerCase().trim())
  const parts = [...counted.matchAll(DURATION_PART)]
  const isWhole = parts.map(([part]) => part).join('') === counted
  if (parts.length === 0 || !isWhole) return refused('not_understood')
  let seconds = 0
  for (const [, number = '', unit = ''] of parts) {
    const count = parseAmount(number, locale)
    const each = SECONDS.get(unit.normalize('NFC').replace(/[.॰]$/, ''))
    if (count === undefined || each === undefined) return refused('not_understood')
    seconds += Math.round(Number(count) * each)
  }
  if (seconds < field.min) return refused('too_small')
  return seconds > field.max ? refused('too_big') : { ok: true, value: seconds }
}

const DURATION_PART =
  /(?:(?:and|und|et|এবং|और)\s+|و\s*)?([\p{Nd}.,٫٬]+)\s*(\p{L}[\p{L}\p{M}]*[.॰]?)[\s,،]*/gu

/** Inserts the number where Arabic leaves it out, for one and two of a unit: `ساعة`, `ساعتان`. */
function withCounts(text: string): string {
  return text
    .replace(/(دقيق|ساع)ت(?:ان|ين)/gu, '2 $1ة')
    .replace(/يوم(?:ان|ين)/gu, '2 يوم')
    .replace(/(?<!\p{Nd}\s*)(دقيقة|ساعة|يوم)(?![\p{L}\p{M}])(?:\s+واحدة?)?/gu, '1 $1')
}

const UNITS: readonly (readonly [number, string])[] = [
  [60, 'm min mins minute minutes minuten মিনিট 分 分钟 मि मिनट دقيقة دقائق د'],
  [3600, 'h hr hrs hour hours std stunde stunden heure heures ঘণ্টা 时 小时 घं घंटा घंटे ساعة ساعات س'],
  [86_400, 'd day days tag tage tg j jour jours দিন 天 日 दिन يوم يومًا يوما أيام ايام ي'],
]
const SECONDS: ReadonlyMap<string, number> = new Map(
  UNITS.flatMap(([seconds, words]) =>
    words.split(' ').map((word): [string, number] => [word.normalize('NFC'), seconds]),
  ),
)

/** Parses a parameter of a signal: a whole number, or a probability. */
export function readParameter(
  text: string,
  parameter: Extract<Parameter, { readonly type: 'integer' | 'number' }>,
  locale: Locale,
): ParsedInput<number> {
  const value = parameter.type === 'number' ? parseChance(text, locale) : parseAmount(text, locale)
  if (value === undefined) return refused('not_understood')
  const number = Number(value)
  if (number < parameter.min) return refused('too_small')
  if (number > parameter.max) return refused('too_big')
  const isWhole = Number.isInteger(number)
  return parameter.type === 'integer' && !isWhole
    ? refused('too_many_decimals')
    : { ok: true, value: number }
}

/**
 * Finds the feed in a text, with any separator: `FLRUSD`, `flr-usd`, `FLR USD`, `flr`. A text that names no
 * known feed is returned in the format of a feed's name; a text without usable characters is returned
 * unchanged.
 *
 * @param names names of all feeds; empty while unknown
 */
export function readFeed(text: string, names: readonly string[]): string {
  const key = feedKey(text)
  const named = (wanted: string) => names.filter((name) => feedKey(name) === wanted)
  const [only, ...others] = [...named(key), ...named(`${key}usd`)]
  if (only !== undefined && others.length === 0) return only
  const plain = text
    .trim()
    .replace(/(?<=\w)[\s:_-]+(?=\w+$)/, '/')
    .replace(/[^\w./+-]/g, '')
  return plain === '' ? text.trim() : plain
}

/** Key of a feed's name, equal for all spellings. */
export function feedKey(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

/** Parses a time of day into `HH:MM`: `22:30`, `9.15`, `7 h`, `2230`, in the digits of any script. */
export function readTime(text: string): string | undefined {
  const plain = text
    .normalize('NFKC')
    .replace(/\p{Nd}/gu, (digit) => parseAmount(digit, 'en') ?? digit)
    .trim()
  const [, hours = '', minutes = '00'] =
    /^(\d{1,2})(?:\s*[:.h٫]\s*(\d{2})|\s*h)?$/i.exec(plain.replace(/^(\d{2})(\d{2})$/, '$1:$2')) ??
    []
  const isTime = hours !== '' && Number(hours) < 24 && Number(minutes) < 60
  return isTime ? `${hours.padStart(2, '0')}:${minutes}` : undefined
}
