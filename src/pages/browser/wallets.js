// Wallets of this browser: found by EIP-6963 or as window.ethereum, used by EIP-1193.

/**
 * @typedef {{
 *   request(call: { method: string, params?: unknown[] }): Promise<any>,
 *   on?(event: string, listener: (value: any) => void): void,
 * }} Provider
 * @typedef {{ name: string, icon?: string | undefined, provider: Provider }} Wallet
 * @typedef {{ chainId: string, chainName: string, nativeCurrency: { symbol: string } }} Chain
 */

/** Error codes of EIP-1193 and EIP-3085: the user declined; the wallet does not know the chain. */
const DECLINED = 4001
const UNKNOWN_CHAIN = 4902
/** Time for wallets to announce themselves. */
const ANNOUNCE_MS = 150

/** Names of chains that wallets are often on. @type {Readonly<Record<string, string>>} */
const CHAIN_NAMES = {
  '0x1': 'Ethereum',
  '0xa': 'OP Mainnet',
  '0xe': 'Flare',
  '0x10': 'Coston',
  '0x13': 'Songbird',
  '0x38': 'BNB Smart Chain',
  '0x72': 'Coston2',
  '0x89': 'Polygon',
  '0x2105': 'Base',
  '0xa4b1': 'Arbitrum One',
  '0xa86a': 'Avalanche',
}

/**
 * Makes a button find the available wallets. If there is one, a press chooses it; if there are several, each
 * gets a button. Some wallets announce themselves late, so every press searches again.
 *
 * @param {HTMLElement} bare
 * @param {{ choose(wallet: Wallet): void, none(): void }} answers
 * @returns {Promise<Wallet[]>} the wallets that the first search found
 */
export async function offerWallets(bare, { choose, none }) {
  bare.addEventListener('click', async () => {
    const wallets = await findWallets()
    const [only] = wallets
    if (wallets.length > 0) preferApp(bare, false)
    if (wallets.length > 1) showChoice(bare, wallets, choose)
    else if (only === undefined) none()
    else choose(only)
  })
  const wallets = await findWallets()
  if (wallets.length > 1) showChoice(bare, wallets, choose)
  // Browsers of phones have no wallet, but a wallet app has a browser.
  preferApp(bare, wallets.length === 0 && matchMedia('(pointer: coarse)').matches)
  return wallets
}

/**
 * Puts the link that opens the page in a wallet app before the button for a wallet of this browser.
 *
 * @param {HTMLElement} bare
 * @param {boolean} isApp
 */
function preferApp(bare, isApp) {
  const app = document.getElementById('app')
  if (app === null) return
  app.hidden = !isApp
  bare.classList.toggle('primary', !isApp)
}

/**
 * Every announced wallet; if there is none, the one at window.ethereum.
 * @returns {Promise<Wallet[]>}
 */
async function findWallets() {
  /** @type {Map<string, Wallet>} */
  const found = new Map()
  /** @param {Event} event */
  const listen = (event) => {
    if (!(event instanceof CustomEvent)) return
    const { info, provider } = event.detail
    found.set(info.uuid, { name: info.name, icon: info.icon, provider })
  }
  window.addEventListener('eip6963:announceProvider', listen)
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  await new Promise((resolve) => setTimeout(resolve, ANNOUNCE_MS))
  window.removeEventListener('eip6963:announceProvider', listen)
  if (found.size > 0) return [...found.values()]
  const bare =
    'ethereum' in window ? /** @type {Provider | undefined} */ (window.ethereum) : undefined
  return bare === undefined ? [] : [{ name: '', provider: bare }]
}

/**
 * @param {HTMLElement} bare the button in whose place the others come
 * @param {readonly Wallet[]} wallets
 * @param {(wallet: Wallet) => void} choose
 */
function showChoice(bare, wallets, choose) {
  if (bare.hidden) return
  bare.hidden = true
  for (const wallet of wallets) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button primary wallet'
    if (wallet.icon?.startsWith('data:image/')) {
      const icon = document.createElement('img')
      Object.assign(icon, { src: wallet.icon, alt: '', width: 24, height: 24 })
      button.append(icon)
    }
    button.append(wallet.name)
    button.addEventListener('click', () => choose(wallet))
    bare.before(button)
  }
}

/**
 * The account the wallet's user chose.
 *
 * @param {Provider} provider
 * @returns {Promise<string>}
 */
export async function askAccount(provider) {
  const [account] = await provider.request({ method: 'eth_requestAccounts' })
  return account
}

/** @param {Provider} provider @returns {Promise<string>} in lower case hexadecimal */
export async function chainOf(provider) {
  return `0x${BigInt(await provider.request({ method: 'eth_chainId' })).toString(16)}`
}

/** @param {string} chainId as `chainOf` gives it */
export function chainName(chainId) {
  return CHAIN_NAMES[chainId] ?? String(BigInt(chainId))
}

/**
 * Switches the wallet to a chain, and adds the chain if the wallet does not know it.
 *
 * @param {Provider} provider
 * @param {Chain} chain
 * @returns {Promise<boolean>} whether it is on that chain now
 */
export async function switchChain(provider, chain) {
  const { chainId } = chain
  if ((await chainOf(provider)) === chainId) return true
  try {
    const params = [{ chainId }]
    await provider.request({ method: 'wallet_switchEthereumChain', params })
  } catch (error) {
    if (isDeclined(error)) return false
    if (codeOf(error) === UNKNOWN_CHAIN) {
      await addChain(provider, chain)
    }
  }
  return (await chainOf(provider)) === chainId
}

/** @param {Provider} provider @param {Chain} chain */
async function addChain(provider, chain) {
  try {
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
  } catch {
    // Declined or impossible: the present chain is read afterwards.
  }
}

/**
 * The account's signature of a text (EIP-191).
 *
 * @param {Provider} provider
 * @param {string} text
 * @param {string} account
 * @returns {Promise<string>}
 */
export async function signText(provider, text, account) {
  return await provider.request({ method: 'personal_sign', params: [hexOf(text), account] })
}

/** @param {string} text */
function hexOf(text) {
  const bytes = new TextEncoder().encode(text)
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

/**
 * Whether the wallet's user declined.
 * @param {unknown} error
 */
export function isDeclined(error) {
  return codeOf(error) === DECLINED
}

/** @param {unknown} error */
function codeOf(error) {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  // Some wallets wrap the error that their inner provider returned.
  const { code } = error
  const inner = 'data' in error ? /** @type {any} */ (error.data)?.originalError?.code : undefined
  return inner ?? code
}

/** @param {string} address */
export function shortAddress(address) {
  return `${address.slice(0, 6)}…${address.slice(-4)}`
}
