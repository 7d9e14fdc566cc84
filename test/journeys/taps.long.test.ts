import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalizedText } from '#sandbox/tour/chat.ts'
import { type Effort, type Phone, type Phones, startPhones } from './phone.ts'

/**
 * Journeys of people with only Telegram and a wallet: from the first contact to an alert that is acknowledged and
 * recovers. The chat does everything; the wallet signs and pays on the pages that the chat links to. The number of
 * presses is measured on the chat page and the pages in a browser; a typed and sent text is one press.
 */

let phones: Phones
/** Ann's phone; its wallet has Alice's account. */
let ann: Phone
/** Cleo's phone; its wallet has Carol's account, and its chat may spend. */
let cleo: Phone

beforeAll(async () => {
  phones = await startPhones()
  ann = await phones.give('Ann', 'alice')
  await phones.world.simulation.playRounds(2)
}, 120_000)
afterAll(() => phones.close())

/** The presses of a journey. */
async function effortOf(journey: () => Promise<unknown>, who: Phone = ann): Promise<Effort> {
  who.restart()
  await journey()
  return who.effort()
}

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

const chatOnly = (taps: number): Effort => ({ taps, confirmations: 0, visits: 0 })

async function transfer(flr: bigint): Promise<void> {
  const { alice, bob } = phones.world.devnet.people
  await phones.world.devnet.transfer(alice.account.address, bob.account.address, flr * 10n ** 18n)
}

describe('a first contact', () => {
  test('is answered after one press', async () => {
    const effort = await effortOf(async () => {
      await ann.start()
      await ann.read('Watchdog watches wallets')
    })
    expect(effort).toEqual(chatOnly(1))
  })

  test('has a first watch six presses later', async () => {
    const effort = await effortOf(async () => {
      await ann.tap('Connect wallet')
      await ann.open('Open the page')
      await ann.sign()
      await ann.page.getByRole('heading', { name: 'Connected' }).waitFor()
      await ann.read('Connected')
      await ann.tap('Trial: watch my wallet')
      await ann.read('is now being watched.')
    })
    const card = await ann.read('Your trial runs until')
    expect(normalizedText(card.text)).toContain('Alert: a change of 100 FLR or more')
    expect(effort).toEqual({ taps: 6, confirmations: 2, visits: 1 })
  })
})

describe('an alert', () => {
  test('of a transfer is sent without a press', async () => {
    const effort = await effortOf(async () => {
      await transfer(700n)
      await ann.read('sent 700 FLR')
    })
    expect(effort).toEqual(chatOnly(0))
  })

  test.each([
    ['Acknowledge', 'acknowledged by Ann'],
    ['What to do', '1. Open the transaction'],
    ['✓ What to do', 'sent 700 FLR'],
    ['Mute…', 'sent 700 FLR'],
    ['Mute 1 h', '🔕 until'],
    ['Unmute', 'sent 700 FLR'],
  ])('answers to %s after one press', async (label, text) => {
    const effort = await effortOf(async () => {
      await ann.tap(label)
      await ann.read(text)
    })
    expect(effort).toEqual(chatOnly(1))
  })
})

describe('a second watch', () => {
  test('without a free slot is paid for in eight presses, and its form opens', async () => {
    await ann.say('/new')
    await ann.read('All your watches are in use · 1 of 1')
    const effort = await effortOf(async () => {
      await ann.tap('Pay')
      await ann.tap('500 FLR')
      await ann.open('Open the page')
      await ann.tick('Also allow the chat to spend')
      await ann.sign()
      // The page continues with the payment.
      await ann.confirm('Send this transaction?')
      await ann.paid()
      await ann.read('spend credits.')
      await ann.read('What should be watched?')
    })
    expect(effort).toEqual({ taps: 8, confirmations: 3, visits: 1 })
    const credited = await ann.read('10 USD (10,000 credits) added')
    for (const text of [
      'You have 9.50 USD (9,500 credits).',
      '1 slot added for 0.50 USD (500 credits). Auto-renew is off',
      'What should be watched?',
    ]) {
      expect(normalizedText(credited.text)).toContain(text)
    }
  })

  test('of a price is created four presses later', async () => {
    const effort = await effortOf(async () => {
      await ann.tap('📈 Price')
      await ann.tap('FLR/USD')
      await ann.tap('Next')
      await ann.tap('Create')
      await ann.read('FLR/USD is now being watched.')
    })
    expect(effort).toEqual(chatOnly(4))
  })

  test('changes nothing for the first one, which tells that the payment left the wallet', async () => {
    await ann.read('paid 500 FLR for your credits')
  })
})

describe('a person whose chat may spend', () => {
  test('pays for another slot, and continues, within eight taps', async () => {
    cleo = await phones.give('Cleo', 'carol')
    await connect(cleo, { spend: true })
    await cleo.tap('Trial: watch my wallet')
    await cleo.read('is now being watched.')
    const effort = await effortOf(async () => {
      await cleo.say('/new')
      await cleo.read('30 days: 0.50 USD')
      await cleo.tap('Pay')
      await cleo.tap('500 FLR')
      await cleo.open('Pay in browser')
      await cleo.pay()
      const receipt = await cleo.read('1 slot added for 0.50 USD (500 credits). Auto-renew is off')
      expect(normalizedText(receipt.text)).toContain('What should be watched?')
    }, cleo)
    expect(effort.taps).toBeLessThanOrEqual(8)
  })

  test('tops up again, and the quote becomes the receipt', async () => {
    await topUp('19.50 USD (19,500 credits)')
    await cleo.say('/status')
    const status = await cleo.read('Chain: block')
    expect(normalizedText(status.text)).toContain(
      '💳 19.50 USD (19,500 credits) · 🎟️ Watches: 1 of 2',
    )
  })
})

/** Cleo buys ten thousand credits for FLR: requested in the chat, paid on the page, confirmed in the chat. */
async function topUp(balance: string): Promise<void> {
  await cleo.say('/topup')
  await cleo.tap('500 FLR')
  await cleo.tap('10,000 credits')
  const quote = await cleo.read('Waiting for the payment.')
  await cleo.open('Pay in browser')
  await cleo.pay()
  const credited = await cleo.read(`You have ${balance}`)
  expect(credited.id).toBe(quote.id)
  expect(normalizedText(credited.text)).toContain('✅ 10 USD (10,000 credits) added')
}

test('four more slots are bought with credits in six presses, three of them “+”', async () => {
  const effort = await effortOf(async () => {
    await ann.say('/slots')
    await ann.tap('Add slots')
    for (const count of [2, 3, 4]) {
      await ann.tap('+')
      await ann.read(`${count} slots for 30 days`)
    }
    await ann.tap('Buy: 2 USD')
    await ann.read('4 slots until')
  })
  expect(effort).toEqual(chatOnly(6))
})

test.each([
  ['balance', ['💰 Wallet balance', 'My wallet', '100 FLR', 'Create']],
  ['provider’s rounds', ['🛰️ Data provider', 'Alpha', 'Next', 'Create']],
  ['provider’s eligibility', ['🪪 Eligibility', 'Alpha', 'Next', 'Create']],
  ['provider’s votes', ['✍️ Reward signing', 'Alpha', 'Next', 'Create']],
])('a watch of a %s is created in five presses', async (_what, labels) => {
  const effort = await effortOf(async () => {
    await ann.say('/new')
    for (const label of labels) await ann.tap(label)
    await ann.read('is now being watched.')
  })
  expect(effort).toEqual(chatOnly(5))
})

test('the watches of one provider have names of their own', async () => {
  await ann.say('/watches')
  const list = normalizedText((await ann.read('Watches · ')).text)
  for (const name of ['Alpha · Eligibility', 'Alpha · Reward signing']) expect(list).toContain(name)
})

test('the picture of a provider comes after one typed name', async () => {
  const effort = await effortOf(async () => {
    await ann.say('Alpha')
    await ann.read('Alpha')
    const hasPicture = () =>
      phones.world.telegram.messages(ann.id).some(({ file }) => file?.kind === 'photo')
    await phones.world.telegram.waitFor(() => (hasPicture() ? true : undefined), 30_000)
  })
  expect(effort).toEqual(chatOnly(1))
})

test('a mailbox is added with four presses, before its reader confirms', async () => {
  const effort = await effortOf(async () => {
    await ann.say('/recipients')
    await ann.tap('Add recipient')
    await ann.tap('E-mail')
    await ann.say('ops@example.org')
    await ann.read('A confirmation e-mail was sent')
  })
  expect(effort).toEqual(chatOnly(4))
})

test('a link for a group is there after four presses', async () => {
  const effort = await effortOf(async () => {
    await ann.say('/recipients')
    await ann.tap('Add recipient')
    await ann.tap('Group or person')
    await ann.tap('Receive only')
    await ann.read('Add the bot to a group')
  })
  expect(effort).toEqual(chatOnly(4))
})

test('nobody gets a message that Telegram refused, except for its rate limit', () => {
  const refused = phones.world.telegram.calls.flatMap(({ method, refused: refusal }) =>
    refusal === undefined ? [] : `${method}: ${refusal.description}`,
  )
  expect(refused.filter((refusal) => !/not modified|Too Many Requests/.test(refusal))).toEqual([])
})
