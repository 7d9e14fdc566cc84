/** The first line of a message about one alert, in every channel and on its page. Pure. */
import { withoutDirections } from '#src/i18n/isolates.ts'
import { translator, typed } from '#src/i18n/translate.ts'
import type { Envelope } from './envelope.ts'
import { transferHeading } from './transfer.ts'
import { cut, LABEL_MAX } from './wording.ts'

/** The name of the alert's watch, and what happened; without a watch only what happened. */
export function alertHeading(
  envelope: Pick<Envelope, 'data' | 'message' | 'locale'>,
  options: {
    /** What happened; by default the title of the message. */
    readonly title?: string
    /** Maximum length of the name in UTF-16 units. */
    readonly labelMax?: number
  } = {},
): string {
  const { message, locale } = envelope
  const { title = message.title, labelMax = LABEL_MAX } = options
  if (message.watchLabel === null) return title
  const t = translator(locale)
  const transfer = transferHeading(envelope, labelMax)
  if (transfer !== undefined) return transfer
  if (bare(message.watchLabel) === '' || beginsWithName(title, message.watchLabel)) return title
  return t('messages:item', { watch: typed(cut(message.watchLabel, labelMax)), title })
}

/** Whether a title begins with the name of a watch, or as Arabic ones with a word and it before a move: “price FLR/USD +6%”. */
export function beginsWithName(title: string, label: string): boolean {
  const [name, text] = [bare(label), bare(title)]
  if (name === '') return false
  const isFirst = text.startsWith(name) && !/^[\p{L}\p{N}]/u.test(text.slice(name.length))
  return isFirst || /^\p{L}+ (.*?):? [-+\u2212]/u.exec(text)?.[1] === name
}

/** A text without characters that show nothing, with simple spaces. */
function bare(text: string): string {
  return withoutDirections(text)
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/\s+/g, ' ')
    .trim()
}
