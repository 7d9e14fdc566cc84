import { z } from 'zod'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { cardOf } from '../card/card.ts'
import { type FactWriter, factLine, factsOf, itemFacts } from '../card/facts.ts'
import { isOpenLink, isSilent } from '../card/wording.ts'
import { type Channel, type ChannelDefinition, defineChannel, USUAL_TRAITS } from '../define.ts'
import type { Envelope, MessageState } from '../envelope.ts'
import { checkUserUrl } from '../requests/safe-fetch.ts'
import { asShown, withoutNames } from '../updates/shown.ts'
import { createHookSender } from './hook-sender.ts'
import { type HookDeps, type HookDestination, RequestBodyPreview, urlForm } from './hook-url.ts'

/**
 * Push notifications through ntfy, at ntfy.sh or at another server. A message with the sequence id of an earlier one takes
 * its place on the reader's device, from version 2.16 of the server on. Its answer then has the sequence id; an older server
 * ignores it, and its messages are never changed.
 *
 * The app for Android makes no sound when it changes a notification that is still shown, whatever its priority. So what
 * must ring has a sequence id of its own, and the earlier notification is deleted (`remove`).
 *
 * @see ntfy documentation, "Publish as JSON", "Message priority", "Query param", "Limitations", "Updating + deleting
 * notifications"
 */

/** Path of a topic at the root of its server. */
const TOPIC = /^\/([-_A-Za-z0-9]{1,64})\/?$/
/** Value of an `Authorization` header that the query parameter `auth` carries in base64. */
const AUTHORIZATION = /^(Basic|Bearer) [\x21-\x7e]{1,1000}$/

/** Interval between two messages to one topic. */
const TOPIC_MS = 100
/** Wait after a refusal that states no wait. */
const FLOOD_SECONDS = 60
/** Permanent failures: the topic cannot be written to with this login, or the server has no such API. */
const GONE = [401, 403, 404, 410]

/**
 * Maximum size of a message. A longer message would become an attachment; there is room for the last line.
 */
const MESSAGE_BYTES_MAX = 4000
const TITLE_MAX = 200
const BODY_MAX = 2500
const FACTS_LENGTH_MAX = 500
const NOTHING = '\u2013'

/** Priorities: 5 and 4 are loud, 2 makes no sound. */
const PRIORITIES = { critical: 5, warning: 4, info: 2 } as const
const SILENT_PRIORITY = 2

/** Number of characters of a topic that are shown, if the topic is long enough to stay secret. */
const ENDING_LENGTH = 4
const SECRET_LENGTH = 10

const Destination = z.strictObject({ url: z.string() })

const Answer = z.object({ sequence_id: z.string().optional().catch(undefined) })

/** Topics of ntfy servers. */
export const ntfy = {
  ...USUAL_TRAITS,
  preview: {
    form: RequestBodyPreview,
    write: (envelope) => ({ body: ntfyBody(envelope, 'topic') }),
  },
  create: createNtfy,
} as const satisfies ChannelDefinition<RequestBodyPreview, Deps>

interface Deps extends HookDeps {
  /** Groups of a host. */
  readonly groupsOf?: (host: string) => readonly string[]
}

function createNtfy(deps: Deps): Channel<unknown> {
  const send = createHookSender(deps, { keyMs: TOPIC_MS, gone: GONE, floodSeconds: FLOOD_SECONDS })
  return defineChannel<HookDestination>({
    destination: Destination.refine(({ url }) => ntfyTopicOf(url, deps.allowPrivate) !== undefined),
    form: urlForm({
      code: 'ntfy_url',
      isUrl: (url) => ntfyTopicOf(url, deps.allowPrivate) !== undefined,
    }),
    limits: { capacity: 64, initialLimit: 2, limitMax: 8 },
    available: () => true,
    mask: ({ url }) => maskTopic(url),
    partitionKey: ({ url }) => hostOf(url),
    ...(deps.groupsOf && { groupsOf: deps.groupsOf }),
    send: async ({ url }, envelope, context) => {
      const topic = topicAt(url, deps)
      const id = envelope.deliveryId
      const body = ntfyBody(envelope, topic.name, { sequenceId: id, now: context.now })
      const { statusCode, text } = await send({ ...postTo(topic), body, context })
      return { statusCode, ...(sequenceIn(text) === id && { messageId: id }) }
    },
    edit: async ({ url }, messageId, sent, state, context) => {
      const topic = topicAt(url, deps)
      const shown = { state: withoutNames(state), sequenceId: messageId, now: context.now }
      const body = ntfyBody(asShown(sent, state), topic.name, shown)
      await send({ ...postTo(topic), body, context })
      return { messageId }
    },
    remove: async ({ url }, messageId, context) => {
      const asked = postTo(topicAt(url, deps))
      const gone = `${asked.key}/${messageId}`
      await send({ ...asked, url: gone, method: 'DELETE', body: '', context })
    },
  })
}

function topicAt(url: string, { allowPrivate }: Deps): Topic {
  const topic = ntfyTopicOf(url, allowPrivate)
  if (topic === undefined) throw new Error('a destination that is not a topic')
  return topic
}

/** A request that posts to a topic; messages are posted to the root of the server. */
function postTo({ name, server, authorization }: Topic) {
  return { key: `${server}${name}`, url: server, authorization }
}

/** The sequence id in an answer; undefined from a server that has none. */
function sequenceIn(text: string): string | undefined {
  try {
    return Answer.catch({}).parse(JSON.parse(text)).sequence_id
  } catch {
    return undefined
  }
}

/**
 * Exact body of a message, which is posted to the root of the ntfy server.
 *
 * @param options `state`: for a changed message, which never makes a sound
 */
function ntfyBody(
  envelope: Envelope,
  topic: string,
  options: {
    readonly sequenceId?: string
    readonly state?: MessageState
    readonly now?: Date
  } = {},
): string {
  const { sequenceId, state, now } = options
  const card = cardOf(envelope, { ...(now && { now }), ...(state && { state }) })
  const title = [card.glyph, card.title].filter((part) => part !== '').join(' ')
  const items = card.items.map(({ glyph, time, text, number, fields }) => {
    const words = [time, glyph, text, number].filter((part) => part !== undefined).join(' ')
    return [words, ...itemFacts(envelope, fields, PLAIN_FACTS)].join(' · ')
  })
  const lines = [
    ...card.lines,
    cutText(card.body, BODY_MAX).trim(),
    ...items,
    card.more ?? '',
    ...card.fields.map(({ label, value }) => `${label}: ${value}`),
    lastLine(envelope, card.number),
  ].filter((line) => line !== '')
  const { link } = envelope.message
  const priority =
    isSilent(envelope) || state !== undefined
      ? SILENT_PRIORITY
      : PRIORITIES[envelope.message.severity]
  const actions = card.links
    .filter(({ url }) => isOpenLink(url))
    .slice(0, 3)
    .map(({ label, url }) => ({ action: 'view', label: readable(label, 40), url }))
  return JSON.stringify({
    topic,
    ...(sequenceId !== undefined && { sequence_id: sequenceId }),
    title: readable(title, TITLE_MAX),
    message: cutText(readable(lines.join('\n')), MESSAGE_BYTES_MAX, Buffer.byteLength),
    priority,
    ...(isOpenLink(link) && { click: link }),
    ...(actions.length > 0 && { actions }),
  })
}

/** Writer of values in plain text. A hash is shown only on the page of the alert. */
const PLAIN_FACTS: FactWriter = { text: (text) => text, code: (text) => text, link: undefined }

function lastLine(envelope: Envelope, number: string | undefined): string {
  const facts = factLine(envelope, factsOf(envelope, PLAIN_FACTS), FACTS_LENGTH_MAX)
  return [facts, number ?? ''].filter((part) => part !== '').join(' · ')
}

/** Inert plain text without direction marks and broken characters. */
function readable(text: string, max = Number.POSITIVE_INFINITY): string {
  const whole = inertText(withoutDirections(text.toWellFormed()))
  return (Number.isFinite(max) ? cutText(whole, max) : whole).trim() || NOTHING
}

interface Topic {
  readonly name: string
  /** URL to which messages are posted. */
  readonly server: string
  readonly authorization: string | undefined
}

/**
 * The parts of a topic's URL; undefined if the text is not such a URL. Query parameters other than `auth`
 * are refused.
 */
function ntfyTopicOf(text: string, allowPrivate: boolean): Topic | undefined {
  const url = URL.parse(text)
  if (url === null || checkUserUrl(text, allowPrivate) !== undefined) return undefined
  const [, name] = TOPIC.exec(url.pathname) ?? []
  const { auth, ...others } = Object.fromEntries(url.searchParams)
  if (name === undefined || url.hash !== '' || Object.keys(others).length > 0) return undefined
  const authorization =
    auth === undefined ? undefined : Buffer.from(auth, 'base64').toString('utf8')
  if (authorization !== undefined && !AUTHORIZATION.test(authorization)) return undefined
  return { name, server: `${url.origin}/`, authorization }
}

/**
 * Masks a topic: shows the server, and the end of the topic if the topic is too long to be guessed from its
 * end.
 */
function maskTopic(text: string): string {
  const url = URL.parse(text)
  const name = url?.pathname.split('/')[1] ?? ''
  return `${url?.host ?? ''}/…${name.length < SECRET_LENGTH ? '' : name.slice(-ENDING_LENGTH)}`
}

function hostOf(text: string): string {
  return URL.parse(text)?.host ?? text
}
