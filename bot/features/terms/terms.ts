import { createHash } from 'node:crypto'

/** Mark of the shown version of the terms in button data: prefix of its SHA-256. */
export function termsMark(version: string): string {
  return createHash('sha256').update(version).digest('hex').slice(0, 8)
}
