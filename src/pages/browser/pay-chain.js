// Requests of the pay page to the chain, through the reader's wallet.

/**
 * @typedef {import('./wallets.js').Provider} Provider
 * @typedef {{
 *   chain: import('./wallets.js').Chain,
 *   asset: string,
 *   decimals: number,
 *   amount: string,
 *   payment: { to: string, value: string, data: string },
 *   contractPayment: { to: string, value: string, data: string } | null,
 *   approval: { token: string, spender: string, data: string } | null,
 * }} Order
 */

/** EIP-20: allowance(owner, spender) and balanceOf(owner). */
const ALLOWANCE = '0xdd62ed3e'
const BALANCE = '0x70a08231'
/** EIP-7702: prefix of the code of a plain account that delegates to a contract. */
const DELEGATED = '0xef0100'

/** The wallet could not read the chain. */
export class NoAnswerError extends Error {}

/**
 * An account's balance of the order's token.
 *
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} account
 */
export async function tokenBalance(provider, { approval }, account) {
  return await call(provider, approval?.token, BALANCE + word(account))
}

/**
 * The transaction with which this account pays: the service does not see a contract's transfer of
 * coins, so a contract calls the payment contract instead. Null when there is no such contract.
 *
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} account
 */
export async function paymentFrom(provider, { payment, contractPayment, approval }, account) {
  if (approval !== null) return payment
  const code = await callOf(provider, 'eth_getCode', [account, 'latest'])
  if (code === '0x') return payment
  if (contractPayment !== null) return contractPayment
  // A plain account that delegates to a contract can still send a transfer of its own.
  return code.toLowerCase().startsWith(DELEGATED) ? payment : null
}

/**
 * Whether the payment contract is approved for the amount.
 *
 * @param {Provider} provider
 * @param {Order} order
 * @param {string} account
 */
export async function isApproved(provider, { approval, amount }, account) {
  const data = ALLOWANCE + word(account) + word(approval?.spender ?? '')
  return (await call(provider, approval?.token, data)) >= BigInt(amount)
}

/**
 * Sends a request to the chain.
 *
 * @param {Provider} provider
 * @param {string} method
 * @param {unknown[]} params
 * @returns {Promise<any>}
 * @throws {NoAnswerError}
 */
export async function callOf(provider, method, params) {
  try {
    return await provider.request({ method, params })
  } catch (error) {
    throw new NoAnswerError(method, { cause: error })
  }
}

/**
 * An amount in the reader's notation, at most four decimals, rounded down.
 *
 * @param {bigint} units
 * @param {Pick<Order, 'asset' | 'decimals'>} of
 */
export function formatUnits(units, { asset, decimals }) {
  const digits = units.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals)
  const locale = `${document.documentElement.lang}-u-nu-latn`
  const format = new Intl.NumberFormat(locale, {
    maximumFractionDigits: 4,
    roundingMode: 'floor',
  })
  const text = /** @type {`${number}`} */ (`${whole}.${digits.slice(-decimals)}`)
  return `${format.format(text)}\u00a0${asset}`
}

/**
 * @param {Provider} provider
 * @param {string | undefined} to
 * @param {string} data
 */
async function call(provider, to, data) {
  return BigInt(await callOf(provider, 'eth_call', [{ to, data }, 'latest']))
}

/** @param {string} address */
function word(address) {
  return address.slice(2).toLowerCase().padStart(64, '0')
}
