// The pay page's script: keeps the status up to date, copies values, and lets a wallet in this browser
// approve and pay. Without it everything that is needed stands on the page.

import { startWallet } from './pay-wallet.js'

const POLL_MS = 3000

const page = document.getElementById('pay')
if (page !== null) {
  for (const button of document.querySelectorAll('button[data-copy]')) offerCopy(button)
  const wallet = document.getElementById('wallet')
  if (wallet !== null) startWallet(wallet, page.dataset.statusPath ?? '')
  void follow(page)
}

/** @param {Element} button */
function offerCopy(button) {
  if (!(button instanceof HTMLButtonElement) || navigator.clipboard === undefined) return
  const label = button.textContent
  const { copy = '', done = '' } = button.dataset
  button.hidden = false
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(copy)
    button.textContent = done
    setTimeout(() => {
      button.textContent = label
    }, 2000)
  })
}

/**
 * Asks every few seconds where the payment stands.
 *
 * @param {HTMLElement} page
 */
async function follow(page) {
  const { statusPath = '', lang = '', status: first } = page.dataset
  const line = document.getElementById('status')
  const offline = document.getElementById('offline')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (document.hidden) continue
    const facts = await ask(`${statusPath}?lang=${lang}`)
    if (offline !== null) offline.hidden = facts !== undefined
    if (facts === undefined) continue
    if (line !== null && line.textContent !== facts.text) line.textContent = facts.text
    // In another state the page offers something else.
    if (facts.status !== first) return location.reload()
  }
}

/**
 * @param {string} path
 * @returns {Promise<{ status: string, text: string } | undefined>} undefined while nobody answers
 */
async function ask(path) {
  try {
    const response = await fetch(path)
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
