// Verification of a delivery by a customer. It imports none of the service's code and is written from the
// published description alone, so that it detects deviations.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** The headers of a request as in Node: lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** Result of verifying one signature. `ageSeconds` is the age of its timestamp. */
export type SignatureVerdict =
  | { readonly ok: true; readonly ageSeconds: number }
  | {
      readonly ok: false
      readonly reason: 'missing' | 'malformed' | 'stale' | 'mismatch'
      readonly ageSeconds?: number
    }

const TOLERANCE_SECONDS = 300

/**
 * Verifies `X-Watchdog-Signature`: `sha256=` and the lower-case hexadecimal HMAC-SHA256 of
 * `<X-Watchdog-Timestamp>.<raw body>`, keyed with the secret as shown.
 *
 * @param body the raw bytes as received, before any parsing
 * @param header `x-watchdog-signature-next` during a rotation of the secret
 */
export function verifyWatchdog(
  headers: RequestHeaders,
  body: Uint8Array,
  secret: string,
  now: Date,
  header = 'x-watchdog-signature',
): SignatureVerdict {
  const signature = headers[header]
  const timestamp = headers['x-watchdog-timestamp']
  if (typeof signature !== 'string' || typeof timestamp !== 'string') return fail('missing')
  const ageSeconds = ageOf(timestamp, now)
  if (ageSeconds === undefined) return fail('malformed')
  if (Math.abs(ageSeconds) > TOLERANCE_SECONDS) return fail('stale', ageSeconds)

  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(body)
  const isGood = isSame(signature, `sha256=${hmac.digest('hex')}`)
  return isGood ? { ok: true, ageSeconds } : fail('mismatch', ageSeconds)
}

/**
 * Verifies `webhook-signature`: `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<raw
 * body>`, keyed with the secret's base64-decoded bytes after `whsec_`. There may be several, separated by
 * spaces; one valid one suffices.
 *
 * @see https://www.standardwebhooks.com
 */
export function verifyStandard(
  headers: RequestHeaders,
  body: Uint8Array,
  secret: string,
  now: Date,
): SignatureVerdict {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') {
    return fail('missing')
  }
  const ageSeconds = ageOf(timestamp, now)
  if (ageSeconds === undefined) return fail('malformed')
  if (Math.abs(ageSeconds) > TOLERANCE_SECONDS) return fail('stale', ageSeconds)

  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body)
  const expected = `v1,${hmac.digest('base64')}`
  const isGood = signatures.split(' ').some((signature) => isSame(signature, expected))
  return isGood ? { ok: true, ageSeconds } : fail('mismatch', ageSeconds)
}

function ageOf(timestamp: string, now: Date): number | undefined {
  if (!/^\d{1,12}$/.test(timestamp)) return undefined
  return now.getTime() / 1000 - Number(timestamp)
}

/** Compares in constant time; another length is refused before. */
function isSame(received: string, expected: string): boolean {
  const a = Buffer.from(received)
  const b = Buffer.from(expected)
  return a.length === b.length && timingSafeEqual(a, b)
}

function fail(
  reason: 'missing' | 'malformed' | 'stale' | 'mismatch',
  ageSeconds?: number,
): SignatureVerdict {
  return { ok: false, reason, ...(ageSeconds === undefined ? {} : { ageSeconds }) }
}
