import { createHash } from 'node:crypto'
import { base58xrp } from '@scure/base'

/** Prefix byte of an account id. */
const ACCOUNT_PREFIX = 0
const ACCOUNT_BYTES = 20
const CHECKSUM_BYTES = 4

/**
 * Whether a text is a classic address (`r…`) with a valid checksum.
 * @see xrpl.org, "Base58 Encodings"
 */
export function isClassicAddress(text: string): boolean {
  if (!/^r[1-9A-HJ-NP-Za-km-z]{24,34}$/.test(text)) return false
  const bytes = Buffer.from(base58xrp.decode(text))
  if (bytes.length !== 1 + ACCOUNT_BYTES + CHECKSUM_BYTES || bytes[0] !== ACCOUNT_PREFIX)
    return false
  const body = bytes.subarray(0, -CHECKSUM_BYTES)
  return checksum(body).equals(bytes.subarray(-CHECKSUM_BYTES))
}

/** The classic address of a 20-byte account id. */
export function toClassicAddress(account: Buffer): string {
  if (account.length !== ACCOUNT_BYTES) throw new Error('an account has 20 bytes')
  const body = Buffer.concat([Buffer.from([ACCOUNT_PREFIX]), account])
  return base58xrp.encode(Buffer.concat([body, checksum(body)]))
}

function checksum(body: Buffer): Buffer {
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  return sha256(sha256(body)).subarray(0, CHECKSUM_BYTES)
}
