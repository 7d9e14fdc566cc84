// Pays for a call with USD₮0 on Flare, without an account. Node.js 20 or newer:
//   npm install viem @x402/fetch @x402/evm
//   node x402.mjs
import { readFileSync } from 'node:fs'
import { ExactEvmScheme } from '@x402/evm'
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { privateKeyToAccount } from 'viem/accounts'

const url = process.env.WATCHDOG_DATA_URL ?? 'https://watchdog.example.org/data/providers-rewards'
// The private key of a wallet that holds USD₮0. It needs no FLR: the service pays the gas.
const key = readFileSync('wallet.key', 'utf8').trim().replace(/^0x/, '')
const account = privateKeyToAccount(`0x${key}`)
const client = new x402Client().register('eip155:14', new ExactEvmScheme(account))
const payingFetch = wrapFetchWithPayment(fetch, client)

const answer = await payingFetch(url)
process.stdout.write(`${answer.status} ${await answer.text()}\n`)
const payment = answer.headers.get('payment-response')
if (payment) process.stdout.write(`${JSON.stringify(decodePaymentResponseHeader(payment))}\n`)
