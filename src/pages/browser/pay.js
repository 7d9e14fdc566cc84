// Script of the pay page: updates the status, counts down the remaining time, copies values, and lets a
// wallet in this browser approve and pay. Without it the page contains everything needed.

import { find, offerCopies } from './dom.js'
import { startWallet } from './pay-wallet.js'

const POLL_MS = 3000
const SECOND_MS = 1000

const page = find('#pay')
offerCopies()
offerPrint()
// The script updates the page, so the link to refresh it is hidden.
const refresh = document.getElementById('refresh')
if (refresh !== null) refresh.hidden = true
const wallet = document.getElementById('wallet')
if (wallet !== null) void startWallet(wallet, page.dataset.statusPath ?? '')
const clock = document.getElementById('countdown')
if (clock !== null) countDown(clock)
void follow(page)

function offerPrint() {
  const button = document.getElementById('print')
  if (button === null) return
  button.hidden = false
  button.addEventListener('click', () => window.print())
}

/**
 * Counts down by this machine's clock, from the server's remaining time.
 *
 * @param {HTMLElement} clock
 */
function countDown(clock) {
  const endMs = performance.now() + Number(clock.dataset.seconds) * SECOND_MS
  /** The time of a full ring. */
  const totalSeconds = Number(clock.dataset.total)
  const face = find('bdi', clock)
  const ring = clock.querySelector('.left')
  const said = find('[role="status"]', clock)
  const announcements = [...clock.querySelectorAll('[data-at]')]
  clock.hidden = false
  const timer = setInterval(tick, SECOND_MS)
  tick()

  function tick() {
    const left = Math.max(0, Math.ceil((endMs - performance.now()) / SECOND_MS))
    const seconds = String(left % 60).padStart(2, '0')
    face.textContent = `${Math.floor(left / 60)}:${seconds}`
    ring?.setAttribute('stroke-dasharray', `${(left / totalSeconds) * 100} 100`)
    for (const announcement of announcements) {
      const isNow = announcement instanceof HTMLElement && Number(announcement.dataset.at) === left
      if (isNow) said.textContent = announcement.textContent
    }
    if (left > 0) return
    clearInterval(timer)
    // The content of the page is outdated now.
    location.reload()
  }
}

/**
 * Polls the state of the payment every few seconds.
 *
 * @param {HTMLElement} page
 */
async function follow(page) {
  const { statusPath = '', lang = '', status: first, paid = '' } = page.dataset
  const line = find('#status')
  const offline = find('#offline')
  const silent = document.getElementById('silent')
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (document.hidden) continue
    const facts = await ask(`${statusPath}?lang=${lang}`)
    offline.hidden = facts !== undefined
    if (facts === undefined) continue
    if (silent !== null) silent.hidden = facts.chainAnswers
    if (line.textContent !== facts.text) line.textContent = facts.text
    const place = document.querySelector('[data-step="confirm"] span')
    if (place !== null) place.textContent = facts.step
    // The page of a payment in another state, or with less left to pay, has other content.
    if (facts.status !== first || (facts.paidAmount ?? '') !== paid) return location.reload()
  }
}

/**
 * @param {string} path
 * @returns {Promise<{ status: string, text: string, step: string, paidAmount: string | null, chainAnswers: boolean } |
 *   undefined>} undefined if the service does not answer
 */
async function ask(path) {
  try {
    const response = await fetch(path)
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
