import { csvLine } from '#src/alerts/history/csv.ts'
import { renderMessage } from '#src/alerts/messages/render.ts'
import { findEventSource } from '#src/watches/events.ts'
import type * as operations from '../rest/alerts.ts'
import type { ExamplesOf } from './define.ts'
import {
  ALERT_ID,
  at,
  DELIVERED_AT,
  DELIVERY_ID,
  EVENT,
  FIRED_AT,
  INCIDENT_ID,
  RECIPIENT,
  WATCH,
} from './story.ts'

const COMMIT = 'fsp.ftso-commit'
const PROVIDER = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'

/** The example data of an event. */
function exampleOf(event: string) {
  const data = findEventSource(event)?.signal.examples[event]
  if (data === undefined) throw new Error(`no example of ${event}`)
  return data
}

/** The alert of the story, with the event's own example and the texts that are sent. */
export function alertExamples(): ExamplesOf<typeof operations> {
  const { type, signal, data } = firing()
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
      link: '',
      test: false,
    },
    { locale: 'en', timezone: 'UTC' },
  )
  const { title, body } = message
  const about = {
    id: ALERT_ID,
    incidentId: INCIDENT_ID,
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
    note: null,
    notedBy: null,
    during: null,
    deliveries: [delivery],
  }
  const { id, incidentId, ...rest } = about
  const cells = { id, firedAt: FIRED_AT, recoveredAt: null, ...rest, title, body }
  const row = { ...cells, data: JSON.stringify(data), incidentId, during: null }
  return {
    listAlerts: { response: { data: [alert], nextCursor: null } },
    deleteAlerts: { request: { ids: [ALERT_ID] }, response: { deleted: 1 } },
    getAlertEvidence: { response: evidence },
    acknowledge: {
      request: { acknowledged: true, note },
      response: { id: ALERT_ID, ...taken, note },
    },
    exportAlerts: { response: csvLine(Object.keys(row)) + csvLine(Object.values(row)) },
  }
}

const note = 'Restarting the node'
const taken = { acknowledgedAt: at('21:06:12'), acknowledgedBy: 'Automation' }

/** The evidence of a commit that was missing in two rounds. */
const evidence = {
  version: 1,
  alertId: ALERT_ID,
  chainId: 14,
  event: COMMIT,
  severity: 'warning',
  firedAt: '2026-11-20T12:03:00.000Z',
  rule: 'Whether the provider committed prices in time in every voting round.',
  data: exampleOf(COMMIT),
  claim: {
    kind: 'round',
    provider: PROVIDER,
    rewardEpoch: 452,
    round: 1_519_400,
    firstRound: 1_519_399,
    streak: 2,
    required: 2,
    checks: ['commit'],
    values: { reason: 'missing', tx: null },
  },
  unproven: null,
  blocks: {
    first: {
      number: 41_880_000,
      hash: '0x05a93355a28127ff0ca2d8136648c1fd682e0041f8367ba4567586b3d4149d54',
      at: '2026-11-20T11:58:30.000Z',
    },
    last: {
      number: 41_880_225,
      hash: '0x6ae081fd19f4890fa29ece8c3ee9585cca38f9869acd7db2b64a0bed2ec5cb50',
      at: '2026-11-20T12:03:00.000Z',
    },
  },
  sources: {
    contracts: [{ name: 'Submission', addresses: ['0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f'] }],
    accounts: [PROVIDER],
    functions: [{ name: 'submit1', selector: '0x6c532fae' }],
    events: [],
  },
  transactions: [],
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
