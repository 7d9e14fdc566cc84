// Console of the API reference: sends an operation's call to this service. The token is in the memory of the
// page alone: nothing is stored, and it is sent to this origin only.

import { find } from './dom.js'

const KEY_BYTES = 16

/** Makes every console of the page work. */
export function offerConsoles() {
  const token = document.getElementById('token')
  for (const form of document.querySelectorAll('.console form')) {
    if (!(form instanceof HTMLFormElement)) continue
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      void send(form, token instanceof HTMLInputElement ? token.value.trim() : '')
    })
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} token
 */
async function send(form, token) {
  const { badBody = '', noAnswer = '' } = find('.token').dataset
  const body = form.querySelector('textarea')?.value.trim() || undefined
  if (body !== undefined && parsed(body) === undefined) return show(form, badBody)
  const button = find('button[type="submit"]', form)
  button.toggleAttribute('disabled', true)
  try {
    const response = await fetch(addressOf(form), {
      method: form.dataset.method ?? 'GET',
      headers: headersOf(form, token, body !== undefined),
      credentials: 'omit',
      cache: 'no-store',
      ...(body !== undefined && { body }),
    })
    const text = await response.text()
    const value = parsed(text)
    const answer = value === undefined ? text : JSON.stringify(value, undefined, 2)
    show(form, String(response.status), answer)
  } catch {
    show(form, noAnswer)
  }
  button.toggleAttribute('disabled', false)
  // Each call that costs credits or deletes something needs its own confirmation.
  for (const sure of form.querySelectorAll('input[type="checkbox"]')) {
    if (sure instanceof HTMLInputElement) sure.checked = false
  }
}

/** @param {HTMLFormElement} form */
function addressOf(form) {
  let path = form.dataset.path ?? ''
  const query = new URLSearchParams()
  for (const input of form.querySelectorAll('input[data-in]')) {
    if (!(input instanceof HTMLInputElement) || input.value === '') continue
    if (input.dataset.in === 'query') query.append(input.name, input.value)
    else path = path.replace(`{${input.name}}`, encodeURIComponent(input.value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}

/**
 * @param {HTMLFormElement} form
 * @param {string} token
 * @param {boolean} hasBody
 */
function headersOf({ dataset }, token, hasBody) {
  const headers = new Headers({ 'accept-language': document.documentElement.lang })
  if (dataset.signed !== undefined && token !== '') headers.set('authorization', `Bearer ${token}`)
  if (hasBody) headers.set('content-type', 'application/json')
  if (dataset.idempotent !== undefined) headers.set('idempotency-key', newKey())
  return headers
}

function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * @param {HTMLFormElement} form
 * @param {string} status
 * @param {string} [answer]
 */
function show(form, status, answer = '') {
  const place = find('[role="status"]', form)
  find('[data-status]', place).textContent = status
  find('code', place).textContent = answer
  find('pre', place).hidden = answer === ''
  place.hidden = false
}
