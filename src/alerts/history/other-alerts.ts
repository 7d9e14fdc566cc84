/** The list of other alerts of the same watch, on the page of an alert. */
import type { EnvelopeMessage, MessageState } from '#src/channels/envelope.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { DAY_MS } from '#src/kernel/durations.ts'
import { recoveryRoleOf } from '#src/watches/events.ts'
import { listIncidentParts } from '../incidents/part-store.ts'
import { withCurrentFigures } from '../messages/current-figures.ts'
import { messageStates } from '../messages/message-state.ts'
import { outageSeconds, readOutages } from '../messages/outage-times.ts'
import type { Reader } from '../messages/render.ts'
import { renderListedAlert } from '../recorded-alert.ts'
import type * as store from '../store.ts'
import type { ReadDeps } from './history.ts'
import { listAlertPart } from './part-store.ts'

/** Number of alerts around an alert that are read, and of alerts that the page lists. */
const READ_MAX = 100
const SHOWN_MAX = 20
/** Maximum number of parts of an incident that are read. */
const TOGETHER_MAX = 1000

/** An alert in the list. */
export interface OtherAlert {
  /**
   * The message, with a link that names no recipient and may only read. A link that names the recipient
   * would lead from an old page to newer pages that allow actions.
   */
  readonly message: EnvelopeMessage
  readonly state: MessageState
  /** Start of the outage; the time of an alert that nothing ends. */
  readonly startedAt: Date
  /** Seconds after which the alert recovered; null while it is open. */
  readonly recoveredAfter: number | null
}

/**
 * Alerts of an alert's watch within a day before and after it that were meant for the same recipient, newest
 * first.
 */
export async function listAlertsAround(
  { db }: Pick<ReadDeps, 'db'>,
  row: store.AlertRow,
  recipientId: number,
): Promise<readonly store.AlertRow[]> {
  const { rows } = await listAlertPart(db, row.wallet, dayAround(row), undefined, READ_MAX)
  const others = rows.filter(({ event }) => !recoveryRoleOf(event).isRecovery)
  return await meantFor(db, row, others, recipientId)
}

/** Alerts of an incident. */
export interface IncidentAlerts {
  readonly rows: readonly store.AlertRow[]
  /** Whether there may be more: there is a bound on how many are read. */
  readonly isCut: boolean
}

/** An alert and the others of its incident that were meant for a recipient, newest first, up to a bound. */
export async function listAlertsOfIncident(
  { db }: Pick<ReadDeps, 'db'>,
  row: store.AlertRow,
  recipientId: number,
): Promise<IncidentAlerts> {
  const parts = await listIncidentParts(db, row.wallet, [row.incidentId], TOGETHER_MAX)
  const alerts = parts.filter(({ event }) => !recoveryRoleOf(event).isRecovery)
  const others = await meantFor(db, row, alerts, recipientId)
  return { rows: [row, ...others], isCut: parts.length === TOGETHER_MAX }
}

function dayAround({ watchId, firedAt }: store.AlertRow) {
  const at = firedAt.getTime()
  return { watchId, from: new Date(at - DAY_MS), to: new Date(at + DAY_MS) }
}

/** The alerts other than `row` that were meant for the recipient. */
async function meantFor(
  db: ReadDeps['db'],
  row: store.AlertRow,
  rows: readonly store.AlertRow[],
  recipientId: number,
): Promise<readonly store.AlertRow[]> {
  const others = rows.filter(({ id }) => id !== row.id)
  const meant = await delivery.listMeantFor(
    db,
    recipientId,
    others.map(({ id }) => id),
  )
  return others.filter(({ id }) => meant.has(id))
}

/** The first of these alerts as a list shows them. An alert that cannot be rendered is left out. */
export async function describeOthers(
  deps: ReadDeps & { readonly clock: Clock },
  rows: readonly store.AlertRow[],
  reader: Reader,
): Promise<readonly OtherAlert[]> {
  const shown = await withCurrentFigures(deps.db, rows.slice(0, SHOWN_MAX))
  const states = await messageStates(
    deps,
    shown.map(({ id }) => id),
  )
  const outages = await readOutages(deps.db, shown)
  return shown.flatMap((row): OtherAlert[] => {
    try {
      const message = renderListedAlert(deps, row, reader)
      const state = states.get(row.id) ?? {}
      const outage = outages.get(row.id) ?? { from: row.firedAt, to: null }
      return [{ message, state, startedAt: outage.from, recoveredAfter: outageSeconds(outage) }]
    } catch {
      return []
    }
  })
}
