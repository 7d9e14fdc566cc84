/** The webhook of an alert in the OpenAPI document. */
import { WEBHOOK_HEADERS } from '#src/channels/webhook.ts'
import { builtKey, type Translate } from '#src/i18n/translate.ts'
import { webhookExample } from './examples/webhook.ts'

const JSON_TYPE = 'application/json'

/**
 * The `webhooks` of the document: body, headers and meaning of responses.
 *
 * @param payload reference to the schema of the body
 */
export function webhooksOf(
  { t, publicUrl }: { readonly t: Translate; readonly publicUrl: string },
  payload: unknown,
): Record<string, unknown> {
  return {
    alert: {
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
          description: t(builtKey(`pages:docs.header.${name}`)),
          schema,
        })),
        requestBody: {
          required: true,
          content: { [JSON_TYPE]: { schema: payload, example: webhookExample(publicUrl) } },
        },
        responses: {
          200: { description: t('operations:webhook.alert.taken') },
          410: { description: t('operations:webhook.alert.gone') },
        },
      },
    },
  }
}
