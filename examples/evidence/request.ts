/** Requests of JSON-RPC with limits of time and size. */

/** The evidence could not be checked: an endpoint is unreachable, pruned, or lies, or the file has an unknown form. */
export class Unchecked extends Error {}
/** A contract refused a call. */
export class Reverted extends Unchecked {}

/** An endpoint contradicts another one, or itself. */
export class Lie extends Unchecked {}

/** For a catch: nothing is known where an endpoint does not answer, or has pruned a state. @throws any other error */
export function unknownState(error: unknown): undefined {
  if (error instanceof Unchecked && !(error instanceof Lie)) return undefined
  throw error
}

const TIMEOUT_MS = 30_000
/** Bytes of one answer: a full block with its transactions has far fewer. */
const ANSWER_MAX = 64_000_000
const MESSAGE_MAX = 200

/** Sends a request of JSON-RPC. @throws Reverted, Unchecked when the endpoint refuses it; other errors may pass */
export async function request(url: string, method: string, params: unknown): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if (!response.ok) throw new Error(`the endpoint answers ${response.status}`)
  const answer = JSON.parse(await bodyOf(response)) as {
    readonly result?: unknown
    readonly error?: { readonly code?: unknown; readonly message?: unknown }
  } | null
  if (answer?.error) {
    const { code, message } = answer.error
    const said = `${method}: the endpoint says ${JSON.stringify(String(message).slice(0, MESSAGE_MAX))}`
    const isReverted = method === 'eth_call' && (code === 3 || /\brevert/i.test(String(message)))
    throw isReverted ? new Reverted(said) : new Unchecked(said)
  }
  if (answer?.result === undefined) throw new Error('the endpoint gives no result')
  return answer.result
}

/** The body of an answer. @throws Error if it has no end */
export async function bodyOf(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of response.body ?? []) {
    size += part.length
    if (size > ANSWER_MAX) throw new Error(`the answer has more than ${ANSWER_MAX} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}
