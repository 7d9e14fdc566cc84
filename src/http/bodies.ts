/** What bodies this server reads: UTF-8 without encoding, and JSON for operations. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '#src/kernel/errors.ts'

/**
 * Accepts JSON bodies for every operation; an empty body is undefined. Bodies in another encoding or charset are
 * refused, except those to `/data`, which are passed on. A request without a body may have any content type.
 */
export function acceptJson(server: FastifyInstance): void {
  server.addHook('onRequest', (request, _reply, done) => done(refusalOfBody(request)))
  server.removeAllContentTypeParsers()
  const asBytes = { parseAs: 'buffer' } as const
  server.addContentTypeParser('application/json', asBytes, (_request, bytes, done) => {
    try {
      done(null, bytes.length === 0 ? undefined : JSON.parse(textOf(bytes)))
    } catch {
      done(new AppError('invalid', 'malformed_json'))
    }
  })
  server.addContentTypeParser('*', asBytes, (_request, bytes, done) => {
    if (bytes.length === 0) done(null, undefined)
    else done(new AppError('unsupported_media_type', 'unsupported_media_type'))
  })
}

/** @throws TypeError for bytes that are not UTF-8; a byte order mark stays, and is no JSON */
function textOf(bytes: string | Buffer): string {
  if (typeof bytes === 'string') return bytes
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

/** Refusal of a body by its headers; undefined if it may be read. */
function refusalOfBody({ url, raw }: FastifyRequest): AppError | undefined {
  if (url.startsWith('/data/')) return undefined
  const { headers } = raw
  const length = headers['content-length'] ?? '0'
  if (headers['transfer-encoding'] === undefined && length === '0') {
    // The framework would look for a parser of the type, and refuse types without one.
    delete headers['content-type']
    return undefined
  }
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers
  const charset = /;\s*charset\s*=\s*("?)([^";]*)\1/i.exec(type)?.[2] ?? 'utf-8'
  const isRead = encoding.trim().toLowerCase() === 'identity' && /^utf-?8$/i.test(charset.trim())
  return isRead ? undefined : new AppError('unsupported_media_type', 'unsupported_media_type')
}
