import { z } from 'zod'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { cutText, graphemesOf } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { CARD_FIELDS_MAX, type Card, cardOf, type MessageTone } from '../card/card.ts'
import {
  type FactWriter,
  factLine,
  factsOf,
  itemFacts,
  linksInText,
  linkWords,
} from '../card/facts.ts'
import type { CardItem } from '../card/items.ts'
import { fitPieces, isOpenLink, isSilent } from '../card/wording.ts'
import {
  type Channel,
  type ChannelDefinition,
  defineChannel,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type { Envelope, MessageState } from '../envelope.ts'
import type { SafeAnswer } from '../requests/http-exchange.ts'
import { asShown, withoutNames } from '../updates/shown.ts'
import { createHookSender } from './hook-sender.ts'
import {
  type HookDeps,
  type HookDestination,
  type HookService,
  hookForm,
  isHookOf,
  RequestBodyPreview,
} from './hook-url.ts'

/**
 * Messages to a Discord channel by its incoming webhook.
 *
 * @see Discord developer documentation, "Execute Webhook", "Embed Limits", "Rate Limits"
 */

const SERVICE: HookService = {
  hosts: ['discord.com', 'ptb.discord.com', 'canary.discord.com', 'discordapp.com'],
  path: /^\/api\/(?:v\d{1,2}\/)?webhooks\/\d{5,25}\/[\w-]{20,200}\/?$/,
  code: 'discord_url',
}
/** API version of Discord. Without it Discord uses an old version, which states waits in other units. */
const API = '/api/v10'

/** Interval between two messages to one webhook: Discord allows five messages in two seconds. */
const HOOK_MS = 400

/** Statuses of permanent failures: unknown webhook, wrong token, or missing permission. */
const GONE = [401, 403, 404, 410]
const UNKNOWN_MESSAGE = 10008

const SUPPRESS_NOTIFICATIONS = 4096

const COLORS: Readonly<Record<MessageTone, number>> = {
  critical: 0xd93025,
  warning: 0xe8830c,
  fine: 0x188a4e,
  info: 0x2f6fe0,
}

/**
 * Discord allows 256 characters in a title, 4096 in a description, 25 fields with names of 256 and values of
 * 1024, 6000 in all.
 */
const TITLE_MAX = 256
const DESCRIPTION_MAX = 2600
const FACTS_LENGTH_MAX = 1200
const LABEL_MAX = 80
const VALUE_MAX = 280
const ITEM_MAX = 100
/** Placeholder for empty names and values, which Discord refuses. */
const NOTHING = '\u2013'

const Destination = z.strictObject({ url: z.string() })

const Answer = z.object({
  id: z.string().optional().catch(undefined),
  code: z.number().optional().catch(undefined),
  /** Wait in seconds, possibly with a fraction. */
  retry_after: z.number().optional().catch(undefined),
})

/** Discord channels; sent messages can be changed. */
export const discord = {
  ...USUAL_TRAITS,
  canAcknowledge: false,
  showsGrowth: true,
  preview: { form: RequestBodyPreview, write: (envelope) => ({ body: discordBody(envelope) }) },
  create: createDiscord,
} as const satisfies ChannelDefinition<RequestBodyPreview, HookDeps>

function createDiscord(deps: HookDeps): Channel<unknown> {
  const send = createHookSender(deps, {
    keyMs: HOOK_MS,
    gone: GONE,
    floodSeconds: 1,
    statedSeconds: (answer) => read(answer).retry_after,
  })
  return defineChannel<HookDestination>({
    destination: Destination.refine(({ url }) => isHookOf(SERVICE, url, deps.allowPrivate)),
    form: hookForm(SERVICE, deps.allowPrivate),
    limits: { capacity: 16, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    available: () => true,
    mask: ({ url }) => `discord …${hookOf(url).id.slice(-4)}`,
    partitionKey: ({ url }) => `discord ${hookOf(url).id}`,
    send: async ({ url }, envelope, context) => {
      const body = discordBody(envelope, { now: context.now })
      const answer = await request(send, { url, method: 'POST', body, context })
      const { statusCode } = answer
      const { id } = read(answer)
      return { statusCode, ...(id !== undefined && { messageId: id }) }
    },
    edit: async ({ url }, messageId, envelope, state, context) => {
      const body = discordBody(envelope, { state })
      const asked = { url, method: 'PATCH', messageId, body, context } as const
      const answer = await request(send, asked)
      return read(answer).code === UNKNOWN_MESSAGE ? {} : { messageId }
    },
    remove: async ({ url }, messageId, context) => {
      await request(send, { url, method: 'DELETE', messageId, body: '', context })
    },
  })
}

/**
 * Exact body of a message: one embed, mentions disabled.
 *
 * @param options `state`: for a changed message, which has no sound setting
 */
export function discordBody(
  sent: Envelope,
  options: { readonly state?: MessageState; readonly now?: Date } = {},
): string {
  const envelope = asShown(sent, options.state ?? {})
  const state = options.state && withoutNames(options.state)
  const card = cardOf(envelope, { ...options, ...(state && { state }) })
  const link = card.links.find(({ url }) => isOpenLink(url))?.url
  const glyph = card.glyph === '' ? [] : [card.glyph]
  return JSON.stringify({
    allowed_mentions: { parse: [] },
    ...(options.state === undefined && isSilent(envelope) && { flags: SUPPRESS_NOTIFICATIONS }),
    embeds: [
      {
        title: fitted([...glyph, card.title].join(' '), TITLE_MAX) || NOTHING,
        ...(link !== undefined && { url: link }),
        description: describe(card, envelope),
        color: COLORS[card.tone],
        fields: card.fields.slice(0, CARD_FIELDS_MAX).map(({ label, value }) => ({
          name: fitted(label, LABEL_MAX) || NOTHING,
          value: fitted(withoutDirections(value), VALUE_MAX) || NOTHING,
          inline: value.length <= 24,
        })),
        footer: { text: ['Watchdog', ...(card.number ? [card.number] : [])].join(' · ') },
        timestamp: envelope.message.firedAt,
      },
    ],
  })
}

const EMBED_FACTS: FactWriter = {
  text: escaped,
  code: (text) => `\`${text}\``,
  link: embedLink,
}

/** Link in angle brackets, so that Discord shows no preview of the page. */
function embedLink(text: string, page: string): string {
  return `[${escaped(text)}](<${new URL(page).href}>)`
}

/**
 * Description of an embed: lines, the body, which explains the messages, then messages, values, links. A text that
 * is too long is cut at the end of messages and values, then of the body.
 */
function describe(card: Card, envelope: Envelope): string {
  const links = card.links
    .filter(({ url }, index) => index > 0 || !isOpenLink(url))
    .map(({ label, url }) => `${escaped(label)}: ${isOpenLink(url) ? `<${url}>` : escaped(url)}`)
  const facts = factLine(envelope, factsOf(envelope, EMBED_FACTS), FACTS_LENGTH_MAX)
  const write = (items: readonly string[], body: string) =>
    [card.lines.map(escaped).join('\n'), body, items.join('\n'), facts, links.join('\n')]
      .filter((block) => block.trim() !== '')
      .join('\n\n')
  const more = card.more === undefined ? [] : [escaped(card.more)]
  const body = escaped(card.body)
  for (let shown = card.items.length; shown > 0; shown -= 1) {
    const isAll = shown === card.items.length
    const items = [
      ...card.items.slice(0, shown).map((item) => itemText(item, envelope.locale)),
      ...(isAll ? more : ['…']),
    ]
    const text = write(items, body)
    if (text.length <= DESCRIPTION_MAX) return text
  }
  const linked = write([], linkWords(body, linksInText(envelope.message), embedLink))
  if (linked.length <= DESCRIPTION_MAX) return linked
  const room = DESCRIPTION_MAX - write([], '').length - 2
  return cutText(write([], fitted(card.body, room)), DESCRIPTION_MAX)
}

function itemText(item: CardItem, locale: Locale): string {
  const { message, glyph, time, text, number, fields } = item
  const title = escaped(cutText(text, ITEM_MAX))
  const shown = isOpenLink(message.link) ? `[${title}](<${message.link}>)` : title
  const words = [...(time === undefined ? [] : [escaped(time)]), glyph, shown, number ?? '']
    .filter((part) => part !== '')
    .join(' ')
  return [words, ...itemFacts({ locale }, fields, EMBED_FACTS)].join(' · ')
}

/** Beginning of a line that Discord draws as an item of a list, or in small letters. */
const LIST = /^([ \t]*)([-+] |-#|\d+[.)] )/gm

/** Escapes a text, so that it contains no markup or automatic links. */
function escaped(text: string): string {
  return pieces(text).join('')
}

function fitted(text: string, max: number): string {
  return fitPieces(pieces(text), max)
}

/** User-perceived characters of the inert text, with markup characters escaped. */
function pieces(text: string): string[] {
  const inert = inertText(text.toWellFormed()).replace(LIST, '$1\u2060$2')
  return [...graphemesOf(inert)].map((character) => character.replace(/[\\*_~`|<>#[\]()]/g, '\\$&'))
}

type Sender = ReturnType<typeof createHookSender>

function request(
  send: Sender,
  asked: {
    readonly url: string
    readonly method: 'POST' | 'PATCH' | 'DELETE'
    readonly messageId?: string
    readonly body: string
    readonly context: Pick<SendContext, 'now' | 'signal' | 'timeoutMs'>
  },
): Promise<SafeAnswer> {
  const { method, body, context } = asked
  const { id, root, thread } = hookOf(asked.url)
  const isNew = asked.messageId === undefined
  const path = isNew ? '' : `/messages/${asked.messageId}`
  const query = new URLSearchParams({ ...(isNew && { wait: 'true' }), ...thread })
  const accepts = (answer: SafeAnswer) => !isNew && read(answer).code === UNKNOWN_MESSAGE
  return send({ key: id, url: `${root}${path}?${query}`, method, body, context, accepts })
}

/** Parts of a webhook: its number, its address at the API version used here, and its thread. */
function hookOf(text: string) {
  const url = new URL(text)
  const [id = '', token = ''] = url.pathname.split('/webhooks/')[1]?.split('/') ?? []
  const threadId = url.searchParams.get('thread_id') ?? ''
  const thread = /^\d{5,25}$/.test(threadId) ? { thread_id: threadId } : {}
  return { id, root: `${url.origin}${API}/webhooks/${id}/${token}`, thread }
}

function read({ text }: SafeAnswer): z.output<typeof Answer> {
  try {
    return Answer.catch({}).parse(JSON.parse(text))
  } catch {
    return {}
  }
}
