// Script of the page that receives webhooks for a test: signs in, creates the webhook and has a test sent, all over the
// public API; shows what arrives, and checks signatures. Token and secret are in the memory of this page alone: nothing is
// stored, the token is sent to this service only, the secret nowhere. Without the script the page shows what arrived.

import { find, lookAgain, offerCopies, runAlone, say, showNote, step, tell } from './dom.js'
import { askNetwork, askSigner } from './signer.js'
import { isDeclined, offerWallets, signText } from './wallets.js'

/** @typedef {import('./wallets.js').Wallet} Wallet */

const API = '/api/x402'
const POLL_MS = 2000

/** Thrown after a refusal was shown. */
class Told extends Error {}

const card = document.getElementById('receiver')
const secret = /** @type {HTMLInputElement | null} */ (document.getElementById('secret'))

/** @type {{ token?: string, isSigned?: boolean, recipient?: { id: number } }} */
const kept = {}
/** The key of the creation, so that a press after a lost answer creates no second webhook. */
const creationKey = [...crypto.getRandomValues(new Uint8Array(16))]
  .map((byte) => byte.toString(16).padStart(2, '0'))
  .join('')

if (card !== null && secret !== null) void start(card, secret)

/** @param {HTMLElement} card @param {HTMLInputElement} secret */
async function start(card, secret) {
  offerCopies()
  find('#no-script').hidden = true
  find('#ways').hidden = false
  find('#secret-field').hidden = false
  secret.addEventListener('input', () => void checkAll(secret.value.trim()))
  /** @param {() => Promise<void>} work */
  const run = (work) =>
    void runAlone(
      card,
      async () => {
        showNote()
        try {
          await work()
        } catch (error) {
          if (!(error instanceof Told)) throw error
        }
      },
      (error) => (isDeclined(error) ? 'declined' : 'error'),
    )
  find('#have').addEventListener('submit', (event) => {
    event.preventDefault()
    const field = find('#token')
    if (field instanceof HTMLInputElement) kept.token = field.value.trim()
    kept.isSigned = false
    run(() => begin(card, secret))
  })
  find('#again').addEventListener('click', () => run(sendTest))
  find('#delete').addEventListener('click', () => run(deleteRecipient))
  void follow(secret)
  await offerWallets(find('#sign'), {
    choose: (wallet) =>
      run(async () => {
        if (kept.isSigned !== true) kept.token = await signIn(wallet, card)
        kept.isSigned = true
        await begin(card, secret)
      }),
    none: () => showNote('none'),
  })
}

/**
 * Signs in with a wallet.
 *
 * @param {Wallet} wallet
 * @param {HTMLElement} card
 * @returns {Promise<string>} the new token
 */
async function signIn({ provider }, card) {
  const account = await askSigner(provider)
  await askNetwork(provider, JSON.parse(card.dataset.chain ?? ''))
  const scopes = ['read', 'write']
  const { message } = await call('POST', '/auth/challenge', {
    body: { wallet: account, scopes, label: card.dataset.name },
  })
  const signature = await signText(provider, message, account)
  const { token } = await call('POST', '/auth/token', { body: { message, signature } })
  step('signature', 'done')
  show('#made-token', token)
  find('#made').hidden = false
  return token
}

/**
 * Creates the webhook, unless this page has one, and has a test sent to it.
 *
 * @param {HTMLElement} card
 * @param {HTMLInputElement} secret
 */
async function begin(card, secret) {
  if (kept.recipient === undefined) {
    const { url, name } = card.dataset
    const recipient = await call('POST', '/recipients', {
      key: creationKey,
      body: { name, channel: 'webhook', url, default: false },
    })
    kept.recipient = { id: recipient.id }
    secret.value = recipient.secret
  }
  find('#ways').hidden = true
  find('#made').hidden = false
  await sendTest()
}

async function sendTest() {
  const { status, lastError } = await call('POST', `/recipients/${kept.recipient?.id}/test`, {})
  if (status === 'failed') showNote('failed', { reason: lastError ?? '' })
}

async function deleteRecipient() {
  await call('DELETE', `/recipients/${kept.recipient?.id}`, {})
  find('#again').hidden = true
  find('#delete').hidden = true
  showNote('deleted')
}

/**
 * Calls the API.
 *
 * @param {string} method
 * @param {string} path
 * @param {{ body?: object, key?: string }} input
 * @returns {Promise<any>}
 * @throws {Told} for a refusal, and without an answer; the reader was told
 */
async function call(method, path, { body, key }) {
  const headers = new Headers({ 'accept-language': document.documentElement.lang })
  if (kept.token !== undefined) headers.set('authorization', `Bearer ${kept.token}`)
  if (body !== undefined) headers.set('content-type', 'application/json')
  if (key !== undefined) headers.set('idempotency-key', key)
  let response
  let answer
  try {
    response = await fetch(API + path, {
      method,
      headers,
      credentials: 'omit',
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    answer = text === '' ? {} : JSON.parse(text)
  } catch {
    showNote('offline')
    throw new Told()
  }
  if (response.ok) return answer
  tell(answer.detail ?? answer.title)
  throw new Told()
}

/** @param {string} place @param {string} value */
function show(place, value) {
  const element = find(place)
  find('[data-shown]', element).textContent = value
  const button = find('button[data-copy]', element)
  button.dataset.copy = value
  element.hidden = false
}

/**
 * Shows what arrives, until the address is over.
 *
 * @param {HTMLInputElement} secret
 */
async function follow(secret) {
  await checkAll(secret.value.trim())
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    if (document.hidden) continue
    const fresh = await lookAgain('#live, #over')
    if (fresh?.id === 'over') return location.reload()
    if (fresh !== undefined) await add(fresh, secret)
  }
}

/**
 * Adds deliveries that are new, and leaves those that the reader may be reading.
 *
 * @param {Element} fresh
 * @param {HTMLInputElement} secret
 */
async function add(fresh, secret) {
  const live = find('#live')
  const known = new Set(articlesOf(live).map(({ dataset }) => dataset.id))
  const added = articlesOf(fresh).filter(({ dataset }) => !known.has(dataset.id))
  if (added.length === 0) return
  for (const article of added) await check(article, secret.value.trim())
  document.getElementById('nothing')?.remove()
  live.prepend(...added)
  say(find('[data-verdict]', added[0]).textContent ?? '')
}

/** @param {ParentNode} root @returns {HTMLElement[]} */
function articlesOf(root) {
  return [...root.querySelectorAll('article')]
}

/** @param {string} secret */
async function checkAll(secret) {
  for (const article of articlesOf(find('#live'))) await check(article, secret)
}

/**
 * Says whether the signature of a delivery is right.
 *
 * @param {HTMLElement} article
 * @param {string} secret
 */
async function check(article, secret) {
  const texts = find('#live').dataset
  const place = find('[data-verdict]', article)
  const isUnable = crypto.subtle === undefined
  const isRight = secret === '' || isUnable ? undefined : await isSigned(article.dataset, secret)
  place.textContent =
    (isUnable ? texts.unable : undefined) ??
    (isRight === undefined ? texts.unchecked : isRight ? texts.right : texts.wrong) ??
    ''
  place.classList.toggle('fine', isRight === true)
  place.classList.toggle('wrong', isRight === false)
}

/**
 * Whether one of the signatures is the HMAC-SHA256 of `<timestamp>.<body>` under the secret. After a rotation there are
 * two.
 *
 * @param {DOMStringMap} delivery
 * @param {string} secret
 */
async function isSigned({ timestamp = '', body = '', signatures = '' }, secret) {
  const bytes = new TextEncoder()
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes.encode(secret), hmac, false, ['verify'])
  const signed = bytes.encode(`${timestamp}.${body}`)
  const checks = signatures.split(' ').map((signature) => {
    const hex = /^sha256=([0-9a-f]{64})$/.exec(signature)?.[1] ?? ''
    const raw = Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
    return crypto.subtle.verify('HMAC', key, raw, signed)
  })
  return (await Promise.all(checks)).includes(true)
}
