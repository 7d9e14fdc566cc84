import { csvLine } from '#src/alerts/csv.ts'
import { renderMessage } from '#src/alerts/render.ts'
import { findEventSource } from '#src/watches/events.ts'
import type * as operations from '../alerts.ts'
import type { ExamplesOf } from './define.ts'
import {
  ALERT_ID,
  at,
  DELIVERED_AT,
  DELIVERY_ID,
  EVENT,
  FIRED_AT,
  RECIPIENT,
  WATCH,
} from './story.ts'

/** The alert of the story, with the event's own example and the texts that are sent. */
export function alertExamples(): ExamplesOf<typeof operations> {
  const { type, signal, data } = firing()
  const message = renderMessage(
    {
      alertId: ALERT_ID,
      watchId: WATCH.id,
      watchLabel: WATCH.label,
      event: EVENT,
      severity: 'info',
      data,
      firedAt: new Date(FIRED_AT),
      link: '',
      test: false,
    },
    { locale: 'en', timezone: 'UTC' },
  )
  const { title, body } = message
  const about = {
    id: ALERT_ID,
    watchId: WATCH.id,
    watchLabel: WATCH.label,
    type,
    signal: signal.id,
    group: signal.group,
    event: EVENT,
    severity: 'info',
    state: 'firing',
  }
  const alert = {
    ...about,
    data,
    rendered: { locale: 'en', title, body },
    firedAt: FIRED_AT,
    recoveredAt: null,
    durationSeconds: null,
    recoveryOf: null,
    acknowledgedAt: null,
    acknowledgedBy: null,
    deliveries: [delivery],
  }
  const { id, ...rest } = about
  const cells = { id, firedAt: FIRED_AT, recoveredAt: null, ...rest, title, body }
  const row = { ...cells, data: JSON.stringify(data) }
  return {
    listAlerts: { response: { data: [alert], nextCursor: null } },
    deleteAlerts: { request: { ids: [ALERT_ID] }, response: { deleted: 1 } },
    acknowledge: {
      request: { acknowledged: true },
      response: { id: ALERT_ID, acknowledgedAt: at('21:06:12'), acknowledgedBy: 'Automation' },
    },
    exportAlerts: { response: csvLine(Object.keys(row)) + csvLine(Object.values(row)) },
  }
}

const delivery = {
  deliveryId: DELIVERY_ID,
  recipientId: RECIPIENT.id,
  channel: 'webhook',
  status: 'delivered',
  attempts: 1,
  lastStatusCode: 200,
  lastError: null,
  nextAttemptAt: null,
  deliveredAt: DELIVERED_AT,
}

function firing() {
  const source = findEventSource(EVENT)
  const data = source?.signal.examples[EVENT]
  if (source === undefined || data === undefined) throw new Error(`no example of ${EVENT}`)
  return { ...source, data }
}
