import { withoutDirections } from '#src/i18n/isolates.ts'
import { countCodePoints, cutText } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'

/** A line of the text part, or the page that a line of its own names. */
export type MailLine = string | { readonly url: string }

/** Content of an e-mail, as HTML and as plain text. */
export interface MailContent {
  readonly subject: string
  readonly html: string
  readonly text: string
}

const SUBJECT_MAX = 78
/** Prefix of a reply's subject that mail clients recognize. */
const ANSWER = 'Re: '
/** Maximum number of code points of a subject without the prefix. */
export const SUBJECT_ROOM = SUBJECT_MAX - ANSWER.length
const COLUMNS = 72
/**
 * Format characters, which some mail clients draw as boxes and which break subject filters. Joiners of
 * scripts and emoji are not included.
 */
const INVISIBLE = /[\u200b\u200e\u200f\u2060-\u2064\ufeff]/g
const RIGHT_TO_LEFT =
  /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u

/**
 * A subject of one line, without control and format characters, at most 78 characters. There is always room
 * for `Re: `, so that the subject of a reply differs only by this prefix.
 */
export function mailSubject(text: string, options: { readonly isAnswer?: boolean } = {}): string {
  const line = withoutDirections(text)
    .replace(INVISIBLE, '')
    .replace(/[\p{Cc}\p{Zs}]+/gu, ' ')
    .toWellFormed()
    .trim()
  const kept = cutText(line, SUBJECT_ROOM, countCodePoints).replace(/\s+…$/u, '…')
  return options.isAnswer ? `${ANSWER}${kept}` : kept
}

/**
 * Wraps lines at 72 columns; longer words, such as links, are not broken. A text without letters that run from
 * right to left has no direction marks, which some mail clients draw as boxes. Mail clients link the pages, and
 * nothing else.
 */
export function mailText(lines: readonly MailLine[]): string {
  const isMarked = lines.some((line) => typeof line === 'string' && RIGHT_TO_LEFT.test(line))
  const plain = (line: string) => inertText(isMarked ? line : withoutDirections(line))
  const text = lines
    .map((line) => (typeof line === 'string' ? plain(line) : line.url))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
  return `Watchdog\n\n${text.split('\n').map(wrapped).join('\n')}\n`.toWellFormed()
}

function wrapped(line: string): string {
  const rows = ['']
  for (const word of line.split(' ')) {
    const last = rows.at(-1) ?? ''
    const longer = last === '' ? word : `${last} ${word}`
    if (longer.length <= COLUMNS || last === '') rows[rows.length - 1] = longer
    else rows.push(word)
  }
  return rows.join('\n')
}
