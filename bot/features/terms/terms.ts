import { createHash } from 'node:crypto'

/** Short code of a version of the terms in button data: prefix of its SHA-256. */
export function termsCode(version: string): string {
  return createHash('sha256').update(version).digest('hex').slice(0, 8)
}
