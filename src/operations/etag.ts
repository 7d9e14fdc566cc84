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
 * The versions that the tags of an `If-Match` name: the change is made if the row has one of them. undefined
 * for no header and for `*`, which any row fits. Weak tags and tags of other services fit no row.
 *
 * @throws AppError stale `etag_mismatch` when no tag can fit
 * @see RFC 9110, section 13.1.1
 */
export function versionsOf(ifMatch: string | undefined): readonly number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const versions = ifMatch.split(',').flatMap((tag) => {
    const version = /^"(\d{1,9})[."]/.exec(tag.trim())?.[1]
    return version === undefined ? [] : [Number(version)]
  })
  if (versions.length === 0) throw new AppError('stale', 'etag_mismatch')
  return versions
}

/** A strong ETag of a whole document. */
export function tagOfDocument(document: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}
