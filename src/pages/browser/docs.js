// Script of the docs: a button to copy each example, results of the search while typing, and the consoles of
// the API reference.

import { offerConsoles } from './docs-console.js'
import { searchWhileTyping } from './docs-search.js'
import { find, showCopied } from './dom.js'

const { copy = '', done = '' } = find('.docs').dataset

searchWhileTyping()
offerConsoles()
if (navigator.clipboard !== undefined) {
  for (const example of document.querySelectorAll('pre')) offerCopy(example)
}

/** @param {HTMLElement} example */
function offerCopy(example) {
  const code = example.querySelector('code')
  if (code === null) return
  const button = document.createElement('button')
  Object.assign(button, { type: 'button', className: 'button copy', textContent: copy })
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent ?? '')
    showCopied(button, done)
  })
  example.prepend(button)
  // The code scrolls below the button, so it is what a keyboard scrolls.
  example.removeAttribute('tabindex')
  code.tabIndex = 0
}
