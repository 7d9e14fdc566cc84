/** Reading answers of servers that the operator configured: limited in size, with a reason for the log if they are unusable. */
import { z } from 'zod'
import { connectionCause } from './endpoints/connection-cause.ts'

/** An answer that cannot be used. The message is safe to show. */
export class UnusableAnswer extends Error {}

/** The body of a response. @throws UnusableAnswer if it is longer than `bytesMax` */
export async function readText(response: Response, bytesMax: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new UnusableAnswer('response too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Why a request failed, without any part of its URL. */
export function reasonOf(error: unknown): string {
  if (error instanceof z.ZodError) return 'malformed response'
  if (error instanceof SyntaxError) return 'response is not JSON'
  if (error instanceof UnusableAnswer) return error.message
  return connectionCause(error) ?? 'connection failed'
}
