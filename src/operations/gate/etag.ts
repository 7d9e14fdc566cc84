import { createHash } from 'node:crypto'
import { AppError } from '#src/kernel/errors.ts'

/**
 * A strong ETag that starts with the row's version, which `If-Match` compares; `rest` distinguishes
 * representations that changed without a new version, such as a signal's state.
 */
export function tagOfVersion(version: number, ...rest: readonly string[]): string {
  return `"${[version, ...rest].join('.')}"`
}

/**
 * Versions in the tags of an `If-Match` header: the change is made if the row has one of these versions.
 * Undefined if there is no header, and for `*`, which matches any row. Weak tags and tags of other services
 * match no row.
 *
 * @throws AppError stale `etag_mismatch` if no tag can match
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

/**
 * Whether an `If-None-Match` header contains the tag, by weak comparison.
 * @see RFC 9110, section 13.1.2
 */
export function matchesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false
  const tags = header.split(',').map((part) => part.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(tag)
}

/** A strong ETag of a whole document. */
export function tagOfDocument(document: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(document)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}
