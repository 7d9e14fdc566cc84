// Script of the page of API tokens: a wallet of this browser signs, then the form with its signature is sent. Without
// it the page has a form for signing elsewhere.

import { find, offerCopies, post, runAlone, showNote, step, tell } from './dom.js'
import { askNetwork, askSigner } from './signer.js'
import { isDeclined, offerWallets, signText } from './wallets.js'

/** @typedef {import('./wallets.js').Wallet} Wallet */

const card = find('#tokens')
const chain = JSON.parse(card.dataset.chain ?? '')
const choice = /** @type {HTMLFormElement} */ (find('#choice'))
const claim = /** @type {HTMLFormElement} */ (find('#claim'))

void start()

async function start() {
  offerCopies()
  find('#no-script').hidden = true
  const isInUse = location.hash === '#elsewhere'
  if (!isInUse) find('#elsewhere').removeAttribute('open')
  find('#wallets').hidden = false
  choice.addEventListener('change', showRights)
  showRights()
  await offerWallets(find('#sign'), {
    choose: (wallet) =>
      void runAlone(
        card,
        () => signIn(wallet),
        (error) => (isDeclined(error) ? 'declined' : 'error'),
      ),
    none: () => {
      showNote('none')
      find('#open-in').setAttribute('open', '')
    },
  })
}

/** Only a new token has rights to choose. */
function showRights() {
  find('#rights').hidden = new FormData(choice).get('intent') !== 'create'
}

/** @param {Wallet} wallet */
async function signIn({ provider }) {
  showNote()
  const account = await askSigner(provider)
  await askNetwork(provider, chain)
  const fields = /** @type {Record<string, string>} */ (Object.fromEntries(new FormData(choice)))
  const made = await post(location.pathname + location.search, { ...fields, wallet: account })
  if (made === undefined) return showNote('offline')
  if (!made.isOk) return tell(made.body.text)
  const { message } = made.body
  const signature = await signText(provider, message, account)
  step('signature', 'done')
  const { intent = '' } = fields
  for (const [name, value] of Object.entries({ intent, message, signature, wallet: account })) {
    const field = claim.elements.namedItem(name)
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
      field.value = value
    }
  }
  claim.submit()
}
