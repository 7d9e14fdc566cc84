import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '#src/kernel/clock.ts'
import { matchesTag, tagOfDocument } from '#src/operations/gate/etag.ts'

/** A file that other sites and programs may fetch. */
interface SentFile {
  /** Address of the file with the parameters that it depends on. */
  readonly key: string
  readonly type: string
  /** The source of the file, by which a change is noticed. */
  readonly text: string
  /** Makes the content from the text; by default the text is the content. */
  readonly render?: (text: string) => Promise<Buffer>
}

/** Time for which everybody may cache a file: a voting round takes 90 seconds. */
const FRESH_SECONDS = 60
/** Number of files whose last change is known. */
const KNOWN_MAX = 2000

/**
 * Creates the sender of files that anybody may show, each with `ETag` and `Last-Modified`. The last change is the time
 * at which this process saw the content first: never earlier than the change itself, so no reader keeps an old file.
 */
export function createFileSender(clock: Clock) {
  const known = new Map<string, { readonly tag: string; readonly changedMs: number }>()

  function changeOf(address: string, tag: string): number {
    // A client chooses how long an address is.
    const key = tagOfDocument(address)
    const before = known.get(key)
    const nowMs = Math.floor(clock.now().getTime() / 1000) * 1000
    const entry = before?.tag === tag ? before : { tag, changedMs: nowMs }
    known.delete(key)
    known.set(key, entry)
    const [oldest] = known.keys()
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest)
    return entry.changedMs
  }

  return async (request: FastifyRequest, reply: FastifyReply, file: SentFile) => {
    const { key, type, text, render } = file
    const tag = tagOfDocument(`${key} ${text}`)
    const changedMs = changeOf(key, tag)
    reply
      .header('etag', tag)
      .header('last-modified', new Date(changedMs).toUTCString())
      .header('cache-control', `public, max-age=${FRESH_SECONDS}`)
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('access-control-allow-origin', '*')
    if (isKnown(request, tag, changedMs)) return reply.code(304).send()
    const isText = render === undefined
    return reply.type(isText ? `${type}; charset=utf-8` : type).send(await (render?.(text) ?? text))
  }
}

/** Whether the client has the file already. @see RFC 9110, section 13.2.2 */
function isKnown({ headers }: FastifyRequest, tag: string, changedMs: number): boolean {
  const known = headers['if-none-match']
  if (known !== undefined) return matchesTag(known, tag)
  // A text that is no date compares as false.
  return Date.parse(headers['if-modified-since'] ?? '') >= changedMs
}
