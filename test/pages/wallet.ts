import type { Page } from 'playwright-core'
import { PEOPLE } from '#sandbox/devnet/accounts.ts'
import { createSandboxWallet } from '#sandbox/wallet.ts'

/** Options of a wallet in a browser. */
export interface WalletOptions {
  /** Its owner. */
  readonly owner?: keyof typeof PEOPLE
  /** The person whose key signs messages; the owner by default. */
  readonly signer?: keyof typeof PEOPLE
  /** Its initial chain. */
  readonly chainId?: string
  /** Chains that it knows already. */
  readonly knows?: readonly string[]
  /** Methods that its user declines. */
  readonly declines?: readonly string[]
  /** Answers to methods, in place of the chain's. */
  readonly says?: Readonly<Record<string, unknown>>
  /** Number of transactions that its user agrees to; any by default. */
  readonly sends?: number
  /** Whether the page was connected to it before. */
  readonly isConnected?: boolean
  /** Name that it announces. */
  readonly name?: string
}

/** A wallet in a page. */
export interface PageWallet {
  /** The requested methods, updated live. */
  readonly asked: readonly string[]
  /** Makes its user decline these methods from now on. */
  decline(...methods: readonly string[]): void
  chain(): string
}

/** Puts a wallet into a page that is opened afterwards: it signs and sends on the local chain. */
export async function giveWallet(
  page: Page,
  rpcUrl: string,
  options: WalletOptions = {},
): Promise<PageWallet> {
  const { owner = 'bob', says = {}, name } = options
  const account = PEOPLE[owner].account.address
  const wallet = createSandboxWallet(rpcUrl)
  const asked: string[] = []
  let chain = options.chainId ?? '0xe'
  let declined = options.declines ?? []
  let left = options.sends ?? Number.POSITIVE_INFINITY
  const known = new Set(options.knows ?? ['0xe'])
  const move = (chainId: string) => {
    if (!known.has(chainId)) throw { code: 4902 }
    chain = chainId
    return null
  }
  async function carryOut(method: string, params: readonly unknown[]): Promise<unknown> {
    const [first] = params as readonly [{ chainId: string }]
    if (declined.includes(method)) throw { code: 4001 }
    if (method in says) return says[method]
    if (method === 'eth_sendTransaction' && left <= 0) throw { code: 4001 }
    if (method === 'eth_sendTransaction') left -= 1
    switch (method) {
      case 'eth_accounts':
        return options.isConnected === true ? [account] : []
      case 'eth_requestAccounts':
        return [account]
      case 'eth_chainId':
        return chain
      case 'wallet_switchEthereumChain':
        return move(first.chainId)
      case 'wallet_addEthereumChain':
        known.add(first.chainId)
        return move(first.chainId)
      case 'personal_sign': {
        const signer = PEOPLE[options.signer ?? owner].account.address
        return await wallet.request(method, [params[0], signer])
      }
      default:
        return await wallet.request(method, params)
    }
  }
  await page.exposeFunction('askWallet', async (method: string, params: readonly unknown[]) => {
    asked.push(method)
    try {
      return { result: (await carryOut(method, params)) ?? null }
    } catch (error) {
      return { error: error instanceof Error ? { code: -32_000, message: error.message } : error }
    }
  })
  await page.addInitScript((label: string | undefined) => {
    const { askWallet } = window as unknown as {
      askWallet(method: string, params: unknown[]): Promise<{ result: unknown; error?: object }>
    }
    const provider = {
      request: async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
        const { result, error } = await askWallet(method, params)
        if (error !== undefined) throw error
        return result
      },
    }
    if (label === undefined) return Object.assign(window, { ethereum: provider })
    const detail = Object.freeze({ info: { uuid: 'one', name: label }, provider })
    return window.addEventListener('eip6963:requestProvider', () => {
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    })
  }, name)
  return {
    asked,
    decline: (...methods) => {
      declined = methods
    },
    chain: () => chain,
  }
}
