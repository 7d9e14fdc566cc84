import { h } from './dom.js'

/**
 * Two switches of the chat's appearance, stored for the next visit.
 *
 * @param {HTMLElement[]} turned elements with the switched direction
 */
export function looks(turned) {
  const isDark = String(matchMedia('(prefers-color-scheme: dark)').matches)
  return h(
    'div',
    { class: 'looks' },
    toggle('Dark', 'chat-dark', isDark, (on) => {
      document.documentElement.dataset.theme = on ? 'dark' : 'light'
    }),
    toggle('Right-to-left', 'chat-rtl', 'false', (on) => {
      for (const element of turned) element.dir = on ? 'rtl' : 'ltr'
    }),
  )
}

/**
 * @param {string} label
 * @param {string} key where the choice is kept
 * @param {string} usual
 * @param {(on: boolean) => void} apply
 */
function toggle(label, key, usual, apply) {
  const start = localStorage.getItem(key) ?? usual
  const button = h(
    'button',
    {
      type: 'button',
      class: 'plain',
      'aria-pressed': start,
      onclick: () => {
        const next = button.getAttribute('aria-pressed') !== 'true'
        button.setAttribute('aria-pressed', String(next))
        localStorage.setItem(key, String(next))
        apply(next)
      },
    },
    label,
  )
  apply(start === 'true')
  return button
}
