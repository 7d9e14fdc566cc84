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
 * Encrypts texts that the service must decrypt later, and signs links. The keys for both are derived from
 * `SECRET_KEY` by HKDF. With `SECRET_KEY_PREVIOUS`, texts and links of the previous key can also be opened and read.
 */
export interface SecretBox {
  /**
   * Encrypts a text with AES-256-GCM. `purpose` is authenticated, so a text that was sealed for one purpose
   * cannot be opened for another.
   */
  seal(purpose: string, text: string): string
  /** @throws Error when the text was altered, or sealed with another key or purpose */
  open(purpose: string, sealed: string): string
  /**
   * Seals a text of the previous key with the current key.
   *
   * @returns undefined when the text was sealed with the current key
   * @throws the errors of `open`
   */
  reseal(purpose: string, sealed: string): string | undefined
  /** Whether there is a previous key, so that stored texts should be resealed. */
  readonly isRotating: boolean
  /** Creates a compact signed link code in base64url. `payload` is readable, not secret. */
  signLink(purpose: string, payload: string): string
  /**
   * The payload of a code with a valid signature, which is compared in constant time; undefined for any
   * other code.
   */
  readLink(purpose: string, code: string): string | undefined
}

const IV_BYTES = 12
const TAG_BYTES = 16
const LINK_TAG_BYTES = 16

/** The keys derived from one secret key. */
interface Keys {
  readonly seal: KeyObject
  readonly link: KeyObject
}

/**
 * @param secretKey 32 random bytes
 * @param previousKey the previous secret key, while stored texts are being resealed
 * @see NIST SP 800-38D (GCM), RFC 5869 (HKDF)
 */
export function createSecretBox(secretKey: Uint8Array, previousKey?: Uint8Array): SecretBox {
  const current = deriveKeys(secretKey)
  const previous = previousKey && deriveKeys(previousKey)

  function openWithEither(purpose: string, sealed: string): { text: string; isCurrent: boolean } {
    try {
      return { text: unsealed(current.seal, purpose, sealed), isCurrent: true }
    } catch (error) {
      if (previous === undefined) throw error
      return { text: unsealed(previous.seal, purpose, sealed), isCurrent: false }
    }
  }

  function seal(purpose: string, text: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', current.seal, iv).setAAD(Buffer.from(purpose))
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')
  }

  return {
    isRotating: previous !== undefined,
    seal,
    open: (purpose, sealed) => openWithEither(purpose, sealed).text,
    reseal(purpose, sealed) {
      const { text, isCurrent } = openWithEither(purpose, sealed)
      return isCurrent ? undefined : seal(purpose, text)
    },
    signLink(purpose, payload) {
      const bytes = Buffer.concat([linkTag(current.link, purpose, payload), Buffer.from(payload)])
      return bytes.toString('base64url')
    },
    readLink(purpose, code) {
      const bytes = Buffer.from(code, 'base64url')
      if (bytes.length <= LINK_TAG_BYTES) return undefined
      const tag = bytes.subarray(0, LINK_TAG_BYTES)
      const payload = bytes.subarray(LINK_TAG_BYTES).toString('utf8')
      const keys = previous === undefined ? [current] : [current, previous]
      const isGenuine = keys.some(({ link }) =>
        timingSafeEqual(tag, linkTag(link, purpose, payload)),
      )
      return isGenuine ? payload : undefined
    },
  }
}

/** @throws Error when the text was altered, or sealed with another key or purpose */
function unsealed(key: KeyObject, purpose: string, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64url')
  const iv = bytes.subarray(0, IV_BYTES)
  const tag = bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, iv)
  decipher.setAAD(Buffer.from(purpose)).setAuthTag(tag)
  const body = bytes.subarray(IV_BYTES + TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
}

function linkTag(key: KeyObject, purpose: string, payload: string): Buffer {
  const hmac = createHmac('sha256', key).update(`${purpose}\0${payload}`)
  return hmac.digest().subarray(0, LINK_TAG_BYTES)
}

function deriveKeys(secretKey: Uint8Array): Keys {
  return { seal: deriveKey(secretKey, 'seal'), link: deriveKey(secretKey, 'link') }
}

/**
 * Derives a key as a `KeyObject`. With a key as bytes, Node would build such an object for every signature.
 */
function deriveKey(secretKey: Uint8Array, use: string): KeyObject {
  if (secretKey.length !== 32) throw new Error('the secret key must have 32 bytes')
  const key = hkdfSync('sha256', secretKey, '', `flare-watchdog ${use}`, 32)
  return createSecretKey(Buffer.from(key))
}
