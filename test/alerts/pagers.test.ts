import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { type AlertRoom, alertRoom } from './room.ts'

/** An alert in PagerDuty follows every change of the one here, by any person or by the service. */

const LOW = 'credits.low-balance'
const BACK = 'credits.recovered'

let room: AlertRoom
let hooks: ChatHooks

beforeAll(async () => {
  ;[room, hooks] = await Promise.all([alertRoom(), startChatHooks()])
  const url = hooks.pagerDutyUrl()
  const { status } = await room.alice.request('PUT', '/channels/pagerduty', { url })
  expect(status).toBe(200)
})
afterAll(async () => {
  await hooks.close()
  await room.close()
})

const actions = () => hooks.messages.map(({ action }) => action)
const newest = async () => (await room.alerts('?limit=1'))[0]?.id
async function deliverLater(): Promise<void> {
  room.clock.advance(60)
  await room.deliver()
}

test('acknowledged here it is acknowledged there, and its recovery resolves it', async () => {
  const watch = await room.watch('Credits')
  await room.notice(watch, { event: LOW })
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  const answer = await room.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  expect(answer.status).toBe(200)
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
  await room.notice(watch, { event: BACK })
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
  expect(hooks.refused).toEqual([])
})

test('two alerts of one watch are two there, and a refused event is sent again', async () => {
  hooks.clear()
  const watch = await room.watch('Credits of two')
  hooks.failNext({ status: 500 })
  await room.notice(watch, { event: LOW })
  await room.deliver()
  expect(actions()).toEqual([])
  await deliverLater()
  expect(actions()).toEqual(['trigger'])
  await room.notice(watch, { event: BACK })
  await deliverLater()
  await room.notice(watch, { event: LOW })
  await deliverLater()
  expect(actions()).toEqual(['resolve', 'trigger'])
})

test('an acknowledgement that PagerDuty refuses for now reaches it later', async () => {
  hooks.clear()
  const watch = await room.watch('Credits of three')
  await room.notice(watch, { event: LOW })
  await deliverLater()
  await room.alice.request('POST', `/alerts/${await newest()}/acknowledge`)
  hooks.failNext({ status: 503 })
  await room.deliver()
  expect(actions()).toEqual(['trigger'])
  await deliverLater()
  expect(actions()).toEqual(['acknowledge'])
})

test('a deleted watch resolves its alert there', async () => {
  hooks.clear()
  const watch = await room.watch('Credits of four')
  await room.notice(watch, { event: LOW })
  await deliverLater()
  await room.alice.request('DELETE', `/watches/${watch}`)
  await deliverLater()
  expect(actions()).toEqual(['resolve'])
})
