/**
 * Attributes of an element. A name that begins with `on` adds a listener; undefined, null and false add nothing.
 *
 * @typedef {{
 *   onclick?: (event: MouseEvent) => void,
 *   onkeydown?: (event: KeyboardEvent) => void,
 *   oninput?: (event: Event) => void,
 *   onchange?: (event: Event) => void,
 *   [name: string]: string | number | boolean | null | undefined | ((event: never) => void),
 * }} Properties
 */

/** @typedef {Node | string | false | null | undefined} Child */

/**
 * Creates an element. Text is inserted as text, so user input is never markup.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value))
    } else {
      element.setAttribute(name, value === true ? '' : String(value))
    }
  }
  for (const child of children) {
    if (child !== undefined && child !== null && child !== false) element.append(child)
  }
  return element
}

/**
 * The present toast, removed before the next one.
 *
 * @type {HTMLElement | undefined}
 */
let toastShown

/** @type {ReturnType<typeof setTimeout> | undefined} */
let toastTimer

/**
 * Shows a text over the chat for a moment.
 *
 * @param {string} text
 * @param {boolean} [isError]
 */
export function toast(text, isError = false) {
  toastShown?.remove()
  clearTimeout(toastTimer)
  toastShown = h(
    'div',
    { class: `toast${isError ? ' wrong' : ''}`, role: 'status', dir: 'auto' },
    text,
  )
  document.querySelector('.tg-chat')?.append(toastShown)
  toastTimer = setTimeout(() => toastShown?.remove(), isError ? 6000 : 4000)
}

/**
 * Opens a modal dialog.
 *
 * @param {Node | string} content
 * @param {{ label: string, primary?: boolean, run?: () => void }[]} buttons
 */
export function dialog(content, buttons) {
  const box = h('dialog', { class: 'box' })
  const body = typeof content === 'string' ? h('p', { dir: 'auto' }, content) : content
  const row = h(
    'div',
    { class: 'box-buttons' },
    ...buttons.map(({ label, primary, run }) =>
      h(
        'button',
        {
          type: 'button',
          class: primary ? 'go' : '',
          onclick: () => {
            run?.()
            box.close()
          },
        },
        label,
      ),
    ),
  )
  box.append(body, row)
  box.addEventListener('close', () => box.remove())
  document.body.append(box)
  box.showModal()
  return box
}

/**
 * Copies a text, with a confirmation.
 *
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text)
    toast('Copied to the clipboard')
  } catch {
    dialog(h('textarea', { class: 'copied', readonly: true, rows: '4' }, text), [
      { label: 'Close' },
    ])
  }
}

/**
 * Hours and minutes of an instant, in UTC as the top bar counts them.
 *
 * @param {string} at
 */
export function clock(at) {
  return at.slice(11, 16)
}
