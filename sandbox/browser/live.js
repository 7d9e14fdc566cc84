// Events of the server, by topic. All tabs share one stream: a browser opens only a few per host.

const { port } = new SharedWorker('/live-worker.js')
/** @type {{ topic: string, heard: (data: any) => void, begun: () => void }[]} */
const listeners = []

port.onmessage = ({ data: { kind, topic, data } }) => {
  for (const one of listeners) {
    if (kind === 'open') one.begun()
    else if (one.topic === topic) one.heard(data)
  }
}
addEventListener('pagehide', () => port.postMessage('leave'))
// Also for a page restored by the browser's back button.
addEventListener('pageshow', () => port.postMessage('join'))

/**
 * Listens to a topic.
 *
 * @param {string} topic
 * @param {(data: any) => void} heard
 * @param {() => void} [begun] called when the stream starts, and again after each loss: earlier events are
 * not repeated
 */
export function listen(topic, heard, begun = () => undefined) {
  listeners.push({ topic, heard, begun })
}
