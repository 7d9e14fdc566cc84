import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalizedText } from '#sandbox/tour/chat.ts'
import { type Phone, type Phones, startPhones } from './phone.ts'

/**
 * A person with only Telegram and a wallet: from the first contact to an alert that is acknowledged
 * and recovers. The chat does everything; the wallet signs and pays on the pages that the
 * chat links to.
 */

let phones: Phones
/** Ann's phone; its wallet has Bob's account. */
let phone: Phone

beforeAll(async () => {
  phones = await startPhones()
  phone = await phones.give('Ann', 'bob')
}, 120_000)
afterAll(() => phones.close())

/** From the first contact to a linked chat. */
async function connect(who: Phone, { spend }: { readonly spend: boolean }): Promise<void> {
  await who.start()
  await who.tap('Connect wallet')
  await who.open('Open the page')
  if (spend) await who.tick('Also allow the chat to spend')
  await who.sign()
  await who.page.getByRole('heading', { name: 'Connected' }).waitFor()
  await who.read('Connected')
}

/**
 * Buys ten thousand credits for FLR: requested in the chat, paid on the page, confirmed in the
 * chat.
 */
async function topUp(balance: string): Promise<void> {
  await phone.say('/topup')
  await phone.tap('FLR')
  await phone.tap('10,000 credits')
  const quote = await phone.read('Waiting for the payment.')
  await phone.open('Pay in browser')
  await phone.pay()
  const credited = await phone.read(`You have ${balance}`)
  expect(credited.id).toBe(quote.id)
  expect(normalizedText(credited.text)).toContain('✅ 10,000 credits (10 USD) added')
}

describe('a person with Telegram and a wallet', () => {
  test('connects, and has a first watch within seven taps', async () => {
    await connect(phone, { spend: false })
    await phone.tap('Trial: watch my wallet')
    const card = await phone.read('Your trial runs until')
    expect(normalizedText(card.text)).toContain('Alert: a change of 100 FLR or more')
    expect(phone.effort().taps).toBeLessThanOrEqual(7)
  })

  test('without a slot pays for one on one page, and continues with the watch, within eight taps', async () => {
    await phone.say('/new')
    await phone.read('No free slot · 1 of 1 used')
    phone.restart()
    await phone.tap('Pay and add slots')
    await phone.tap('FLR')
    await phone.open('Open the page')
    await phone.tick('Also allow the chat to spend')
    await phone.sign()
    // The page continues with the payment.
    await phone.confirm('Send this transaction?')
    await phone.paid()
    await phone.read('spend credits on slots.')
    const credited = await phone.read('10,000 credits (10 USD) added')
    expect(normalizedText(credited.text)).toContain('You have 9,500 credits (9.50 USD).')
    expect(normalizedText(credited.text)).toContain(
      '1 slot added for 500 credits (0.50 USD). Auto-renew is off',
    )
    expect(normalizedText(credited.text)).toContain('What should be watched?')
    expect(phone.effort()).toEqual({ taps: 8, confirmations: 3, visits: 1 })
  })

  test('is told that the payment for the top-up left the wallet', async () => {
    await phone.read('paid 500 FLR for your credits')
  })

  test('is notified when few credits are left', async () => {
    await phone.tap('💳 Credits')
    await phone.say('9,800')
    await phone.tap('Create')
    await phone.read('is now being watched.')
  })

  test('is alerted, acknowledges, pays and gets the recovery', async () => {
    const alert = await phone.read('Only 9,500 credits left')
    await phone.tap('Acknowledge')
    const acknowledged = await phone.read('taken by Ann')
    expect(acknowledged.id).toBe(alert.id)
    await topUp('19,500 credits')
    const recovered = await phone.read('Credits no longer below your limit: 19,500')
    expect(recovered.replyTo).toBe(alert.id)
    await phone.read('🟢')
    await phone.say('/status')
    const status = await phone.read('Chain: block')
    expect(normalizedText(status.text)).toContain('🟢 2 watches, all OK')
    expect(normalizedText(status.text)).toContain('💳 19,500 credits (19.50 USD) · 🎟️ Slots: 2 of 2')
  })

  test('whose chat may spend pays for another slot, and continues, within eight taps', async () => {
    const ben = await phones.give('Ben', 'carol')
    await connect(ben, { spend: true })
    await ben.tap('Trial: watch my wallet')
    await ben.read('is now being watched.')
    ben.restart()
    await ben.say('/new credits')
    await ben.read('No free slot')
    await ben.tap('Pay and add slots')
    await ben.tap('FLR')
    await ben.open('Pay in browser')
    await ben.pay()
    const receipt = await ben.read('1 slot added for 500 credits (0.50 USD). Auto-renew is off')
    expect(normalizedText(receipt.text)).toContain('Credits')
    expect(ben.effort().taps).toBeLessThanOrEqual(8)
  })

  test('gets no message that Telegram refused, except for its rate limit', () => {
    const refused = phones.world.telegram.calls.flatMap(({ method, refused: refusal }) =>
      refusal === undefined ? [] : `${method}: ${refusal.description}`,
    )
    expect(refused.filter((refusal) => !/not modified|Too Many Requests/.test(refusal))).toEqual([])
  })
})
