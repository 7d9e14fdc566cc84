import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/**
 * Encrypts values that must be read again, and signs links. Both keys are derived from `SECRET_KEY` by
 * HKDF.
 */
export interface SecretBox {
  /** AES-256-GCM; `purpose` is authenticated, so a text sealed for one purpose opens for no other. */
  seal(purpose: string, text: string): string
  /** @throws Error when the text was altered, or sealed with another key or purpose */
  open(purpose: string, sealed: string): string
  /** A compact signed link code: `payload` is readable, not secret; base64url, URL-safe. */
  signLink(purpose: string, payload: string): string
  /** The payload of a genuine code; undefined for anything else. Compared in constant time. */
  readLink(purpose: string, code: string): string | undefined
}

const IV_BYTES = 12
const TAG_BYTES = 16
const LINK_TAG_BYTES = 16

/**
 * @param secretKey 32 random bytes
 * @see NIST SP 800-38D (GCM), RFC 5869 (HKDF)
 */
export function createSecretBox(secretKey: Uint8Array): SecretBox {
  const sealKey = deriveKey(secretKey, 'seal')
  const linkKey = deriveKey(secretKey, 'link')

  function linkTag(purpose: string, payload: string): Buffer {
    const hmac = createHmac('sha256', linkKey).update(`${purpose}\0${payload}`)
    return hmac.digest().subarray(0, LINK_TAG_BYTES)
  }

  return {
    seal(purpose, text) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', sealKey, iv).setAAD(Buffer.from(purpose))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
    },
    open(purpose, sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      const iv = bytes.subarray(0, IV_BYTES)
      const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', sealKey, iv)
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
      const body = bytes.subarray(IV_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
    signLink(purpose, payload) {
      const bytes = Buffer.concat([linkTag(purpose, payload), Buffer.from(payload)])
      return bytes.toString('base64url')
    },
    readLink(purpose, code) {
      const bytes = Buffer.from(code, 'base64url')
      if (bytes.length <= LINK_TAG_BYTES) return undefined
      const payload = bytes.subarray(LINK_TAG_BYTES).toString('utf8')
      const isGenuine = timingSafeEqual(
        bytes.subarray(0, LINK_TAG_BYTES),
        linkTag(purpose, payload),
      )
      return isGenuine ? payload : undefined
    },
  }
}

/** Derives a key as a `KeyObject`, which is built once: from bytes, every signature would build it anew. */
function deriveKey(secretKey: Uint8Array, use: string): KeyObject {
  if (secretKey.length !== 32) throw new Error('the secret key must have 32 bytes')
  const key = hkdfSync('sha256', secretKey, '', `flare-watchdog ${use}`, 32)
  return createSecretKey(Buffer.from(key))
}
