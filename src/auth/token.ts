import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * A token is `fwd_`, 256 random bits in 43 base62 characters, and the CRC-32 of both in 6 more: a mistyped
 * token is recognized without a query.
 */
const TOKEN_START = 'fwd_'
const SECRET_BYTES = 32
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6
const TOKEN_FORM = /^fwd_[0-9A-Za-z]{49}$/
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Length of the stored prefix, for display. */
const PREFIX_LENGTH = 8

/** Creates a token from the system's random source. */
export function createToken(): string {
  return formatToken(randomBytes(SECRET_BYTES))
}

/** Formats 32 random bytes as a token. */
export function formatToken(secret: Uint8Array): string {
  const number = BigInt(`0x${Buffer.from(secret).toString('hex')}`)
  const body = `${TOKEN_START}${toBase62(number, SECRET_LENGTH)}`
  return `${body}${checksumOf(body)}`
}

/**
 * Whether the text has the form of a token and a valid checksum. Does not prove that such a token exists.
 */
export function hasTokenForm(text: string): boolean {
  if (!TOKEN_FORM.test(text)) return false
  const body = text.slice(0, -CHECKSUM_LENGTH)
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(body)
}

/** SHA-256 of a token in hex, stored instead of the token. */
export function hashToken(token: string): string {
  return hash('sha256', token)
}

/** The first 8 characters, by which people recognize a token in a list. */
export function displayPrefixOf(token: string): string {
  return token.slice(0, PREFIX_LENGTH)
}

function checksumOf(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH)
}

function toBase62(number: bigint, length: number): string {
  let rest = number
  let digits = ''
  while (digits.length < length) {
    digits = `${BASE62.charAt(Number(rest % 62n))}${digits}`
    rest /= 62n
  }
  return digits
}
