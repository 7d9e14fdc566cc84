import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { normalizedText } from '#sandbox/tour/chat.ts'
import { type Effort, type Phone, type Phones, startPhones } from './phone.ts'

/**
 * Number of presses in the journeys of a person, measured on the chat page and the pages in a
 * browser. A
 * typed and sent text is one press.
 */

let phones: Phones
/** Ann's phone; its wallet has Alice's account. */
let ann: Phone

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
      await ann.read('Connected')
      await ann.tap('Trial: watch my wallet')
      await ann.read('is now being watched.')
    })
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
    ['Acknowledge', 'taken by Ann'],
    ['What to do', '1. Open the transaction'],
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
    await ann.read('No free slot')
    const effort = await effortOf(async () => {
      await ann.tap('Pay and add slots')
      await ann.tap('FLR')
      await ann.open('Open the page')
      await ann.tick('Also allow the chat to spend')
      await ann.sign()
      await ann.confirm('Send this transaction?')
      await ann.paid()
      await ann.read('What should be watched?')
    })
    expect(effort).toEqual({ taps: 8, confirmations: 3, visits: 1 })
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
})

test('the form of a watch that had no slot continues after eight presses that pay for one', async () => {
  const ben = await phones.give('Ben', 'bob')
  await ben.start()
  await ben.tap('Connect wallet')
  await ben.open('Open the page')
  await ben.sign()
  await ben.read('Connected')
  await ben.say('/topup')
  await ben.tap('Accept and continue')
  await ben.say('/new price')
  await ben.read('No free slot')
  const effort = await effortOf(async () => {
    await ben.tap('Pay and add slots')
    await ben.tap('FLR')
    await ben.open('Open the page')
    await ben.tick('Also allow the chat to spend')
    await ben.sign()
    await ben.confirm('Send this transaction?')
    await ben.paid()
    await ben.read('Which price? Send a name')
  }, ben)
  expect(effort).toEqual({ taps: 8, confirmations: 3, visits: 1 })
  await ben.say('BTC')
  await ben.read('BTC/USD')
})

test('four more slots are bought with credits in six presses, three of them “+”', async () => {
  const effort = await effortOf(async () => {
    await ann.say('/slots')
    await ann.tap('Add slots')
    for (const count of [2, 3, 4]) {
      await ann.tap('+')
      await ann.read(`${count} slots for 30 days`)
    }
    await ann.tap('Buy: 2,000 credits')
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
  const list = normalizedText((await ann.read('Watches · slots')).text)
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
