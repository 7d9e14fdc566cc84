// Holds the only event stream of this browser, and forwards events to every listening tab.

/** @type {Set<MessagePort>} */
const tabs = new Set()
const stream = new EventSource('/live')

stream.onopen = () => tell({ kind: 'open' })
stream.onmessage = ({ data }) => tell({ kind: 'event', ...JSON.parse(data) })

/** @param {object} news */
function tell(news) {
  for (const tab of tabs) tab.postMessage(news)
}

self.addEventListener('connect', (event) => {
  const [tab] = /** @type {MessageEvent} */ (event).ports
  if (tab === undefined) return
  tab.onmessage = ({ data }) => {
    if (data === 'leave') tabs.delete(tab)
    else tabs.add(tab)
    if (data === 'join' && stream.readyState === EventSource.OPEN) tab.postMessage({ kind: 'open' })
  }
})
