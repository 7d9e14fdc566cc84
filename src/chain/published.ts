import { z } from 'zod'
import type { Logger } from '#src/kernel/logger.ts'

/** JSON that others publish beside the chain, such as the rewards of a reward epoch. */
export interface Published {
  /**
   * What is there now; undefined when nothing is, or nothing that fits the schema, or nobody answers.
   * What did not change since the last look is not sent again.
   */
  read<T>(url: string, schema: z.ZodType<T>, signal?: AbortSignal): Promise<T | undefined>
}

/** How publications are read. */
export interface PublishedOptions {
  readonly log: Logger
  /** How long one answer may take; 20 seconds without it. */
  readonly timeoutMs?: number
  /** The longest answer that is read; 32 MiB without it. */
  readonly bytesMax?: number
}

const TIMEOUT_MS = 20_000
const BYTES_MAX = 32 * 1024 * 1024
/** Answers kept for the next look. */
const KEPT_MAX = 8

interface Kept {
  readonly etag: string
  readonly value: unknown
}

/** Reads publications at addresses the operator chose. */
export function createPublished({
  log,
  timeoutMs = TIMEOUT_MS,
  bytesMax = BYTES_MAX,
}: PublishedOptions): Published {
  const kept = new Map<string, Kept>()
  const failing = new Set<string>()

  async function fetchJson(url: string, signal: AbortSignal): Promise<unknown> {
    const known = kept.get(url)
    const response = await fetch(url, {
      headers: { accept: 'application/json', ...(known && { 'if-none-match': known.etag }) },
      signal,
    })
    if (response.status === 304 && known !== undefined) {
      await response.body?.cancel()
      return known.value
    }
    if (!response.ok) {
      await response.body?.cancel()
      kept.delete(url)
      // What is not published yet is no failure.
      if (response.status === 404) return undefined
      throw new Error(`status ${response.status}`)
    }
    const value: unknown = JSON.parse(await readText(response, bytesMax))
    const etag = response.headers.get('etag')
    const [oldest] = kept.keys()
    kept.delete(url)
    if (kept.size >= KEPT_MAX && oldest !== undefined) kept.delete(oldest)
    if (etag !== null) kept.set(url, { etag, value })
    return value
  }

  return {
    async read(url, schema, signal) {
      const limit = AbortSignal.timeout(timeoutMs)
      const place = new URL(url)
      const fields = { host: place.host, path: place.pathname }
      try {
        const either = signal === undefined ? limit : AbortSignal.any([signal, limit])
        const json = await fetchJson(url, either)
        const value = json === undefined ? undefined : schema.parse(json)
        if (failing.delete(place.host)) log.info(fields, 'publication answers again')
        return value
      } catch (error) {
        signal?.throwIfAborted()
        if (!failing.has(place.host))
          log.warn({ ...fields, reason: reasonOf(error) }, 'publication cannot be read')
        failing.add(place.host)
        return undefined
      }
    },
  }
}

async function readText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Error('answer too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'answer of another shape'
  if (error instanceof SyntaxError) return 'answer is not JSON'
  return error instanceof Error ? error.message : 'unknown'
}
