import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { IncidentState, SendContext } from '#src/channels/define.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { createChannels } from '#src/channels/index.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { contextOf, type HookWorld, ntfyWorld, pagerDutyWorld } from './worlds.ts'

const KEY = 'aB3dE5fG7hI9aB3dE5fG7hI9aB3dE5fG'
const US = `https://events.pagerduty.com/integration/${KEY}/enqueue`
const EU = US.replace('events.', 'events.eu.')
const TOPIC = 'https://ntfy.sh/watchdog-5f2c8a11'
const BASIC = Buffer.from('Basic YW5uOnNlY3JldA==').toString('base64url')

const real = createChannels({
  telegram: undefined,
  mailer: undefined,
  from: '',
  publicUrl: 'https://watchdog.example.org',
  allowPrivateUrls: false,
})

describe('an address of PagerDuty', () => {
  test.each([US, EU, KEY])('is taken: %s', (url) => {
    expect(real.pagerduty.form?.check({ url })).toEqual([])
  })

  test('is stored as an integration URL, also if only the key is entered', () => {
    const form = real.pagerduty.form
    expect(form?.make({ url: KEY }).destination).toEqual({ url: US })
    expect(form?.change({ url: US }, { url: KEY }, new Date(0))).toBeUndefined()
    expect(form?.change({ url: US }, { url: EU }, new Date(0))?.destination).toEqual({ url: EU })
  })

  test.each([
    US.replace('https', 'http'),
    US.replace('pagerduty.com', 'pagerduty.com.example.org'),
    US.replace('events.pagerduty.com', 'a@events.pagerduty.com'),
    US.replace('.com', '.com:8443'),
    US.replace('/enqueue', ''),
    `${US}?key=1`,
    `${KEY}x`,
    KEY.slice(1),
    'https://events.pagerduty.com/v2/enqueue',
    `http://169.254.169.254/integration/${KEY}/enqueue`,
    '',
  ])('is refused: %s', (url) => {
    expect(real.pagerduty.form?.check({ url })).toEqual([
      { pointer: '/url', code: 'pagerduty_url' },
    ])
  })

  test('shows its key neither in the mask nor in the partition key', () => {
    expect(real.pagerduty.mask({ url: US })).toBe('pagerduty …E5fG')
    expect(real.pagerduty.partitionKey({ url: US })).not.toContain(KEY.slice(0, 8))
  })
})

describe('a topic of ntfy', () => {
  test.each([
    TOPIC,
    `${TOPIC}/`,
    `${TOPIC}?auth=${BASIC}`,
    'https://ntfy.example.org/alerts_1',
    'https://ntfy.example.org:8443/alerts_1',
  ])('is taken: %s', (url) => {
    expect(real.ntfy.form?.check({ url })).toEqual([])
  })

  test.each([
    TOPIC.replace('https', 'http'),
    'https://ntfy.sh/',
    'https://ntfy.sh/a/b',
    `https://ntfy.sh/${'a'.repeat(65)}`,
    'https://ntfy.sh/täglich',
    `${TOPIC}?up=1`,
    `${TOPIC}?auth=${Buffer.from('Basic x\r\nHost: y').toString('base64url')}`,
    `${TOPIC}?auth=${Buffer.from('Digest x').toString('base64url')}`,
    TOPIC.replace('ntfy.sh', 'ann:secret@ntfy.sh'),
    'https://127.0.0.1/alerts',
    'https://localhost/alerts',
    'ntfy.sh/alerts',
  ])('is refused: %s', (url) => {
    expect(real.ntfy.form?.check({ url })).toEqual([{ pointer: '/url', code: 'ntfy_url' }])
  })

  test('shows the end of a topic only if the topic cannot be guessed from that', () => {
    expect(real.ntfy.mask({ url: TOPIC })).toBe('ntfy.sh/…8a11')
    expect(real.ntfy.mask({ url: 'https://ntfy.sh/alerts' })).toBe('ntfy.sh/…')
    expect(real.ntfy.mask({ url: `${TOPIC}?auth=${BASIC}` })).not.toContain(BASIC.slice(-4))
  })
})

const Notification = z.object({
  priority: z.number(),
  click: z.string(),
  message: z.string(),
  sequence_id: z.string(),
})

describe('ntfy', () => {
  let world: HookWorld

  beforeEach(async () => {
    world = await ntfyWorld()
  })

  afterEach(() => world.close())

  const notification = () => Notification.parse(world.hooks.messages.at(-1)?.body)

  test.each([
    ['critical', 'wallet-balance.moved', 5],
    ['warning', 'wallet-balance.moved', 4],
    ['info', 'wallet-balance.moved', 2],
    ['critical', 'credits.recovered', 2],
  ] as const)('a %s %s has priority %s', async (severity, event, priority) => {
    const envelope = envelopeOf({ message: { severity, event } })
    await world.channel.send(world.destination(), envelope, contextOf())
    expect(notification()).toMatchObject({ priority, click: envelope.message.link })
  })

  test('a changed message takes the place of the earlier one without a sound', async () => {
    const destination = world.destination()
    const alert = envelopeOf({ message: { severity: 'critical', event: 'credits.low-balance' } })
    const { messageId = '' } = await world.channel.send(destination, alert, contextOf())
    expect(notification()).toMatchObject({ priority: 5, sequence_id: messageId })
    const again = await world.channel.send(destination, alert, contextOf({ attempt: 2 }))
    expect(again).toMatchObject({ messageId })
    const state = { recoveredAt: new Date('2026-11-20T14:00:00Z') }
    await world.channel.edit?.(destination, messageId, alert, state, contextOf())
    expect(notification()).toMatchObject({ priority: 2, sequence_id: messageId })
    expect(world.hooks.messages).toMatchObject([{ id: messageId, edits: 2 }])
    expect(world.arrived().text).toMatch(/^🟢/)
  })

  test('a message that a newer one replaces is deleted, and one that is gone is no failure', async () => {
    const destination = world.destination()
    const { messageId = '' } = await world.channel.send(destination, envelopeOf(), contextOf())
    for (const _ of [1, 2]) {
      const context = { ...contextOf(), locale: 'en' } as const
      await world.channel.remove?.(destination, messageId, context)
    }
    expect(world.hooks.messages).toEqual([])
  })

  test('a server that knows no sequence ids gets messages that are never changed', async () => {
    const destination = { url: world.hooks.ntfyUrl({ version: '2.15' }) }
    const receipt = await world.channel.send(destination, envelopeOf(), contextOf())
    expect(receipt).toEqual({ statusCode: 200 })
    for (const text of ['', 'null', '[]', '{"sequence_id":4}', '{"sequence_id":"other"}']) {
      world.hooks.failNext({ status: 200, body: text })
      const other = await world.channel.send(destination, envelopeOf(), contextOf())
      expect(other).toEqual({ statusCode: 200 })
    }
  })

  test('requests to a protected topic send its login as a header, not in the URL', async () => {
    const posted: unknown[] = []
    const { ntfy } = await import('#src/channels/hooks/ntfy.ts')
    const channel = ntfy.create({
      allowPrivate: true,
      userAgent: 'test',
      post: async (url, { headers }) => {
        posted.push({ url, authorization: headers['Authorization'] })
        return { statusCode: 200, retryAfter: undefined, text: '' }
      },
    })
    await channel.send({ url: `${TOPIC}?auth=${BASIC}` }, envelopeOf(), contextOf())
    expect(posted).toEqual([{ url: 'https://ntfy.sh/', authorization: 'Basic YW5uOnNlY3JldA==' }])
  })

  test('a text in any script stays below the size from which ntfy makes an attachment of it', async () => {
    for (const body of ['界'.repeat(5000), '👩‍👩‍👧‍👦'.repeat(900), 'ক'.repeat(5000)]) {
      await world.channel.send(world.destination(), envelopeOf({ message: { body } }), contextOf())
    }
    expect(world.hooks.refused).toEqual([])
    expect(world.arrived().count).toBe(3)
  })

  test('after a 429 without Retry-After the wait is 60 seconds', async () => {
    world.hooks.failNext({ status: 429 })
    const send = world.channel.send(world.destination(), envelopeOf(), contextOf())
    await expect(send).rejects.toMatchObject({ retryAfterSeconds: 60, retryAfterIsMandatory: true })
  })
})

describe('PagerDuty', () => {
  let world: HookWorld
  let destination: unknown

  beforeEach(async () => {
    world = await pagerDutyWorld()
    destination = world.destination()
  })

  afterEach(() => world.close())

  const actions = () => world.hooks.messages.map(({ action }) => action)
  const KEY_OF_ALERT = `watchdog.example.org/${contextOf().wallet}/incidents/31`
  const KEY_AFTER_RING = `${KEY_OF_ALERT}/2`
  const OPEN: IncidentState = { isOver: false, isTaken: false }
  const TAKEN: IncidentState = { isOver: false, isTaken: true }
  const OVER: IncidentState = { isOver: true, isTaken: false }
  const send = (envelope: Envelope, incident = OPEN, over: Partial<SendContext> = {}) =>
    world.channel.send(destination, envelope, contextOf({ incident, ...over }))
  const edit = (
    envelope: Envelope,
    incident: IncidentState,
    { key = KEY_OF_ALERT, ...over }: Partial<SendContext> & { readonly key?: string } = {},
  ) => {
    const { channel } = world
    if (channel.edit === undefined) throw new Error('it cannot change a message')
    return channel.edit(destination, key, envelope, {}, contextOf({ incident, ...over }))
  }
  const recoveryOf = (over: Partial<Envelope> = {}) =>
    envelopeOf({
      answers: 4711,
      ...over,
      message: { alertId: 4712, event: 'credits.recovered' },
    })
  const groupOf = (ids: readonly number[], over: Partial<Envelope> = {}) => {
    const items = ids.map((alertId) => {
      const about = { alertId, title: `Alert ${alertId}`, body: `Costs of ${alertId}` }
      return envelopeOf({ message: { ...about, severity: 'warning' } }).message
    })
    return envelopeOf({ kind: 'group', items, message: items[0] ?? {}, ...over })
  }

  test('an alert is triggered once, acknowledged, and resolved when its incident is over', async () => {
    const alert = envelopeOf()
    const first = await send(alert)
    const second = await send(alert, OPEN, { attempt: 2 })
    expect(first.messageId).toBe(KEY_OF_ALERT)
    expect(second.messageId).toBe(first.messageId)
    expect(actions()).toEqual(['trigger'])
    await edit(alert, TAKEN)
    expect(actions()).toEqual(['acknowledge'])
    await edit(alert, OVER)
    expect(actions()).toEqual(['resolve'])
    expect(world.hooks.refused).toEqual([])
  })

  test('an outage with several alerts is one incident from its start to its end', async () => {
    const cause = { kind: 'silent', rounds: 2 } as const
    const startedAt = '2026-11-20T12:57:00.000Z'
    const { items = [] } = groupOf([4713, 4711, 4712])
    const outage = groupOf([4713, 4711, 4712], {
      cause,
      items: items.map((item) => ({ ...item, startedAt })),
    })
    const { messageId } = await send(outage)
    expect(messageId).toBe(KEY_OF_ALERT)
    const again = await send(outage, OPEN, { attempt: 2 })
    expect(again.messageId).toBe(messageId)
    const [event] = world.hooks.messages
    expect(event?.body).toMatchObject({
      payload: {
        severity: 'critical',
        timestamp: startedAt,
        summary: 'Treasury has sent no votes since 13:57 (2 rounds)',
      },
    })
    expect(event?.shown).toContain('The rewards of these rounds are lost')
    expect(event?.shown).toContain('3/3: Alert 4712: Costs of 4712')
    expect(event?.shown).toContain('incident: #31')
    // One more alert of the outage; it may have a lower number.
    await edit(groupOf([4713, 4710]), OPEN, { isLonger: true })
    expect(world.hooks.messages).toMatchObject([{ edits: 2, action: 'trigger' }])
    await edit(outage, TAKEN)
    expect(actions()).toEqual(['acknowledge'])
    await edit(outage, OVER)
    expect(actions()).toEqual(['resolve'])
    expect(world.hooks.refused).toEqual([])
  })

  test('the first message about an incident follows its state, whatever the message is about', async () => {
    await send(recoveryOf(), OPEN)
    await send(recoveryOf(), OVER)
    const low = envelopeOf({ message: { event: 'credits.low-balance' } })
    await send(low, OVER)
    expect(actions()).toEqual([])
    await send(low, TAKEN)
    expect(actions()).toEqual(['acknowledge'])
    await send(recoveryOf(), OPEN)
    expect(actions()).toEqual(['acknowledge'])
    await send(recoveryOf(), OVER)
    expect(actions()).toEqual(['resolve'])
  })

  test('an alert that nothing ends is notified of although its incident is over', async () => {
    await send(envelopeOf({ message: { event: 'wallet-balance.moved' } }), OVER)
    expect(actions()).toEqual(['resolve'])
    expect(world.hooks.messages).toHaveLength(1)
  })

  describe('a change that rings', () => {
    const rise = () => edit(groupOf([4711, 4713]), OPEN, { isLonger: true, rings: true })

    test('is an alert of its own, and the one before is resolved only when it is accepted', async () => {
      await send(envelopeOf())
      world.hooks.failNext({ status: 500 })
      await expect(rise()).rejects.toThrow()
      expect(actions()).toEqual(['trigger'])
      expect(await rise()).toMatchObject({ messageId: KEY_AFTER_RING })
      expect(world.hooks.messages.map(({ id, action }) => [id, action])).toEqual([
        [KEY_OF_ALERT, 'resolve'],
        [KEY_AFTER_RING, 'trigger'],
      ])
      const third = await edit(envelopeOf(), OPEN, { key: KEY_AFTER_RING, rings: true })
      expect(third).toMatchObject({ messageId: KEY_OF_ALERT })
      expect(actions()).toEqual(['resolve', 'resolve', 'trigger'])
    })

    test('counts as an attempt when it was half accepted, also if PagerDuty orders a wait', async () => {
      await send(envelopeOf())
      world.hooks.failAfter(1, { status: 429 })
      await expect(rise()).rejects.toMatchObject({ retryAfterIsMandatory: false })
    })

    test('is not notified to somebody who has taken all of the incident', async () => {
      await send(envelopeOf())
      const receipt = await edit(envelopeOf(), TAKEN, { isLonger: true, rings: true })
      expect(receipt).toMatchObject({ messageId: KEY_OF_ALERT })
      expect(actions()).toEqual(['acknowledge'])
    })

    test.each([
      ['over', OVER, ['resolve', 'resolve']],
      ['taken', TAKEN, ['acknowledge', 'resolve']],
      ['still open', OPEN, ['trigger', 'resolve']],
    ] as const)('leaves one alert at most if it was half accepted and the incident is then %s', async (_, incident, expected) => {
      await send(envelopeOf())
      // The second event of the two is refused.
      world.hooks.failAfter(1, { status: 500 })
      await expect(rise()).rejects.toThrow()
      expect(actions()).toEqual(['trigger', 'trigger'])
      await edit(envelopeOf(), incident, { attempt: 2 })
      expect(actions()).toEqual(expected)
    })
  })

  test('a mute changes nothing in PagerDuty', async () => {
    await send(envelopeOf())
    expect(await edit(envelopeOf(), OPEN)).toEqual({ messageId: KEY_OF_ALERT })
    expect(world.hooks.messages).toMatchObject([{ edits: 0, action: 'trigger' }])
  })

  test('two test messages are two incidents, marked as tests', async () => {
    for (const last of ['1', '2']) {
      const deliveryId = `0b8c6a4e-6f0e-4f0e-9a43-0d9b1f3c2a1${last}`
      const message = { alertId: null, incidentId: null, test: true }
      await world.channel.send(destination, envelopeOf({ deliveryId, message }), contextOf())
    }
    expect(actions()).toEqual(['trigger', 'trigger'])
    expect(world.arrived().text).toMatch(/^🧪/)
  })

  test('a key that PagerDuty no longer knows is a permanent failure; a refused payload is not', async () => {
    world.hooks.failNext({ status: 400, body: '{"errors":["\'payload\' is invalid"]}' })
    const once = world.channel.send(destination, envelopeOf(), contextOf())
    await expect(once).rejects.toMatchObject({ permanent: false })
    world.gone(destination)
    const twice = world.channel.send(destination, envelopeOf(), contextOf())
    await expect(twice).rejects.toMatchObject({ permanent: true, reason: 'gone' })
  })

  test('roll-ups, summaries, notices and reminders are not sent', async () => {
    for (const kind of ['rollup', 'summary', 'notice', 'reminder'] as const) {
      await expect(send(envelopeOf({ kind }))).rejects.toThrow(kind)
    }
    expect(world.arrived().count).toBe(0)
  })
})
