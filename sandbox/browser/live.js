// What the server tells, by topic. All tabs share one stream: a browser opens only a few to a host.

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
// Also of a page that comes back by the browser's buttons as it was left.
addEventListener('pageshow', () => port.postMessage('join'))

/**
 * Listens to a topic.
 *
 * @param {string} topic
 * @param {(data: any) => void} heard
 * @param {() => void} [begun] called when the stream begins, again after each loss: what came before is not told
 */
export function listen(topic, heard, begun = () => undefined) {
  listeners.push({ topic, heard, begun })
}
