import { listen } from './live.js'

// Keeps a sandbox page up to date: the state of the world in the top bar, and every element with
// `data-live` on each event of the page's topic.

const world = document.querySelector('[data-world]')
if (world instanceof HTMLElement) {
  listen('world', (/** @type {{ now: string, block?: string }} */ { now, block }) => {
    const height = block === undefined ? '' : ` · block ${Number(block).toLocaleString('en')}`
    world.textContent = `${now.slice(0, 10)} ${now.slice(11, 19)} UTC${height}`
    world.title = now
    world.hidden = false
  })
}

const { topic } = document.body.dataset
// Events may have been missed during a lost connection, so its start counts as a change too.
if (topic !== undefined) listen(topic, refreshSoon, refreshSoon)

let isRefreshing = false
let isStale = false

/** Runs one refresh at a time; changes during it cause one more. */
async function refreshSoon() {
  isStale = true
  if (isRefreshing) return
  isRefreshing = true
  try {
    while (isStale) {
      isStale = false
      await refresh()
    }
  } catch {
    // The sandbox has stopped; the stream reports its return.
  } finally {
    isRefreshing = false
  }
}

async function refresh() {
  const response = await fetch(location.href)
  if (!response.ok) return
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const place of document.querySelectorAll('[data-live]')) {
    const update = fresh.getElementById(place.id)
    if (update !== null) updateChildren(place, update)
  }
}

/** The received HTML of an element, because people open and close parts of it afterwards. */
const originals = new WeakMap()
for (const child of document.querySelectorAll('[data-live] > *')) {
  originals.set(child, child.outerHTML)
}

/**
 * Updates children without moving those that stay: a moved frame loads again.
 *
 * @param {Element} place
 * @param {Element} update
 */
function updateChildren(place, update) {
  const present = [...place.children]
  const wanted = [...update.children].map((child) => {
    const html = child.outerHTML
    const same = present.find((other) => originals.get(other) === html)
    if (same !== undefined) return same
    originals.set(child, html)
    return document.adoptNode(child)
  })
  for (const child of present) if (!wanted.includes(child)) child.remove()
  wanted.forEach((child, index) => {
    if (place.children[index] !== child) place.insertBefore(child, place.children[index] ?? null)
  })
}
