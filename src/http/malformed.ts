import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** Error of Node's HTTP parser. */
type ParseError = Error & { readonly code?: string }

/**
 * Answers malformed or late requests: there is no route and no language yet, so the problem only has its
 * status.
 *
 * @see RFC 9457, section 4.2.1
 */
export function answerMalformed(error: ParseError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  socket.end(rawProblem(statusOf(error.code)), () => socket.destroy())
}

/** A problem document that contains only the status, as text. */
export function problemOfStatus(status: number): string {
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status] ?? '', status })
}

/**
 * A complete answer for a connection that is closed afterwards: a problem document that contains only the
 * status.
 */
export function rawProblem(status: number, headers: readonly string[] = []): string {
  const body = problemOfStatus(status)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    ...headers,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}

function statusOf(code: string | undefined): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return 400
}
