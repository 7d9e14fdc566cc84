import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom'
import { expect, test } from 'vitest'
import { type FeedEntry, type FeedFile, writeAtom, writeJsonFeed } from './feed-file.ts'

const ENTRY: FeedEntry = {
  id: 'tag:watchdog.example,2026:/providers/0xabc/incidents/1-fsp.commit',
  title: 'Three rounds without a commit',
  lines: ['first', 'second'],
  category: 'critical',
  publishedAt: new Date('2026-11-23T07:00:00Z'),
  updatedAt: new Date('2026-11-23T08:00:00Z'),
}
const feedOf = (...entries: readonly Partial<FeedEntry>[]): FeedFile => ({
  id: 'tag:watchdog.example,2026:/providers/0xabc/incidents',
  title: 'Alpha & <Omega>: incidents',
  about: 'What the usual watch reports',
  page: 'https://watchdog.example/providers/0xabc?lang=de&x=1',
  self: 'https://watchdog.example/providers/0xabc/incidents.atom?lang=de',
  icon: 'https://watchdog.example/assets/mark.svg',
  language: 'de',
  since: new Date('2026-01-01T00:00:00Z'),
  entries: entries.map((entry) => ({ ...ENTRY, ...entry })),
})

/** Texts by element of the first entry, and of the feed. */
function parse(xml: string) {
  const document = new DOMParser({ onError: onErrorStopParsing }).parseFromString(xml, 'text/xml')
  const feed = document.documentElement
  const [entry] = Array.from(document.getElementsByTagName('entry'))
  const read = (of: typeof feed | undefined, name: string) =>
    of?.getElementsByTagName(name)[0]?.textContent
  return {
    feed: (name: string) => read(feed, name),
    entry: (name: string) => read(entry, name),
    attribute: (name: string) => feed?.getAttribute(name),
    links: Array.from(document.getElementsByTagName('link'), (link) => link.getAttribute('href')),
    count: document.getElementsByTagName('entry').length,
  }
}

test('Atom has an id, a title, a time and a link for the feed and each entry', () => {
  const atom = parse(writeAtom(feedOf({})))
  expect([atom.attribute('xmlns'), atom.attribute('xml:lang')]).toEqual([
    'http://www.w3.org/2005/Atom',
    'de',
  ])
  expect(atom.feed('title')).toBe('Alpha & <Omega>: incidents')
  expect(atom.feed('updated')).toBe('2026-11-23T08:00:00.000Z')
  expect(atom.entry('id')).toBe(ENTRY.id)
  expect(atom.entry('published')).toBe('2026-11-23T07:00:00.000Z')
  expect(atom.entry('content')).toBe('<p>first</p><p>second</p>')
  expect(atom.links).toContain('https://watchdog.example/providers/0xabc?lang=de&x=1')
})

test('a feed without incidents is a feed', () => {
  const atom = parse(writeAtom(feedOf()))
  expect([atom.count, atom.feed('updated')]).toEqual([0, '2026-01-01T00:00:00.000Z'])
  expect(JSON.parse(writeJsonFeed(feedOf())).items).toEqual([])
})

test('no text becomes markup, and characters that XML lacks do not break the feed', () => {
  const odd = '</title><script>alert("1")</script> ]]> &amp; \u0000\u0008\ufffe\ud800 \u2068x\u2069'
  const shown = '</title><script>alert("1")</script> ]]> &amp; \ufffd \u2068x\u2069'
  const atom = parse(writeAtom(feedOf({ title: odd, lines: [odd] })))
  expect(atom.entry('title')).toBe(shown)
  expect(atom.entry('content')).not.toContain('<script>')
  expect(atom.entry('content')).toContain('&lt;script&gt;')
  expect(atom.count).toBe(1)
})

test('JSON Feed has the same entries with their times', () => {
  const feed = JSON.parse(writeJsonFeed(feedOf({})))
  expect(feed.version).toBe('https://jsonfeed.org/version/1.1')
  expect(feed.items[0]).toMatchObject({
    id: ENTRY.id,
    content_text: 'first\nsecond',
    date_published: '2026-11-23T07:00:00.000Z',
    date_modified: '2026-11-23T08:00:00.000Z',
    tags: ['critical'],
  })
})
