import { z } from 'zod'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { cutText, graphemesOf } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import type { Locale } from '#src/kernel/locale.ts'
import { CARD_FIELDS_MAX, type Card, cardOf } from '../card/card.ts'
import { type FactWriter, factLine, factsOf, itemFacts } from '../card/facts.ts'
import type { CardItem } from '../card/items.ts'
import { fitPieces, isOpenLink } from '../card/wording.ts'
import { type Channel, type ChannelDefinition, defineChannel, USUAL_TRAITS } from '../define.ts'
import type { Envelope, MessageField } from '../envelope.ts'
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
 * Messages to a Slack channel by its incoming webhook. Sent messages cannot be changed.
 *
 * @see Slack developer documentation, "Incoming webhooks", "Block Kit", "Rate limits"
 */

const SERVICE: HookService = {
  hosts: ['hooks.slack.com', 'hooks.slack-gov.com'],
  path: /^\/services\/[A-Z0-9]{1,20}\/[A-Z0-9]{1,20}\/[A-Za-z0-9]{1,64}\/?$/,
  code: 'slack_url',
}

/** Interval between two messages to one webhook: Slack allows one a second. */
const HOOK_MS = 1000

/** Statuses of permanent failures: forbidden, unknown webhook or channel, archived channel. */
const PERMANENT_STATUSES = [403, 404, 410]

/**
 * Limits of texts, in characters after escaping. HEADER_MAX and TEXT_MAX are Slack's; the others are lower, for
 * readability.
 */
const HEADER_MAX = 150
const TEXT_MAX = 3000
const FIELD_MAX = 600
const ITEM_MAX = 200
const FACTS_LENGTH_MAX = 2000
const EMPTY_TEXT = '\u2013'

const Destination = z.strictObject({ url: z.string() })

/** Slack channels; sent messages cannot be changed. */
export const slack = {
  ...USUAL_TRAITS,
  canAcknowledge: false,
  preview: { form: RequestBodyPreview, write: (envelope) => ({ body: slackBody(envelope) }) },
  create: createSlack,
} as const satisfies ChannelDefinition<RequestBodyPreview, HookDeps>

function createSlack(deps: HookDeps): Channel<unknown> {
  const send = createHookSender(deps, { keyMs: HOOK_MS, gone: PERMANENT_STATUSES, floodSeconds: 1 })
  return defineChannel<HookDestination>({
    destination: Destination.refine(({ url }) => isHookOf(SERVICE, url, deps.allowPrivate)),
    form: hookForm(SERVICE, deps.allowPrivate),
    limits: { capacity: 16, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    available: () => true,
    mask: ({ url }) => `slack …${hookOf(url).slice(-4)}`,
    partitionKey: ({ url }) => `slack ${hookOf(url)}`,
    send: async ({ url }, envelope, context) => {
      const body = slackBody(envelope, context.now)
      const { statusCode } = await send({ key: hookOf(url), url, body, context })
      return { statusCode }
    },
  })
}

/**
 * Exact body of a message: blocks, and a text for notifications. Texts are escaped, and links are written by this
 * service only, so that labels cannot mention anybody or contain links.
 */
export function slackBody(envelope: Envelope, now?: Date): string {
  const card = cardOf(envelope, { ...(now && { now }) })
  const glyph = card.glyph === '' ? [] : [card.glyph]
  const title = [...glyph, card.title].join(' ')
  const fields = card.fields.slice(0, CARD_FIELDS_MAX)
  return JSON.stringify({
    text: fitted([title, ...card.lines].join('\n'), TEXT_MAX),
    blocks: [
      { type: 'header', text: plain(title, HEADER_MAX) },
      ...(card.lines.length === 0
        ? []
        : [{ type: 'context', elements: [plain(card.lines.join('\n'), TEXT_MAX)] }]),
      ...(card.body.trim() === '' ? [] : [{ type: 'section', text: plain(card.body, TEXT_MAX) }]),
      ...itemBlocks(card, envelope.locale),
      ...(fields.length === 0 ? [] : [{ type: 'section', fields: fields.map(fieldText) }]),
      ...lastBlocks(card, envelope),
    ],
    unfurl_links: false,
    unfurl_media: false,
  })
}

/** The alerts of a group, a line each, as many in a block as fit, and the note about those that are left out. */
function itemBlocks(card: Card, locale: Locale) {
  const lines = card.items.map((item) => itemText(item, locale))
  const blocks: string[] = []
  for (const line of lines) {
    const extended = `${blocks.at(-1) ?? ''}\n${line}`
    if (blocks.length === 0 || extended.length > TEXT_MAX) blocks.push(line)
    else blocks[blocks.length - 1] = extended
  }
  const more =
    card.more === undefined ? [] : [{ type: 'context', elements: [plain(card.more, 200)] }]
  return [...blocks.map((text) => ({ type: 'section', text: markup(text) })), ...more]
}

function itemText(
  { message, glyph, time, text, number, fields }: CardItem,
  locale: Locale,
): string {
  const title = fitted(withoutMarkup(text), ITEM_MAX)
  const shown = isOpenLink(message.link) ? link(message.link, title) : title
  const firstPart = [...(time === undefined ? [] : [escaped(time)]), glyph, shown, number ?? '']
    .filter((part) => part !== '')
    .join(' ')
  return [firstPart, ...itemFacts({ locale }, fields, BLOCK_FACTS)].join(' · ')
}

function fieldText({ label, value, href }: MessageField) {
  const text = withoutDirections(value)
  const isLink = href !== undefined && isOpenLink(href) && href.length < FIELD_MAX
  return isLink
    ? markup(
        `${fitted(withoutMarkup(label), 200)}\n${link(href, fitted(withoutMarkup(text), FIELD_MAX) || EMPTY_TEXT)}`,
      )
    : plain(`${cutText(label, 200)}\n${text}`, FIELD_MAX)
}

const BLOCK_FACTS: FactWriter = { text: escaped, code: escaped, link: linkTo }

/** Values of an alert, its number and the links, on one line. */
function lastBlocks(card: Card, envelope: Envelope) {
  const facts = factLine(envelope, factsOf(envelope, BLOCK_FACTS), FACTS_LENGTH_MAX)
  const links = card.links.map(({ label, url }) =>
    isOpenLink(url) ? linkTo(label, url) : escaped(`${label}: ${url}`),
  )
  const line = [facts, card.number ?? '', ...links].filter((part) => part !== '')
  return line.length === 0 ? [] : [{ type: 'section', text: markup(line.join(' · ')) }]
}

function linkTo(text: string, page: string): string {
  return link(page, escaped(text))
}

function plain(text: string, max: number) {
  return { type: 'plain_text', text: fitted(text, max) || EMPTY_TEXT, emoji: false }
}

/** Block of escaped text and links; `verbatim` stops Slack from detecting further links. */
function markup(text: string) {
  return { type: 'mrkdwn', text, verbatim: true }
}

/** Link in Slack's markup. A vertical bar is encoded, because it would end the URL. */
function link(url: string, labelEscaped: string): string {
  return `<${new URL(url).href.replaceAll('|', '%7C').replaceAll('>', '%3E')}|${labelEscaped}>`
}

/** @see Slack developer documentation, "Escaping text" */
function escaped(text: string): string {
  return pieces(withoutMarkup(text)).join('')
}

/** Characters that look like those of Slack's markup, which cannot be escaped. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '*': '\u2217',
  '~': '\u223c',
  '`': '\u02cb',
  _: '\uff3f',
  // It separates the address of a link from its text.
  '|': '\u2223',
}

/** A text without markup and names of emoji. An underscore inside a word is no markup. */
function withoutMarkup(text: string): string {
  return text
    .replace(/[*~`|]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (mark) => LOOKALIKES[mark] ?? mark)
    .replace(/:(?=[a-z][\w+-]*:)/gi, ':\u2060')
}

function fitted(text: string, max: number): string {
  return fitPieces(pieces(text), max)
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

function pieces(text: string): string[] {
  return [...graphemesOf(inertText(text.toWellFormed()))].map((piece) =>
    piece.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character),
  )
}

/** Identifies the webhook without the secret part. */
function hookOf(url: string): string {
  const [, , team = '', hook = ''] = new URL(url).pathname.split('/')
  return `${team}/${hook}`
}
