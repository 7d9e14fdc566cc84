import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Posts JSON to the chain and reads its answer. Like `fetch`, in half the time: a test does it thousands of times. */
export function postToChain(agent: Agent, url: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const headers = {
    'content-type': 'application/json',
    'content-length': `${Buffer.byteLength(body)}`,
  }
  request(url, { method: 'POST', agent, headers }, (response) => {
    text(response).then(resolve, reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}
