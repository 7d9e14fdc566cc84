import { renderMessage } from '#src/alerts/messages/render.ts'
import { webhookBody } from '#src/channels/hooks/webhook.ts'
import { JsonObject } from '#src/kernel/units.ts'
import { findEventSource } from '#src/watches/events.ts'
import { ALERT_ID, DELIVERY_ID, EVENT, FIRED_AT, INCIDENT_ID, WATCH } from './story.ts'

/** The alert of the examples' story (`story.ts`), as a webhook receives it. */
export function webhookExample(publicUrl: string): JsonObject {
  const source = findEventSource(EVENT)
  const data = source?.signal.examples[EVENT]
  if (source === undefined || data === undefined) throw new Error(`no example of ${EVENT}`)
  const reader = { locale: 'en', timezone: 'UTC' } as const
  const message = renderMessage(
    {
      alertId: ALERT_ID,
      incidentId: INCIDENT_ID,
      watchId: WATCH.id,
      watchLabel: WATCH.label,
      event: EVENT,
      severity: 'info',
      data,
      firedAt: new Date(FIRED_AT),
      link: `${publicUrl}/a/…`,
      test: false,
    },
    reader,
  )
  const { type, signal } = source
  const about = { deliveryId: DELIVERY_ID, type, signal: signal.id, group: signal.group, data }
  return JsonObject.parse(JSON.parse(webhookBody({ ...about, ...reader, message })))
}
