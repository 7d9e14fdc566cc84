import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AlertWorld, alertWorld } from './alert-world.ts'

let world: AlertWorld

beforeAll(async () => {
  world = await alertWorld()
})
afterAll(() => world.close())

test('a test in a mailbox says first that it is a test, and then what an alert would say', async () => {
  expect((await world.alice.request('POST', '/channels/email/test')).status).toBe(202)
  await world.deliver()
  // A mail about the new webhook is sent, too.
  const texts = world.inbox.mails.map(({ text }) => (text ?? '').replaceAll(/\s+/g, ' '))
  expect(texts.find((text) => text.includes('This is a test.'))).toMatch(
    /This is a test\..*The balance went from/,
  )
})
