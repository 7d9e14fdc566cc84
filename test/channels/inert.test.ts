import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { detectEntities } from '#sandbox/telegram/entities.ts'
import type { Envelope } from '#src/channels/envelope.ts'
import { CHANNEL_KEYS, type ChannelKey } from '#src/channels/index.ts'
import { envelopeOf } from '../support/envelopes.ts'
import { every } from '../support/every.ts'
import { contextOf, type EmailWorld, type TelegramWorld, WORLDS, type World } from './worlds.ts'

/** Texts that strangers choose, by the kind of thing that clients would make of them. */
const OUTSIDE = {
  url: 'USDC https://evil.com/claim',
  'url without path': 'http://evil',
  domain: 'evil.com/claim',
  'domain of a script': '例子.中国',
  'address of a host': '8.8.8.8:80/x',
  'link to a chat': 't.me/evil',
  'link to an app': 'tg://resolve?domain=evil',
  mention: '@evil_bot',
  everyone: '@everyone',
  hashtag: '#free',
  cashtag: '$USDC',
  command: '/stop',
  'command of a bot': '/stop@watchdog_bot',
  email: 'claim@evil.com',
  'phone number': '+49 301 2345678',
  markdown: '[claim](https://evil.com) *x* <https://evil.com|x>',
} as const

/** Characters that are part of a channel's own writing of a text. */
const ESCAPES = /\\(?=[\\*_~`|<>#[\]()])/g
/** Pages of the service and of the chain's explorer. */
const OWN = /https:\/\/(?:watchdog|explorer)\.example\.org[^\s|>")\]]*/g
/** The mark of the service in the text parts of e-mails is no name. */
const found = (text: string) =>
  detectEntities(text.replaceAll(OWN, '').replaceAll(ESCAPES, '')).map(({ type, offset, length }) =>
    [type, text.slice(offset, offset + length)].join(' '),
  )

/** A message that shows a text in each place that an outside text can have. */
function envelopeWith(text: string): Envelope {
  const fields = [
    { key: 'name', label: 'Provider', value: text },
    { key: 'amount', label: 'Amount', value: `500 ${text}` },
  ]
  return envelopeOf({
    takenBy: text,
    data: { symbol: text },
    message: {
      watchLabel: text,
      title: `sent 500 ${text}`,
      body: `${text} went.\n${text}`,
      fields,
    },
  })
}

function groupWith(text: string): Envelope {
  const { message, ...envelope } = envelopeWith(text)
  const items = [message, { ...message, alertId: 4712, title: text }]
  return { ...envelope, kind: 'group', message, items }
}

function noticeWith(text: string): Envelope {
  const { message, ...envelope } = envelopeWith(text)
  return { ...envelope, kind: 'notice', message: { ...message, title: text, body: text } }
}

const KINDS = { alert: envelopeWith, group: groupWith, notice: noticeWith }
/** What PagerDuty gets; and programs get alerts only. */
const SENT: Readonly<Partial<Record<ChannelKey, readonly string[]>>> = {
  webhook: ['alert'],
  pagerduty: ['alert', 'group'],
}

describe.each(CHANNEL_KEYS)('%s', (key) => {
  let world: World

  beforeAll(async () => {
    world = await WORLDS[key]()
  })
  afterAll(() => world.close())

  const kinds = Object.entries(KINDS).filter(([kind]) => SENT[key]?.includes(kind) ?? true)
  const cases = Object.entries(OUTSIDE).flatMap(([name, text]) =>
    kinds.map(([kind, write]) => ({ name, kind, envelope: write(text), text })),
  )
  test('shows outside texts as text in each kind of message', () =>
    every(cases, async ({ envelope, text }) => {
      await world.channel.send(world.destination(), envelope, contextOf())
      const arrived = world.arrived().text
      if (key === 'webhook') {
        const body = JSON.parse(arrived)
        expect(body).toMatchObject({ label: text, data: { symbol: text } })
        expect(body.rendered).toMatchObject(
          envelope.message.title ? { title: envelope.message.title } : {},
        )
        expect(body.renderedMessage.fields).toEqual(envelope.message.fields)
        return
      }
      expect(arrived).toContain('500')
      expect(found(arrived)).toEqual([])
      if (key === 'telegram') {
        const { telegram } = world as TelegramWorld
        const types = telegram
          .chats()
          .flatMap(({ id }) => telegram.messages(id))
          .at(-1)?.entities
        const allowed = ['bold', 'code', 'text_link', 'blockquote']
        expect(types?.map(({ type }) => type).filter((type) => !allowed.includes(type))).toEqual([])
      }
      if (key === 'email') {
        const html = (world as EmailWorld).inbox.mails.at(-1)?.html ?? ''
        expect(found(html.replaceAll(/<style.*?<\/style>|<[^>]*>/gs, '\n'))).toEqual([])
        expect(html).toContain('<meta name="format-detection" content="telephone=no')
      }
    }))
})
