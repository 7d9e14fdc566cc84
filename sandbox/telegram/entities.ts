import { parse } from 'tldts'
import type { Entity } from './model.ts'

/** Entities that may overlap and are joined where they touch. */
const SPLITTABLE = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler'])

/** Entities without nested markup. */
const VERBATIM = new Set(['code', 'pre', 'date_time'])

const QUOTES = new Set(['blockquote', 'expandable_blockquote'])

/** Of two entities over the same range the one with the lower number is the outer one. */
const PRIORITY: Readonly<Record<string, number>> = {
  blockquote: 0,
  expandable_blockquote: 0,
  pre: 11,
  code: 20,
  text_link: 49,
  text_mention: 49,
  bold: 90,
  italic: 91,
  underline: 92,
  strikethrough: 93,
  spoiler: 94,
}

/** Entities without markup, by type. A pattern above another takes a place that both match. */
const DETECTED_PATTERNS: readonly (readonly [string, RegExp])[] = [
  ['url', /(?<![\w@])(?:https?|tg|ton|tonsite):\/\/[^\s<>"\u2000-\u206f]{2,}/giu],
  ['email', /(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?![\w-])/giu],
  [
    'url',
    /(?<![\p{L}\p{N}_@./-])(?:[\p{L}\p{N}-]+\.)+[\p{L}\p{N}-]+(?:[:/?#][^\s<>"\u2000-\u206f]*)?/giu,
  ],
  ['bot_command', /(?<![\w/<>@])\/\w{1,64}(?:@\w{3,32})?(?![\w/<>@])/gu],
  ['mention', /(?<![\w@/])@\w{3,32}(?![\w@])/gu],
  ['hashtag', /(?<![\p{L}\p{N}_#])#[\p{N}_]*\p{L}[\p{L}\p{N}_]*/gu],
  ['cashtag', /(?<![\p{L}\p{N}_$])\$(?:1INCH|[A-Z]{3,8})(?![\p{L}\p{N}_$])/gu],
  ['phone_number', /(?<![\p{L}\p{N}_+])\+\d(?:[\s().-]*\d){6,14}(?![\p{L}\p{N}_])/gu],
]

/** Whether a text without a scheme is a link: it begins with an address, or a domain below a registered top level. */
function isDomain(text: string): boolean {
  const { isIcann, isIp, domain } = parse(text, { allowPrivateDomains: false })
  return isIp === true || (isIcann === true && domain !== null)
}

/** Commands, mentions, links, mail addresses, tags and phone numbers that every client detects itself. */
export function detectEntities(text: string): readonly Entity[] {
  const entities: Entity[] = []
  for (const [type, pattern] of DETECTED_PATTERNS) {
    for (const match of text.matchAll(pattern)) {
      const length =
        type === 'url' ? match[0].replace(/[.,;:!?'")\]]+$/, '').length : match[0].length
      const taken = entities.some(
        (e) => match.index < e.offset + e.length && e.offset < match.index + length,
      )
      const isText = type === 'url' && !match[0].includes('://') && !isDomain(match[0])
      if (!taken && !isText) entities.push({ type, offset: match.index, length })
    }
  }
  return entities.sort((a, b) => a.offset - b.offset)
}

/**
 * Entities as Telegram stores them: no markup inside code, no link inside a link or quote inside a quote,
 * equal neighbours joined, and automatic entities (`detected`) only where the sender marked none.
 *
 * @see TDLib, `fix_entities`
 */
export function storedEntities(marked: readonly Entity[], detected: readonly Entity[]): Entity[] {
  const filled = marked.filter((entity) => entity.length > 0).sort(byPlace)
  const quotes = withoutOverlap(filled.filter((entity) => QUOTES.has(entity.type)))
  const whole = withoutOverlap(
    filled.filter((entity) => !SPLITTABLE.has(entity.type) && !QUOTES.has(entity.type)),
  )
  const free = detected.filter((entity) => !whole.some((other) => overlap(entity, other)))
  const verbatim = whole.filter((entity) => VERBATIM.has(entity.type))
  const split = [...SPLITTABLE].flatMap((type) =>
    without(joined(filled.filter((entity) => entity.type === type)), verbatim),
  )
  return [...quotes, ...whole, ...free, ...split].sort(byPlace)
}

function byPlace(a: Entity, b: Entity): number {
  return (
    a.offset - b.offset ||
    b.length - a.length ||
    (PRIORITY[a.type] ?? 50) - (PRIORITY[b.type] ?? 50)
  )
}

function overlap(a: Entity, b: Entity): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length
}

/** Keeps the outer one of two that overlap; expects them in order. */
function withoutOverlap(entities: readonly Entity[]): Entity[] {
  const kept: Entity[] = []
  for (const entity of entities) {
    const last = kept.at(-1)
    if (!last || entity.offset >= last.offset + last.length) kept.push(entity)
  }
  return kept
}

/** Joins touching entities of one type, in order. */
function joined(entities: readonly Entity[]): Entity[] {
  const kept: Entity[] = []
  for (const entity of entities) {
    const last = kept.at(-1)
    const end = entity.offset + entity.length
    if (!last || entity.offset > last.offset + last.length) kept.push(entity)
    else if (end > last.offset + last.length)
      kept[kept.length - 1] = { ...last, length: end - last.offset }
  }
  return kept
}

/** The parts of `entities` that lie outside of `holes`. */
function without(entities: readonly Entity[], holes: readonly Entity[]): Entity[] {
  return entities.flatMap((entity) => {
    const end = entity.offset + entity.length
    let start = entity.offset
    const parts: Entity[] = []
    for (const hole of holes) {
      if (!overlap({ ...entity, offset: start, length: end - start }, hole)) continue
      if (hole.offset > start) parts.push({ ...entity, offset: start, length: hole.offset - start })
      start = hole.offset + hole.length
    }
    if (start < end) parts.push({ ...entity, offset: start, length: end - start })
    return parts
  })
}
