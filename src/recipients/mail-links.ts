/** Signed links in e-mails: their content, writing and reading. */
import { createHash } from 'node:crypto'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { addressOf } from './typed-destination.ts'

interface Deps {
  readonly box: SecretBox
  readonly publicUrl: string
}

/** Content of a link: a recipient. The link is valid while the recipient has this address. */
export interface MailLink {
  readonly recipientId: number
  readonly addressDigest: string
}

const CONFIRM = 'confirm-mail'
const UNSUBSCRIBE = 'unsubscribe'
const DIGEST_LENGTH = 12
/** Hosts of Google. An address has the same mailbox at both. */
const GOOGLE: readonly string[] = ['gmail.com', 'googlemail.com']

/** Digest of an address, for places without the address itself: equal for equal addresses. */
export function addressDigest(address: string): string {
  const hash = createHash('sha256').update(address.toLowerCase())
  return hash.digest('base64url').slice(0, DIGEST_LENGTH)
}

/**
 * Digest of the mailbox behind an address: equal for all its subaddresses, such as `ops+1@example.org` (RFC 5233).
 * Google ignores dots before the @, so addresses at Google that differ only in dots have one digest.
 */
export function mailboxDigest(address: string): string {
  const [, name = '', host = ''] = /^(.*)@([^@]*)$/s.exec(address.toLowerCase()) ?? []
  const base = name.replace(/(?<=[^+])\+.*$/s, '')
  return GOOGLE.includes(host)
    ? addressDigest(`${base.replaceAll('.', '')}@${GOOGLE[0]}`)
    : addressDigest(`${base}@${host}`)
}

/** URL of the confirmation page, valid until `expiresAt`. */
export function confirmationUrl(deps: Deps, link: MailLink, expiresAt: Date): string {
  const until = Math.floor(expiresAt.getTime() / 1000).toString(36)
  const payload = `${link.recipientId.toString(36)}.${until}.${link.addressDigest}`
  return `${deps.publicUrl}/confirm/${deps.box.signLink(CONFIRM, payload)}`
}

/** Decodes a confirmation link's code; undefined if this service did not sign it. */
export function readConfirmationLink(
  box: SecretBox,
  code: string,
): (MailLink & { readonly expiresAt: Date }) | undefined {
  const [id, until, digest] = box.readLink(CONFIRM, code)?.split('.') ?? []
  if (id === undefined || until === undefined || digest === undefined) return undefined
  return {
    recipientId: Number.parseInt(id, 36),
    addressDigest: digest,
    expiresAt: new Date(Number.parseInt(until, 36) * 1000),
  }
}

/**
 * URL of the unsubscribe page; undefined for destinations other than mailboxes. Never expires: links in old
 * e-mails keep working.
 */
export function unsubscribeUrl(
  deps: Deps,
  { id, destination }: { readonly id: number; readonly destination: unknown },
): string | undefined {
  const address = addressOf(destination)
  if (address === undefined) return undefined
  const payload = `${id.toString(36)}.${addressDigest(address)}`
  return `${deps.publicUrl}/unsubscribe/${deps.box.signLink(UNSUBSCRIBE, payload)}`
}

/** Decodes an unsubscribe link's code; undefined if this service did not sign it. */
export function readUnsubscribeLink(box: SecretBox, code: string): MailLink | undefined {
  const [id, digest] = box.readLink(UNSUBSCRIBE, code)?.split('.') ?? []
  if (id === undefined || digest === undefined) return undefined
  return { recipientId: Number.parseInt(id, 36), addressDigest: digest }
}
