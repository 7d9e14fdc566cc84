import type { FastifyInstance, FastifyRequest } from 'fastify'

const FORM_BYTES_MAX = 8192

/** Lets the server read forms: what browsers post, and what mail programs post for one click. */
export function readForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  const options = { parseAs: 'string', bodyLimit: FORM_BYTES_MAX } as const
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    options,
    (_request, text, done) => {
      done(null, Object.fromEntries(new URLSearchParams(text.toString())))
    },
  )
  server.addContentTypeParser('multipart/form-data', options, (_request, text, done) => {
    done(null, Object.fromEntries(multipartFields(text.toString())))
  })
}

/** A form's fields; none for a request without a form. */
export function formOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { body } = request
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** Plain fields of a small multipart body. @see RFC 7578 */
function multipartFields(text: string): (readonly [string, string])[] {
  const field =
    /content-disposition:[^\r\n]*\bname="([^"\r\n]*)"[^\r\n]*\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]*)/gi
  return [...text.matchAll(field)].map((match) => [match[1] ?? '', match[2] ?? ''])
}
