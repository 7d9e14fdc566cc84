import { createHash } from 'node:crypto'
import { AppError } from '#src/kernel/errors.ts'

/**
 * A strong ETag that begins with the owner's version, which `If-Match` compares; `rest` tells apart
 * representations that changed without the owner, such as a signal's state.
 */
export function tagOfVersion(version: number, ...rest: readonly string[]): string {
  return `"${[version, ...rest].join('.')}"`
}

/**
 * The version an `If-Match` names; undefined for none and for `*`.
 *
 * @throws AppError stale `etag_mismatch` for a tag that is none of ours
 */
export function versionOf(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const version = /^"(\d{1,9})[."]/.exec(ifMatch.trim())?.[1]
  if (version === undefined) throw new AppError('stale', 'etag_mismatch')
  return Number(version)
}

/** A strong ETag of a whole document. */
export function tagOfDocument(document: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}
