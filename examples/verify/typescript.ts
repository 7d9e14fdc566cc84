// Checks that a webhook comes from Watchdog. Node 24.2 or newer, no packages.
//
//   WEBHOOK_SECRET=whsec_… node typescript.ts headers.txt body.txt
//
// headers.txt has one header a line, body.txt the bytes exactly as they came. Prints "valid", or
// "invalid" and why; then the exit code is 1. A third argument is the time in seconds since 1970, for
// trying it with recorded requests.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'

const TOLERANCE_SECONDS = 300

/** The body of a webhook, version 2. More may come inside `data` and `renderedMessage`. */
export interface WebhookPayload {
  payloadVersion: 2
  signal: string | null
  group: string | null
  /** The same on every attempt: drop a delivery you have seen. */
  deliveryId: string
  alertId: number | null
  watchId: number | null
  label: string | null
  type: string | null
  event: string
  severity: 'info' | 'warning' | 'critical'
  /** Values of the event, which differ from event to event. */
  data: Record<string, unknown>
  /** RFC 3339. */
  firedAt: string
  rendered: { locale: string; title: string; body: string }
  renderedMessage: {
    alertId: number | null
    watchId: number | null
    watchLabel: string | null
    event: string
    severity: 'info' | 'warning' | 'critical'
    title: string
    body: string
    fields: { key: string; label: string; value: string; href?: string }[]
    link: string
    firedAt: string
    test: boolean
    [more: string]: unknown
  }
}

/** The payload of a request that `whyInvalid` found nothing wrong with. */
export function readPayload(rawBody: Uint8Array): WebhookPayload {
  return JSON.parse(new TextDecoder().decode(rawBody))
}

/**
 * Why a request is not from Watchdog; undefined when it is.
 *
 * @param headers by lower-case name, as Node's http server gives them
 * @param rawBody the bytes as they came, before any parsing
 */
export function whyInvalid(
  secret: string,
  headers: Readonly<Record<string, string | undefined>>,
  rawBody: Uint8Array,
  nowSeconds: number,
): string | undefined {
  const timestamp = headers['x-watchdog-timestamp'] ?? ''
  if (!/^[1-9][0-9]{0,11}$/.test(timestamp)) return 'no timestamp'
  if (Math.abs(nowSeconds - Number(timestamp)) > TOLERANCE_SECONDS) return 'too old or too new'

  const hmac = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody)
  const expected = Buffer.from(`sha256=${hmac.digest('hex')}`)
  // The second is there for 24 hours while a secret is being changed.
  const received = [headers['x-watchdog-signature'], headers['x-watchdog-signature-next']]
  const isGood = received.some((signature) => {
    const bytes = Buffer.from(signature ?? '')
    return bytes.length === expected.length && timingSafeEqual(bytes, expected)
  })
  return isGood ? undefined : 'wrong signature'
}

if (import.meta.main) {
  const secret = process.env.WEBHOOK_SECRET ?? ''
  const [headersFile, bodyFile, now = String(Math.floor(Date.now() / 1000))] = process.argv.slice(2)
  if (secret === '' || headersFile === undefined || bodyFile === undefined) {
    const usage = 'WEBHOOK_SECRET=whsec_… node typescript.ts headers.txt body.txt [seconds]'
    process.stderr.write(`usage: ${usage}\n`)
    process.exit(2)
  }
  const headers = Object.fromEntries(
    readFileSync(headersFile, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.includes(':'))
      .map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
  )
  const problem = whyInvalid(secret, headers, readFileSync(bodyFile), Number(now))
  process.stdout.write(problem === undefined ? 'valid\n' : `invalid: ${problem}\n`)
  process.exitCode = problem === undefined ? 0 : 1
}
