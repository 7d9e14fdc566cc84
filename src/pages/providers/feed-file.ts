/** Writes feeds as Atom (RFC 4287) and as JSON Feed 1.1. Pure. */
import { escapeHtml } from '#src/i18n/translate.ts'
import type { Locale } from '#src/kernel/locale.ts'

/** An entry of a feed. */
export interface FeedEntry {
  /** A `tag:` URI, which stays the same for as long as the entry exists. */
  readonly id: string
  readonly title: string
  /** Plain text, a paragraph each. */
  readonly lines: readonly string[]
  readonly category: string
  readonly publishedAt: Date
  readonly updatedAt: Date
}

/** A feed with its entries, newest first. */
export interface FeedFile {
  readonly id: string
  readonly title: string
  readonly about: string
  /** Page about the feed. */
  readonly page: string
  /** Address of the file itself. */
  readonly self: string
  readonly icon: string
  readonly language: Locale
  /** Time of a feed without entries. */
  readonly since: Date
  readonly entries: readonly FeedEntry[]
}

/** The feed as Atom. */
export function writeAtom(feed: FeedFile): string {
  const { id, title, about, page, self, icon, language, entries } = feed
  const updated = Math.max(...entries.map(({ updatedAt }) => +updatedAt), +feed.since)
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="${language}">`,
    `<id>${text(id)}</id>`,
    `<title>${text(title)}</title>`,
    `<subtitle>${text(about)}</subtitle>`,
    `<updated>${new Date(updated).toISOString()}</updated>`,
    `<link rel="self" type="application/atom+xml" href="${text(self)}"/>`,
    `<link rel="alternate" type="text/html" href="${text(page)}"/>`,
    `<icon>${text(icon)}</icon>`,
    '<author><name>Watchdog</name></author>',
    ...entries.flatMap((entry) => [
      '<entry>',
      `<id>${text(entry.id)}</id>`,
      `<title>${text(entry.title)}</title>`,
      `<published>${entry.publishedAt.toISOString()}</published>`,
      `<updated>${entry.updatedAt.toISOString()}</updated>`,
      `<link rel="alternate" type="text/html" href="${text(page)}"/>`,
      `<category term="${text(entry.category)}"/>`,
      // HTML inside XML: its text is escaped once for HTML, and the whole once more for XML.
      `<content type="html">${text(paragraphs(entry.lines))}</content>`,
      '</entry>',
    ]),
    '</feed>',
    '',
  ].join('\n')
}

/** The feed as JSON. @see https://www.jsonfeed.org/version/1.1/ */
export function writeJsonFeed(feed: FeedFile): string {
  const { title, about, page, self, icon, language, entries } = feed
  return `${JSON.stringify({
    version: 'https://jsonfeed.org/version/1.1',
    title,
    description: about,
    home_page_url: page,
    feed_url: self,
    icon,
    language,
    authors: [{ name: 'Watchdog' }],
    items: entries.map((entry) => ({
      id: entry.id,
      url: page,
      title: entry.title,
      content_text: entry.lines.join('\n'),
      date_published: entry.publishedAt.toISOString(),
      date_modified: entry.updatedAt.toISOString(),
      tags: [entry.category],
    })),
  })}\n`
}

function paragraphs(lines: readonly string[]): string {
  return lines.map((line) => `<p>${escapeHtml(line)}</p>`).join('')
}

/** Text of XML 1.0, which has no character for controls, lone surrogates and two noncharacters, escaped or not. */
function text(raw: string): string {
  return escapeHtml(raw.toWellFormed().replaceAll(/[^\P{Cc}\t\n\r]|[\ufffe\uffff]/gu, ''))
}
