// Script of the connect page: signs in with a wallet of this browser. Without it the page has a form for
// signing elsewhere.

import { find, offerCopies, post, runAlone, showNote, step, tell } from './dom.js'
import { askNetwork, askSigner } from './signer.js'
import { isDeclined, offerWallets, signText } from './wallets.js'

/** @typedef {import('./wallets.js').Wallet} Wallet */

/** Notes of the page for refusals that it explains in its own words. */
const NOTES = /** @type {Readonly<Record<string, string>>} */ ({
  invalid_signature: 'signature',
  message_mismatch: 'signature',
  nonce_expired: 'again',
  nonce_used: 'again',
  dependency_unavailable: 'unavailable',
  recipient_limit_reached: 'limit',
})

const card = find('#connect')
const chain = JSON.parse(card.dataset.chain ?? '')
/** The wallet of the chat, for which the chat requests the right to spend. */
const { spendOf } = card.dataset
const sign = find('#sign')
const check = find('#check')
/** Whether the person has changed the tick for spending. */
let isSpendChosen = false
/** A signature that could not be verified yet. @type {Record<string, string> | undefined} */
let kept

void start()

async function start() {
  offerCopies()
  const zone = document.getElementById('timezone')
  if (zone instanceof HTMLInputElement) zone.value = timezone()
  find('#no-script').hidden = true
  const elsewhere = find('#elsewhere')
  const isInUse = location.hash === '#elsewhere'
  if (!isInUse) elsewhere.removeAttribute('open')
  find('#wallets').hidden = false
  document.getElementById('spend')?.addEventListener('change', () => {
    isSpendChosen = true
  })
  check.addEventListener('click', () => void once(() => claim(kept ?? {})))
  const wallets = await offerWallets(sign, {
    choose: (wallet) => void once(() => signIn(wallet)),
    none: () => {
      showNote('none')
      find('#open-in').setAttribute('open', '')
    },
  })
  if (wallets.length === 0 && !isInUse) find('#open-in').setAttribute('open', '')
}

/** @param {() => Promise<void>} work */
function once(work) {
  return runAlone(card, work, (error) => (isDeclined(error) ? 'declined' : 'error'))
}

/** @param {Wallet} wallet */
async function signIn({ provider }) {
  showNote()
  check.hidden = true
  const box = spendBox()
  // The page is about this permission: without the tick, a signature would change nothing.
  if (spendOf !== undefined && box?.checked === false && !isSpendChosen) {
    showNote('tick')
    box.focus()
    return
  }
  const account = await askSigner(provider)
  if (spendOf !== undefined && account.toLowerCase() !== spendOf.toLowerCase()) {
    step('wallet', 'next')
    showNote('account')
    return
  }
  await askNetwork(provider, chain)
  const made = await makeMessage(account)
  if (made === undefined) return
  const text = find('#message pre')
  text.textContent = made.message
  text.hidden = false
  const signature = await signText(provider, made.message, account)
  step('signature', 'done')
  step('link', 'next')
  await claim({ answer: 'claim', message: made.message, signature, timezone: timezone() })
}

/**
 * A chat that may already spend keeps that permission, unless the person has removed the tick.
 *
 * @param {string} account
 * @returns {Promise<any>}
 */
async function makeMessage(account) {
  const box = spendBox()
  const made = await ask({
    answer: 'message',
    wallet: account,
    ...(box?.checked && { spend: 'on' }),
  })
  if (!made?.maySpend || box === undefined || box.checked || isSpendChosen) return made
  box.checked = true
  showNote('kept')
  return await makeMessage(account)
}

function spendBox() {
  const spend = document.getElementById('spend')
  return spend instanceof HTMLInputElement ? spend : undefined
}

/** @param {Record<string, string>} fields */
async function claim(fields) {
  kept = fields
  const linked = await ask(fields)
  if (linked === undefined) return
  step('link', 'done')
  // A purchase goes on with its payment, as the page said. The page of a used code shows its outcome.
  if (linked.next === undefined) location.reload()
  else location.assign(`${linked.next}#pay`)
}

/**
 * @param {Record<string, string>} fields
 * @returns {Promise<any>} undefined when it was refused; the note says why
 */
async function ask(fields) {
  const answer = await post(location.href.replace(location.hash, ''), fields)
  if (answer?.isOk) return answer.body
  const code = answer?.body.code
  if (code === 'link_not_valid') return location.reload()
  const name = answer === undefined ? 'offline' : NOTES[code]
  // The signature can be sent again as long as it was not verified.
  check.hidden = fields.answer !== 'claim' || !['offline', 'unavailable'].includes(name ?? '')
  if (name === undefined) tell(answer?.body.text)
  else showNote(name)
  return undefined
}

function timezone() {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone
}
