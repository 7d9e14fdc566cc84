/**
 * An alert is a recorded firing. It is `firing` until its signal recovers or a person acknowledges it, and
 * `closed` when its watch is deleted before that; a recovery is a separate alert that names the alert it
 * ends. Alerts can be deleted from the history, open episodes stay open.
 */

import { z } from 'zod'
import { DeliveryEntry } from '#src/delivery/model.ts'
import { SEVERITIES } from '#src/kernel/display-values.ts'
import { Note, textOf } from '#src/kernel/label.ts'
import { LOCALES } from '#src/kernel/locale.ts'
import { pageQueryFields, pageSchema, textInteger } from '#src/kernel/pagination.ts'
import { SIGNAL_GROUPS } from '#src/kernel/signal-group.ts'
import { textFormat } from '#src/kernel/text-format.ts'
import { Id, Instant, JsonObject } from '#src/kernel/units.ts'
import { EVENTS } from '#src/watches/events.ts'
import { REGISTRY as WATCH_TYPES } from '#src/watches/types/index.ts'

export const ALERT_STATES = ['firing', 'recovered', 'acknowledged', 'closed'] as const
export type AlertState = (typeof ALERT_STATES)[number]
/** The states, from the one that decides first about the state of an incident with alerts in several of them. */
export const STATES_IN_ORDER: readonly AlertState[] = [
  'firing',
  'acknowledged',
  'closed',
  'recovered',
]

/** Title and body in one locale. */
export const RenderedText = z
  .object({ locale: z.enum(LOCALES), title: z.string(), body: z.string() })
  .meta({ id: 'Rendered' })
export type RenderedText = z.output<typeof RenderedText>

/** Data of an alert; its form depends on the event. */
export const AlertData = JsonObject.meta({
  type: 'object',
  additionalProperties: true,
  description: 'operations:field.alertData',
})

/** An alert, as callers see it. */
export const Alert = z
  .object({
    id: Id,
    incidentId: Id.meta({ description: 'operations:field.incidentId' }),
    watchId: Id,
    watchLabel: z.string(),
    type: z.string(),
    signal: z.string().nullable(),
    group: z.string().nullable(),
    event: z.string(),
    severity: z.enum(SEVERITIES),
    state: z.enum(ALERT_STATES),
    data: AlertData,
    rendered: RenderedText,
    firedAt: Instant,
    recoveredAt: Instant.nullable(),
    durationSeconds: z.number().nullable(),
    recoveryOf: Id.nullable(),
    acknowledgedAt: Instant.nullable(),
    acknowledgedBy: z.string().nullable().meta({ description: 'operations:field.acknowledgedBy' }),
    note: z.string().nullable().meta({ description: 'operations:field.note' }),
    notedBy: z.string().nullable().meta({ description: 'operations:field.notedBy' }),
    during: z.literal('maintenance').nullable().meta({ description: 'operations:field.during' }),
    deliveries: z.array(DeliveryEntry),
  })
  .meta({ id: 'Alert' })
export type Alert = z.output<typeof Alert>

/** Most alerts and recoveries of an incident that a list shows. */
export const INCIDENT_PARTS_MAX = 100

/** One or several alerts of a watch with one cause, from the first to the last recovery. */
export const Incident = z
  .object({
    id: Id.meta({ description: 'operations:field.incidentId' }),
    title: z.string(),
    severity: z.enum(SEVERITIES).meta({ description: 'operations:field.incidentSeverity' }),
    state: z.enum(ALERT_STATES).meta({ description: 'operations:field.incidentState' }),
    firedAt: Instant,
    recoveredAt: Instant.nullable(),
    durationSeconds: z.number().nullable(),
    acknowledgedAt: Instant.nullable(),
    acknowledgedBy: z.string().nullable().meta({ description: 'operations:field.incidentOwner' }),
    alerts: z.array(Alert).meta({ description: 'operations:field.incidentAlerts' }),
  })
  .meta({ id: 'Incident' })
export type Incident = z.output<typeof Incident>

/** An alert in a list; with `group=incident` the first alert of each incident, with the incident. */
export const ListedAlert = Alert.extend({
  incident: Incident.optional().meta({ description: 'operations:field.incident' }),
}).meta({ id: 'ListedAlert' })
export type ListedAlert = z.output<typeof ListedAlert>

/** Body of an acknowledgement. If it is omitted, the alert is acknowledged. */
export const AcknowledgeInput = z
  .strictObject({
    acknowledged: z.boolean().optional(),
    note: Note.optional().meta({ description: 'operations:field.newNote' }),
  })
  .meta({ id: 'AcknowledgeInput' })

/** Person and time of an acknowledgement; both null if there is none. */
export const Acknowledgement = z
  .object({
    id: Id,
    acknowledgedAt: Instant.nullable(),
    acknowledgedBy: z.string().nullable().meta({ description: 'operations:field.acknowledgedBy' }),
    note: z.string().nullable().meta({ description: 'operations:field.note' }),
  })
  .meta({ id: 'Acknowledgement' })

export const AlertPage = pageSchema(ListedAlert)
  .extend({
    nextCursor: z.string().nullable().meta({ description: 'operations:field.alertsNextCursor' }),
  })
  .meta({ id: 'AlertList' })

/** Filters of a list of alerts. `from` is inclusive, `to` exclusive. */
const alertFilter = {
  watchId: textInteger(1, 2_147_483_647).optional(),
  type: z.enum(WATCH_TYPES.map(({ name }) => name)).optional(),
  group: z.enum(SIGNAL_GROUPS).optional(),
  signal: textOf(0, 64).optional(),
  event: z.enum([...EVENTS]).optional(),
  severity: z.enum(SEVERITIES).optional(),
  state: z.enum(ALERT_STATES).optional().meta({ description: 'operations:field.alertState' }),
  from: Instant.optional(),
  to: Instant.optional(),
}

/** Query of `GET /alerts/export`: the filters of the list. */
export const AlertExportQuery = z.strictObject(alertFilter)

/** Query of `GET /alerts`. `group=incident` lists incidents: an alert of each must match the other filters. */
export const AlertQuery = z.strictObject({
  ...alertFilter,
  group: z
    .enum([...SIGNAL_GROUPS, 'incident'])
    .optional()
    .meta({ description: 'operations:field.alertGroup' }),
  ...pageQueryFields,
})
export type AlertQuery = z.output<typeof AlertQuery>

const IDS_MAX = 500
/** An id, at most `ID_MAX`, because a pattern is all that the published schema can say of it. */
const ID =
  '(?:[1-9]\\d{0,8}|1\\d{9}|20\\d{8}|21[0-3]\\d{7}|214[0-6]\\d{6}|2147[0-3]\\d{5}|21474[0-7]\\d{4}|214748[0-2]\\d{3}' +
  '|2147483[0-5]\\d{2}|21474836[0-3]\\d|214748364[0-7])'
const ID_LIST = new RegExp(`^${ID}(?:,${ID}){0,${IDS_MAX - 1}}$`)

/** Ids in a query, such as `1,2,3`. */
const IdList = z.codec(
  textFormat(ID_LIST, (text) => {
    const number = text.split(',').length
    return number > IDS_MAX
      ? { code: 'too_long', values: { maximum: IDS_MAX, number } }
      : { code: 'id_list' }
  }).meta({ examples: ['4711,4712'] }),
  z.array(Id).min(1).max(IDS_MAX),
  {
    decode: (text) => text.split(',').map(Number),
    encode: (ids) => ids.join(','),
  },
)

/**
 * Selection of alerts to delete, in a query. One of `ids`, `before` or `all` is required; filters restrict
 * it.
 */
export const AlertSelectionQuery = z.strictObject({
  ...alertFilter,
  ids: IdList.optional(),
  before: Instant.optional(),
  all: z.literal('true').optional(),
})

/** Selection of alerts to delete, in a body. */
export const AlertSelection = z
  .strictObject({
    ...alertFilter,
    watchId: Id.optional(),
    ids: z.array(Id).min(1).max(IDS_MAX).optional(),
    before: Instant.optional(),
    all: z.literal(true).optional(),
  })
  .meta({ id: 'AlertSelection' })
export type AlertSelection = z.output<typeof AlertSelection>

/** Response of `DELETE /alerts`. */
export const AlertDeletionResult = z.object({ deleted: z.int() }).meta({ id: 'DeletedAlerts' })

/** Decoded filters of a list of alerts. */
export type AlertFilter = z.output<typeof AlertExportQuery>
