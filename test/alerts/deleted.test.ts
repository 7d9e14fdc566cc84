import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { type AlertWorld, alertWorld } from './alert-world.ts'

/** Whoever deletes an open alert from the history leaves no message that shows it as open. */

const COMMIT = 'fsp.ftso-commit'
const BITVOTE = 'fsp.fdc-bitvote'
const DELETED = 'deleted from the history'

let world: AlertWorld
let hooks: ChatHooks

beforeAll(async () => {
  ;[world, hooks] = await Promise.all([alertWorld(), startChatHooks()])
  for (const [channel, url] of [
    ['pagerduty', hooks.pagerDutyUrl()],
    ['ntfy', hooks.ntfyUrl()],
  ] as const) {
    const { status } = await world.alice.request('PUT', `/channels/${channel}`, { url })
    expect(status).toBe(200)
  }
  // The notices about the new destinations.
  await world.deliver()
})
afterAll(async () => {
  await hooks.close()
  await world.close()
})
beforeEach(() => {
  world.forgetMessages()
  hooks.clear()
})

async function deliver(): Promise<void> {
  world.clock.advance(60)
  await world.deliver()
}

const pager = () =>
  hooks.messages.flatMap(({ service, action }) => (service === 'pagerduty' ? [action] : []))
const idOf = async (watchId: number, event: string) =>
  (await world.alerts(`?watchId=${watchId}`)).find((alert) => alert.event === event)?.id

test('an open alert that is deleted is shown as deleted, and ends in PagerDuty', async () => {
  const watch = await world.watch('Deleted')
  await world.record(watch, { event: COMMIT })
  await deliver()
  expect(pager()).toEqual(['trigger'])
  const { status } = await world.alice.request('DELETE', `/alerts/${await idOf(watch, COMMIT)}`)
  expect(status).toBe(204)
  await deliver()
  expect(world.chatTexts()).toEqual([expect.stringContaining(DELETED)])
  expect(world.chatTexts().join()).not.toContain('watch deleted')
  const [push] = hooks.messages.filter(({ service }) => service === 'ntfy')
  expect(push?.shown).toContain(DELETED)
  expect(pager()).toEqual(['resolve'])
  // Nothing changes it again.
  const { edits } = push ?? {}
  await deliver()
  expect(hooks.messages.find(({ service }) => service === 'ntfy')?.edits).toBe(edits)
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('while another alert of the incident fires, its message and PagerDuty stay open', async () => {
  const watch = await world.watch('One of two')
  await world.record(watch, { event: COMMIT }, { event: BITVOTE })
  await deliver()
  await world.alice.request('DELETE', '/alerts', { ids: [await idOf(watch, COMMIT)] })
  await deliver()
  expect(pager()).toEqual(['trigger'])
  expect(world.chatTexts()).toHaveLength(1)
  expect(world.chatTexts().join()).not.toContain(DELETED)
  await world.record(watch, { event: `${BITVOTE}.recovered` })
  await deliver()
  await deliver()
  expect(pager()).toEqual(['resolve'])
  await world.alice.request('DELETE', `/watches/${watch}`)
})

test('the messages of alerts that are over, or that nothing ends, stay as they are', async () => {
  const watch = await world.watch('Over')
  await world.record(watch, { event: COMMIT }, { event: 'wallet-balance.moved' })
  await deliver()
  await world.record(watch, { event: `${COMMIT}.recovered` })
  await deliver()
  await deliver()
  const before = world.chatTexts()
  const { body } = await world.alice.request('DELETE', '/alerts', {
    ids: (await world.alerts(`?watchId=${watch}`)).map(({ id }) => id),
  })
  expect(body).toEqual({ deleted: 3 })
  await deliver()
  expect(world.chatTexts()).toEqual(before)
  await world.alice.request('DELETE', `/watches/${watch}`)
})
