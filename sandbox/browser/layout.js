import { listen } from './live.js'

// Keeps a sandbox page up to date: the state of the world in the top bar, and every element with
// `data-live` whenever the page's topic says that something changed.

const world = document.querySelector('[data-world]')
if (world instanceof HTMLElement) {
  listen('world', (/** @type {{ now: string, block?: string }} */ { now, block }) => {
    const height = block === undefined ? '' : ` · block ${Number(block).toLocaleString('en')}`
    world.textContent = `${now.slice(11, 19)} UTC${height}`
    world.title = now
    world.hidden = false
  })
}

const { topic } = document.body.dataset
// After a lost connection something may have been missed, so its beginning counts as a change too.
if (topic !== undefined) listen(topic, refreshSoon, refreshSoon)

let isRefreshing = false
let isStale = false

/** One refresh at a time; whatever comes meanwhile is caught up with by one more. */
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
    // The sandbox has stopped; the stream tells us when it is back.
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

/** The HTML an element came with, as people open and close things in it afterwards. */
const originals = new WeakMap()
for (const child of document.querySelectorAll('[data-live] > *')) {
  originals.set(child, child.outerHTML)
}

/**
 * Moves no element that stays: a frame that is moved loads again.
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
