import { checkLink } from './links.ts'
import type { Entity, FormattedText } from './model.ts'
import { type BotApiRefusal, badRequest } from './refusal.ts'

const ENTITY_OF_TAG: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  code: 'code',
  pre: 'pre',
  a: 'text_link',
  blockquote: 'blockquote',
  'tg-emoji': 'custom_emoji',
  'tg-time': 'date_time',
}

const CHARACTER_OF_NAME: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
}

interface OpenTag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly start: number
}

/**
 * Parses Telegram's HTML.
 *
 * As strict as the real parser: only its own tags, properly nested, only `&lt; &gt; &amp; &quot;` and
 * numeric references; a link Telegram would not open is dropped without an error.
 *
 * @throws BotApiRefusal 400 `can't parse entities: …`, with byte offsets like the real server
 * @see TDLib, `parse_html`
 */
export function parseHtml(source: string): FormattedText {
  let text = ''
  let at = 0
  const open: OpenTag[] = []
  const entities: Entity[] = []
  while (at < source.length) {
    const character = source.charAt(at)
    const reference = character === '&' ? readReference(source, at) : undefined
    if (reference) {
      text += reference.text
      at = reference.end
    } else if (character !== '<') {
      text += character
      at++
    } else if (source.charAt(at + 1) === '/') {
      at = readEndTag(source, at, open)
      const tag = open.pop()
      if (tag && text.length > tag.start) close(entities, tag, text)
    } else {
      const tag = readStartTag(source, at)
      open.push({ name: tag.name, attributes: tag.attributes, start: text.length })
      at = tag.end
    }
  }
  const unclosed = open.at(-1)
  if (unclosed)
    throw cannotParse(`Can't find end tag corresponding to start tag "${unclosed.name}"`)
  if (!text.isWellFormed()) {
    throw cannotParse(
      'Text contains invalid Unicode characters after decoding HTML entities, check for unmatched surrogate code units',
    )
  }
  return { text, entities: entities.map(withoutStrayLanguage) }
}

function withoutStrayLanguage(entity: Entity): Entity {
  if (entity.type !== 'code') return entity
  return { type: entity.type, offset: entity.offset, length: entity.length }
}

function cannotParse(problem: string): BotApiRefusal {
  return badRequest(`can't parse entities: ${problem}`)
}

function bytesBefore(source: string, at: number): number {
  return Buffer.byteLength(source.slice(0, at))
}

/** A character reference at `at`, or undefined when it is plain text. The `;` may be missing. */
function readReference(source: string, at: number): { text: string; end: number } | undefined {
  const match = /&(?:#x([0-9a-f]+)|#(\d+)|([a-z]+));?/iy
  match.lastIndex = at
  const [whole = '', hex, decimal, name] = match.exec(source) ?? []
  if (whole === '') return undefined
  const end = at + whole.length
  if (name !== undefined) {
    const text = CHARACTER_OF_NAME[name]
    return text === undefined ? undefined : { text, end }
  }
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
  const tooLong = whole.replace(/;$/, '').length >= 10
  if (code === 0 || code >= 0x10ffff || tooLong) return undefined
  return { text: String.fromCodePoint(code), end }
}

function readStartTag(
  source: string,
  begin: number,
): { name: string; attributes: Map<string, string>; end: number } {
  const offset = bytesBefore(source, begin)
  const nameEnd = indexFrom(source, begin + 1, /[\s>]/g)
  if (nameEnd < 0) throw cannotParse(`Unclosed start tag at byte offset ${offset}`)
  const name = source.slice(begin + 1, nameEnd).toLowerCase()
  if (!Object.hasOwn(ENTITY_OF_TAG, name)) {
    throw cannotParse(`Unsupported start tag "${name}" at byte offset ${offset}`)
  }
  const attributes = new Map<string, string>()
  let at = nameEnd
  while (true) {
    at = skipSpace(source, at)
    if (source.charAt(at) === '>') break
    const attribute = readAttribute(source, at, name, offset)
    attributes.set(attribute.name, attribute.value)
    at = attribute.end
  }
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler') {
    throw cannotParse(`Tag "span" must have class "tg-spoiler" at byte offset ${offset}`)
  }
  return { name, attributes, end: at + 1 }
}

function readAttribute(
  source: string,
  begin: number,
  tag: string,
  offset: number,
): { name: string; value: string; end: number } {
  const nameEnd = indexFrom(source, begin, /[\s=>/"']|$/g)
  const name = source.slice(begin, nameEnd)
  if (name === '')
    throw cannotParse(`Empty attribute name in the tag "${tag}" at byte offset ${offset}`)
  let at = skipSpace(source, nameEnd)
  if (at >= source.length) throw cannotParse(`Unclosed start tag "${tag}" at byte offset ${offset}`)
  if (source.charAt(at) !== '=') return { name, value: '', end: at }
  at = skipSpace(source, at + 1)
  if (at >= source.length) throw cannotParse(`Unclosed start tag "${tag}" at byte offset ${offset}`)

  const quote = source.charAt(at)
  if (quote !== '"' && quote !== "'") {
    const end = indexFrom(source, at, /[^A-Za-z0-9.-]|$/g)
    if (!/[\s>]/.test(source.charAt(end))) {
      throw cannotParse(`Unexpected end of name token at byte offset ${bytesBefore(source, at)}`)
    }
    return { name, value: source.slice(at, end).toLowerCase(), end }
  }
  let value = ''
  at++
  while (at < source.length && source.charAt(at) !== quote) {
    const reference = source.charAt(at) === '&' ? readReference(source, at) : undefined
    value += reference?.text ?? source.charAt(at)
    at = reference?.end ?? at + 1
  }
  if (at + 1 >= source.length) throw cannotParse(`Unclosed start tag at byte offset ${offset}`)
  return { name, value, end: at + 1 }
}

/** Position after an end tag that matches the last open tag. */
function readEndTag(source: string, begin: number, open: readonly OpenTag[]): number {
  const offset = bytesBefore(source, begin)
  const expected = open.at(-1)
  if (!expected) throw cannotParse(`Unexpected end tag at byte offset ${offset}`)
  const nameEnd = indexFrom(source, begin, /[\s>]|$/g)
  const name = source.slice(begin + 2, nameEnd).toLowerCase()
  const at = skipSpace(source, nameEnd)
  if (source.charAt(at) !== '>') throw cannotParse(`Unclosed end tag at byte offset ${offset}`)
  if (name !== '' && name !== expected.name) {
    throw cannotParse(
      `Unmatched end tag at byte offset ${offset}, expected "</${expected.name}>", found "</${name}>"`,
    )
  }
  return at + 1
}

/** Adds the entity of a closed tag; an invalid link or time leaves plain text. */
function close(entities: Entity[], tag: OpenTag, text: string): void {
  const place = { offset: tag.start, length: text.length - tag.start }
  const type = ENTITY_OF_TAG[tag.name] ?? tag.name
  switch (tag.name) {
    case 'a': {
      const link = tag.attributes.get('href') || text.slice(tag.start)
      const person = /^tg:\/\/user\/?\?id=(\d+)$/.exec(link)?.[1]
      const checked = checkLink(link)
      if (person) entities.push({ type: 'text_mention', ...place, user: { id: Number(person) } })
      else if (checked.ok) entities.push({ type, ...place, url: checked.url })
      return
    }
    case 'blockquote':
      entities.push({
        type: tag.attributes.has('expandable') ? `expandable_${type}` : type,
        ...place,
      })
      return
    case 'tg-emoji': {
      const id = tag.attributes.get('emoji-id') ?? ''
      if (!/^[1-9]\d*$/.test(id)) throw cannotParse('Invalid custom emoji identifier specified')
      entities.push({ type, ...place, custom_emoji_id: id })
      return
    }
    case 'tg-time': {
      const unix = Number.parseInt(tag.attributes.get('unix') ?? '0', 10)
      const format = tag.attributes.get('format') ?? ''
      if (!/^(?:[rR]|[wWdDtT]*)$/.test(format)) {
        throw cannotParse('Invalid date-time format specified')
      }
      if (unix > 0) entities.push({ type, ...place, unix_time: unix, date_time_format: format })
      return
    }
    case 'pre':
    case 'code':
      closeCode(entities, tag, type, place)
      return
    default:
      entities.push({ type, ...place })
  }
}

/** `<pre><code class="language-x">` is one block with a language; `code` alone has none. */
function closeCode(
  entities: Entity[],
  tag: OpenTag,
  type: string,
  place: { readonly offset: number; readonly length: number },
): void {
  if (tag.name === 'code') {
    const language = tag.attributes.get('class')?.match(/^language-(.+)$/)?.[1]
    entities.push(language === undefined ? { type, ...place } : { type, ...place, language })
    return
  }
  const inner = entities.at(-1)
  const isWrapped =
    inner?.type === 'code' && inner.offset === place.offset && inner.length === place.length
  if (isWrapped) entities.pop()
  const language = isWrapped ? inner.language : undefined
  entities.push(language === undefined ? { type, ...place } : { type, ...place, language })
}

function indexFrom(source: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from
  return pattern.exec(source)?.index ?? -1
}

function skipSpace(source: string, from: number): number {
  return indexFrom(source, from, /\S|$/g)
}
