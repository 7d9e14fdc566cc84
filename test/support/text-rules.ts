import { formatAmount, formatDateTime, formatDuration } from '#src/i18n/format.ts'
import type { Locale } from '#src/kernel/locale.ts'

/** Place of a text: `<file>` without extension, and the key without plural form and context. */
export interface TextPlace {
  readonly locale: Locale
  readonly file: string
  readonly key: string
}

/** Violations of the rules for a single text, in words. */
export function textFaultsOf(text: string, place: TextPlace): readonly string[] {
  const bare = withoutCode(text)
  return [
    ...spelling(text, bare),
    ...isolates(text),
    ...markup(text, place.file),
    ...shape(text, place),
    ...(LANGUAGE[place.locale]?.(text, bare) ?? []),
    ...lengths(text, place),
  ]
}

/** The names of the placeholders of a text. */
export function placeholdersOf(text: string): ReadonlySet<string> {
  return new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))
}

const PLACEHOLDER = /\{\{([A-Za-z][A-Za-z0-9]*)\}\}/g

type Fault = readonly [isWrong: boolean, what: string]

function found(...faults: readonly Fault[]): readonly string[] {
  return faults.filter(([isWrong]) => isWrong).map(([, what]) => what)
}

/** The prose without tags and code. */
function withoutCode(text: string): string {
  return text.replace(/<code>.*?<\/code>/gs, '').replace(/<[^>]*>/g, '')
}

function spelling(text: string, bare: string): readonly string[] {
  const digits = text.replace(/[0-9]/g, '').match(/\p{Nd}/gu)
  return found(
    [text.trim() === '', 'is empty'],
    [text.trim() !== text, 'begins or ends with white space'],
    [text.normalize('NFC') !== text, 'is not NFC'],
    [digits !== null, `has digits that are not Latin: ${digits?.join(' ')}`],
    [/['"]/.test(bare), 'has a straight quotation mark or apostrophe'],
    [/[!！]/.test(text), 'has an exclamation mark'],
    [/[\u202a-\u202e]/.test(text), 'has one of U+202A–U+202E'],
    [/\{\{|\}\}|\$t\(/.test(text.replace(PLACEHOLDER, '')), 'has a malformed placeholder'],
  )
}

function isolates(text: string): readonly string[] {
  const inside = text.match(/<(code|a)\b[^>]*>.*?<\/\1>|<[^>]*>/gs)?.join('') ?? ''
  return found(
    [!text.split('\n').every(isBalanced), 'has isolates that are not closed in their line'],
    [/[\u2066-\u2069]/.test(inside), 'has an isolate inside a tag, <code> or <a>'],
  )
}

function isBalanced(line: string): boolean {
  let depth = 0
  for (const mark of line.match(/[\u2066-\u2069]/g) ?? []) {
    depth += mark === '\u2069' ? -1 : 1
    if (depth < 0) return false
  }
  return depth === 0
}

function markup(text: string, file: string): readonly string[] {
  const tags = text.match(/<[^>]*>?|>/g) ?? []
  const strange = tags.filter((tag) => !/^<(?:\/?(?:b|i|code)|a href="[^"<>]*"|\/a)>$/.test(tag))
  return found(
    [strange.length > 0, `has markup that is not <b> <i> <code> <a>: ${strange.join(' ')}`],
    [file !== 'bot' && tags.length > 0, 'has a tag, which only bot.json may'],
    [strange.length === 0 && !isNested(tags), 'has tags that are not closed in order'],
    [text.includes('&'), 'has an ampersand, which HTML would read as an entity'],
  )
}

function isNested(tags: readonly string[]): boolean {
  const open: string[] = []
  for (const tag of tags) {
    const name = /[a-z]+/.exec(tag)?.[0] ?? ''
    if (!tag.startsWith('</')) open.push(name)
    else if (open.pop() !== name) return false
  }
  return open.length === 0
}

/** Chat commands: these must not occur in mails and webhooks. */
const COMMAND = /(?:^|[\s\u2068])\/[a-z]{3,}\b/
const TITLE = /^(?:messages|errors|notices):.*\.title$|^bot:(?:button|command)\.|^notices:button\./

function shape(text: string, { file, key }: TextPlace): readonly string[] {
  const isEverywhere = file === 'messages' || file === 'errors' || file === 'notices'
  return found(
    [isEverywhere && COMMAND.test(text), 'names a chat command, which only bot.json may'],
    [TITLE.test(`${file}:${key}`) && /[.。।]\s*$/.test(text), 'ends with a full stop'],
  )
}

/** Placeholders whose values end in a word, so that a danda may follow. */
const WORDS = 'duration|gap|window|severity|reason|state|scope'
const NUMBER_BEFORE_DANDA = new RegExp(
  `\\d\\s*।|\\{\\{(?!(?:${WORDS})\\}\\})[A-Za-z0-9]+\\}\\}\\s*।`,
)

const LANGUAGE: { readonly [L in Locale]?: (text: string, bare: string) => readonly string[] } = {
  fr: (text) =>
    found(
      [/ [:;!?»]/.test(text), 'has an ordinary space before : ; ! ? or »'],
      [/« /.test(text), 'has an ordinary space after «'],
    ),
  bn: danda,
  hi: danda,
  zh: (_text, bare) =>
    found([
      /\p{Script=Han}[,;:?!(]/u.test(bare),
      'has half-width punctuation after a Han character',
    ]),
  ar: (text, bare) => {
    const own = bare.replace(/\u2068[^\u2068\u2069]*\u2069/g, '').replace(PLACEHOLDER, '')
    const lines = text.split('\n').filter((line) => line !== '' && !beginsArabic(line))
    return found(
      [/\u2069[ \u00a0]\u2068/.test(text), 'has isolates side by side, which are shown in reverse'],
      [/[;?]|,(?!\d)/.test(own), 'has a Latin comma, semicolon or question mark'],
      [/[A-Za-z]/.test(own), 'has Latin letters outside of isolates'],
      [
        lines.length > 0,
        `has lines that do not begin with an Arabic word or \\u200f: ${lines.join(' ⏎ ')}`,
      ],
    )
  },
}

function danda(text: string): readonly string[] {
  return found(
    [/\s[।?]/.test(text), 'has a space before । or ?'],
    [NUMBER_BEFORE_DANDA.test(text), 'has a number, or a value that may end in one, before ।'],
  )
}

/** After digits, bullets, emoji and tags comes an Arabic letter or a right-to-left mark. */
function beginsArabic(line: string): boolean {
  const start = line.replace(/<[^>]*>/g, '').replaceAll('{{count}}', '1')
  const first = /[\p{L}\u200f{\u2068]/u.exec(start)?.[0]
  return first === undefined || first === '\u200f' || /\p{Script=Arabic}/u.test(first)
}

/** Upper limits in code points, with values filled in; the first match counts. */
const BUDGETS: readonly (readonly [RegExp, number])[] = [
  [/^(?:messages|mail):.*subject$/i, 78],
  // A title and the number of further messages; a title with a price.
  [/^notices:together\.title$/, 100],
  [/^notices:(?:renewed|renewal-ahead)\.title$/, 70],
  [/^(?:messages|notices):.*\.title$/, 60],
  [/^notices:.*\.title\w+$/i, 60],
  [/^notices:linked\.title\./, 60],
  [/^notices:button\./, 24],
  [/^notices:/, 400],
  [/^messages:.*\.body$/, 320],
  [/^errors:.*\.title$/, 40],
  [/^errors:/, 200],
  [/^signals:.*\.help(?:\.\w+)?$/, 500],
  [/^bot:command\./, 60],
  // After an emoji.
  [/^bot:button\.type\./, 21],
  [/^bot:button\./, 24],
  [/^bot:toast\./, 200],
  [/^bot:help\./, 1_200],
  [/^bot:/, 600],
]

function lengths(text: string, { locale, file, key }: TextPlace): readonly string[] {
  const budget = BUDGETS.find(([pattern]) => pattern.test(`${file}:${key}`))?.[1]
  if (budget === undefined) return []
  const inButton = file === 'bot' && key.startsWith('button.')
  const filled = text
    .replace(PLACEHOLDER, (_whole, name: string) => longest(name, locale, inButton))
    .replace(/<[^>]*>/g, '')
  const length = [...filled].length
  return found([length > budget, `has ${length} characters with its longest values, of ${budget}`])
}

function longest(name: string, locale: Locale, inButton: boolean): string {
  const isTyped = TYPED.has(name)
  const value = LONGEST[name]?.(locale) ?? (isTyped ? 'x'.repeat(LABEL_MAX) : 'x'.repeat(12))
  const shown = inButton ? [...value].slice(0, BUTTON_VALUE_MAX).join('') : value
  return locale === 'ar' || isTyped ? `\u2068${shown}\u2069` : shown
}

/** Upper limit of a label and a name in a text. */
const LABEL_MAX = 40
/** Length of a name that must fit into a button's row; buttons cut longer names. */
const BUTTON_VALUE_MAX = 12

/** Values from users: isolated in every locale. */
const TYPED: ReadonlySet<string> = new Set([
  'wallet',
  'watch',
  'provider',
  'name',
  'label',
  'input',
])

const amount = (locale: Locale) =>
  formatAmount({ units: -125_000_001_234n, decimals: 4, symbol: 'FLR', signed: true }, locale)
const instant = (locale: Locale) =>
  formatDateTime(new Date('2026-09-30T22:04:00Z'), locale, 'Asia/Kathmandu')
const duration = (locale: Locale) => formatDuration(86_399, locale, 'long')

/** The longest usual value by placeholder; 12 characters for others. */
const LONGEST: Readonly<Record<string, (locale: Locale) => string>> = {
  count: () => '1,000',
  delta: amount,
  before: amount,
  after: amount,
  amount,
  balance: amount,
  since: instant,
  time: instant,
  published: instant,
  until: instant,
  duration,
  gap: duration,
  provider: () => 'x'.repeat(32),
  severity: () => 'x'.repeat(11),
  address: () => '0x3f12…A91c',
  round: () => '1519400',
  epoch: () => '1452',
  block: () => '418801234',
  title: () => 'x'.repeat(60),
  scope: () => 'write',
  seconds: () => '3,600',
  options: () => 'x'.repeat(100),
  watches: () => 'x'.repeat(220),
}
