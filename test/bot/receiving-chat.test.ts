import { afterAll, beforeAll, expect, test } from 'vitest'
import { packed } from '#src/actions/codec.ts'
import { createRecipient } from '#src/operations/rest/recipients.ts'
import { type BotWorld, botWorld } from '../support/bot.ts'

/** A chat that only receives sees no other recipient, also by buttons from the time before. */

let world: BotWorld

beforeAll(async () => {
  world = await botWorld()
})
afterAll(() => world.close())

test('the recipients of a watch and of its escalation are not listed there', async () => {
  const id = await world.addWatch('alice', { label: 'Treasury' })
  const body = { name: 'Pager', channel: 'webhook', url: 'https://example.org/hook', default: true }
  await world.as('alice', createRecipient, { body })
  for (const button of [packed('watch.who', { id, page: 1 }), packed('watch.esc', { id })]) {
    const chat = await world.linked('alice')
    await chat.say(`/watches ${id}`)
    if (button === packed('watch.esc', { id })) await chat.press('Recipients')
    await world.sql`update recipients set chat_scopes = array['read'] where chat_id = ${chat.id}`
    const shown = chat.last().text
    await chat.press(button)
    expect(chat.last().text).toMatch(/^⚠️ This chat is not allowed to do that\./)
    expect(chat.last().text.endsWith(shown)).toBe(true)
  }
})
