import { withoutDirections } from '#src/i18n/isolates.ts'

/** What a mail says, twice: for programs that show HTML and for those that do not. */
export interface MailContent {
  readonly subject: string
  readonly html: string
  readonly text: string
}

const SUBJECT_MAX = 78
/** Begins the subject of an answer; mail programs know it in this form alone. */
const ANSWER = 'Re: '
const COLUMNS = 72
/**
 * Format characters, which mail programs may draw as boxes, and across which rules on subjects do not match.
 * Not among them are the joiners that scripts and emoji need.
 */
const INVISIBLE = /[\u200b\u200e\u200f\u2060-\u2064\ufeff]/g

/**
 * One line without control and format characters, at most 78 characters long. There is always room for `Re: `, so
 * that an answer's subject is the same but for that.
 */
export function mailSubject(text: string, options: { readonly isAnswer?: boolean } = {}): string {
  const line = withoutDirections(text)
    .replace(INVISIBLE, '')
    .replace(/[\p{Cc}\p{Zs}]+/gu, ' ')
    .toWellFormed()
    .trim()
  const characters = [...line]
  const room = SUBJECT_MAX - ANSWER.length
  const kept =
    characters.length <= room
      ? line
      : `${characters
          .slice(0, room - 1)
          .join('')
          .trimEnd()}…`
  return options.isAnswer ? `${ANSWER}${kept}` : kept
}

/** Lines of at most 72 columns; words longer than that, such as links, stay whole. */
export function mailText(lines: readonly string[]): string {
  const text = lines
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
