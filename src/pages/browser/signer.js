// The steps before a signature, on every page on which a wallet of this browser signs in.

import { find, showNote, step } from './dom.js'
import { askAccount, chainName, chainOf, shortAddress, switchChain } from './wallets.js'

/** @typedef {import('./wallets.js').Provider} Provider */
/** @typedef {import('./wallets.js').Chain} Chain */

/**
 * Begins the steps of the page anew, and asks for the account.
 *
 * @param {Provider} provider
 * @returns {Promise<string>}
 */
export async function askSigner(provider) {
  const steps = find('#steps')
  steps.hidden = false
  for (const item of steps.querySelectorAll('[data-step]')) {
    if (item instanceof HTMLElement) step(item.dataset.step ?? '', 'open', '')
  }
  step('wallet', 'next')
  const account = await askAccount(provider)
  step('wallet', 'done', shortAddress(account))
  return account
}

/**
 * Asks the wallet for the chain. The signature is the next step.
 *
 * @param {Provider} provider
 * @param {Chain} chain
 */
export async function askNetwork(provider, chain) {
  step('network', 'next')
  // An ordinary account can sign on any chain, so that a failed switch is no obstacle.
  if (!(await switchChain(provider, chain))) showNote('network')
  step('network', 'done', chainName(await chainOf(provider)))
  step('signature', 'next')
}
