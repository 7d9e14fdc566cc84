import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Channel } from '#src/channels/define.ts'
import type { Envelope, EnvelopeMessage } from '#src/channels/envelope.ts'
import { createChannels } from '#src/channels/index.ts'
import { envelopeOf } from '../support/envelopes.ts'
import {
  contextOf,
  discordWorld,
  type HookWorld,
  NOW,
  ntfyWorld,
  pagerDutyWorld,
  slackWorld,
} from './worlds.ts'

const DISCORD = 'https://discord.com/api/webhooks/1234567890123456789/aB3-_aB3-_aB3-_aB3-_'
const SLACK = 'https://hooks.slack.com/services/T0ABCDEF/B0ABCDEF/aB3dE5fG7hI9'

const DiscordBody = z.object({ embeds: z.array(z.object({ description: z.string() })) })

const real = createChannels({
  telegram: undefined,
  mailer: undefined,
  from: '',
  publicUrl: 'https://watchdog.example.org',
  allowPrivateUrls: false,
})

describe('a Discord address', () => {
  test.each([
    DISCORD,
    DISCORD.replace('discord.com', 'discordapp.com'),
    DISCORD.replace('/api/', '/api/v10/'),
    `${DISCORD}?thread_id=1234567890123456789`,
  ])('is taken: %s', (url) => {
    expect(real.discord.form?.check({ url })).toEqual([])
  })

  test.each([
    'https://example.org/api/webhooks/1234567890123456789/aB3-_aB3-_aB3-_aB3-_',
    DISCORD.replace('https', 'http'),
    DISCORD.replace('discord.com', 'discord.com:8443'),
    DISCORD.replace('discord.com', 'discord.com.example.org'),
    DISCORD.replace('discord.com', 'discord.com@example.org'),
    DISCORD.replace('discord.com', 'a@discord.com'),
    'https://discord.com/api/webhooks/1234567890123456789',
    'https://discord.com/api/webhooks/../users/@me',
    'http://127.0.0.1/api/webhooks/1234567890123456789/aB3-_aB3-_aB3-_aB3-_',
    SLACK,
    'discord',
  ])('is refused: %s', (url) => {
    expect(real.discord.form?.check({ url })).toEqual([{ pointer: '/url', code: 'discord_url' }])
  })
})

describe('a Slack address', () => {
  test('is accepted only in the form that Slack shows', () => {
    expect(real.slack.form?.check({ url: SLACK })).toEqual([])
    for (const url of [
      SLACK.replace('https', 'http'),
      SLACK.replace('hooks.slack.com', 'hooks.slack.com.example.org'),
      SLACK.replace('services', 'workflows'),
      SLACK.replace('/aB3dE5fG7hI9', ''),
      'http://169.254.169.254/services/T0ABCDEF/B0ABCDEF/aB3dE5fG7hI9',
      DISCORD,
    ]) {
      expect(real.slack.form?.check({ url })).toEqual([{ pointer: '/url', code: 'slack_url' }])
    }
  })

  test('is masked without its secret part', () => {
    expect(real.slack.mask({ url: SLACK })).toBe('slack …CDEF')
    expect(real.discord.mask({ url: DISCORD })).toBe('discord …6789')
    expect(real.slack.partitionKey({ url: SLACK })).not.toContain('aB3dE5fG7hI9')
    expect(real.discord.partitionKey({ url: DISCORD })).not.toContain('aB3-_')
  })
})

describe('in Discord', () => {
  let world: HookWorld

  beforeEach(async () => {
    world = await discordWorld()
  })

  afterEach(() => world.close())

  test('an alert is one card in the colour of its severity, without mentions', async () => {
    await send(world, { severity: 'critical', watchLabel: '@everyone <@1>' })
    expect(bodyOf(world)).toMatchObject({
      allowed_mentions: { parse: [] },
      embeds: [
        {
          title: '🔴 \u2068@\u2060everyone \\<@\u20601\\>\u2069: Balance changed: -12,500 FLR',
          url: 'https://watchdog.example.org/a/abc123',
          color: 0xd93025,
          description: expect.stringMatching(
            /Address: .?\[0x3f12…A91c\]\(<https:\/\/explorer[^)]*>\).? · Now: 242.5 FLR$/,
          ),
          fields: [],
          footer: { text: 'Watchdog · #31' },
          timestamp: '2026-11-20T13:02:31.000Z',
        },
      ],
    })
    expect(bodyOf(world)).not.toHaveProperty('flags')
  })

  test('a list links the pages of its alerts from words, not as bare URLs', async () => {
    const items = [itemOf(1), itemOf(2)]
    await sendEnvelope(world.channel, world.destination(), envelopeOf({ kind: 'group', items }))
    const { description } = DiscordBody.parse(bodyOf(world)).embeds[0] ?? {}
    expect(description).toContain('🟠 [No commit in round 1](<https://watchdog.example.org/')
    expect(description).not.toContain('\\[')
  })

  test('messages of severity info and recoveries are silent', async () => {
    await send(world, { severity: 'info' })
    expect(bodyOf(world)).toMatchObject({ flags: 4096 })
  })

  test('a message can be edited, and a deleted message is not sent again', async () => {
    const destination = world.destination()
    const envelope = envelopeOf({ message: { severity: 'warning' } })
    const { messageId = '' } = await world.channel.send(destination, envelope, contextOf())
    expect(messageId).toBe(world.hooks.messages[0]?.id)
    const state = { recoveredAt: new Date('2026-11-20T13:14:31Z') }
    const changed = await world.channel.edit?.(destination, messageId, envelope, state, contextOf())
    expect(changed).toEqual({ messageId })
    expect(world.hooks.messages).toHaveLength(1)
    expect(world.hooks.messages[0]).toMatchObject({ edits: 1 })
    expect(world.hooks.messages[0]?.shown).toContain('🟢')
    expect(world.hooks.messages[0]?.shown).toContain('14:02 to 14:14')
    world.hooks.forget(messageId)
    const change = world.channel.edit?.(destination, messageId, envelope, state, contextOf())
    expect(await change).toEqual({})
    expect(world.hooks.messages).toHaveLength(0)
  })

  test('a deleted webhook is a permanent failure', async () => {
    const destination = world.destination()
    world.gone(destination)
    const refused = { reason: 'gone', permanent: true, becomes: 'disabled', isOurFault: false }
    await expect(world.channel.send(destination, envelopeOf(), contextOf())).rejects.toMatchObject(
      refused,
    )
  })

  test.each([401, 403, 404, 410])('%i is a permanent failure', async (status) => {
    world.hooks.failNext({ status })
    await expect(send(world)).rejects.toMatchObject({ permanent: true, statusCode: status })
  })

  test('a rate limit is obeyed to the second, without requests before it ends', async () => {
    const destination = world.destination()
    world.busy()
    const again = () => world.channel.send(destination, envelopeOf(), contextOf())
    const flood = {
      reason: 'flood',
      retryAfterIsMandatory: true,
      isOurFault: true,
      retryAfterSeconds: 35,
    }
    await expect(again()).rejects.toMatchObject(flood)
    await expect(again()).rejects.toMatchObject(flood)
    expect(world.hooks.messages).toHaveLength(0)
  })

  test('a rate limit of the network in front of Discord is read from its header', async () => {
    world.hooks.failNext({ status: 429, headers: { 'Retry-After': '90' }, body: '<html>' })
    await expect(send(world)).rejects.toMatchObject({
      retryAfterIsMandatory: true,
      retryAfterSeconds: 90,
    })
  })
})

describe.each([
  ['Discord', discordWorld],
  ['Slack', slackWorld],
  ['ntfy', ntfyWorld],
  ['PagerDuty', pagerDutyWorld],
])('a rate limit of %s', (_, open) => {
  test.each([
    '9999999999',
    '999999999',
    'Fri, 20 Nov 2099 12:00:00 GMT',
  ])('of %s holds the destination for an hour', async (retryAfter) => {
    const world = await open()
    try {
      const destination = world.destination()
      world.hooks.failNext({ status: 429, headers: { 'Retry-After': retryAfter } })
      const again = () => world.channel.send(destination, envelopeOf(), contextOf())
      const anHour = { reason: 'flood', retryAfterIsMandatory: true, retryAfterSeconds: 3600 }
      await expect(again()).rejects.toMatchObject(anHour)
      await expect(again()).rejects.toMatchObject(anHour)
    } finally {
      await world.close()
    }
  })
})

describe('in Slack', () => {
  let world: HookWorld

  beforeEach(async () => {
    world = await slackWorld()
  })

  afterEach(() => world.close())

  test('an alert has the same text as on other channels, without mentions', async () => {
    await send(world, { severity: 'critical', watchLabel: '<!channel> & <@U1>' })
    const body = JSON.stringify(bodyOf(world))
    expect(body).toContain('&lt;!channel&gt; &amp; &lt;@\u2060U1&gt;')
    expect(world.arrived().text).toMatch(/🔴 .*: Balance changed: -12,500 FLR/)
    expect(world.arrived().text).toContain('#31')
    expect(body).toContain('<https://watchdog.example.org/a/abc123|Details>')
  })

  test.each([403, 404, 410])('%i is a permanent failure', async (status) => {
    world.hooks.failNext({ status })
    await expect(send(world)).rejects.toMatchObject({ permanent: true, statusCode: status })
  })

  test('a sent message cannot be edited', () => {
    expect(world.channel.edit).toBeUndefined()
  })
})

describe.each([
  ['discord', discordWorld],
  ['slack', slackWorld],
] as const)('%s', (_key, start) => {
  test('groups, roll-ups, summaries and notices are sent, however many messages they have', async () => {
    const world = await start()
    const items = Array.from({ length: 45 }, (_, index) => itemOf(index))
    for (const kind of ['group', 'rollup', 'summary', 'notice', 'raised', 'reminder'] as const) {
      await sendEnvelope(world.channel, world.destination(), envelopeOf({ kind, items }))
      const { text } = world.arrived()
      if (kind === 'group' || kind === 'summary') {
        expect(text).toContain('No commit in round 1')
        expect(text).toContain('and 25 more')
      }
      if (kind === 'rollup') expect(text).toContain('45 more alerts')
    }
    expect(world.hooks.refused).toEqual([])
    expect(world.arrived().count).toBe(6)
    await world.close()
  })
})

function itemOf(index: number): EnvelopeMessage {
  return envelopeOf({
    message: {
      alertId: 100 + index,
      watchLabel: index % 2 === 0 ? 'Node A' : 'Node B',
      event: 'fsp.ftso-commit',
      severity: index % 3 === 0 ? 'critical' : 'warning',
      title: `No commit in round ${index}`,
    },
  }).message
}

async function send(world: HookWorld, message: Partial<EnvelopeMessage> = {}): Promise<void> {
  await sendEnvelope(world.channel, world.destination(), envelopeOf({ message }))
}

async function sendEnvelope(channel: Channel<unknown>, destination: unknown, envelope: Envelope) {
  await channel.send(destination, envelope, contextOf({ now: NOW }))
}

function bodyOf(world: HookWorld): unknown {
  return world.hooks.messages.at(-1)?.body
}

test.each([
  discordWorld,
  slackWorld,
])('the sentence that explains a list is above it', async (start) => {
  const world = await start()
  try {
    const items = [itemOf(1), itemOf(2)].map((item) => ({ ...item, event: 'fsp.ftso-commit' }))
    const body = 'The rewards of these rounds are lost.'
    const message = { ...items[0], body }
    const kinds = { kind: 'summary', items, message } as const
    await sendEnvelope(world.channel, world.destination(), envelopeOf(kinds))
    const { text } = world.arrived()
    expect(text.indexOf(body)).toBeGreaterThan(0)
    expect(text.indexOf(body)).toBeLessThan(text.lastIndexOf('No commit in round 1'))
  } finally {
    await world.close()
  }
})
