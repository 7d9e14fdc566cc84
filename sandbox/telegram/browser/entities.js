import { copy, h } from './dom.js'

/** @import { Entity } from '../model.ts' */
/** @import { MessageContext } from '../chat-page-types.ts' */

/** @type {Readonly<Record<string, 'b' | 'i' | 'u' | 's'>>} */
const TAG_OF = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strikethrough: 's',
}

const BLOCKS = new Set(['pre', 'blockquote', 'expandable_blockquote'])

/**
 * A text with its entities as nodes.
 *
 * @param {string} text
 * @param {readonly Entity[]} entities in order, outer ones first
 * @param {MessageContext} context
 * @returns {Node[]}
 */
export function richText(text, entities, context) {
  return inside(text, 0, text.length, entities, context)
}

/**
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {readonly Entity[]} entities
 * @param {MessageContext} context
 * @returns {Node[]}
 */
function inside(text, start, end, entities, context) {
  /** @type {Node[]} */
  const nodes = []
  let at = start
  let rest = entities
  for (let entity = rest[0]; entity; entity = rest[0]) {
    const others = rest.slice(1)
    const entityEnd = Math.min(entity.offset + entity.length, end)
    if (entity.offset > at) nodes.push(document.createTextNode(text.slice(at, entity.offset)))
    const nested = others.filter((other) => other.offset < entityEnd)
    const content = inside(text, entity.offset, entityEnd, nested.map(cutAt(entityEnd)), context)
    nodes.push(wrap(entity, content, text.slice(entity.offset, entityEnd), context))
    // The part beyond this entity continues after it.
    rest = [
      ...nested
        .filter((other) => other.offset + other.length > entityEnd)
        .map(cutBefore(entityEnd)),
      ...others.filter((other) => other.offset >= entityEnd),
    ]
    // A block ends its line, so the line break after it is invisible.
    at = BLOCKS.has(entity.type) && text[entityEnd] === '\n' ? entityEnd + 1 : entityEnd
  }
  if (at < end) nodes.push(document.createTextNode(text.slice(at, end)))
  return nodes
}

/** @param {number} end @returns {(entity: Entity) => Entity} */
const cutAt = (end) => (entity) => ({
  ...entity,
  length: Math.min(entity.length, end - entity.offset),
})

/** @param {number} start @returns {(entity: Entity) => Entity} */
const cutBefore = (start) => (entity) => ({
  ...entity,
  offset: start,
  length: entity.offset + entity.length - start,
})

/**
 * @param {Entity} entity
 * @param {Node[]} content
 * @param {string} source
 * @param {MessageContext} context
 */
function wrap(entity, content, source, context) {
  switch (entity.type) {
    case 'spoiler':
      return spoiler(content)
    case 'expandable_blockquote':
      return foldedQuote(content)
    case 'blockquote':
      return h('blockquote', { dir: 'auto' }, ...content)
    case 'code':
      return h('code', { title: 'Click to copy', onclick: () => void copy(source) }, ...content)
    case 'pre':
      return block(entity, content, source)
    case 'text_link':
      return link(entity.url ?? '', content, context)
    case 'url':
      return link(/^https?:/i.test(source) ? source : `https://${source}`, content, context)
    case 'email':
      return h('a', { href: `mailto:${source}` }, ...content)
    case 'bot_command':
      return h(
        'button',
        { type: 'button', class: 'word', onclick: () => context.sendText(source) },
        ...content,
      )
    case 'mention':
    case 'hashtag':
    case 'text_mention':
      return h('span', { class: 'word' }, ...content)
    case 'date_time':
      return time(entity, source, context.language)
    default:
      return h(TAG_OF[entity.type] ?? 'span', {}, ...content)
  }
}

/**
 * A link. The browser opens web addresses only; Telegram opens other schemes itself.
 *
 * @param {string} url
 * @param {Node[]} content
 * @param {MessageContext} context
 */
function link(url, content, context) {
  const isWeb = /^https?:\/\//i.test(url)
  return h(
    'a',
    {
      href: isWeb ? url : '#',
      target: '_blank',
      rel: 'noopener noreferrer',
      title: url,
      onclick: (event) => {
        event.preventDefault()
        context.open(url)
      },
    },
    ...content,
  )
}

/** @param {Node[]} content */
function spoiler(content) {
  const show = (/** @type {Event} */ event) => {
    if (cover.classList.contains('shown')) return
    event.preventDefault()
    event.stopPropagation()
    cover.classList.add('shown')
  }
  const cover = h(
    'span',
    { class: 'spoiler', tabindex: '0', role: 'button', title: 'Hidden: click to read' },
    ...content,
  )
  cover.addEventListener('click', show, { capture: true })
  cover.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') show(event)
  })
  return cover
}

/** @param {Node[]} content */
function foldedQuote(content) {
  const fold = h('div', { class: 'fold' }, ...content)
  const quote = h('blockquote', { class: 'folded', dir: 'auto' }, fold)
  const toggle = h(
    'button',
    {
      type: 'button',
      class: 'fold-toggle',
      'aria-expanded': 'false',
      onclick: () => {
        const isOpen = quote.classList.toggle('open')
        toggle.setAttribute('aria-expanded', String(isOpen))
        toggle.textContent = isOpen ? '▴' : '▾'
      },
      title: 'Show all or less',
    },
    '▾',
  )
  quote.append(toggle)
  // The height of the quote is known once the quote is in the page.
  requestAnimationFrame(() => {
    toggle.hidden = fold.scrollHeight <= fold.clientHeight + 1
  })
  return quote
}

/**
 * @param {Entity} entity
 * @param {Node[]} content
 * @param {string} source
 */
function block(entity, content, source) {
  const head = h('span', { class: 'pre-head' }, entity.language ?? 'copy')
  head.addEventListener('click', () => void copy(source))
  return h('pre', { dir: 'ltr' }, head, h('code', {}, ...content))
}

/**
 * An instant in the reader's language, and in UTC like every other time in the sandbox.
 *
 * @param {Entity} entity
 * @param {string} source
 * @param {string} language
 */
function time(entity, source, language) {
  const at = new Date((entity.unix_time ?? 0) * 1000)
  const format = entity.date_time_format ?? ''
  const shown =
    format === ''
      ? source
      : format.toLowerCase() === 'r'
        ? relative(at, language)
        : absolute(at, format, language)
  return h(
    'time',
    { datetime: at.toISOString(), title: `${at.toISOString()} — “${source}”` },
    shown,
  )
}

/**
 * @param {Date} at
 * @param {string} format
 * @param {string} language
 */
function absolute(at, format, language) {
  /** @type {Intl.DateTimeFormatOptions} */
  const options = { timeZone: 'UTC' }
  if (/w/i.test(format)) options.weekday = 'long'
  if (format.includes('D'))
    Object.assign(options, { day: 'numeric', month: 'long', year: 'numeric' })
  else if (format.includes('d'))
    Object.assign(options, { day: '2-digit', month: '2-digit', year: '2-digit' })
  if (/t/i.test(format)) Object.assign(options, { hour: '2-digit', minute: '2-digit' })
  if (format.includes('T')) options.second = '2-digit'
  return new Intl.DateTimeFormat(language, options).format(at)
}

/**
 * @param {Date} at
 * @param {string} language
 */
function relative(at, language) {
  const minutes = Math.round((at.getTime() - Date.now()) / 60_000)
  const text = new Intl.RelativeTimeFormat(language, { numeric: 'auto' })
  if (Math.abs(minutes) < 60) return text.format(minutes, 'minute')
  if (Math.abs(minutes) < 1440) return text.format(Math.round(minutes / 60), 'hour')
  return text.format(Math.round(minutes / 1440), 'day')
}
