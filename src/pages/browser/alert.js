// Script of the alert page: copies values, and updates the content while the alert is open.

import { find, lookAgain, offerCopies } from './dom.js'

const POLL_MS = 15_000

/** Last content received from the service. */
let shown = find('#live').innerHTML

offerCopies()
if (find('#live').dataset.live !== undefined) setInterval(() => void refresh(), POLL_MS)

/** Updates the content, unless its reader is using it. */
async function refresh() {
  const live = find('#live')
  if (document.hidden || live.contains(document.activeElement)) return
  const fresh = await lookAgain('#live')
  if (fresh === undefined || fresh.innerHTML === shown) return
  shown = fresh.innerHTML
  live.replaceChildren(...fresh.childNodes)
  offerCopies()
}
