/**
 * A wallet for browsers without one, for trying to connect and pay: it signs and sends on the local chain
 * with the known keys of Alice, Bob and Carol. Only a sandbox serves it.
 */
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import { createClient, createWalletClient, http, isHex } from 'viem'
import { z } from 'zod'
import { Address } from '#src/kernel/units.ts'
import { type DevPerson, PEOPLE } from './devnet/accounts.ts'
import { flare } from './devnet/flare.ts'

/** Server side of the wallet, called after its user has agreed. */
export interface SandboxWallet {
  /**
   * Executes one request of EIP-1193 as a person, or reads from the chain.
   *
   * @throws Error for an unsupported method, or when the chain refuses it
   */
  request(method: string, params: readonly unknown[]): Promise<unknown>
}

/** Read-only methods, which are passed on to the chain. */
const READS: readonly string[] = [
  'eth_blockNumber',
  'eth_call',
  'eth_estimateGas',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionReceipt',
]

/** Gas limit above all uses here, so that no gas estimation is needed. */
const GAS = 500_000n

const Hex = z.string().refine((text) => isHex(text))
const Transaction = z.object({
  from: Address,
  to: Address,
  value: z.string().transform(BigInt).default(0n),
  data: Hex.optional(),
})

/** The wallet's keys. @param rpcUrl of the local chain */
export function createSandboxWallet(rpcUrl: string): SandboxWallet {
  const transport = http(rpcUrl)
  const reader = createClient({ chain: flare, transport })
  return {
    request: async (method, params) => {
      if (method === 'personal_sign') {
        const [message, address] = z.tuple([Hex, Address]).parse(params)
        return await personOf(address).account.signMessage({ message: { raw: message } })
      }
      if (method === 'eth_sendTransaction') {
        const { from, data, ...sent } = Transaction.parse(params[0])
        const { account } = personOf(from)
        const wallet = createWalletClient({ account, chain: flare, transport })
        return await wallet.sendTransaction({ ...sent, ...(data && { data }), gas: GAS })
      }
      if (!READS.includes(method)) throw new Error(`the sandbox wallet knows no ${method}`)
      // Safe: the names above are those of the chain's own interface, whose answer is passed on.
      const call = { method, params } as Parameters<typeof reader.request>[0]
      return await reader.request(call)
    },
  }
}

function personOf(address: Address): DevPerson {
  const person = Object.values(PEOPLE).find(({ account }) => account.address === address)
  if (person === undefined) throw new Error(`nobody here has the key of ${address}`)
  return person
}

const Call = z.object({ method: z.string(), params: z.array(z.unknown()).default([]) })
const BROWSER = new URL('./browser/', import.meta.url)
/** Pages that look for a wallet. */
const ASKING = /src="\/scripts\/(?:connect|pay)\.js"/

/** Adds the wallet to a service's server, and its script to the pages that look for a wallet. */
export function serveWallet(server: FastifyInstance, rpcUrl: string): void {
  const wallet = createSandboxWallet(rpcUrl)
  for (const [name, type] of [
    ['wallet.js', 'text/javascript; charset=utf-8'],
    ['wallet.css', 'text/css; charset=utf-8'],
  ] as const) {
    const content = readFileSync(new URL(name, BROWSER))
    server.get(`/sandbox/${name}`, (_request, reply) => reply.type(type).send(content))
  }
  server.get('/sandbox/wallet/people', async () =>
    Object.values(PEOPLE).map(({ name, account }) => ({ name, address: account.address })),
  )
  server.post('/sandbox/wallet', async (request, reply) => {
    const { method, params } = Call.parse(request.body)
    try {
      return { result: (await wallet.request(method, params)) ?? null }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return reply.send({ error: { code: -32_000, message } })
    }
  })
  server.addHook('onSend', async (_request, reply, payload) => {
    const isPage = `${reply.getHeader('content-type')}`.startsWith('text/html')
    if (!isPage || typeof payload !== 'string' || !ASKING.test(payload)) return payload
    const script = '<script type="module" src="/sandbox/wallet.js"></script>'
    return payload.replace('</head>', `${script}</head>`)
  })
}
