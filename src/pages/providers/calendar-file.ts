/** Writes iCalendar files (RFC 5545). Pure. */

/** An event of a calendar. */
export interface CalendarEvent {
  /** Stays the same for as long as the event exists. */
  readonly uid: string
  readonly summary: string
  readonly description: string
  readonly from: Date
  /** Not later than `from` for an instant. */
  readonly to: Date
  /** Whether the times are certain. */
  readonly isConfirmed: boolean
  /** Grows when the times change. */
  readonly sequence: number
  readonly revisedAt: Date
}

/** A calendar with its events. */
export interface CalendarFile {
  readonly name: string
  readonly description: string
  /** Page about the calendar. */
  readonly url: string
  /** Address of the file itself. */
  readonly source: string
  readonly language: string
  readonly events: readonly CalendarEvent[]
}

/** Maximum number of bytes of a line, without its end. */
const LINE_BYTES = 75

/** The file as text, with lines that end in CRLF. */
export function writeCalendar(calendar: CalendarFile): string {
  const { name, description, url, source, language, events } = calendar
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Watchdog//Data providers//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `NAME;LANGUAGE=${language}:${escapeText(name)}`,
    // Older programs read these two instead of NAME and REFRESH-INTERVAL (RFC 7986).
    `X-WR-CALNAME:${escapeText(name)}`,
    'X-PUBLISHED-TTL:PT1H',
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    `DESCRIPTION;LANGUAGE=${language}:${escapeText(description)}`,
    `URL:${url}`,
    `SOURCE;VALUE=URI:${source}`,
    ...events.flatMap((event) => linesOf(event, { url, language })),
    'END:VCALENDAR',
  ]
  return lines.flatMap(fold).join('')
}

function linesOf(event: CalendarEvent, { url, language }: { url: string; language: string }) {
  const { uid, summary, description, from, to, isConfirmed, sequence, revisedAt } = event
  return [
    'BEGIN:VEVENT',
    `UID:${escapeText(uid)}`,
    `DTSTAMP:${timeOf(revisedAt)}`,
    `SEQUENCE:${sequence}`,
    `DTSTART:${timeOf(from)}`,
    // An event without an end is an instant; an end must be later than the start.
    ...(to > from ? [`DTEND:${timeOf(to)}`] : []),
    `SUMMARY;LANGUAGE=${language}:${escapeText(summary)}`,
    `DESCRIPTION;LANGUAGE=${language}:${escapeText(description)}`,
    `URL:${url}`,
    `STATUS:${isConfirmed ? 'CONFIRMED' : 'TENTATIVE'}`,
    // Nobody is busy because of it.
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ]
}

function timeOf(at: Date): string {
  return at
    .toISOString()
    .replace(/\.\d{3}/, '')
    .replaceAll(/[-:]/g, '')
}

/** Text of a property: no controls, and the signs that separate values escaped. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll(/\p{Cc}/gu, '')
}

/** Cuts a line into pieces of 75 bytes, never inside a character; each further one begins with a space. */
function fold(line: string): readonly string[] {
  const pieces: string[] = []
  let piece = ''
  let bytes = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (bytes + size > LINE_BYTES) {
      pieces.push(`${piece}\r\n`)
      piece = ' '
      bytes = 1
    }
    piece += character
    bytes += size
  }
  return [...pieces, `${piece}\r\n`]
}
