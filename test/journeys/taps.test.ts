import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Effort, type Phone, type Phones, startPhones } from './phone.ts'

/**
 * What the journeys of a person cost in presses, measured on the chat page and the pages in a browser. A
 * typed and sent text is one press.
 */

let phones: Phones
/** Ann's, whose wallet is Alice's account. */
let ann: Phone

beforeAll(async () => {
  phones = await startPhones()
  ann = await phones.give('Ann', 'alice')
  await phones.world.player.playRounds(2)
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
  test('of a transfer comes by itself', async () => {
    const effort = await effortOf(async () => {
      await transfer(700n)
      await ann.read('700 FLR left the wallet')
    })
    expect(effort).toEqual(chatOnly(0))
  })

  test.each([
    ['What to do', '1. Look at the latest transactions'],
    ['Acknowledge', 'taken by Ann'],
    ['Mute 1 h', 'muted until'],
    ['Unmute', '700 FLR left the wallet'],
  ])('answers to %s after one press', async (label, text) => {
    const effort = await effortOf(async () => {
      await ann.tap(label)
      await ann.read(text)
    })
    expect(effort).toEqual(chatOnly(1))
  })
})

describe('a second watch', () => {
  test('without a free slot is paid for in eight presses, which lead to its first question', async () => {
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

  test('of a price is created three presses later', async () => {
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

test('more slots are bought from the balance in four presses', async () => {
  const effort = await effortOf(async () => {
    await ann.say('/slots')
    await ann.tap('Add slots')
    await ann.tap('5 slots')
    await ann.tap('Buy')
  })
  expect(effort).toEqual(chatOnly(4))
})
