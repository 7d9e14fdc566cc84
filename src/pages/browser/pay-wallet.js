// Payment with a wallet in this browser. The wallet sends the transactions; the service gets the hash, so
// that it need not search for it.

import { find, note, post, step } from './dom.js'
import { callOf, formatUnits, isApproved, paymentFrom, Silence, tokenBalance } from './pay-chain.js'
import {
  askAccount,
  chainName,
  chainOf,
  isDeclined,
  offerWallets,
  shortAddress,
  switchChain,
} from './wallets.js'

/**
 * @typedef {import('./wallets.js').Provider} Provider
 * @typedef {import('./wallets.js').Wallet} Wallet
 * @typedef {import('./pay-chain.js').Order} Order
 */

const RECEIPT_MS = 1500
const TELL_TRIES = 5
const TELL_MS = 2000
/** Gas limit above the use of either transaction. */
const GAS = 200_000n
/** Asset of the estimated fee: coins with 18 decimals. */
const COIN = { asset: 'FLR', decimals: 18 }

/** @type {HTMLElement} */
let section
/** @type {Order} */
let order
/** Key of this payment in the session storage. */
let key = ''
/** @type {Provider} */
let provider
let account = ''
let isBusy = false

/**
 * Offers the available wallets.
 *
 * @param {HTMLElement} element
 * @param {string} memory
 */
export async function startWallet(element, memory) {
  section = element
  key = memory
  order = JSON.parse(section.dataset.wallet ?? '')
  section.hidden = false
  // The page offers to pay again, so the stored transaction has not paid.
  if (sessionStorage.getItem(key) === section.dataset.tx) sessionStorage.removeItem(key)
  const sent = sessionStorage.getItem(key)
  if (sent !== null) {
    show()
    note('sent')
    return await tellService(sent)
  }
  step('connect', 'next')
  find('#switch').addEventListener('click', () => void once(moveToChain))
  find('#again').addEventListener('click', () => void once(look))
  find('#send').addEventListener('click', () => void once(pay))
  find('#other').addEventListener('click', () => void once(chooseAccount))
  document.getElementById('approve')?.addEventListener('click', () => void once(approve))
  await offerWallets(find('#connect'), {
    choose: (wallet) => void once(() => connectTo(wallet)),
    none: () => note('none'),
  })
}

/** @param {Wallet} wallet */
async function connectTo(wallet) {
  provider = wallet.provider
  note('waiting')
  account = await askAccount(provider)
  provider.on?.('accountsChanged', (accounts) => {
    ;[account = account] = accounts
    void once(look)
  })
  provider.on?.('chainChanged', () => void once(look))
  await moveToChain()
}

async function chooseAccount() {
  const permission = { eth_accounts: {} }
  await provider.request({ method: 'wallet_requestPermissions', params: [permission] })
  account = await askAccount(provider)
  await look()
}

async function moveToChain() {
  await switchChain(provider, order.chain)
  await look()
}

/** Determines the next step, and obstacles. */
async function look() {
  step('connect', 'done', shortAddress(account))
  const chain = await chainOf(provider)
  if (chain !== order.chain.chainId) {
    show('switch')
    return note('chain', { current: chainName(chain) })
  }
  note()
  const needsApproval = order.approval !== null && !(await isApproved(provider, order, account))
  if (order.approval !== null) step('approve', needsApproval ? 'next' : 'done')
  step('send', needsApproval ? 'open' : 'next')
  const isShort = await showShortage()
  show(...(isShort ? [] : [needsApproval ? 'approve' : 'send']), ...(isShort ? ['other'] : []))
}

/** @returns {Promise<boolean>} whether this account has too little; the note says of what */
async function showShortage() {
  const coins = BigInt(await callOf(provider, 'eth_getBalance', [account, 'latest']))
  const fee = BigInt(await callOf(provider, 'eth_gasPrice', [])) * GAS
  const need = BigInt(order.amount)
  const held = order.approval === null ? coins : await tokenBalance(provider, order, account)
  if (held < need) {
    note('balance', { have: formatUnits(held, order) })
    return true
  }
  const forFee = order.approval === null ? coins - need : coins
  if (forFee >= fee) return false
  note('gas', { need: formatUnits(fee, COIN), have: formatUnits(forFee, COIN) })
  return true
}

async function approve() {
  const { approval } = order
  if (approval === null || !(await isOnChain())) return
  note('waiting')
  const hash = await send({ to: approval.token, data: approval.data })
  show()
  note('approving')
  const isGood = await succeeds(hash)
  await look()
  if (!isGood) note('failed')
}

async function pay() {
  if (!(await isOnChain())) return
  note('waiting')
  const payment = await paymentFrom(provider, order, account)
  if (payment === null) {
    show('other')
    return note('contract')
  }
  const hash = await send(payment)
  // Also after a reload the same page must not ask to pay twice.
  sessionStorage.setItem(key, hash)
  show()
  step('send', 'done', shortAddress(hash))
  note('sent')
  void tellService(hash)
  if (await succeeds(hash)) return
  sessionStorage.removeItem(key)
  await look()
  note('failed')
}

/** The user may have changed the chain meanwhile. */
async function isOnChain() {
  if ((await chainOf(provider)) === order.chain.chainId) return true
  await moveToChain()
  return (await chainOf(provider)) === order.chain.chainId
}

/**
 * @param {object} transaction
 * @returns {Promise<string>}
 */
function send(transaction) {
  const params = [{ from: account, ...transaction }]
  return provider.request({ method: 'eth_sendTransaction', params })
}

/**
 * Waits for the transaction's block.
 *
 * @param {string} hash
 */
async function succeeds(hash) {
  for (;;) {
    const receipt = await receiptOf(hash)
    if (receipt) return BigInt(receipt.status) === 1n
    await new Promise((resolve) => setTimeout(resolve, RECEIPT_MS))
  }
}

/**
 * Receipt of a sent transaction; while the chain does not answer the page waits.
 *
 * @param {string} hash
 */
async function receiptOf(hash) {
  try {
    return await callOf(provider, 'eth_getTransactionReceipt', [hash])
  } catch (error) {
    if (error instanceof Silence) return null
    throw error
  }
}

/**
 * Names the transaction to the service, which would find it a little later anyway.
 *
 * @param {string} txHash
 */
async function tellService(txHash) {
  for (let tries = 0; tries < TELL_TRIES; tries += 1) {
    const answer = await post(section.dataset.confirmPath ?? '', { txHash })
    if (answer?.isOk) return
    await new Promise((resolve) => setTimeout(resolve, TELL_MS))
  }
}

/**
 * Runs a button's action, one at a time.
 *
 * @param {() => Promise<void>} work
 */
async function once(work) {
  if (isBusy) return
  isBusy = true
  section.setAttribute('aria-busy', 'true')
  try {
    await work()
  } catch (error) {
    if (error instanceof Silence) show('again')
    note(error instanceof Silence ? 'silent' : isDeclined(error) ? 'declined' : 'error')
  } finally {
    isBusy = false
    section.removeAttribute('aria-busy')
  }
}

/** Shows these buttons of the wallet's part. @param {readonly string[]} names */
function show(...names) {
  for (const button of section.querySelectorAll('.actions button')) {
    if (button instanceof HTMLElement) button.hidden = !names.includes(button.id)
  }
}
