// The sandbox's wallet in the browser: announces itself by EIP-6963, asks for confirmation of every action,
// and has the sandbox sign with the chosen person's known key.

/** @typedef {{ name: string, address: string }} Person */

const FLARE = '0xe'
const NETWORKS = [
  { chainId: FLARE, name: 'Flare (this sandbox)' },
  { chainId: '0x1', name: 'Ethereum' },
]
/** EIP-1193 and EIP-3085. */
const DECLINED = { code: 4001, message: 'The user declined.' }
const UNKNOWN_CHAIN = { code: 4902, message: 'The wallet does not know this chain.' }
const MARK =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"%3E%3Crect width="24" height="24" rx="6" fill="%23b35c00"/%3E%3Cpath d="M5 8h14v9H5z" fill="%23fff"/%3E%3C/svg%3E'

/** Key of the connected person in the session storage: wallets stay connected in a tab. */
const CONNECTED = 'sandbox-wallet'

/** @type {Person | undefined} */
let person = JSON.parse(sessionStorage.getItem(CONNECTED) ?? 'null') ?? undefined
let chainId = FLARE
/** @type {Map<string, ((value: unknown) => void)[]>} */
const listeners = new Map()

const provider = {
  /** @param {{ method: string, params?: any[] }} call */
  async request({ method, params = [] }) {
    switch (method) {
      case 'eth_accounts':
        return person === undefined ? [] : [person.address]
      case 'eth_requestAccounts':
        if (person === undefined) await connect()
        return [person?.address]
      case 'wallet_requestPermissions':
        await connect()
        return []
      case 'eth_chainId':
        return chainId
      case 'wallet_switchEthereumChain':
        return await moveTo(params[0].chainId)
      case 'wallet_addEthereumChain':
        return await moveTo(params[0].chainId)
      case 'personal_sign':
        await agree('Sign this message?', textOf(params[0]))
        return await pass(method, params)
      case 'eth_sendTransaction':
        await agree('Send this transaction?', JSON.stringify(params[0], undefined, 2))
        return await pass(method, params)
      default:
        return await pass(method, params)
    }
  },
  /** @param {string} event @param {(value: unknown) => void} listener */
  on(event, listener) {
    listeners.set(event, [...(listeners.get(event) ?? []), listener])
  },
}

announce()
window.addEventListener('eip6963:requestProvider', announce)

function announce() {
  const info = {
    uuid: '0b4d7f2e-6a51-4c53-9a59-5a4dbb0c5a11',
    name: 'Sandbox wallet',
    icon: MARK,
    rdns: 'watchdog.sandbox',
  }
  const detail = Object.freeze({ info, provider })
  window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
}

async function connect() {
  const response = await fetch('/sandbox/wallet/people')
  /** @type {Person[]} */
  const people = await response.json()
  const form = dialogOf('Which account?')
  const who = choice(
    'Account',
    people.map(({ name, address }) => [address, `${name} · ${address.slice(0, 6)}…`]),
  )
  const network = choice(
    'Network',
    NETWORKS.map(({ chainId: value, name }) => [value, name]),
  )
  network.select.value = chainId
  form.content.append(who.label, network.label)
  await form.answer()
  person = people.find(({ address }) => address === who.select.value)
  sessionStorage.setItem(CONNECTED, JSON.stringify(person))
  change(network.select.value)
  tell('accountsChanged', [person?.address])
}

/** @param {string} wanted */
async function moveTo(wanted) {
  if (!NETWORKS.some((one) => one.chainId === wanted)) throw UNKNOWN_CHAIN
  if (wanted === chainId) return null
  const name = NETWORKS.find((one) => one.chainId === wanted)?.name
  await agree(`Switch to ${name}?`, '')
  change(wanted)
  return null
}

/** @param {string} wanted */
function change(wanted) {
  if (wanted === chainId) return
  chainId = wanted
  tell('chainChanged', chainId)
}

/** @param {string} event @param {unknown} value */
function tell(event, value) {
  for (const listener of listeners.get(event) ?? []) listener(value)
}

/** @param {string} question @param {string} text */
async function agree(question, text) {
  const form = dialogOf(question)
  if (text !== '') {
    const shown = document.createElement('pre')
    shown.textContent = text
    form.content.append(shown)
  }
  await form.answer()
}

/** A dialog with Confirm and Decline. @param {string} question */
function dialogOf(question) {
  if (document.querySelector('link[href="/sandbox/wallet.css"]') === null) {
    const style = document.createElement('link')
    Object.assign(style, { rel: 'stylesheet', href: '/sandbox/wallet.css' })
    document.head.append(style)
  }
  const dialog = document.createElement('dialog')
  dialog.className = 'sandbox-wallet'
  dialog.lang = 'en'
  dialog.dir = 'ltr'
  dialog.setAttribute('aria-label', 'Sandbox wallet')
  const title = document.createElement('h2')
  title.textContent = question
  const owner = document.createElement('p')
  owner.textContent = person === undefined ? 'Sandbox wallet' : `Sandbox wallet · ${person.name}`
  const content = document.createElement('div')
  const buttons = document.createElement('p')
  const confirm = button('Confirm')
  const decline = button('Decline')
  buttons.append(confirm, decline)
  dialog.append(owner, title, content, buttons)
  return {
    content,
    /** @returns {Promise<void>} rejects when the user declines */
    answer: () =>
      new Promise((resolve, reject) => {
        confirm.addEventListener('click', () => {
          dialog.remove()
          resolve()
        })
        const refuse = () => {
          dialog.remove()
          reject(DECLINED)
        }
        decline.addEventListener('click', refuse)
        dialog.addEventListener('cancel', refuse)
        document.body.append(dialog)
        dialog.showModal()
      }),
  }
}

/** @param {string} label */
function button(label) {
  const made = document.createElement('button')
  made.type = 'button'
  made.textContent = label
  return made
}

/** @param {string} name @param {(readonly [string, string])[]} options */
function choice(name, options) {
  const label = document.createElement('label')
  const select = document.createElement('select')
  for (const [value, text] of options) select.add(new Option(text, value))
  label.append(name, select)
  return { label, select }
}

/** @param {string} method @param {unknown[]} params */
async function pass(method, params) {
  const response = await fetch('/sandbox/wallet', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, params }),
  })
  const { result, error } = await response.json()
  if (error !== undefined) throw error
  return result
}

/** @param {string} hex */
function textOf(hex) {
  const bytes = (hex.slice(2).match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))
  return new TextDecoder().decode(new Uint8Array(bytes))
}
