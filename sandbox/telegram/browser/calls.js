import { h } from './dom.js'
import { known } from './store.js'

/** @import { CallView } from '../chat-page-types.ts' */

/**
 * Shown calls by sequence, so that opened ones stay open.
 *
 * @type {Map<number, HTMLElement>}
 */
const rows = new Map()

/** The column of the last calls, newest first. */
export function callColumn() {
  const list = h('ol', { class: 'calls', 'aria-label': 'Bot API calls' })
  const only = h('input', { type: 'checkbox', onchange: () => render(list, only.checked) })
  const column = h(
    'aside',
    { class: 'tg-calls', 'aria-label': 'Bot API calls' },
    h(
      'div',
      { class: 'column-head' },
      h('h2', {}, 'Bot API calls'),
      h('label', {}, only, ' refused only'),
    ),
    list,
  )
  return { column, update: () => render(list, only.checked) }
}

/**
 * @param {HTMLElement} list
 * @param {boolean} onlyRefused
 */
function render(list, onlyRefused) {
  const shown = known.calls.filter((call) => !onlyRefused || call.refused).reverse()
  for (const sequence of rows.keys()) {
    if (!known.calls.some((call) => call.sequence === sequence)) rows.delete(sequence)
  }
  const items = shown.map((call) => {
    const row = rows.get(call.sequence) ?? callRow(call)
    rows.set(call.sequence, row)
    return row
  })
  if (items.length === 0) {
    items.push(
      h(
        'li',
        { class: 'nothing' },
        onlyRefused ? 'Nothing was refused.' : 'The bot has not called yet.',
      ),
    )
  }
  list.replaceChildren(...items)
}

/** @param {CallView} call */
function callRow(call) {
  const chat = known.chats.get(Number(call.chatId))
  return h(
    'li',
    { class: `call${call.refused ? ' refused' : ''}` },
    h(
      'details',
      {},
      h(
        'summary',
        {},
        h('time', { datetime: call.at }, call.at.slice(11, 19)),
        h('b', {}, call.method),
        chat && h('bdi', { class: 'where' }, chat.title),
        h('span', { class: 'gist', dir: 'auto' }, gist(call.payload)),
        call.refused &&
          h('span', { class: 'why' }, `${call.refused.code || '✕'} ${call.refused.description}`),
      ),
      h('pre', { tabindex: '0' }, JSON.stringify(call.payload, null, 2)),
      call.result !== undefined &&
        h('pre', { class: 'result', tabindex: '0' }, JSON.stringify(call.result, null, 2)),
    ),
  )
}

/**
 * The most informative parameter, without markup.
 *
 * @param {CallView['payload']} payload
 */
function gist(payload) {
  const text =
    payload.text ?? payload.caption ?? payload.action ?? payload.language_code ?? payload.url ?? ''
  return String(text)
    .replace(/<[^>]*>/g, '')
    .slice(0, 90)
}
