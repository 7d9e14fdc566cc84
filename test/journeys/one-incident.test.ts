import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type ChatHooks, startChatHooks } from '#sandbox/chat-hooks.ts'
import { headerOf } from '#sandbox/inbox/mail.ts'
import { type AlertWorld, alertWorld } from '../alerts/alert-world.ts'

/**
 * One outage, with a further duty that fails, a rise of severity and its end, as every channel gets it: one number and one
 * thread of life.
 */

const COMMIT = 'fsp.ftso-commit'
const BITVOTE = 'fsp.fdc-bitvote'

let world: AlertWorld
let hooks: ChatHooks
/** Texts in the chat after each step. */
const chat: (readonly string[])[] = []

beforeAll(async () => {
  ;[world, hooks] = await Promise.all([alertWorld(), startChatHooks()])
  for (const [channel, url] of Object.entries({
    pagerduty: hooks.pagerDutyUrl(),
    slack: hooks.slackUrl(),
    discord: hooks.discordUrl(),
    ntfy: hooks.ntfyUrl(),
  })) {
    const { status } = await world.alice.request('PUT', `/channels/${channel}`, { url })
    expect(status).toBe(200)
  }
  const watch = await world.watch('Alpha')
  await world.deliver()
  world.forgetMessages()
  hooks.clear()
  const steps = [
    { event: COMMIT, severity: 'warning' },
    { event: BITVOTE, severity: 'warning' },
    { event: COMMIT, severity: 'critical' },
    { event: `${COMMIT}.recovered` },
    { event: `${BITVOTE}.recovered` },
  ] as const
  for (const step of steps) {
    world.clock.advance(90)
    await world.record(watch, step)
    await world.deliver()
    chat.push(world.chatTexts())
  }
})
afterAll(async () => {
  await hooks.close()
  await world.close()
})

/** Accepted requests to one of the chat services, in order. */
function requestsTo(path: RegExp): readonly { readonly method: string; readonly body: unknown }[] {
  return hooks.requests.filter((request) => request.status < 300 && path.test(request.path))
}

/** What a service shows in the end. */
const shownIn = (service: string) =>
  hooks.messages.flatMap((message) => (message.service === service ? [message.shown] : []))

const NUMBER = 1
const Event = z.object({
  event_action: z.string(),
  dedup_key: z.string(),
  payload: z.object({ summary: z.string(), severity: z.string() }).optional(),
})
const Push = z.object({ sequence_id: z.string(), title: z.string(), priority: z.int() })
const Hook = z.object({
  event: z.string(),
  renderedMessage: z.object({ incidentId: z.int(), alertId: z.int() }),
})

test('it is one incident in the API', async () => {
  const incidents = await world.alerts('?group=incident')
  expect(incidents).toHaveLength(1)
  const { incident } = incidents[0] ?? {}
  expect(incident).toMatchObject({ id: NUMBER, severity: 'critical', state: 'recovered' })
  const { alerts = [] } = incident ?? {}
  expect(alerts.map(({ incidentId }) => incidentId)).toEqual(Array(5).fill(NUMBER))
})

test('Telegram has one message of it, which changes and rings again for what is new, and one about its end', () => {
  expect(chat.map((texts) => texts.length)).toEqual([1, 1, 1, 1, 2])
  expect(chat.map(([first]) => first?.slice(0, 2))).toEqual(['🟠', '🟠', '🔴', '🟠', '🟢'])
  expect(chat.at(-1)?.[1]).toMatch(/^🟢 Alpha is healthy again/)
  for (const text of chat.flat()) expect(text).toMatch(/#1$/)
})

test('PagerDuty has one open incident from its start to its end, and rings for the rise', () => {
  const events = requestsTo(/^\/v2\/enqueue$/).map(({ body }) => Event.parse(body))
  const key = `${events[0]?.dedup_key.split('/')[0]}/${world.alice.caller.wallet}/incidents/${NUMBER}`
  expect(
    events.map(({ event_action: action, dedup_key: of, payload }) => [
      action,
      of,
      payload?.severity,
    ]),
  ).toEqual([
    ['trigger', key, 'warning'],
    ['trigger', key, 'warning'],
    ['trigger', `${key}/2`, 'critical'],
    ['resolve', key, undefined],
    // Nothing while one of the two alerts fires.
    ['resolve', `${key}/2`, undefined],
    ['resolve', key, undefined],
  ])
  expect(events[1]?.payload?.summary).toContain('1 more alert')
})

test('Discord has one message of it in the end, and one about its end', () => {
  const changes = requestsTo(/^\/api\/v10\/webhooks\//)
  const rung = changes.filter(({ method }) => method === 'POST')
  // The first alert, the second, the rise and the end; each takes the place of the one before, except the end.
  expect(rung).toHaveLength(4)
  expect(changes.filter(({ method }) => method === 'DELETE')).toHaveLength(2)
  expect(shownIn('discord').map((text) => text.trim().split('\n')[0])).toEqual([
    expect.stringMatching(/^🟢 .*2 alerts have ended/),
    expect.stringMatching(/^🟢 .*healthy again/),
  ])
  for (const text of shownIn('discord')) expect(text).toContain(`#${NUMBER}`)
})

test('ntfy has one notification of it in the end, which changed without a sound, and one about its end', () => {
  const pushes = requestsTo(/^\/$/).map(({ body }) => Push.parse(body))
  const ids = [...new Set(pushes.map(({ sequence_id: id }) => id))]
  // What rings has an id of its own, and the earlier notification is deleted.
  expect(ids).toHaveLength(4)
  const deleted = hooks.requests.filter(
    ({ method, path }) => method === 'DELETE' && /^\/watchdog-/.test(path),
  )
  expect(deleted.map(({ path }) => path.split('/').at(-1))).toEqual(ids.slice(0, 2))
  for (const id of ids) {
    const [first, ...changes] = pushes.filter(({ sequence_id: of }) => of === id)
    expect(first?.priority).toBe([4, 4, 5, 2][ids.indexOf(id)])
    for (const { priority } of changes) expect(priority).toBe(2)
  }
  expect(shownIn('ntfy').map((text) => text.split('\n')[0])).toEqual([
    '🟢 Alpha: 2 alerts have ended',
    '🟢 Alpha is healthy again · down 13 min, 30 s, 8 rounds lost',
  ])
  for (const text of shownIn('ntfy')) expect(text).toContain(`#${NUMBER}`)
})

test('Slack has a message for each event, in order, with the number of the incident', () => {
  const shown = shownIn('slack')
  expect(shown.map((text) => text.slice(0, 2))).toEqual(['🟠', '🟠', '🔴', '🟢', '🟢'])
  for (const text of shown) expect(text).toContain(`#${NUMBER}`)
})

test('the mailbox has a mail for each event, in order, in one thread', () => {
  const { mails } = world.inbox
  expect(mails.map(({ subject }) => subject)).toEqual([
    'Alpha: FTSO commit missing in 2 consecutive rounds · Warning',
    'Alpha: FDC bit vote missing in 2 consecutive rounds · Warning',
    'Re: Alpha: FTSO commit missing in 2 consecutive rounds · Warning',
    'Alpha: FTSO commits are arriving again · Recovered',
    'Alpha: FDC bit votes are arriving again · Recovered',
  ])
  const [first, ...others] = mails
  const [root] = headerOf(first ?? fail(), 'References')?.split(/\s+/) ?? []
  expect(root).toMatch(/^<incident-1-/)
  for (const mail of others) {
    expect(mail.inReplyTo).toBe(first?.messageId)
    expect(headerOf(mail, 'References')?.split(/\s+/)).toEqual([root, first?.messageId])
  }
  for (const { text } of mails) expect(text).toContain(`#${NUMBER}`)
})

test('the webhook has every event, in order, each with the number of the incident', () => {
  const events = world.receiver.deliveries.map(({ json }) => Hook.parse(json))
  expect(events.map(({ event }) => event)).toEqual([
    COMMIT,
    BITVOTE,
    COMMIT,
    `${COMMIT}.recovered`,
    `${BITVOTE}.recovered`,
  ])
  expect(events.map(({ renderedMessage }) => renderedMessage.incidentId)).toEqual(
    Array(5).fill(NUMBER),
  )
  expect(new Set(events.map(({ renderedMessage }) => renderedMessage.alertId)).size).toBe(5)
})

test('no service refused anything', () => {
  expect(hooks.refused).toEqual([])
})

function fail(): never {
  throw new Error('no mail arrived')
}
