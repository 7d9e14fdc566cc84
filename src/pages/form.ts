import formBody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const FORM_BYTES_MAX = 8192

/**
 * Registers parsers of forms: those of browsers, and those of mail programs for one-click unsubscription.
 */
export function readForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.register(formBody, { bodyLimit: FORM_BYTES_MAX })
  server.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async ({ headers }: FastifyRequest, text: string | Buffer) =>
      multipartFields(text.toString(), headers['content-type'] ?? ''),
  )
}

/**
 * Whether a page of another site sends a form, which could tick a right, or sign a person in as somebody else. Browsers
 * say so; mail programs, which may unsubscribe from anywhere, have no other way.
 *
 * @see https://www.w3.org/TR/fetch-metadata/
 */
export function isForeignForm({ method, url, headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  const isForeign = site === 'cross-site' || site === 'same-site'
  return method === 'POST' && isForeign && !url.startsWith('/unsubscribe/')
}

/** A form's fields; empty for a request without a form. */
export function formOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { body } = request
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/**
 * Text fields of a small multipart body; files are skipped, and an unparsable body has no fields. Uses
 * Node's parser, which takes linear time.
 *
 * @see RFC 7578
 */
async function multipartFields(
  text: string,
  contentType: string,
): Promise<Readonly<Record<string, string>>> {
  const form = await new Response(text, { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => new FormData())
  return Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  )
}
