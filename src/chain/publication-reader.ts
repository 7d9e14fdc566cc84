import type { z } from 'zod'
import { readText, reasonOf, UnusableAnswer } from './bounded-answer.ts'

/**
 * Content of a URL. `same`: unchanged since the last reading, and not sent again. `absent`: not published.
 * `failed`: no response in time, or an unusable one; the reason has no part of the URL.
 */
export type PublishedContent<T> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'same' }
  | { readonly is: 'absent' }
  | { readonly is: 'failed'; readonly reason: string }

/** Reads JSON that is published off-chain, such as the rewards of a reward epoch. */
export interface PublicationReader {
  /**
   * Reads a URL.
   *
   * @param isConditional whether the caller has kept the last content, which then need not be sent again
   */
  read<T>(
    url: string,
    schema: z.ZodType<T>,
    options?: { readonly isConditional?: boolean; readonly signal?: AbortSignal },
  ): Promise<PublishedContent<T>>
}

/** Settings of reading publications. */
export interface PublishedOptions {
  /** Timeout of one response; 20 seconds by default. */
  readonly timeoutMs?: number
  /** Maximum size of a response; 32 MiB by default. */
  readonly bytesMax?: number
}

const TIMEOUT_MS = 20_000
const BYTES_MAX = 32 * 1024 * 1024
/** Maximum number of URLs whose ETag is remembered. */
const TAGS_MAX = 100

/**
 * Creates a reader of publications at URLs the operator configured. Long because fetching and reading share the ETags.
 */
export function createPublicationReader({
  timeoutMs = TIMEOUT_MS,
  bytesMax = BYTES_MAX,
}: PublishedOptions = {}): PublicationReader {
  /** ETag of the last content, by URL. */
  const tags = new Map<string, string>()

  async function fetchJson(
    url: string,
    tag: string | undefined,
    signal: AbortSignal,
  ): Promise<PublishedContent<unknown>> {
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...(tag !== undefined && { 'if-none-match': tag }) },
      // The operator allowed only the host of the URL.
      redirect: 'manual',
      signal,
    })
    if (response.status === 200) {
      const value: unknown = JSON.parse(await readText(response, bytesMax))
      const etag = response.headers.get('etag')
      tags.delete(url)
      const [oldest] = tags.keys()
      if (tags.size >= TAGS_MAX && oldest !== undefined) tags.delete(oldest)
      if (etag !== null) tags.set(url, etag)
      return { is: 'found', value }
    }
    await response.body?.cancel()
    if (response.status === 304 && tag !== undefined) return { is: 'same' }
    // A publication that does not exist yet is not a failure.
    if (response.status === 404) return { is: 'absent' }
    if (response.headers.has('location'))
      throw new UnusableAnswer('the URL redirects: configure its final address')
    throw new UnusableAnswer(`status ${response.status}`)
  }

  return {
    async read(url, schema, { isConditional = false, signal } = {}) {
      const limit = AbortSignal.timeout(timeoutMs)
      try {
        const either = signal === undefined ? limit : AbortSignal.any([signal, limit])
        const answer = await fetchJson(url, isConditional ? tags.get(url) : undefined, either)
        return answer.is === 'found' ? { is: 'found', value: schema.parse(answer.value) } : answer
      } catch (error) {
        signal?.throwIfAborted()
        tags.delete(url)
        return { is: 'failed', reason: reasonOf(error) }
      }
    },
  }
}
