/** The webhook of an alert in the OpenAPI document, with the schema of `data` for every event. */
import { z } from 'zod'
import { WEBHOOK_HEADERS } from '#src/channels/hooks/webhook.ts'
import { checkedKey, type Translate } from '#src/i18n/translate.ts'
import { eventsByDataSchema } from '#src/watches/events.ts'
import { webhookExample } from '../examples/webhook.ts'

const JSON_TYPE = 'application/json'
/** Component with one entry for each schema of `data`. */
const EVENT_COMPONENT = 'WebhookEvent'

/** A schema of `data` with its component and its events. */
interface EventData {
  readonly component: string
  readonly events: readonly string[]
}

/** The schemas of `data`, in the order of the catalogue. */
export function listEventDataSchemas(): readonly EventData[] {
  return [...eventsByDataSchema()].map(([schema, events]) => {
    const component = z.globalRegistry.get(schema)?.id
    if (component === undefined) throw new Error(`the data of ${events[0]} has no name`)
    return { component, events }
  })
}

/**
 * Builds the component that maps each event to the schema of its `data`, and a component for each of its variants. Later
 * releases add events and properties.
 *
 * @param uri returns the URI of a component, by its name
 */
export function eventComponent(
  t: Translate,
  uri: (component: string) => string,
): Readonly<Record<string, unknown>> {
  const variants = listEventDataSchemas().map(({ component, events }) => {
    const schema = {
      type: 'object',
      properties: {
        event: {
          type: 'string',
          enum: events,
          description: t('operations:field.webhook.event'),
        },
        data: {
          $ref: uri(component),
          description: t('operations:field.webhook.data'),
        },
      },
      required: ['event', 'data'],
      // The properties of the payload stand beside these.
      unevaluatedProperties: true,
    }
    return [component.replace(/Data$/, 'Event'), schema] as const
  })
  const oneOf = variants.map(([name]) => ({ $ref: uri(name) }))
  return { ...Object.fromEntries(variants), [EVENT_COMPONENT]: { oneOf } }
}

/**
 * The webhook of an alert: body, headers and meaning of responses. `webhooks` of the document refers to it as a component,
 * because generators of clients write a call for what stands in `webhooks` itself, which no client makes.
 *
 * @param payload reference to the schema of the body
 * @param uri returns the URI of a component, by its name
 */
export function alertWebhook(
  { t, publicUrl }: { readonly t: Translate; readonly publicUrl: string },
  payload: unknown,
  uri: (component: string) => string,
): Record<string, unknown> {
  return {
    post: {
      operationId: 'alertWebhook',
      tags: ['webhooks'],
      summary: t('operations:webhook.alert.summary'),
      description: t('operations:webhook.alert.description'),
      security: [],
      parameters: WEBHOOK_HEADERS.map(({ name, isAlwaysSent, schema }) => ({
        name,
        in: 'header',
        required: isAlwaysSent,
        description: t(checkedKey(`pages:docs.header.${name}`)),
        schema,
      })),
      requestBody: {
        required: true,
        content: {
          [JSON_TYPE]: {
            schema: { allOf: [payload, { $ref: uri(EVENT_COMPONENT) }] },
            example: webhookExample(publicUrl),
          },
        },
      },
      responses: {
        200: { description: t('operations:webhook.alert.taken') },
        410: { description: t('operations:webhook.alert.gone') },
      },
    },
  }
}
