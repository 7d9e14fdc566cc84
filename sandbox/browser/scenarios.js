// Makes buttons act without leaving the page: the results arrive as the page's own events.

document.addEventListener('submit', (event) => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || !('stay' in form.dataset)) return
  event.preventDefault()
  void press(form)
})

/**
 * Posts the form; if that fails, the browser submits it natively and shows the error.
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
