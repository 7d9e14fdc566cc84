/** The screens that people ask for in words, without a slash. Pure. */
import { checkedKey, translate } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'

/** Screens with words of their own: `bot:words.…`, a list separated by the commas of the language. */
export const WORDED_SCREENS = [
  'menu',
  'help',
  'status',
  'watches',
  'new',
  'alerts',
  'mute',
  'stop',
  'cost',
  'credits',
  'recipients',
  'settings',
  'language',
  'wallets',
  'connect',
  'provider',
  'thanks',
] as const
export type WordedScreen = (typeof WORDED_SCREENS)[number]

/** Maximum length of a text in which words are looked for. */
const TEXT_MAX = 80

/** The screen that a text names, in a language or in English; undefined if the text is none of its words. */
export function screenNamed(text: string, locale: Locale): WordedScreen | undefined {
  if (text.length > TEXT_MAX) return undefined
  if (/^[?？؟\s]+$/u.test(text)) return 'help'
  const plain = plainOf(text)
  return WORDED_SCREENS.find((screen) => wordsOf(screen, locale).includes(plain))
}

/** Whether a text speaks of what the service costs, such as `how much is a watch?`. */
export function asksForCost(text: string, locale: Locale): boolean {
  if (text.length > TEXT_MAX) return false
  const plain = plainOf(text)
  return wordsOf('cost', locale).some((word) =>
    // Chinese has no spaces between words.
    /\p{Script=Han}/u.test(word) ? plain.includes(word) : ` ${plain} `.includes(` ${word} `),
  )
}

function wordsOf(screen: WordedScreen, locale: Locale): readonly string[] {
  const key = checkedKey(`bot:words.${screen}`)
  return [...new Set([locale, 'en'] as const)].flatMap((language) =>
    translate(language, key)
      .split(/[,،、]/u)
      .map(plainOf),
  )
}

/** A text in lower case, without a slash before it, hyphens and other signs, and marks that people leave out. */
function plainOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/(?<=[\p{Script=Latin}\p{Script=Arabic}])\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[’'`]/gu, ' ')
    .replace(/[^\p{L}\p{M}\p{N}\s]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
}
