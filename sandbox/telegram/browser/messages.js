import { clock, h } from './dom.js'
import { richText } from './entities.js'
import { keyboard } from './keyboard.js'
import { known } from './store.js'

/** @import { FileView, MessageView, PreviewView, ReplyView, MessageContext } from '../chat-page-types.ts' */

/**
 * One message as Telegram shows it.
 *
 * @param {MessageView} message
 * @param {MessageContext} context
 */
export function bubble(message, context) {
  if (message.service) {
    return h(
      'div',
      { class: 'service', 'data-id': message.id },
      h('span', { dir: 'auto' }, message.service),
    )
  }
  const isMine = message.from === context.me
  const buttons = keyboard(message, context)
  return h(
    'article',
    {
      class: `message${isMine ? ' mine' : ''}${buttons ? ' with-buttons' : ''}`,
      'data-id': message.id,
      'aria-label': `${message.name}, ${clock(message.at)}`,
    },
    context.isGroup && !isMine && avatar(message.name, message.from),
    h(
      'div',
      { class: 'column' },
      h(
        'div',
        { class: `bubble${message.file?.kind === 'photo' ? ' photo' : ''}` },
        ...content(message, context, isMine),
      ),
      buttons,
    ),
    h(
      'button',
      {
        type: 'button',
        class: 'more',
        title: 'Reply, old buttons, callback data',
        'aria-label': 'More',
        onclick: () => context.openMenu(message),
      },
      '⋯',
    ),
  )
}

/**
 * @param {MessageView} message
 * @param {MessageContext} context
 * @param {boolean} isMine
 */
function content(message, context, isMine) {
  const author = context.isGroup && !isMine
  return [
    author &&
      h(
        'div',
        { class: `author tint-${tint(message.from)}` },
        h('bdi', {}, message.name),
        message.anonymous && h('span', { class: 'role' }, 'anonymous administrator'),
      ),
    message.viaBot && h('div', { class: 'via' }, `via @${known.bot.username}`),
    message.reply && replyLine(message.reply, context),
    message.file && attachment(message.file),
    message.preview?.isAbove && previewOf(message, message.preview),
    message.text !== '' &&
      h(
        'div',
        { class: 'text', dir: 'auto' },
        ...richText(message.text, message.entities, context),
      ),
    message.preview && !message.preview.isAbove && previewOf(message, message.preview),
    h(
      'div',
      { class: 'meta' },
      message.silent && h('span', { title: 'Sent without sound', 'aria-label': 'silent' }, '🔕'),
      message.editedAt && h('span', { title: message.editedAt }, 'edited'),
      h(
        'time',
        { datetime: message.at, title: `${message.at} · message ${message.id}` },
        clock(message.at),
      ),
      isMine && h('span', { class: 'ticks', 'aria-hidden': 'true' }, '✓✓'),
    ),
  ]
}

/**
 * @param {ReplyView} reply
 * @param {MessageContext} context
 */
function replyLine(reply, context) {
  return h(
    'button',
    { type: 'button', class: 'reply-line', onclick: () => context.scrollTo(reply.id) },
    h('b', {}, h('bdi', {}, reply.name)),
    h('span', { dir: 'auto' }, reply.text),
  )
}

/**
 * The picture of a page, as Telegram fetched it; nothing if there is none.
 *
 * @param {MessageView} message
 * @param {PreviewView} preview
 */
function previewOf({ chatId, id }, { url }) {
  const address = `/chat/previews/${chatId}/${id}?${new URLSearchParams({ url })}`
  return h(
    'a',
    { href: url, target: '_blank', rel: 'noopener', class: 'picture preview' },
    h('img', {
      src: address,
      alt: 'Picture',
      onerror: (/** @type {Event} */ { target }) =>
        target instanceof Element && target.parentElement?.remove(),
    }),
  )
}

/** @param {FileView} file */
function attachment(file) {
  const address = `/chat/files/${encodeURIComponent(file.id)}`
  if (file.kind === 'photo') {
    return h(
      'a',
      { href: address, target: '_blank', rel: 'noopener', class: 'picture' },
      h('img', { src: address, alt: 'Photo', width: file.width, height: file.height }),
    )
  }
  const sign = { document: '📄', voice: '🎤', sticker: '🏷️' }[file.kind]
  return h(
    'a',
    { href: address, class: 'file', download: file.name },
    h('span', { class: 'file-sign', 'aria-hidden': 'true' }, sign),
    h('span', {}, h('bdi', {}, file.name), h('small', {}, size(file.bytes))),
  )
}

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : `${(bytes / 1024).toFixed(1)} kB`
}

/**
 * A round sign with the first letter of a name.
 *
 * @param {string} name
 * @param {number} id
 * @param {string} [extra]
 */
export function avatar(name, id, extra = '') {
  return h(
    'span',
    { class: `avatar back-${tint(id)} ${extra}`, 'aria-hidden': 'true' },
    [...name][0] ?? '?',
  )
}

/**
 * One of seven colours, constant for an id.
 *
 * @param {number} id
 */
function tint(id) {
  return Math.abs(id) % 7
}
