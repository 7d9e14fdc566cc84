// Paying with a wallet in this browser (EIP-1193, found by EIP-6963 or as window.ethereum). The wallet
// does all work on the chain; nothing is sent to the service.

/**
 * @typedef {{ request(call: { method: string, params?: unknown[] }): Promise<any> }} Provider
 * @typedef {{
 *   chain: { chainId: string, chainName?: string },
 *   amount: string,
 *   payment: { to: string, value: string, data: string },
 *   approval: { token: string, spender: string, data: string } | null,
 * }} Order
 */

const RECEIPT_MS = 1500
/** EIP-1193 and EIP-3085: declined by the user; chain not known to the wallet. */
const DECLINED = 4001
const UNKNOWN_CHAIN = 4902
/** EIP-20: allowance(owner, spender) and balanceOf(owner). */
const ALLOWANCE = '0xdd62ed3e'
const BALANCE = '0x70a08231'

/**
 * Offers the wallets there are.
 *
 * @param {HTMLElement} section
 * @param {string} key names this payment in the browser's memory of the session
 */
export function startWallet(section, key) {
  /** @type {Order} */
  const order = JSON.parse(section.dataset.wallet ?? '')
  section.hidden = false
  // The page offers to pay again, so that one has not paid.
  if (sessionStorage.getItem(key) === section.dataset.tx) sessionStorage.removeItem(key)
  if (sessionStorage.getItem(key) !== null) {
    find('#connect').hidden = true
    return note('sent')
  }
  const bare = find('#connect button')
  offer(bare, windowWallet)

  const known = new Set()
  window.addEventListener('eip6963:announceProvider', (event) => {
    if (!(event instanceof CustomEvent)) return
    const { info, provider } = event.detail
    const button = bare.cloneNode()
    if (known.has(info.uuid) || !(button instanceof HTMLElement)) return
    known.add(info.uuid)
    // Wallets that say their names take the place of the one without.
    bare.hidden = true
    button.hidden = false
    button.textContent = info.name
    find('#connect').append(button)
    offer(button, () => provider)
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))

  /** @param {HTMLElement} button @param {() => Provider | undefined} wallet */
  function offer(button, wallet) {
    button.addEventListener('click', () => {
      const provider = wallet()
      if (provider === undefined) note('none')
      else void guarded(() => connect(provider, order, key))
    })
  }
}

/** @returns {Provider | undefined} */
function windowWallet() {
  return 'ethereum' in window ? /** @type {Provider} */ (window.ethereum) : undefined
}

/**
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} key
 */
async function connect(provider, order, key) {
  note()
  const [account] = await provider.request({ method: 'eth_requestAccounts' })
  await switchChain(provider, order.chain)
  find('#connect').hidden = true
  find('#steps').hidden = false
  find('#account').hidden = false
  find('#account bdi').textContent = account
  const approve = find('#approve')
  const send = find('#send')

  if (order.approval !== null && !(await hasBalance(provider, order, account))) note('balance')
  const isReady = order.approval === null || (await isApproved(provider, order, account))
  approve.hidden = isReady
  send.hidden = !isReady
  approve.addEventListener('click', () =>
    once(approve, async () => {
      if (order.approval === null) return
      const { token: to, data } = order.approval
      await switchChain(provider, order.chain)
      const hash = await sendTransaction(provider, { from: account, to, data })
      note('approving')
      if (!(await succeeds(provider, hash))) return note('failed')
      note()
      approve.hidden = true
      send.hidden = false
    }),
  )
  send.addEventListener('click', () =>
    once(send, async () => {
      await switchChain(provider, order.chain)
      const hash = await sendTransaction(provider, { from: account, ...order.payment })
      // Also after a reload the same page must not ask to pay twice.
      sessionStorage.setItem(key, hash)
      send.hidden = true
      note('sent')
      if (await succeeds(provider, hash)) return
      sessionStorage.removeItem(key)
      send.hidden = false
      note('failed')
    }),
  )
}

/**
 * @param {Provider} provider
 * @param {Order['chain']} chain
 */
async function switchChain(provider, chain) {
  const { chainId } = chain
  if ((await provider.request({ method: 'eth_chainId' })) === chainId) return
  try {
    const params = [{ chainId }]
    await provider.request({ method: 'wallet_switchEthereumChain', params })
  } catch (error) {
    if (codeOf(error) === DECLINED) throw error
    if (codeOf(error) !== UNKNOWN_CHAIN || chain.chainName === undefined) throw new WrongChain()
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] })
  }
  if ((await provider.request({ method: 'eth_chainId' })) !== chainId) throw new WrongChain()
}

class WrongChain extends Error {}

/**
 * @param {Provider} provider
 * @param {object} transaction
 * @returns {Promise<string>}
 */
function sendTransaction(provider, transaction) {
  return provider.request({ method: 'eth_sendTransaction', params: [transaction] })
}

/**
 * Waits for the transaction's block.
 *
 * @param {Provider} provider
 * @param {string} hash
 */
async function succeeds(provider, hash) {
  for (;;) {
    const params = [hash]
    const receipt = await provider.request({ method: 'eth_getTransactionReceipt', params })
    if (receipt) return BigInt(receipt.status) === 1n
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_MS))
  }
}

/**
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} account
 */
async function hasBalance(provider, { approval, amount }, account) {
  const held = await call(provider, approval?.token, BALANCE + word(account))
  return held >= BigInt(amount)
}

/**
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} account
 */
async function isApproved(provider, { approval, amount }, account) {
  const data = ALLOWANCE + word(account) + word(approval?.spender ?? '')
  return (await call(provider, approval?.token, data)) >= BigInt(amount)
}

/**
 * @param {Provider} provider
 * @param {string | undefined} to
 * @param {string} data
 */
async function call(provider, to, data) {
  return BigInt(await provider.request({ method: 'eth_call', params: [{ to, data }, 'latest'] }))
}

/** @param {string} address */
function word(address) {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

/**
 * Runs what a button does, and not twice at a time.
 *
 * @param {HTMLElement} button
 * @param {() => Promise<void>} work
 */
async function once(button, work) {
  if (!(button instanceof HTMLButtonElement) || button.disabled) return
  button.disabled = true
  await guarded(work)
  button.disabled = false
}

/** @param {() => Promise<void>} work */
async function guarded(work) {
  try {
    await work()
  } catch (error) {
    if (error instanceof WrongChain) note('chain')
    else note(codeOf(error) === DECLINED ? 'declined' : 'error')
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
}

/**
 * Shows one note, or none.
 *
 * @param {string} [name]
 */
function note(name) {
  for (const one of document.querySelectorAll('[data-note]')) {
    if (one instanceof HTMLElement) one.hidden = one.dataset.note !== name
  }
}

/**
 * @param {string} selector
 * @returns {HTMLElement}
 */
function find(selector) {
  const element = document.querySelector(selector)
  if (!(element instanceof HTMLElement)) throw new Error(`the page has no ${selector}`)
  return element
}
