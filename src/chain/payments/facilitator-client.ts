import type { z } from 'zod'
import { readText, reasonOf, UnusableAnswer } from '../bounded-answer.ts'

/** Answer of a facilitator; the reason of a failure has no part of its URL. */
export type FacilitatorAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string }

/** Sends one request to a facilitator of x402. Never rejects, unless the caller aborts. */
export type AskFacilitator = <T>(
  path: 'verify' | 'settle',
  body: unknown,
  options: { readonly schema: z.ZodType<T>; readonly timeoutMs: number },
  signal?: AbortSignal,
) => Promise<FacilitatorAnswer<T>>

const BYTES_MAX = 64 * 1024

/** Creates the client of the facilitator at this URL. Follows no redirect: the operator chose this server only. */
export function createFacilitatorClient(url: string): AskFacilitator {
  const base = url.endsWith('/') ? url : `${url}/`
  return async (path, body, { schema, timeoutMs }, signal) => {
    const limit = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(new URL(path, base), {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      })
      const text = await readText(response, BYTES_MAX)
      // A refusal may have a status of its own beside the answer.
      if (response.status >= 300 && response.status < 400) throw new UnusableAnswer('redirect')
      if (response.status >= 500) throw new UnusableAnswer(`status ${response.status}`)
      return { ok: true, value: schema.parse(JSON.parse(text)) }
    } catch (error) {
      signal?.throwIfAborted()
      return { ok: false, reason: reasonOf(error) }
    }
  }
}
