import { h } from './dom.js'
import { about, act, known } from './store.js'

/** @import { InlineView, ChatPageState } from '../chat-page-types.ts' */

/**
 * The list above the text field: matching commands, or results of an inline query.
 *
 * @param {ChatPageState} page
 * @param {(text: string) => void} send called with a chosen command
 * @param {() => void} chosen called when an inline result was posted
 */
export function suggestions(page, send, chosen) {
  const list = h('div', { class: 'suggestions', hidden: true })
  let isWanted = false
  const hide = () => {
    isWanted = false
    list.hidden = true
  }
  /** @param {HTMLElement[]} entries @param {string} otherwise */
  const show = (entries, otherwise) => {
    list.replaceChildren(...(entries.length > 0 ? entries : [h('p', {}, otherwise)]))
    list.hidden = false
  }
  return {
    list,
    hide,
    isShown: () => !list.hidden,
    /** @param {string} start what was typed, with its slash */
    async commands(start) {
      isWanted = true
      const found = await about(page.chat().id, page.me())
      // Sent or deleted meanwhile.
      if (!isWanted) return
      const suffix = page.chat().type === 'private' ? '' : `@${known.bot.username}`
      const entries = found.commands
        .filter(({ command }) => `/${command}`.startsWith(start))
        .map(({ command, description }) =>
          entry(`/${command}`, description, () => send(`/${command}${suffix}`)),
        )
      if (entries.length > 0 || start === '/') show(entries, 'No commands for this person here.')
      else hide()
    },
    /** @param {InlineView} answer */
    results(answer) {
      /** @param {string} result */
      const choose = async (result) => {
        const posted = { act: 'choose', query: answer.queryId, result, chat: page.chat().id }
        if (await act(posted)) chosen()
      }
      const top = answer.button
      const entries = answer.results.map(({ id, title, description }) =>
        entry(title, description, () => void choose(id)),
      )
      const address = `https://t.me/${known.bot.username}?start=${top?.start ?? ''}`
      show(
        top ? [entry(top.text, '', () => page.open(address)), ...entries] : entries,
        'No results.',
      )
    },
  }
}

/**
 * @param {string} label
 * @param {string} detail
 * @param {() => void} run
 */
function entry(label, detail, run) {
  return h(
    'button',
    { type: 'button', onclick: run },
    h('b', { dir: 'auto' }, label),
    h('span', { dir: 'auto' }, detail),
  )
}
