/** Incidents as lists show them, made from their stored parts. */
import { cardOf } from '#src/channels/card/card.ts'
import { alertHeading } from '#src/channels/card/heading.ts'
import type { IncidentState } from '#src/channels/define.ts'
import type { MessageState } from '#src/channels/envelope.ts'
import type { Db } from '#src/db/connection.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { SEVERITIES, type Severity, worstSeverity } from '#src/kernel/display-values.ts'
import type { SecretBox } from '#src/kernel/secret-box.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { outageSeconds, outageTimesOf, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import { type AlertState, INCIDENT_PARTS_MAX, STATES_IN_ORDER } from '../model.ts'
import { dataFor, recordedFromRow } from '../recorded-alert.ts'
import type { AlertRow } from '../store.ts'
import type { During } from '../tables.ts'
import { headingOf, listedMessage, newestOfEach } from './heading.ts'
import { incidentStateOf, listIncidentParts } from './part-store.ts'

interface Deps {
  readonly db: Db
  readonly box: SecretBox
  readonly publicUrl: string
  readonly clock: Clock
}

/** An incident: its alerts together. */
export interface IncidentSummary {
  readonly id: number
  /** The name of its watch, and what its alerts have in common, or what its only alert says. */
  readonly title: string
  /** The highest so far. */
  readonly severity: Severity
  readonly state: AlertState
  /** Start of the outage; the time of an alert that nothing ends. */
  readonly startedAt: Date
  /** End of the outage; null while an alert is open. */
  readonly recoveredAt: Date | null
  readonly durationSeconds: number | null
  /** Who took it last, if nothing of it is left to take. */
  readonly acknowledged: { readonly at: Date; readonly by: string | null } | null
  /** The last note about one of its alerts. */
  readonly note: { readonly text: string; readonly by: string | null } | null
  /** Planned maintenance in which it began. */
  readonly during: During | null
  /** Its alerts and recoveries, newest first. */
  readonly parts: readonly AlertRow[]
}

/** State of an incident now, for channels that follow it. */
export function readIncidentState(
  db: Db,
  incident: { readonly wallet: string; readonly incidentId: number },
): Promise<IncidentState> {
  return incidentStateOf(db, incident)
}

/** These incidents of a wallet, by their number; those without a part that can be read are missing. */
export async function readIncidents(
  deps: Deps,
  wallet: string,
  ids: readonly number[],
  reader: Reader,
): Promise<ReadonlyMap<number, IncidentSummary>> {
  const parts = await listIncidentParts(deps.db, wallet, ids, INCIDENT_PARTS_MAX)
  const current = await withCurrentFigures(deps.db, parts.filter(isAlert))
  const outages = await readOutages(deps.db, current)
  const states = await messageStates(
    deps,
    current.map(({ id }) => id),
  )
  const all = Map.groupBy(parts, ({ incidentId }) => incidentId)
  const alertsOf = Map.groupBy(current, ({ incidentId }) => incidentId)
  const now = deps.clock.now()
  return new Map(
    [...all].flatMap(([id, own]) => {
      const alerts = alertsOf.get(id) ?? own
      const times = alerts.map((row) => outages.get(row.id) ?? outageTimesOf(row, undefined))
      const course = courseOf(alerts, times)
      const title = titleOf(deps, newestOfEach(alerts), hasEnded(course) ? new Map() : states, {
        reader,
        at: now,
      })
      return title === undefined ? [] : [[id, { id, title, ...course, parts: own }] as const]
    }),
  )
}

/**
 * What happened: the heading of the message about the alerts. That of an incident that is over says what it was, so the
 * ends of its alerts are left out.
 */
function titleOf(
  deps: Deps,
  alerts: readonly AlertRow[],
  states: ReadonlyMap<number, MessageState>,
  how: { readonly reader: Reader; readonly at: Date },
): string | undefined {
  const heading = headingOf(deps, alerts, states, how)
  if (heading !== undefined) return cardOf(heading.envelope, { state: heading.state }).title
  const [first] = alerts
  const message = first && listedMessage(deps, first, how.reader)
  if (first === undefined || message === undefined) return undefined
  return alertHeading({
    data: dataFor(how.reader, recordedFromRow(first).data),
    message,
    locale: how.reader.locale,
  })
}

function hasEnded({ state }: Pick<IncidentSummary, 'state'>): boolean {
  return state === 'recovered' || state === 'closed'
}

/** Severity, state, times and owner of an incident with these alerts. */
function courseOf(
  alerts: readonly AlertRow[],
  times: readonly ReturnType<typeof outageTimesOf>[],
): Omit<IncidentSummary, 'id' | 'title' | 'parts'> {
  const state = stateOfAll(alerts)
  const from = new Date(Math.min(...times.map((each) => each.from.getTime())))
  const isOver = state === 'recovered'
  const to = isOver ? new Date(Math.max(...times.map((each) => each.to?.getTime() ?? 0))) : null
  const episodes = alerts.filter(({ isEpisode }) => isEpisode)
  const open = episodes.filter(({ recoveredAt }) => recoveredAt === null)
  return {
    severity:
      worstSeverity(
        SEVERITIES.filter((each) => alerts.some(({ severity }) => severity === each)),
      ) ?? 'warning',
    state,
    startedAt: from,
    recoveredAt: to,
    durationSeconds: outageSeconds({ from, to }),
    during: alerts.find(({ during }) => during !== null)?.during ?? null,
    acknowledged: ownerOf(open.length > 0 ? open : alerts, open.length > 0),
    note: lastNote(alerts),
  }
}

/** Who acknowledged last. While alerts are open, all of them must be acknowledged. */
function ownerOf(alerts: readonly AlertRow[], areAllNeeded: boolean) {
  const taken = alerts.flatMap(({ acknowledgedAt: at, acknowledgedBy: by }) =>
    at === null ? [] : [{ at, by }],
  )
  if (areAllNeeded && taken.length < alerts.length) return null
  return taken.toSorted((a, b) => b.at.getTime() - a.at.getTime())[0] ?? null
}

function lastNote(alerts: readonly AlertRow[]): IncidentSummary['note'] {
  const notes = alerts.flatMap(({ note: text, notedAt, notedBy: by }) =>
    text === null || notedAt === null ? [] : [{ at: notedAt, text, by }],
  )
  const last = notes.toSorted((a, b) => b.at.getTime() - a.at.getTime())[0]
  return last === undefined ? null : { text: last.text, by: last.by }
}

/** The state of the alert that is furthest from its end; alerts that nothing ends count where there are no others. */
function stateOfAll(alerts: readonly AlertRow[]): AlertState {
  const episodes = alerts.filter(({ isEpisode }) => isEpisode)
  const states = (episodes.length > 0 ? episodes : alerts).map(({ state }) => state)
  return STATES_IN_ORDER.find((state) => states.includes(state)) ?? 'recovered'
}

function isAlert({ event }: AlertRow): boolean {
  return !recoveryRoleOf(event).isRecovery
}
