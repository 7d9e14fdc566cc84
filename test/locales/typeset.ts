import type { Locale } from '#src/kernel/locale.ts'
import { kindOf } from './placeholders.ts'

/**
 * Inserts the spaces, signs and isolates of a language into a text, so that translators need not
 * type invisible characters: `npm run locales:fix`. Idempotent.
 */

const NO_BREAK = '\u00a0'
const NARROW = '\u202f'
const FSI = '\u2068'
const PDI = '\u2069'

/** Unchanged parts: tags, code, URLs. */
const FIXED = /<code>.*?<\/code>|<[^>]*>|`[^`]*`|https?:[^\s<]*|Authorization: Bearer/s

/** Units that are symbols, in every language. */
const SYMBOLS = 's|ms|min|h|FLR|WFLR|FXRP|XRP|USD|KB|MB|GB'

/** A text with the typography of its language. @param key `<file>:<key>` without endings */
export function typeset(locale: Locale, key: string, text: string): string {
  const plain = inProse(text.normalize('NFC'), everywhere)
  if (locale === 'fr') return inProse(plain, french)
  if (locale === 'de') return plain.replace(/\bz\. ?B\./g, `z.${NO_BREAK}B.`)
  if (locale === 'zh') return inProse(plain, (prose) => chinese(prose, key))
  if (locale === 'ar') return arabic(plain)
  return plain
}

/** Changes the text outside of tags and code. */
function inProse(text: string, change: (prose: string) => string): string {
  const parts = text.split(new RegExp(`(${FIXED.source})`, 's'))
  return parts.map((part, index) => (index % 2 === 0 ? change(part) : part)).join('')
}

function everywhere(prose: string): string {
  return prose
    .replace(/\.\.\./g, '…')
    .replace(/(?<=\p{L})'(?=\p{L})/gu, '’')
    .replace(/(?<=^|[\s(])-(?=\d)/g, '\u2212')
    .replace(new RegExp(`(?<=\\d|\\}\\}) (?=(?:${SYMBOLS})(?![\\p{L}\\p{N}]))`, 'gu'), NO_BREAK)
}

/** French words that are not nouns: a space between a number and one of them may break. */
const FRENCH_SMALL =
  'et|ou|à|au|aux|de|des|du|d’|par|sur|en|pour|puis|le|la|les|dans|est|sont|si|un|une|que|qui|ne|n’|avec|sans|mais|afin|avant|après|depuis|dès|ni|y|il|elle|tant|signifie|plus'

function french(prose: string): string {
  return prose
    .replace(
      /[ \u00a0\u202f]*(?<=[\p{L}\p{N}})»”…\u2069 \u00a0\u202f])([;!?])(?=\s|$|»|\))/gu,
      `${NARROW}$1`,
    )
    .replace(/[ \u00a0\u202f]+:(?!\/\/)/g, `${NO_BREAK}:`)
    .replace(/(?<=[\p{L})»}]):(?=\s|$)/gu, `${NO_BREAK}:`)
    .replace(/«[ \u00a0\u202f]*/g, `«${NO_BREAK}`)
    .replace(/[ \u00a0\u202f]*»/g, `${NO_BREAK}»`)
    .replace(
      new RegExp(`(?<=(?<![\\p{L}\\d])\\d+) (?=\\p{Ll})(?!(?:${FRENCH_SMALL})(?![\\p{L}]))`, 'gu'),
      NO_BREAK,
    )
    .replace(/(?<=\d) (?=%)/g, NO_BREAK)
}

const HAN = '\\p{Script=Han}'
const FULL_WIDTH = '，。：；！？（）“”、【】《》'
/** Kinds of values that begin, or end, with a word of the language itself. */
const BEGINS_HAN = ['term', 'list', 'sentence']
const ENDS_HAN = [...BEGINS_HAN, 'counted', 'longDuration', 'shortDuration']

function chinese(prose: string, key: string): string {
  const isOf = (kinds: readonly string[], name: string) => kinds.includes(kindOf(name, key) ?? '')
  return prose
    .replace(new RegExp(`(?<=${HAN})(?=[A-Za-z0-9])|(?<=[A-Za-z0-9%])(?=${HAN})`, 'gu'), ' ')
    .replace(new RegExp(`(?<=${HAN})(?=\\{\\{(\\w+)\\}\\})`, 'gu'), (_, name: string) =>
      isOf(BEGINS_HAN, name) ? '' : ' ',
    )
    .replace(new RegExp(`\\{\\{(\\w+)\\}\\}(?=${HAN})`, 'gu'), (whole, name: string) =>
      isOf(ENDS_HAN, name) ? whole : `${whole} `,
    )
    .replace(new RegExp(` +(?=[${FULL_WIDTH}])|(?<=[${FULL_WIDTH}]) +`, 'gu'), '')
}

/** A run of foreign words with the numbers and signs between them. */
const LATIN =
  /(?:\d[\d.,]*\u00a0)?[/@#]?[A-Za-z][\w./:@+-]*(?:[ \u00a0](?:[A-Za-z][\w./:@+-]*|\d[\w.]*(?=[ \u00a0]?[A-Za-z])))*/g

/** Isolates around each foreign run and around code, outside of its tag. */
function arabic(text: string): string {
  const parts = text.split(/(\u2068[^\u2068\u2069]*\u2069|<code>.*?<\/code>|<[^>]*>|\{\{\w+\}\})/s)
  return parts
    .map((part, index) => {
      if (index % 2 === 0) return part.replace(LATIN, isolated)
      return part.startsWith('<code>') ? `${FSI}${part}${PDI}` : part
    })
    .join('')
}

/** Isolates a run; punctuation at its end stays outside, because it belongs to the sentence. */
function isolated(run: string): string {
  const [, words = '', rest = ''] = /^(.*?)([.:/-]*)$/.exec(run) ?? []
  return `${FSI}${words}${PDI}${rest}`
}
