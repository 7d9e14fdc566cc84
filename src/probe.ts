/**
 * Asks the service of this environment whether it works, for health checks of containers: ends with 0 if `/readyz` is 200, else
 * with 1.
 */
const { INTERNAL_HOST, HOST, INTERNAL_PORT } = process.env
const LOOPBACK: Readonly<Record<string, string>> = {
  '': '127.0.0.1',
  '0.0.0.0': '127.0.0.1',
  '::': '::1',
}

const host = INTERNAL_HOST || HOST || ''
const address = LOOPBACK[host] ?? host
const authority = address.includes(':') ? `[${address}]` : address
try {
  const answer = await fetch(`http://${authority}:${INTERNAL_PORT || '9090'}/readyz`)
  process.exitCode = answer.ok ? 0 : 1
} catch {
  process.exitCode = 1
}
