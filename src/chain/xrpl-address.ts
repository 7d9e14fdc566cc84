import { createHash } from 'node:crypto'

/** Base 58 in the order of the XRP Ledger. */
const ALPHABET = 'rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz'
/** The byte before an account's number. */
const ACCOUNT_PREFIX = 0
const ACCOUNT_BYTES = 20
const CHECKSUM_BYTES = 4

/** Whether a text is a classic address (`r…`), with a right checksum. @see xrpl.org, "Base58 Encodings" */
export function isClassicAddress(text: string): boolean {
  if (!/^r[1-9A-HJ-NP-Za-km-z]{24,34}$/.test(text)) return false
  const bytes = decodeBase58(text)
  if (bytes.length !== 1 + ACCOUNT_BYTES + CHECKSUM_BYTES || bytes[0] !== ACCOUNT_PREFIX)
    return false
  const body = bytes.subarray(0, -CHECKSUM_BYTES)
  return checksum(body).equals(bytes.subarray(-CHECKSUM_BYTES))
}

/** The classic address of an account's 20 bytes. */
export function toClassicAddress(account: Buffer): string {
  if (account.length !== ACCOUNT_BYTES) throw new Error('an account has 20 bytes')
  const body = Buffer.concat([Buffer.from([ACCOUNT_PREFIX]), account])
  return encodeBase58(Buffer.concat([body, checksum(body)]))
}

function checksum(body: Buffer): Buffer {
  const sha256 = (data: Buffer) => createHash('sha256').update(data).digest()
  return sha256(sha256(body)).subarray(0, CHECKSUM_BYTES)
}

function decodeBase58(text: string): Buffer {
  const zeros = /^r*/.exec(text)?.[0].length ?? 0
  let number = 0n
  for (const digit of text) number = number * 58n + BigInt(ALPHABET.indexOf(digit))
  const hex = number === 0n ? '' : number.toString(16)
  const rest = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.alloc(zeros), rest])
}

function encodeBase58(bytes: Buffer): string {
  const zeros = bytes.findIndex((byte) => byte !== 0)
  let text = ''
  for (let rest = BigInt(`0x${bytes.toString('hex')}`); rest > 0n; rest /= 58n) {
    text = `${ALPHABET[Number(rest % 58n)]}${text}`
  }
  return 'r'.repeat(zeros === -1 ? bytes.length : zeros) + text
}
