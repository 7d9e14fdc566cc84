// Search of the docs while typing: the results of the form's page, in a list below the field.

import { find } from './dom.js'

const PAUSE_MS = 150

/** Makes the form show results while its reader types. `/` leads to it, Escape closes the list. */
export function searchWhileTyping() {
  const form = find('form.search')
  const field = find('input[type="search"]', form)
  const list = find('.suggestions', form)
  if (!(form instanceof HTMLFormElement) || !(field instanceof HTMLInputElement)) return
  let timer = 0
  let asked = new AbortController()

  const close = () => {
    list.hidden = true
    asked.abort()
  }
  const show = async () => {
    asked.abort()
    asked = new AbortController()
    const found = await resultsOf(form, asked.signal)
    if (found === undefined) return
    list.replaceChildren(found)
    list.hidden = false
  }
  field.addEventListener('input', () => {
    clearTimeout(timer)
    if (field.value.trim() === '') close()
    else timer = window.setTimeout(show, PAUSE_MS)
  })
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node) || !form.contains(relatedTarget)) close()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea')
    if (event.key !== '/' || isTyping) return
    event.preventDefault()
    field.focus()
  })
}

/**
 * @param {HTMLFormElement} form
 * @param {AbortSignal} signal
 * @returns {Promise<Element | undefined>} undefined without an answer
 */
async function resultsOf(form, signal) {
  const fields = [...new FormData(form)].map(([name, value]) => [name, String(value)])
  try {
    const response = await fetch(`${form.action}?${new URLSearchParams(fields)}`, { signal })
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    return page.querySelector('.hits') ?? undefined
  } catch {
    return undefined
  }
}
