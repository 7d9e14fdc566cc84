import { createHash } from 'node:crypto'

/** What a button carries of the version of the terms that was shown: the beginning of its SHA-256. */
export function termsMark(version: string): string {
  return createHash('sha256').update(version).digest('hex').slice(0, 8)
}
