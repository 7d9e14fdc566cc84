// From a wallet to the first watch. Node.js 20 or newer:
//   npm install viem
//   node quickstart.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const base = process.env.WATCHDOG_URL ?? 'https://watchdog.example.org/api/x402'
const account = privateKeyToAccount(walletKey('wallet.key'))
let token

// The key of the wallet in the file; of a new wallet, if there is no such file.
function walletKey(file) {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const key = generatePrivateKey()
  writeFileSync(file, `${key}\n`, { mode: 0o600, flag: 'wx' })
  return key
}

async function call(method, path, body) {
  const response = await fetch(base + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const answer = await response.json()
  const why = response.ok ? '' : ` ${answer.code}: ${answer.detail}`
  process.stdout.write(`${response.status} ${method} ${path}${why}\n`)
  if (!response.ok) process.exit(1)
  return answer
}

// 1. Sign in: the wallet signs a message, which is free. Use a token with `write` for watches.
const wallet = account.address
const { message } = await call('POST', '/auth/challenge', { wallet, scopes: ['write'] })
const signature = await account.signMessage({ message })
token = (await call('POST', '/auth/token', { message, signature })).token

// 2. Accept the terms and start the free trial, which has one slot. Both are needed only once.
const { currentVersion, accepted } = await call('GET', '/account/terms')
if (!accepted) await call('POST', '/account/terms', { version: currentVersion })
const { trial } = await call('GET', '/subscriptions')
if (trial.available) await call('POST', '/subscriptions/trial')

// 3. Watch the wallet's own balance: alert when it moves by 100 FLR or more. A later run finds the watch.
const { data: watches } = await call('GET', '/watches?limit=100')
const isOwn = ({ type, target }) =>
  type === 'wallet-balance' && target.address.toLowerCase() === wallet.toLowerCase()
const watch =
  watches.find(isOwn) ??
  (await call('POST', '/watches', {
    type: 'wallet-balance',
    target: { address: wallet, asset: 'FLR' },
    settings: { threshold: '100' },
  }))
process.stdout.write(`Watch ${watch.id} is ${watch.status}. Move 100 FLR, then read GET /alerts.\n`)
if (watch.warnings.includes('nobody_is_notified')) {
  process.stdout.write('No recipient gets its alerts yet: add one with POST /recipients.\n')
}
