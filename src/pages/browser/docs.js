// Script of the docs: buttons that copy examples, results of the search while typing, and the consoles of the
// API reference. It adds nothing to the page, so that nothing moves while the page loads.

import { offerConsoles } from './docs-console.js'
import { searchWhileTyping } from './docs-search.js'
import { find, showCopied } from './dom.js'

const { done = '' } = find('.docs').dataset

searchWhileTyping()
offerConsoles()
for (const button of document.querySelectorAll('.docs pre > .copy')) {
  if (button instanceof HTMLButtonElement) offerCopy(button)
}

/** @param {HTMLButtonElement} button */
function offerCopy(button) {
  const code = button.nextElementSibling
  if (!(code instanceof HTMLElement)) return
  // Pages without TLS have no clipboard. The button keeps its place.
  if (navigator.clipboard === undefined) button.style.visibility = 'hidden'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent ?? '')
    showCopied(button, done)
  })
  // The code scrolls below the button, so it is what a keyboard scrolls.
  button.parentElement?.removeAttribute('tabindex')
  code.tabIndex = 0
}
