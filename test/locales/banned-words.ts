import type { Locale } from '#src/kernel/locale.ts'
import rules from './banned-words.json' with { type: 'json' }

/** A word that a locale has a better one for. */
interface BannedWord {
  /** Source of a regular expression; `\b` works with the letters of every script. */
  readonly pattern: string
  readonly instead: string
  /** Keys where it has its ordinary meaning; `*` stands for any rest. */
  readonly except?: readonly string[]
}

const WORD = String.raw`[\p{L}\p{M}\p{N}_]`
const BOUNDARY = `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`

/** Compiled patterns by locale. */
const BANNED = Object.fromEntries(
  Object.entries<readonly BannedWord[]>(rules).map(([locale, words]) => [
    locale,
    words.map(({ pattern, instead, except = [] }) => ({
      search: new RegExp(pattern.replaceAll(String.raw`\b`, BOUNDARY), 'iu'),
      instead,
      except: except.map((key) => key.split('*')),
    })),
  ]),
)

/**
 * Words of a text that its locale has better ones for. Code, tags, values and isolates are ignored.
 */
export function faultsOfWords(locale: Locale, key: string, text: string): readonly string[] {
  const bare = text
    .replace(/<code>.*?<\/code>|`[^`]*`|https?:\S+/gs, ' ')
    .replace(/<[^>]*>|[\u2066-\u2069]/g, '')
    .replace(/\{\{\w+\}\}/g, '{}')
    .normalize('NFC')
  return (BANNED[locale] ?? []).flatMap(({ search, instead, except }) => {
    const found = search.exec(bare)?.[0]
    const isExempt = except.some((parts) => holds(key, parts))
    return found === undefined || isExempt ? [] : [`“${found}”: write ${instead}`]
  })
}

/** Whether a key has these parts in this order, beginning with the first and ending with the last. */
function holds(key: string, parts: readonly string[]): boolean {
  const [first = '', ...others] = parts
  if (others.length === 0) return key === first
  const last = others.at(-1) ?? ''
  const middle = others.slice(0, -1).every((part) => key.includes(part))
  return key.startsWith(first) && key.endsWith(last) && middle
}
