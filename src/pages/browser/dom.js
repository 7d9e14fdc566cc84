// Functions of the pages' scripts on their page.

const COPIED_MS = 2000

/** Says what changes to people who hear the page. It is part of the page before its first text. */
const said = document.createElement('p')
said.className = 'visually-hidden'
said.setAttribute('role', 'status')
document.body.append(said)

/**
 * Finds the first element of a selector.
 *
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {HTMLElement}
 * @throws {Error} if there is none
 */
export function find(selector, root = document) {
  const element = root.querySelector(selector)
  if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`)
  return element
}

/**
 * Shows one note, or none. Its placeholders are filled in.
 *
 * @param {string} [name]
 * @param {Readonly<Record<string, string>>} [values]
 */
export function showNote(name, values = {}) {
  for (const one of document.querySelectorAll('[data-note]')) {
    if (!(one instanceof HTMLElement)) continue
    one.hidden = one.dataset.note !== name
    if (one.hidden) continue
    for (const [key, value] of Object.entries(values)) {
      for (const place of one.querySelectorAll(`[data-fill="${key}"]`)) place.textContent = value
    }
  }
}

/** Shows a sentence of the service as the note. @param {string} text */
export function tell(text) {
  find('[data-note="told"]').textContent = text
  showNote('told')
}

/**
 * Runs an action of an element, which is marked busy meanwhile, and shows a note when the action fails. Does
 * nothing while another action of the element runs.
 *
 * @param {HTMLElement} element
 * @param {() => Promise<unknown>} work
 * @param {(error: unknown) => string} noteOf name of the note about a failure
 */
export async function runAlone(element, work, noteOf) {
  if (element.hasAttribute('aria-busy')) return
  element.setAttribute('aria-busy', 'true')
  try {
    await work()
  } catch (error) {
    showNote(noteOf(error))
  } finally {
    element.removeAttribute('aria-busy')
  }
}

/** Says a text to people who hear the page, and shows nothing. @param {string} text */
export function say(text) {
  said.textContent = text
}

/** Makes every copy button work. */
export function offerCopies() {
  for (const button of document.querySelectorAll('button[data-copy]')) {
    if (!(button instanceof HTMLButtonElement)) continue
    if (navigator.clipboard !== undefined) offerCopy(button)
    // Pages without TLS have no clipboard. The button keeps its place.
    else button.style.visibility = 'hidden'
  }
}

/**
 * Shows for a moment on a button that its text was copied.
 *
 * @param {HTMLButtonElement} button
 * @param {string} done
 */
export function showCopied(button, done) {
  const label = button.textContent
  if (label === done) return
  button.textContent = done
  say(done)
  setTimeout(() => {
    button.textContent = label
    say('')
  }, COPIED_MS)
}

/** @param {HTMLButtonElement} button */
function offerCopy(button) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const { copy = '', done = '' } = button.dataset
    await navigator.clipboard.writeText(copy)
    showCopied(button, done)
  })
}

/**
 * Marks a step of the list as the next one in place of another, which is announced, or as done with its result.
 *
 * @param {string} name
 * @param {'next' | 'done' | 'open'} state
 * @param {string} [value]
 */
export function step(name, state, value) {
  const item = find(`[data-step="${name}"]`)
  item.classList.toggle('done', state === 'done')
  const current = state === 'next' ? document.querySelectorAll('[data-step]') : [item]
  for (const one of current) one.removeAttribute('aria-current')
  if (state === 'next') item.setAttribute('aria-current', 'step')
  find('[data-done]', item).hidden = state !== 'done'
  if (state === 'next') say(find('span', item).textContent ?? '')
  const place = item.querySelector('[data-value]')
  if (place !== null && value !== undefined) place.textContent = value
}

/**
 * Sends a form's fields to a path of this service.
 *
 * @param {string} path
 * @param {Record<string, string>} fields
 * @returns {Promise<{ isOk: boolean, body: any } | undefined>} undefined without an answer
 */
export async function post(path, fields) {
  try {
    const headers = { accept: 'application/json' }
    const body = new URLSearchParams(fields)
    const response = await fetch(path, { method: 'POST', headers, body })
    return { isOk: response.ok, body: await response.json() }
  } catch {
    return undefined
  }
}

/**
 * Asks the service for this page again.
 *
 * @param {string} selector
 * @returns {Promise<Element | undefined>} the first element of the selector in the new page; undefined if the service
 * does not answer
 */
export async function lookAgain(selector) {
  try {
    const response = await fetch(location.href)
    if (!response.ok) return undefined
    const page = new DOMParser().parseFromString(await response.text(), 'text/html')
    return page.querySelector(selector) ?? undefined
  } catch {
    return undefined
  }
}
