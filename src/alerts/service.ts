import { outageStart } from '#src/channels/card/outage.ts'
import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { maintenanceAt } from '#src/recipients/maintenance.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import { addCounterpartyRoles } from './counterparties.ts'
import {
  applyFirings,
  type EpisodeChanges,
  type EpisodeFiring,
  type OpenAlert,
  startOfAlert,
} from './episodes/episodes.ts'
import { findCause } from './episodes/inhibition.ts'
import * as episodes from './episodes/store.ts'
import { findActiveCauses, uninhibitAlerts } from './episodes/uninhibit.ts'
import { listIdsOfIncidents } from './incidents/part-store.ts'
import { placeInIncidents } from './incidents/place.ts'
import * as incidents from './incidents/store.ts'
import { logEnded, logInhibited, logRecorded } from './log-lines.ts'
import type { AlertNote } from './messages/render.ts'
import type { NotifyDeps } from './notify/deps.ts'
import { type Notification, notifyRecipients } from './notify/notify.ts'
import { markOwnTopups } from './own-topups.ts'
import { cooldownNotes, maintenanceNotes, recordedFromOpen } from './recorded-alert.ts'
import { episodeKeyOf, hasRecovery, isMuted, nextReminder } from './rules.ts'
import * as store from './store.ts'
import type { During } from './tables.ts'

/** A firing and its record, if it has one. */
type RecordedFiring = EpisodeFiring & {
  readonly during: During | null
  readonly candidate: AlertCandidate
  readonly incidentId: number | undefined
}
/** A firing that this call has recorded as an alert. */
type NewAlert = RecordedFiring & { readonly alertId: number; readonly incidentId: number }

/**
 * Records alert candidates as alerts and puts their deliveries into the outbox, in the transaction that
 * caused them. Already recorded firings (a replayed observation) are skipped.
 */
export async function recordAlerts(
  deps: NotifyDeps,
  tx: Db,
  all: readonly AlertCandidate[],
): Promise<void> {
  const now = deps.clock.now()
  const candidates = await addCounterpartyRoles(tx, await markOwnTopups(tx, all))
  const settings = await listSettings(tx, walletsOf(candidates))
  const placed = await placeInIncidents(tx, candidates)
  const held = placed.map((candidate) => ({ ...candidate, during: duringOf(candidate, settings) }))
  const inserted = await store.insertAlerts(tx, held, now)
  const insertedBy = new Map(inserted.map((alert) => [alert.key, alert]))
  const fired = candidates.map((candidate): RecordedFiring => {
    const { signal, event, position } = candidate
    const watchId = candidate.watch.id
    const alert = insertedBy.get(store.alertKey({ watchId, signal, event, position }))
    const during = duringOf(candidate, settings)
    const ids = { alertId: alert?.id, incidentId: alert?.incidentId, watchId }
    return { ...candidate, ...ids, candidate, during }
  })
  logRecorded(deps, fired.filter(isNewAlert))
  const isEpisode = ({ isRecovery, event }: RecordedFiring) => isRecovery || hasRecovery(event)
  const alone = fired
    .filter((alert) => !isEpisode(alert) && alert.during === null)
    .filter(isNewAlert)
  const ofEpisodes = fired.filter(
    (alert) => isEpisode(alert) && (isNewAlert(alert) || alert.isRecovery),
  )
  const notifications =
    ofEpisodes.length === 0 ? [] : await updateEpisodes(deps, tx, ofEpisodes, { settings, now })
  await notifyRecipients(deps, tx, [
    ...alone.map((alert) =>
      toNotification(alert, { kind: 'alert', effectiveSeverity: alert.severity }, now),
    ),
    ...notifications,
  ])
}

function walletsOf(candidates: readonly AlertCandidate[]) {
  return [...new Set(candidates.map(({ watch }) => watch.wallet))]
}

/** The maintenance in which an alert fires. The end of an alert is always recorded as what it is. */
function duringOf(
  { watch, firedAt, isRecovery }: AlertCandidate,
  settings: ReadonlyMap<string, Settings>,
): During | null {
  const walletSettings = settings.get(watch.wallet) ?? DEFAULT_SETTINGS
  const isHeld = !isRecovery && maintenanceAt(walletSettings, watch.id, firedAt) !== undefined
  return isHeld ? 'maintenance' : null
}

/** Starts, changes and ends episodes, and returns the notifications. */
async function updateEpisodes(
  deps: NotifyDeps,
  tx: Db,
  fired: readonly RecordedFiring[],
  { settings, now }: { readonly settings: ReadonlyMap<string, Settings>; readonly now: Date },
): Promise<readonly Notification[]> {
  const wallets = walletsOf(fired.map(({ candidate }) => candidate))
  const before = await episodes.listOpenAlerts(tx, wallets)
  const result = applyFirings(fired, before)
  await episodes.endEpisodes(tx, result.ends)
  logEnded(deps, result.ends)
  const fresh = fired.filter(isNewAlert)
  const ids = fresh.map(({ alertId }) => alertId)
  const causes = await findActiveCauses(tx, result.open, ids)
  const inhibitedAlerts = result.open.filter((alert) => findCause(alert, causes) !== undefined)
  const inhibited = new Set(
    fresh.filter((alert) => inhibitedAlerts.some(({ id }) => id === alert.alertId)),
  )
  const isHeldBack = (alert: NewAlert) => inhibited.has(alert) || alert.during !== null
  const marks = fresh.flatMap((alert) => {
    const isHeld = isHeldBack(alert)
    const mark = toEpisodeMark(alert, result, othersOfIncident(alert, before, ids))
    const walletSettings = settings.get(alert.candidate.watch.wallet) ?? DEFAULT_SETTINGS
    const isMuted = mark.mutedAt !== undefined
    return [
      {
        ...mark,
        ...(isHeld && { notifiedAt: null }),
        remindAt: isHeld || isMuted ? undefined : remindAt(alert, walletSettings, now),
      },
    ]
  })
  await episodes.saveEpisodeColumns(tx, marks)
  logInhibited(deps, inhibited)
  const released = await uninhibitAlerts(tx, { open: result.open, causes, settings, now })
  const ended = result.ends.flatMap(({ alertIds }) => alertIds)
  const parts = before.filter(({ id }) => ended.includes(id))
  const ofIncidents = await listIdsOfIncidents(tx, parts)
  await delivery.reviseMessages(tx, ended, { ofIncidents })
  const notified = fresh.filter((alert) => !isHeldBack(alert) && !isUnnotified(alert, result))
  return [
    ...notified.map((alert) =>
      episodeNotification(alert, result, othersOfIncident(alert, before, ids), now),
    ),
    ...released,
  ]
}

/** The alerts of the incident of a new alert that were open before; none for a recovery. */
function othersOfIncident(
  { isRecovery, incidentId }: NewAlert,
  before: readonly OpenAlert[],
  fresh: readonly number[],
): readonly OpenAlert[] {
  if (isRecovery) return []
  return before.filter((alert) => alert.incidentId === incidentId && !fresh.includes(alert.id))
}

/** Since when an incident is muted until it is over: all of its alerts are. */
function muteOf(others: readonly OpenAlert[]): Date | undefined {
  const times = others.map(({ mutedAt }) => mutedAt)
  return times.includes(null) ? undefined : (times[0] ?? undefined)
}

/** Whether the firing is a recovery of an alert that was sent to no recipient. */
function isUnnotified(firing: NewAlert, { effects }: EpisodeChanges<RecordedFiring>): boolean {
  const episode = effects.get(firing)?.episode ?? []
  return (
    firing.isRecovery &&
    episode.length > 0 &&
    episode.every(({ notifiedAt }) => notifiedAt === null)
  )
}

/** The episode columns of an alert's row. */
function toEpisodeMark(
  firing: NewAlert,
  { effects }: EpisodeChanges<RecordedFiring>,
  others: readonly OpenAlert[],
): episodes.EpisodeColumns {
  const id = firing.alertId
  const { episode: [first] = [], effectiveSeverity } = effects.get(firing) ?? {}
  const ended =
    firing.isRecovery && effectiveSeverity !== undefined
      ? { episodeSeverity: effectiveSeverity }
      : {}
  if (firing.isRecovery) {
    return {
      ...{ id, ...ended },
      ...(first !== undefined && { recoveryOf: first.id, startedAt: startOfAlert(first) }),
      ...(first?.during && { during: first.during }),
    }
  }
  const mutedAt = muteOf(others)
  const { escalatedAt, escalatedTo } = others.find(isEscalated) ?? {}
  return {
    id,
    ...(first !== undefined && { increaseOf: first.id, startedAt: startOfAlert(first) }),
    ...(mutedAt !== undefined && { mutedAt }),
    ...(escalatedAt && escalatedTo && { escalatedAt, escalatedTo }),
  }
}

/** Time of the next reminder of a critical alert. */
function remindAt(firing: NewAlert, { repeat }: Settings, now: Date): Date | undefined {
  if (firing.isRecovery || firing.severity !== 'critical') return undefined
  return nextReminder(repeat.critical, now, now)
}

function episodeNotification(
  firing: NewAlert,
  { effects, open }: EpisodeChanges<RecordedFiring>,
  others: readonly OpenAlert[],
  now: Date,
): Notification {
  const { episode, effectiveSeverity } = effects.get(firing) ?? {
    episode: [],
    effectiveSeverity: firing.severity,
  }
  const answered = episode.find(({ notifiedAt }) => notifiedAt !== null)
  const isIncrease = !firing.isRecovery && episode.length > 0
  const takenBy = episode.findLast(({ acknowledgedBy }) => acknowledgedBy !== null)?.acknowledgedBy
  const wasEscalated = [...episode, ...others].some(isEscalated)
  const notification = toNotification(
    firing,
    { kind: isIncrease ? 'raised' : 'alert', effectiveSeverity },
    now,
  )
  return {
    ...notification,
    ...(answered !== undefined && { answers: recordedFromOpen(answered) }),
    ...(wasEscalated && { escalatedTo: firing.candidate.watch.escalateTo ?? [] }),
    ...(firing.isRecovery && {
      notes: recoveryNotes(firing, episode, open),
      episode: episode.map(({ id }) => id),
    }),
    ...(episode[0] && { startedAt: startOfAlert(episode[0]) }),
    ...(firing.isRecovery && takenBy && { takenBy }),
    isQuiet: notification.isQuiet || muteOf(others) !== undefined,
  }
}

function recoveryNotes(
  firing: NewAlert,
  episode: readonly OpenAlert[],
  open: readonly OpenAlert[],
): readonly AlertNote[] {
  const [first] = episode
  const secondsSince = (at: Date) => (firing.firedAt.getTime() - at.getTime()) / 1000
  const still = open.filter(
    ({ watchId, notifiedAt }) => watchId === firing.watchId && notifiedAt !== null,
  )
  // Of the alerts of one episode the newest is named.
  const others = [
    ...new Map(still.map((alert) => [`${alert.signal} ${episodeKeyOf(alert)}`, alert])).values(),
  ]
  const until = episode.findLast(({ cooldownUntil }) => cooldownUntil !== null)?.cooldownUntil
  return [
    ...(first === undefined
      ? []
      : [{ kind: 'lasted', seconds: secondsSince(outageStart(first)) } as const]),
    ...(others.length === 0
      ? []
      : [
          {
            kind: 'stillFiring',
            alerts: others.map((alert) => ({
              type: alert.type,
              signal: alert.signal,
              event: alert.event,
              seconds: secondsSince(outageStart(alert)),
            })),
          } as const,
        ]),
    ...maintenanceNotes(first?.during ?? null),
    ...(until && until > firing.firedAt ? cooldownNotes(until) : []),
  ]
}

function toNotification(
  { alertId, incidentId, candidate }: NewAlert,
  how: Pick<Notification, 'kind' | 'effectiveSeverity'>,
  now: Date,
): Notification {
  const { type, signal, group, event, severity, data, firedAt, position, isRecovery } = candidate
  const place = { alertId, incidentId, type, signal, group }
  const record = { ...place, event, severity, data, firedAt, position }
  const { watch } = candidate
  const notes = cooldownNotes(candidate.cooldownUntil)
  return { ...record, ...how, watch, isRecovery, notes, isQuiet: isMuted(watch, now) }
}

function isNewAlert(firing: RecordedFiring): firing is NewAlert {
  return firing.alertId !== undefined && firing.incidentId !== undefined
}

function isEscalated({ escalatedAt }: OpenAlert): boolean {
  return escalatedAt !== null
}

/**
 * Number of alerts of all wallets recorded in a time span, for the public figures. A span without an end
 * lasts until now.
 */
export function countAlerts(db: Db, span: Span): Promise<number> {
  return store.countAlertsInSpan(db, span.since, span.until)
}

interface Span {
  readonly since: Date
  readonly until: Date | undefined
}

/** Number of incidents of a watch that have an alert in a span. */
export function countIncidents(
  db: Db,
  watch: { readonly wallet: string; readonly watchId: number },
  span: { readonly from: Date; readonly to: Date },
): Promise<number> {
  return incidents.countIncidents(db, watch, span)
}
