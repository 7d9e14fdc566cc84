import { escapeHtml, type Html, html } from '#src/i18n/translate.ts'
import { inertText } from '#src/kernel/inert-text.ts'

/**
 * Texts as Telegram's HTML. Names that people and strangers chose are part of many texts, so nothing in a text can be
 * pressed, as in the values of `t.html`. These functions alone put text into markup; a test forbids `escapeHtml`
 * elsewhere in the bot.
 */

/** A text, of which the client makes no link, mention, command, tag or phone number. */
export function textHtml(text: string): string {
  return escapeHtml(inertText(text))
}

/** Text that is copied by a press and read by no client, such as an address. */
export function codeHtml(text: string): Html {
  return html(`<code>${escapeHtml(text)}</code>`)
}

/** Lines of equal width, which no client reads. */
export function preHtml(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`
}

/** Text that shows when it is pressed, to be copied as it is. */
export function spoilerHtml(text: string): Html {
  return html(`<tg-spoiler>${escapeHtml(text)}</tg-spoiler>`)
}

/** A text that leads to a page. */
export function linkHtml(text: string, url: string): Html {
  return html(`<a href="${escapeHtml(url)}">${textHtml(text)}</a>`)
}

/** A page of the service as text, which can be copied where Telegram takes no link to it. */
export function pageHtml(url: string): string {
  return escapeHtml(url)
}
