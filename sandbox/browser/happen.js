// Lets buttons act without leaving the page: what follows comes with the page's own events.

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || !('stay' in form.dataset)) return
  event.preventDefault()
  void press(form)
})

/**
 * Posts the form; if that does not work, the browser does it in its own way and shows why.
 *
 * @param {HTMLFormElement} form
 */
async function press(form) {
  try {
    const response = await fetch(form.action, { method: 'POST', redirect: 'manual' })
    if (response.type !== 'opaqueredirect') form.submit()
  } catch {
    form.submit()
  }
}
