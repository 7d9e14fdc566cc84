/** Asks one endpoint one question, without retries: the doctor reports what it answers. */
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

/** An answer, or why there is none. */
export type Asked =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly why: string; readonly isLimited: boolean }

/** An endpoint of the chain. */
export interface AskedEndpoint {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

const Answer = z.union([
  z.object({ result: z.unknown() }).refine((answer) => 'result' in answer),
  z.object({ error: z.object({ code: z.number(), message: z.string() }) }),
])
const ANSWER_MS = 8000
const WORDS_MAX = 120

/** Sends one request. Never rejects. */
export async function ask(
  { url, headers }: AskedEndpoint,
  method: string,
  params: readonly unknown[],
): Promise<Asked> {
  const refused = (why: string, isLimited = false): Asked => ({ ok: false, why, isLimited })
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    const text = await response.text()
    if (!response.ok) return refused(`http ${response.status}`, response.status === 429)
    const parsed = Answer.safeParse(jsonOf(text))
    if (!parsed.success) return refused('answer is no JSON-RPC')
    if ('error' in parsed.data) {
      const { code, message } = parsed.data.error
      return refused(`rpc ${code}: ${withoutUrl(message, url)}`, code === -32_005 || code === 429)
    }
    return { ok: true, result: parsed.data.result }
  } catch (error) {
    return refused(connectionWords(error))
  }
}

/** Sends `count` requests one after another. @returns how many were refused because there were too many */
export async function countLimited(endpoint: AskedEndpoint, count: number): Promise<number> {
  let limited = 0
  for (let sent = 0; sent < count; sent += 1) {
    const asked = await ask(endpoint, 'eth_blockNumber', [])
    if (!asked.ok && asked.isLimited) limited += 1
    await wait(0)
  }
  return limited
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Words of a failed connection, without the address, which may hold a key. */
export function connectionWords(error: unknown): string {
  if (!(error instanceof Error)) return 'no connection'
  if (error.name === 'TimeoutError') return `no answer in ${ANSWER_MS / 1000} s`
  const { cause } = error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return code === '' ? 'no connection' : `no connection: ${code}`
}

function withoutUrl(text: string, url: string): string {
  const { pathname, search } = new URL(url)
  return [pathname, search]
    .filter((part) => part.length > 3)
    .reduce((rest, part) => rest.replaceAll(part, '…'), text)
    .slice(0, WORDS_MAX)
}
