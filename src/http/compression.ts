/** Compression of public documents. Other answers may contain secrets, whose parts the compressed length would tell. */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '#src/kernel/clock.ts'
import { HOUR_MS } from '#src/kernel/durations.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import type { AnyOperation } from '#src/operations/define.ts'

/** Maximum number of compressed documents: the prices, and the OpenAPI document in each language. */
const KEPT_MAX = 20

const compress = promisify(gzip)

/** Compresses a text, once for each ETag. */
export type Compression = (tag: string, text: string) => Promise<Buffer>

export function createCompression(clock: Clock): Compression {
  const kept = createSharedCache<string, Buffer>(clock, { max: KEPT_MAX, freshMs: () => HOUR_MS })
  return (tag, text) => kept.get(tag, () => compress(text))
}

/** Whether everybody gets the same document, so that it may be compressed. */
export function isPublicDocument(operation: AnyOperation): boolean {
  return operation.scope === 'none' && operation.etag !== undefined
}

/** Whether `Accept-Encoding` admits gzip. */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  const weights = new Map(
    String(header ?? '')
      .toLowerCase()
      .split(',')
      .map((part) => {
        const [coding = '', weight = 'q=1'] = part.split(';').map((piece) => piece.trim())
        return [coding, Number(/^q=([\d.]+)$/.exec(weight)?.[1] ?? 1)]
      }),
  )
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0
}

/** The strong ETag of the compressed form of a document. */
export function compressedTag(tag: string): string {
  return tag.replace(/"$/, '.gzip"')
}
