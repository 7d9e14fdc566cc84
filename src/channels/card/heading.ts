/** The first line of a message about one alert, in every channel and on its page. Pure. */

import { translator, typed } from '#src/i18n/translate.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { hasVisible } from '#src/kernel/outside-text.ts'
import { textAfterWatchName } from '#src/kernel/title-after-watch-name.ts'
import type { Envelope } from '../envelope.ts'
import { transferHeading } from './transfer.ts'
import { LABEL_MAX } from './wording.ts'

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
  const isNamed = textAfterWatchName(message.watchLabel, title) !== undefined
  if (isNamed || !hasVisible(message.watchLabel)) return title
  return t('messages:item', { watch: typed(cutText(message.watchLabel, labelMax)), title })
}
