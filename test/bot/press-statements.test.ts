import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { STATEMENT_CHANNEL } from '#src/db/diagnostics.ts'
import { type BotWorld, botWorld, type TestChat, walletOf } from '../support/bot.ts'
import { giveCredits } from '../support/credits.ts'

/** A person waits for the statements of a press one after the other, so nothing is read twice. */

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

/** Statements that were sent more than once while a press was handled. */
async function repeatedBy(chat: TestChat, button: string): Promise<readonly string[]> {
  const sent: string[] = []
  const listener = (text: unknown) => void sent.push(String(text))
  subscribe(STATEMENT_CHANNEL, listener)
  try {
    await chat.press(button)
  } finally {
    unsubscribe(STATEMENT_CHANNEL, listener)
  }
  expect(sent).not.toEqual([])
  return sent.filter((text, index) => sent.indexOf(text) !== index)
}

test('a press on a screen about slots, watches or credits sends no statement twice', async () => {
  await world.giveSlots('alice', 2)
  await giveCredits(world.app, walletOf('alice'), 5000)
  await world.addWatch('alice', { label: 'Runs' })
  await world.addWatch('alice', { label: 'Waits', status: 'suspended' })
  const ann = await world.linked('alice', ['read', 'write', 'spend'])
  await ann.say('/slots')
  for (const button of ['Add slots', '+', 'Auto-renew: off', '‹ Slots', 'Subscriptions']) {
    expect(await repeatedBy(ann, button), button).toEqual([])
  }
  await ann.say('/menu')
  await ann.say('/topup')
  for (const button of ['‹ Menu', 'Watches', '‹ Menu']) {
    expect(await repeatedBy(ann, button), button).toEqual([])
  }
})
