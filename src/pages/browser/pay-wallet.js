// Payment with a wallet in this browser. The wallet sends the transactions; the service gets the hash, so
// that it need not search for it.

import { find, post, runAlone, showNote, step } from './dom.js'
import {
  callOf,
  formatUnits,
  isApproved,
  NoAnswerError,
  paymentFrom,
  tokenBalance,
} from './pay-chain.js'
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
/** Gas for the estimate of the fee: more than either transaction uses. */
const GAS = 200_000n
/** Fragment of the address when the payment follows a sign-in. */
const GO_ON = '#pay'
/** Width from which on there is a second column. */
const WIDE = '(min-width: 1024px)'

/** @type {HTMLElement} */
let section
/** @type {Order} */
let order
/** Key of this payment in the session storage. */
let key = ''
/** @type {Provider} */
let provider
let account = ''
/** Ends when the wallet has been recognized; a press before that waits for it. */
let recognition = Promise.resolve()

/**
 * Lets the page's one button pay: it connects, approves and pays, and the wallet asks its user each time.
 *
 * @param {HTMLElement} element
 * @param {string} memory key of the sent transaction in the session storage
 */
export async function startWallet(element, memory) {
  section = element
  key = memory
  order = JSON.parse(section.dataset.wallet ?? '')
  section.hidden = false
  document.querySelector('[data-step="approve"]')?.removeAttribute('hidden')
  // The page offers to pay again, so the stored transaction has not paid.
  if (sessionStorage.getItem(key) === section.dataset.tx) sessionStorage.removeItem(key)
  const sent = sessionStorage.getItem(key)
  if (sent !== null) {
    showSent(sent)
    return await tellService(sent)
  }
  step(order.approval === null ? 'send' : 'approve', 'next')
  find('#other').addEventListener('click', () => void once(chooseAccount))
  const wallets = await offerWallets(find('#send'), {
    choose: (wallet) => void recognition.then(() => once(() => payWith(wallet))),
    none: () => showNote('none'),
  })
  const [only] = wallets
  if (only === undefined) openOtherWays()
  else if (wallets.length === 1) void begin(only)
}

/**
 * Recognizes the wallet. If the page follows a sign-in for a purchase, asks the wallet for the payment at once.
 *
 * @param {Wallet} wallet
 */
async function begin(wallet) {
  recognition = reported(() => recognize(wallet))
  await recognition
  if (location.hash !== GO_ON || account === '') return
  // Without the fragment, a reload does not ask for the payment again.
  history.replaceState(null, '', location.pathname + location.search)
  await once(() => payWith(wallet))
}

/** Opens the part for other devices, with its QR code, on wide screens. */
function openOtherWays() {
  if (matchMedia(WIDE).matches) document.getElementById('open-in')?.setAttribute('open', '')
}

/**
 * Shows the account of a wallet that this page was connected to before, without asking for it.
 *
 * @param {Wallet} wallet
 */
async function recognize({ provider: known }) {
  const [first] = await known.request({ method: 'eth_accounts' }).catch(() => [])
  if (first === undefined) return
  use(known, first)
  if ((await chainOf(known)) === order.chain.chainId) await look()
}

/** @param {Provider} chosen @param {string} first */
function use(chosen, first) {
  const isNew = provider !== chosen
  provider = chosen
  account = first
  find('[data-step="connect"]').hidden = false
  step('connect', 'done', shortAddress(account))
  if (!isNew) return
  provider.on?.('accountsChanged', (accounts) => {
    ;[account = account] = accounts
    void once(look)
  })
  provider.on?.('chainChanged', () => void once(look))
}

async function chooseAccount() {
  const permission = { eth_accounts: {} }
  await provider.request({ method: 'wallet_requestPermissions', params: [permission] })
  use(provider, await askAccount(provider))
  await look()
}

/**
 * Runs the steps of the payment until one fails or is declined. The next press continues with that
 * step.
 *
 * @param {Wallet} wallet
 */
async function payWith(wallet) {
  if (provider !== wallet.provider || account === '') await connect(wallet)
  await switchChain(provider, order.chain)
  const next = await look()
  if (next === undefined) return
  if (next === 'approve' && !(await approve())) return
  await pay()
}

/**
 * Asks the wallet for its account. The list has this step only meanwhile and afterwards: the button pays.
 *
 * @param {Wallet} wallet
 */
async function connect(wallet) {
  const row = find('[data-step="connect"]')
  showNote('waiting')
  row.hidden = false
  step('connect', 'next')
  try {
    use(wallet.provider, await askAccount(wallet.provider))
  } finally {
    row.hidden = account === ''
    if (account !== '') step('connect', 'done', shortAddress(account))
    step(order.approval === null ? 'send' : 'approve', 'next')
  }
}

/**
 * Determines the next step. Shows a note if something prevents it.
 *
 * @returns {Promise<'approve' | 'send' | undefined>} undefined while something is in the way
 */
async function look() {
  const chain = await chainOf(provider)
  if (chain !== order.chain.chainId) {
    showNote('chain', { current: chainName(chain) })
    return undefined
  }
  showNote()
  const needsApproval = order.approval !== null && !(await isApproved(provider, order, account))
  if (order.approval !== null) step('approve', needsApproval ? 'next' : 'done')
  step('send', needsApproval ? 'open' : 'next')
  const isShort = await showShortage()
  show(isShort ? 'other' : 'pay')
  if (isShort) return undefined
  return needsApproval ? 'approve' : 'send'
}

/** @returns {Promise<boolean>} whether this account has too little; the note says of what */
async function showShortage() {
  const coins = BigInt(await callOf(provider, 'eth_getBalance', [account, 'latest']))
  const fee = BigInt(await callOf(provider, 'eth_gasPrice', [])) * GAS
  const need = BigInt(order.amount)
  const held = order.approval === null ? coins : await tokenBalance(provider, order, account)
  step('connect', 'done', `${shortAddress(account)} · ${formatUnits(held, order)}`)
  if (held < need) {
    showNote('balance', { have: formatUnits(held, order) })
    return true
  }
  const forFee = order.approval === null ? coins - need : coins
  if (forFee >= fee) return false
  const coin = { asset: order.chain.nativeCurrency.symbol, decimals: 18 }
  showNote('gas', { need: formatUnits(fee, coin), have: formatUnits(forFee, coin) })
  return true
}

/** @returns {Promise<boolean>} whether the payment can follow */
async function approve() {
  const { approval } = order
  if (approval === null) return true
  showNote('waiting')
  const hash = await send({ to: approval.token, data: approval.data })
  show()
  showNote('approving')
  const isGood = await succeeds(hash)
  const next = await look()
  if (!isGood) showNote('failed')
  return isGood && next === 'send'
}

async function pay() {
  showNote('waiting')
  const payment = await paymentFrom(provider, order, account)
  if (payment === null) {
    show('other')
    return showNote('contract')
  }
  if (!(await isOnChain())) return
  const hash = await send(payment)
  // After a reload the page must not ask to pay twice.
  sessionStorage.setItem(key, hash)
  showSent(hash)
  void tellService(hash)
  if (await succeeds(hash)) return
  sessionStorage.removeItem(key)
  find('#status').hidden = false
  showPaid(false)
  step('confirm', 'open')
  await look()
  showNote('failed')
}

/** @param {string} hash */
function showSent(hash) {
  show()
  for (const name of ['connect', 'approve']) {
    if (document.querySelector(`[data-step="${name}"]`) !== null) step(name, 'done')
  }
  step('send', 'done', shortAddress(hash))
  step('confirm', 'next')
  // The note says more, until the service has seen the payment.
  find('#status').hidden = true
  showPaid(true)
  showNote('sent')
}

/**
 * Whether the page says that the payment was sent, in place of the price and its time.
 *
 * @param {boolean} isSent
 */
function showPaid(isSent) {
  for (const part of document.querySelectorAll('[data-unpaid]'))
    part.toggleAttribute('hidden', isSent)
  find('#sent').hidden = !isSent
}

/** Switches the wallet to the chain again, because its user may have changed it during the approval. */
async function isOnChain() {
  if (await switchChain(provider, order.chain)) return true
  await look()
  return false
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
 * Receipt of a sent transaction; null while it has none, or while the chain does not answer.
 *
 * @param {string} hash
 */
async function receiptOf(hash) {
  try {
    return await callOf(provider, 'eth_getTransactionReceipt', [hash])
  } catch (error) {
    if (error instanceof NoAnswerError) return null
    throw error
  }
}

/**
 * Reports the transaction to the service, which would otherwise find it a little later.
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
 * @param {() => Promise<unknown>} work
 */
function once(work) {
  return runAlone(section, work, noteOf)
}

/**
 * Shows why an action failed.
 *
 * @param {() => Promise<unknown>} work
 */
async function reported(work) {
  try {
    await work()
  } catch (error) {
    showNote(noteOf(error))
  }
}

/** @param {unknown} error */
function noteOf(error) {
  if (error instanceof NoAnswerError) return 'silent'
  return isDeclined(error) ? 'declined' : 'error'
}

/**
 * Shows the buttons for paying, the button for another account, or no button.
 *
 * @param {'pay' | 'other'} [which]
 */
function show(which) {
  for (const button of section.querySelectorAll('.actions button')) {
    if (!(button instanceof HTMLElement)) continue
    // Where there are several wallets, each has a button in place of the first.
    const isReplaced = button.id === 'send' && section.querySelector('button.wallet') !== null
    button.hidden = isReplaced || which !== (button.id === 'other' ? 'other' : 'pay')
  }
}
