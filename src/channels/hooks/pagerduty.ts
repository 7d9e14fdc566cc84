import { createHash } from 'node:crypto'
import { z } from 'zod'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { translator } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { cardOf } from '../card/card.ts'
import { startOf } from '../card/outage.ts'
import { hasEnded, isOpenLink, shownLabel, TEST_GLYPH } from '../card/wording.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type {
  Envelope,
  EnvelopeKind,
  EnvelopeMessage,
  MessageField,
  MessageState,
} from '../envelope.ts'
import { groupTimes } from '../groups/times.ts'
import { floodSeconds, rateLimitError, refusalOf } from '../requests/http-answer.ts'
import type { SafeAnswer } from '../requests/http-exchange.ts'
import { createRateLimiter, TURN_WAIT_MS_MAX } from '../requests/rate-limiter.ts'
import { checkUserUrl } from '../requests/safe-fetch.ts'
import { type HookDeps, type HookDestination, RequestBodyPreview, urlForm } from './hook-url.ts'

/**
 * Alerts of a PagerDuty service, by the Events API v2. An incident triggers one PagerDuty alert, however many alerts
 * it has at this service. An acknowledgement at this service acknowledges the PagerDuty alert; the recovery of all
 * alerts or the deletion of the watch resolves it. All these events share a dedup key, which has the number of the
 * incident. What must ring again, such as a raised severity, resolves the PagerDuty alert and triggers it again under
 * the same key, because PagerDuty does not notify again of an alert that is triggered twice while it is open.
 *
 * @see PagerDuty developer documentation, "Send an Alert Event", "Events API v2 Overview"
 */

const HOSTS = ['events.pagerduty.com', 'events.eu.pagerduty.com']
/** Path of an integration URL, with the integration key. */
const INTEGRATION = /^\/integration\/([A-Za-z0-9]{32})\/enqueue\/?$/
const KEY = /^[A-Za-z0-9]{32}$/
const ENQUEUE = '/v2/enqueue'

/** Interval between two events of one integration: PagerDuty accepts 120 a minute and bursts above it. */
const KEY_MS = 500
/** Wait after a refusal that states no wait. */
const FLOOD_SECONDS = 60
const GONE = [404, 410]
/** Matches the errors of a refused event that name the key: the integration was deleted. */
const REFUSED_KEY = /routing.?key|integration.?key/i

/**
 * PagerDuty's limits, in characters, and a lower limit for details, so that an event stays far below 512
 * KB.
 */
const SUMMARY_MAX = 1024
const SOURCE_MAX = 255
const TEXT_MAX = 4000
const VALUE_MAX = 1000
const FIELDS_MAX = 40
const LINKS_MAX = 10

/**
 * Kinds of messages that are sent to PagerDuty. PagerDuty sends its own reminders; summaries and notices
 * are for people.
 */
const SENT_KINDS: readonly EnvelopeKind[] = ['alert', 'raised', 'group']

type Action = 'trigger' | 'acknowledge' | 'resolve'

const Destination = z.strictObject({ url: z.string() })

/** PagerDuty services. */
export const pagerduty = {
  ...USUAL_TRAITS,
  isProgrammatic: true,
  ringsOnChange: true,
  preview: {
    form: RequestBodyPreview,
    write: (envelope, wallet) => {
      const event = {
        routingKey: '0'.repeat(32),
        key: dedupKeyOf(envelope, wallet),
        action: actionOf(envelope),
      }
      return { body: eventBody(envelope, event) }
    },
  },
  create: createPagerDuty,
} as const satisfies ChannelDefinition<RequestBodyPreview, HookDeps>

function createPagerDuty(deps: HookDeps): Channel<unknown> {
  const pace = createRateLimiter({ allMs: 0, keyMs: KEY_MS, now: () => performance.now() })
  async function enqueue(
    { url }: HookDestination,
    envelope: Envelope,
    { key, action }: { readonly key: string; readonly action: Action },
    { now, signal }: { readonly now: Date; readonly signal: AbortSignal },
  ): Promise<Receipt> {
    const routingKey = keyOf(url)
    const earlyMs = await pace.turn(routingKey, { patienceMs: TURN_WAIT_MS_MAX, signal })
    if (earlyMs !== undefined) throw rateLimitError(earlyMs / 1000)
    const answer = await deps.post(`${new URL(url).origin}${ENQUEUE}`, {
      headers: { 'Content-Type': 'application/json', 'User-Agent': deps.userAgent },
      body: eventBody(envelope, { routingKey, key, action }),
      signal,
    })
    const { statusCode } = answer
    if (statusCode === 429) {
      const seconds = floodSeconds(answer, { now, usual: FLOOD_SECONDS })
      pace.hold(routingKey, seconds * 1000)
      throw rateLimitError(seconds, statusCode)
    }
    const refusal = refusedKey(answer) ?? refusalOf(answer, { gone: GONE, now })
    if (refusal !== undefined) throw refusal
    return { statusCode, messageId: key }
  }

  return defineChannel<HookDestination>({
    destination: Destination.refine(({ url }) => isIntegration(url, deps.allowPrivate)),
    form: urlForm({
      code: 'pagerduty_url',
      isUrl: (url) => isIntegration(url, deps.allowPrivate),
      complete: integrationUrl,
    }),
    limits: { capacity: 16, initialLimit: 1, limitMax: 1 },
    isOneService: true,
    available: () => true,
    mask: ({ url }) => `pagerduty …${keyOf(url).slice(-4)}`,
    partitionKey: ({ url }) => `pagerduty ${fingerprint(keyOf(url))}`,
    send: async (destination, envelope, context) => {
      const { kind = 'alert' } = envelope
      if (!SENT_KINDS.includes(kind)) throw new Error(`PagerDuty is not notified of a ${kind}`)
      const key = dedupKeyOf(envelope, context.wallet)
      return await enqueue(destination, envelope, { key, action: actionOf(envelope) }, context)
    },
    edit: async (destination, messageId, envelope, state, context) => {
      for (const action of actionsIn(state, context)) {
        await enqueue(destination, envelope, { key: messageId, action }, context)
      }
      return { messageId }
    },
  })
}

/** The event of a new message: a recovery resolves the event that its alert triggered. */
function actionOf({ message }: Envelope): Action {
  return message.isRecovery ? 'resolve' : 'trigger'
}

/** The events of a changed message, in order; none if PagerDuty has no such event, as for a mute. */
function actionsIn(
  state: MessageState,
  { isLonger = false, rings = false }: Pick<SendContext, 'isLonger' | 'rings'>,
): readonly Action[] {
  // The end of an incident is sent with its last recovery, or when its watch is deleted.
  if (hasEnded(state)) return ['resolve']
  if (rings) return ['resolve', 'trigger']
  if (state.acknowledged !== undefined) return ['acknowledge']
  return isLonger ? ['trigger'] : []
}

/** Exact body of an event, in the language of the recipient. */
function eventBody(
  envelope: Envelope,
  event: { readonly routingKey: string; readonly key: string; readonly action: Action },
): string {
  const { locale, message, items = [], cause } = envelope
  const { routingKey, key, action } = event
  const about = { routing_key: routingKey, event_action: action, dedup_key: key }
  if (action !== 'trigger') return JSON.stringify(about)
  const details = translator(locale)('messages:details')
  const label = message.watchLabel === null ? undefined : shownLabel(message.watchLabel)
  const { title, body, number } = cardOf(envelope)
  const summary = [message.test ? TEST_GLYPH : '', withoutDirections(title)]
  const pages = message.fields.flatMap(({ label: text, href }) =>
    href !== undefined && isOpenLink(href) ? [{ href, text: plain(text, SOURCE_MAX) }] : [],
  )
  return JSON.stringify({
    ...about,
    client: 'Watchdog',
    ...(isOpenLink(message.link) && { client_url: message.link }),
    links: [
      ...(isOpenLink(message.link) ? [{ href: message.link, text: details }] : []),
      ...pages,
    ].slice(0, LINKS_MAX),
    payload: {
      summary: plain(summary.filter((part) => part !== '').join(' '), SUMMARY_MAX),
      source: plain(label ?? servedChain().name, SOURCE_MAX),
      severity: cause?.kind === 'silent' ? 'critical' : message.severity,
      timestamp: startIn(envelope).toISOString(),
      ...(envelope.type !== null && { component: envelope.type }),
      ...(envelope.group !== null && { group: envelope.group }),
      class: message.event,
      custom_details: {
        ...(number !== undefined && { incident: number }),
        ...alertsOf(items),
        ...detailsOf(body, message.fields),
      },
    },
  })
}

/** The start that the heading of the incident is about. */
function startIn(envelope: Envelope): Date {
  const isList = (envelope.items ?? []).length > 0
  return isList ? groupTimes(envelope, {}).from : startOf(envelope)
}

/** The alerts of an incident by their places, each with its consequence. */
function alertsOf(items: readonly EnvelopeMessage[]): Record<string, string> {
  return Object.fromEntries(
    items
      .slice(0, FIELDS_MAX)
      .map(({ title, body }, index) => [
        `${index + 1}/${items.length}`,
        plain(withoutDirections(`${title}: ${body}`), VALUE_MAX),
      ]),
  )
}

/** The text and the values of an alert. A label that occurs twice keeps its first value. */
function detailsOf(body: string, fields: readonly MessageField[]): Record<string, string> {
  const values = fields
    .slice(0, FIELDS_MAX)
    .map(({ label, value }) => [plain(label, SOURCE_MAX), plain(value, VALUE_MAX)] as const)
  return { ...Object.fromEntries(values.toReversed()), text: plain(body, TEXT_MAX) }
}

/** A text of an event, which PagerDuty shows with links where it finds any. */
function plain(text: string, max: number): string {
  return cutText(inertText(text.toWellFormed()), max).trim() || '\u2013'
}

/** Dedup key of a message: it has the number of the incident, which counts for each wallet; of a test its id. */
function dedupKeyOf({ deliveryId, message }: Envelope, wallet: string): string {
  const host = URL.parse(message.link)?.host ?? 'watchdog'
  const { incidentId } = message
  return incidentId === null
    ? `${host}/tests/${deliveryId}`
    : `${host}/${wallet}/incidents/${incidentId}`
}

function refusedKey({ statusCode, text }: SafeAnswer): DeliveryError | undefined {
  if (statusCode !== 400 || !REFUSED_KEY.test(text)) return undefined
  return new DeliveryError('gone', { permanent: true, statusCode })
}

/**
 * Whether a text is an integration URL of PagerDuty, or of a stand-in on this machine where private
 * addresses are allowed.
 */
function isIntegration(text: string, allowPrivate: boolean): boolean {
  const url = URL.parse(text)
  if (url === null || checkUserUrl(text, allowPrivate) !== undefined) return false
  const isService = url.protocol === 'https:' && url.port === '' && HOSTS.includes(url.hostname)
  return INTEGRATION.test(url.pathname) && url.search === '' && (isService || allowPrivate)
}

/** The integration URL of a typed text. A bare integration key becomes a URL in the US region. */
function integrationUrl(text: string): string {
  return KEY.test(text) ? `https://${HOSTS[0]}/integration/${text}/enqueue` : text
}

function keyOf(url: string): string {
  return INTEGRATION.exec(new URL(url).pathname)?.[1] ?? ''
}

/** Identifies a key without revealing it. */
function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}
