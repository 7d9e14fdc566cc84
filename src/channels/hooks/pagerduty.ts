import { createHash } from 'node:crypto'
import { z } from 'zod'
import { withoutDirections } from '#src/i18n/isolates.ts'
import { translator } from '#src/i18n/translate.ts'
import { servedChain } from '#src/kernel/chains.ts'
import { cutText } from '#src/kernel/cut-text.ts'
import { inertText } from '#src/kernel/inert-text.ts'
import { cardOf } from '../card/card.ts'
import { startOf } from '../card/outage.ts'
import { isOpenLink, shownLabel, TEST_GLYPH } from '../card/wording.ts'
import {
  type Channel,
  type ChannelDefinition,
  DeliveryError,
  defineChannel,
  type IncidentState,
  type Receipt,
  type SendContext,
  USUAL_TRAITS,
} from '../define.ts'
import type { Envelope, EnvelopeKind, EnvelopeMessage, MessageField } from '../envelope.ts'
import { groupTimes } from '../groups/times.ts'
import type { SafeAnswer } from '../requests/http-exchange.ts'
import { checkUserUrl } from '../requests/safe-fetch.ts'
import { createHookSender } from './hook-sender.ts'
import { type HookDeps, type HookDestination, RequestBodyPreview, urlForm } from './hook-url.ts'

/**
 * Alerts of a PagerDuty service, by the Events API v2. An incident triggers one PagerDuty alert, however many alerts
 * it has at this service. Every event follows the state of the whole incident at the time of sending, whatever the message
 * is about: PagerDuty's alert is acknowledged when all open alerts are, and resolved only when none is left. The dedup key of
 * the events has the number of the incident.
 *
 * PagerDuty does not notify again of an alert that is triggered twice while it is open. So an incident has two keys
 * (`otherKey`). What must ring, such as a raised severity, is triggered under the one that is not open, and then the alert of
 * the other one is resolved: in this order, so that an incident that lasts has an open alert at any time, also if the second
 * event is refused.
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
  followsIncident: true,
  preview: {
    form: RequestBodyPreview,
    write: (envelope, wallet) => {
      const event = {
        routingKey: '0'.repeat(32),
        key: dedupKeyOf(envelope, wallet),
        action: envelope.message.isRecovery ? ('resolve' as const) : ('trigger' as const),
      }
      return { body: eventBody(envelope, event) }
    },
  },
  create: createPagerDuty,
} as const satisfies ChannelDefinition<RequestBodyPreview, HookDeps>

function createPagerDuty(deps: HookDeps): Channel<unknown> {
  const post = createHookSender(deps, {
    ...{ keyMs: KEY_MS, gone: GONE, floodSeconds: FLOOD_SECONDS },
    refusal: refusedKey,
  })
  async function enqueue(
    { url }: HookDestination,
    envelope: Envelope,
    { key, action }: PagerEvent,
    context: Pick<SendContext, 'now' | 'signal' | 'timeoutMs'>,
  ): Promise<Receipt> {
    const routingKey = keyOf(url)
    const { statusCode } = await post({
      key: routingKey,
      url: `${new URL(url).origin}${ENQUEUE}`,
      body: eventBody(envelope, { routingKey, key, action }),
      context,
    })
    return { statusCode }
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
      const events = firstEvents(envelope, key, context.incident)
      const send = (event: PagerEvent) => enqueue(destination, envelope, event, context)
      return { ...(await inOrder(events, send)), messageId: key }
    },
    edit: async (destination, messageId, envelope, _state, context) => {
      const { events, key } = laterEvents(messageId, context)
      const send = (event: PagerEvent) => enqueue(destination, envelope, event, context)
      return { ...(await inOrder(events, send)), messageId: key }
    },
  })
}

/** Sends events in order. What was accepted stays, so a later failure counts as an attempt, whatever it is. */
async function inOrder(
  events: readonly PagerEvent[],
  send: (event: PagerEvent) => Promise<Receipt>,
): Promise<Receipt> {
  let receipt: Receipt = {}
  for (const [index, event] of events.entries()) {
    try {
      receipt = await send(event)
    } catch (error) {
      throw index === 0 ? error : countedFailure(error)
    }
  }
  return receipt
}

/** An event of the alert with a key. */
interface PagerEvent {
  readonly key: string
  readonly action: Action
}

/**
 * The events of the first message about an incident. Of an incident that is over nobody is notified any more, except of
 * what nothing ends. Recoveries alone say nothing of an incident that goes on.
 *
 * @param incident undefined for a test
 */
function firstEvents(
  { message, items = [] }: Envelope,
  key: string,
  incident: IncidentState | undefined,
): readonly PagerEvent[] {
  const alerts = [message, ...items].filter(({ isRecovery }) => !isRecovery)
  const trigger = { key, action: 'trigger' } as const
  if (incident === undefined) return [trigger]
  if (incident.isOver) {
    const isTold = alerts.some(({ canRecover }) => !canRecover)
    return [...(isTold ? [trigger] : []), ...endOf(key)]
  }
  if (alerts.length === 0) return []
  return incident.isTaken ? [trigger, { key, action: 'acknowledge' }] : [trigger]
}

/**
 * The events that follow an incident, and the key of its alert from now on; none if PagerDuty has no such event, as for a
 * mute. Someone who has taken all of it is not notified again.
 */
function laterEvents(
  key: string,
  { attempt, incident, isLonger = false, rings = false }: SendContext,
): { readonly key: string; readonly events: readonly PagerEvent[] } {
  // No test is changed.
  if (incident === undefined) return { key, events: [] }
  if (incident.isOver) return { key, events: endOf(key) }
  const other = otherKey(key)
  if (rings && !incident.isTaken) {
    const ring: PagerEvent = { key: other, action: 'trigger' }
    return { key: other, events: [ring, { key, action: 'resolve' }] }
  }
  // A failed attempt before this one may have rung.
  const leftover = attempt > 1 ? [{ key: other, action: 'resolve' } as const] : []
  const news = isLonger ? [{ key, action: 'trigger' } as const] : []
  const taken = incident.isTaken ? [{ key, action: 'acknowledge' } as const] : []
  return { key, events: [...news, ...taken, ...leftover] }
}

/**
 * The end of both alerts of an incident: an answer or the stored message may be lost, so it is not sure which of them is
 * open. PagerDuty ignores the end of one that is not.
 */
function endOf(key: string): readonly PagerEvent[] {
  return [key, otherKey(key)].map((each) => ({ key: each, action: 'resolve' }))
}

/** A failure after an accepted event, as one that counts as an attempt. */
function countedFailure(error: unknown): DeliveryError {
  if (!(error instanceof DeliveryError)) {
    return new DeliveryError('internal', { isOurFault: true, cause: error })
  }
  const { reason, permanent, statusCode, retryAfterSeconds, isOurFault } = error
  return new DeliveryError(reason, {
    ...{ permanent, isOurFault, cause: error },
    ...(statusCode !== undefined && { statusCode }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  })
}

/** Exact body of an event, in the language of the recipient. */
function eventBody(
  envelope: Envelope,
  event: PagerEvent & { readonly routingKey: string },
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

/** The other one of the two keys of an incident: `…/incidents/31` and `…/incidents/31/2`. */
function otherKey(key: string): string {
  const [, first] = /^(.*\/incidents\/\d+)\/2$/.exec(key) ?? []
  return first ?? `${key}/2`
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
