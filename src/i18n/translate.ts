import { createInstance } from 'i18next'
import type { ServedChain } from '#src/kernel/chains.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { isLocale, type Locale } from '#src/kernel/locale.ts'
import type bot from '../../locales/en/bot.json'
import type errors from '../../locales/en/errors.json'
import type mail from '../../locales/en/mail.json'
import type messages from '../../locales/en/messages.json'
import type notices from '../../locales/en/notices.json'
import type operations from '../../locales/en/operations.json'
import type pages from '../../locales/en/pages.json'
import type signals from '../../locales/en/signals.json'
import type units from '../../locales/en/units.json'
import { NAMESPACES, TEXT_KEYS, textsIn } from './catalogue.ts'
import { wordsOfChain } from './chain-words.ts'
import { numberFormat, withMinusSign } from './intl.ts'
import { isolate, isolatesOutside, withoutDirections } from './isolates.ts'

interface English {
  readonly bot: typeof bot
  readonly errors: typeof errors
  readonly mail: typeof mail
  readonly messages: typeof messages
  readonly notices: typeof notices
  readonly operations: typeof operations
  readonly pages: typeof pages
  readonly signals: typeof signals
  readonly units: typeof units
}

type PluralForm = 'zero' | 'one' | 'two' | 'few' | 'many' | 'other'
type Context = 'critical' | 'warning' | 'info'

type WithoutEnding<
  Key extends string,
  Ending extends string,
> = Key extends `${infer Base}_${Ending}` ? Base : Key
type Counted<Key extends string> = WithoutEnding<Key, PluralForm>
type KeyOf<Texts> = Counted<keyof Texts & string>

/**
 * Every text key, `<file>:<key>`, without the suffix that `count` or `context` choose. Derived from the
 * English files, so a literal key without a text does not compile.
 */
export type TextKey = {
  readonly [Name in keyof English]: `${Name}:${KeyOf<English[Name]> | WithoutEnding<KeyOf<English[Name]>, Context>}`
}[keyof English]

/** An identifier: a round, an epoch, a block, a row's id. Printed without grouping. */
interface Bare {
  readonly kind: 'bare'
  readonly text: string
}

/** Text or markup typed by a user, or a name from outside. */
interface Typed<Content = string> {
  readonly kind: 'typed'
  readonly content: Content
}

/** Markup whose values are already escaped. */
export interface Html {
  readonly kind: 'html'
  readonly html: string
}

/** A value for a placeholder. Numbers are formatted for the locale. */
export type TextValue = string | number | Bare | Typed

/** A value for a placeholder of a text that becomes HTML. */
export type HtmlValue = TextValue | Html | Typed<Html>

/** Marks an identifier, so that it is printed unchanged. */
export function id(value: number | string): Bare {
  return { kind: 'bare', text: String(value) }
}

/**
 * Marks user input (a name, a label, echoed input) so that it keeps its own direction in every locale and
 * cannot reorder the text around it.
 */
export function typed(content: string): Typed
export function typed(content: Html): Typed<Html>
export function typed(content: string | Html): Typed<string | Html> {
  return { kind: 'typed', content }
}

/** Marks safe markup, such as `<code>…</code>`, whose values went through `escapeHtml`. */
export function html(markup: string): Html {
  return { kind: 'html', html: markup }
}

/** Escapes a text for HTML, for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/**
 * Values by placeholder. `count` also chooses the plural form, `context` (a severity) a variant of the
 * text where there is one.
 */
export type TextValues = Readonly<Record<string, TextValue>>

/** Values for texts that become HTML; they may include safe markup. */
export type HtmlValues = Readonly<Record<string, HtmlValue>>

/** `translate` bound to the locale of one reader. */
export interface Translate {
  (key: TextKey, values?: TextValues): string
  /** `translateHtml` for the same locale. */
  html(key: TextKey, values?: HtmlValues): string
  readonly locale: Locale
}

/**
 * Returns the text of a key in a locale, in English where it is not translated.
 *
 * Numbers among the values are formatted for the locale; amounts, dates and durations are formatted by the
 * caller.
 *
 * @throws Error when the key has no text or a placeholder no value
 */
export function translate(locale: Locale, key: TextKey, values: TextValues = {}): string {
  return textOf(locale, key, values, values)
}

/**
 * Returns the text of a key as HTML: values are escaped and inert; tags of the text and of values marked with `html`
 * stay. `<code>` has no isolates and no joiners, which would be copied.
 *
 * @throws Error when the key has no text or a placeholder no value
 */
export function translateHtml(locale: Locale, key: TextKey, values: HtmlValues = {}): string {
  const safe = Object.entries(values).map(([name, value]) => [name, escaped(value)])
  return isolatesOutside(textOf(locale, key, Object.fromEntries(safe), values))
}

/** Binds `translate` to a locale. */
export function translator(locale: Locale): Translate {
  return Object.assign((key: TextKey, values?: TextValues) => translate(locale, key, values), {
    html: (key: TextKey, values?: HtmlValues) => translateHtml(locale, key, values),
    locale,
  })
}

/** Whether a text exists for this key, `<file>:<key>`. */
export function hasText(key: string): key is TextKey {
  return TEXT_KEYS.has(key)
}

/**
 * Checks a key that is built from an entry of a registry, such as `errors:` + code + `.title`. The compiler checks
 * literal keys.
 *
 * @throws Error when there is no such text
 */
export function checkedKey(key: string): TextKey {
  if (!hasText(key)) throw new Error(`no text ${key}`)
  return key
}

function textOf(locale: Locale, key: TextKey, replace: HtmlValues, choice: HtmlValues): string {
  const { count, context } = choice
  if (!loaded.has(locale)) load(locale)
  const colon = key.indexOf(':')
  return engine.t(key.slice(colon + 1), {
    lng: locale,
    ns: key.slice(0, colon),
    replace,
    ...(typeof count === 'number' && { count }),
    ...(typeof context === 'string' && { context }),
    // A value may contain text that looks like a nested key.
    nest: false,
  })
}

/** Escapes a value for a text that becomes HTML. Clients find nothing to link in it. */
function escaped(value: HtmlValue): HtmlValue {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return html(escapeHtml(inertText(value)))
  if (value.kind === 'bare') return html(escapeHtml(value.text))
  if (value.kind === 'html') return value
  return typeof value.content === 'string'
    ? typed(html(escapeHtml(inertText(value.content))))
    : value
}

/**
 * Formats a value for a text, and isolates it where its direction may differ: in Arabic every value, in
 * other languages typed values.
 */
function written(value: HtmlValue, locale: Locale): string {
  if (typeof value === 'object' && value.kind === 'typed') {
    const text = typeof value.content === 'string' ? value.content : value.content.html
    return isolate(withoutDirections(text))
  }
  const text = bareText(value, locale)
  return locale === 'ar' ? isolate(text) : text
}

function bareText(value: string | number | Bare | Html, locale: Locale): string {
  if (typeof value === 'number') return withMinusSign(numberFormat(locale, 'number').format(value))
  if (typeof value === 'string') return value
  return value.kind === 'bare' ? value.text : value.html
}

/** Formatter that i18next calls for every value, present or missing. */
const formatter = {
  type: 'formatter' as const,
  init() {},
  format(
    value: HtmlValue | undefined,
    _format: string | undefined,
    lng: string | undefined,
    options: Readonly<Record<string, unknown>> = {},
  ): string {
    if (value === undefined) throw new Error(`no value for {{${options.interpolationkey}}}`)
    return written(value, isLocale(lng) ? lng : 'en')
  },
}

const engine = createInstance()
// `init` completes synchronously, because it loads nothing.
engine.use(formatter).init({
  resources: {},
  ns: [...NAMESPACES],
  fallbackLng: 'en',
  keySeparator: false,
  nsSeparator: false,
  interpolation: { escapeValue: false, alwaysFormat: true },
  initAsync: false,
  parseMissingKeyHandler: (key, _default, options) => {
    throw new Error(`no text ${options?.ns}:${key} for count ${options?.count}`)
  },
})

/** The chain that the files of texts name. */
const WRITTEN = { name: 'Flare', symbol: 'FLR' }
/** The chain that texts name now. */
let named: Pick<ServedChain, 'name' | 'symbol'> = WRITTEN
/** i18next would copy the texts, and tell listeners that do not exist. */
const AS_IT_IS = { silent: true, skipCopy: true }
/** Locales whose texts the engine has. English is what it falls back to. */
const loaded = new Set<Locale>()
load('en')

/** Gives the engine the texts of a locale. */
function load(locale: Locale): void {
  const isWritten = named.name === WRITTEN.name && named.symbol === WRITTEN.symbol
  for (const [name, texts] of Object.entries(textsIn(locale))) {
    const inChain = Object.entries(texts).map(([key, text]) => [
      key,
      isWritten ? text : wordsOfChain(key, text, named),
    ])
    engine.addResourceBundle(locale, name, Object.fromEntries(inChain), false, true, AS_IT_IS)
  }
  loaded.add(locale)
}

/** Writes the names of this chain and of its coin into every text, unless they are there already. */
export function writeChainNames(chain: Pick<ServedChain, 'name' | 'symbol'>): void {
  if (chain.name === named.name && chain.symbol === named.symbol) return
  named = chain
  for (const locale of loaded) load(locale)
}
