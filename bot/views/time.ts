import { formatDateTime, formatTime } from '#src/i18n/format.ts'
import { type Html, html } from '#src/i18n/translate.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { textHtml } from './markup.ts'
import type { Reader } from './view.ts'

/**
 * Wall-clock time of an instant, such as `14:05:12`. In groups each member sees the time in their own time
 * zone. While the reader's zone is still UTC, the text says so.
 */
export function clockTime(reader: Reader, at: Date, options: { seconds?: boolean } = {}): Html {
  const { seconds = false } = options
  if (reader.isGroup) return groupTime(reader, at, seconds ? 'T' : 't')
  const { timezone } = reader
  const offset = timezone === 'UTC'
  return html(textHtml(formatTime(at, reader.t.locale, timezone, { seconds, offset })))
}

/** An instant near `now`: wall-clock time within a day, else with its date. */
export function nearTime(reader: Reader, at: Date, now: Date): Html {
  if (Math.abs(at.getTime() - now.getTime()) < DAY_MS) return clockTime(reader, at)
  if (reader.isGroup) return groupTime(reader, at, 'dt')
  const { timezone } = reader
  const options = { year: false, offset: timezone === 'UTC' }
  return html(textHtml(formatDateTime(at, reader.t.locale, timezone, options)))
}

/**
 * An instant that each member's client formats.
 * @see Bot API, HTML style: `tg-time`
 */
function groupTime(reader: Reader, at: Date, format: 't' | 'T' | 'dt'): Html {
  const { locale } = reader.t
  const text =
    format === 'dt'
      ? formatDateTime(at, locale, 'UTC', { year: false })
      : formatTime(at, locale, 'UTC', { seconds: format === 'T', offset: true })
  const unix = Math.floor(at.getTime() / 1000)
  return html(`<tg-time unix="${unix}" format="${format}">${textHtml(text)}</tg-time>`)
}
