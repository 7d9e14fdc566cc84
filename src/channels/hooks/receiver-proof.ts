/**
 * Proof that a request to a test receiver of this service comes from this service. A receiver has a public address, so
 * without it anybody could show anything on a page of this service.
 */
import { createHash } from 'node:crypto'
import type { SecretBox } from '#src/kernel/secret-box.ts'

/** Path of the test receivers; the code of a receiver follows. */
export const RECEIVER_PATH = '/receiver'
/** Header of the proof. Requests to other addresses have none. */
export const PROOF_HEADER = 'X-Watchdog-Proof'

const PURPOSE = 'receiver-proof'

/** Creates what signs requests to the receivers of the service at `publicUrl`, and returns no headers for other URLs. */
export function createProver({
  box,
  publicUrl,
}: {
  readonly box: SecretBox
  readonly publicUrl: string
}): (url: string, body: string) => Readonly<Record<string, string>> {
  const ours = new URL(`${publicUrl}${RECEIVER_PATH}/`)
  return (url, body) => {
    const { origin, pathname } = new URL(url)
    if (origin !== ours.origin || !pathname.startsWith(ours.pathname)) return {}
    const code = pathname.slice(ours.pathname.length)
    return { [PROOF_HEADER]: box.signLink(PURPOSE, provenText(code, body)) }
  }
}

/** Whether this service sent the body to the receiver with this code. */
export function isProven(
  box: SecretBox,
  { code, body, proof }: { readonly code: string; readonly body: string; readonly proof: string },
): boolean {
  return box.readLink(PURPOSE, proof) === provenText(code, body)
}

function provenText(code: string, body: string): string {
  return `${code} ${createHash('sha256').update(body).digest('hex')}`
}
