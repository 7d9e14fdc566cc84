// Checks that a webhook comes from Watchdog, with its client. Node 24.2 or newer.
//
//   npm install https://watchdog.example.org/docs/flare-watchdog-client.tgz
//   WEBHOOK_SECRET=whsec_… node typescript.ts headers.txt body.txt
//
// headers.txt has one header a line, body.txt the bytes exactly as they came. Prints "valid", or
// "invalid" and why; then the exit code is 1. A third argument is the time in seconds since 1970, for
// trying it with recorded requests.

import { readFileSync } from 'node:fs'
import { verifyWebhook, WebhookError } from 'flare-watchdog-client'

const secret = process.env.WEBHOOK_SECRET ?? ''
const [headersFile, bodyFile, now = String(Math.floor(Date.now() / 1000))] = process.argv.slice(2)
if (secret === '' || headersFile === undefined || bodyFile === undefined) {
  const usage = 'WEBHOOK_SECRET=whsec_… node typescript.ts headers.txt body.txt [seconds]'
  process.stderr.write(`usage: ${usage}\n`)
  process.exit(2)
}

// In a server these are the headers and the raw body of the request.
const headers = Object.fromEntries(
  readFileSync(headersFile, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line.includes(':'))
    .map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
)
const body = readFileSync(bodyFile)

try {
  const webhook = await verifyWebhook({ secret, headers, body, nowSeconds: Number(now) })
  process.stdout.write('valid\n')
  process.stderr.write(`${webhook.event}: ${webhook.rendered.title}\n`)
} catch (error) {
  if (!(error instanceof WebhookError)) throw error
  process.stdout.write(`invalid: ${error.reason}\n`)
  process.exitCode = 1
}
