import type { Db } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { DEFAULT_SETTINGS, listSettings, type Settings } from '#src/recipients/settings.ts'
import type { AlertCandidate } from '#src/watches/evaluate/evaluate.ts'
import * as episodes from './episode-store.ts'
import { beganAt, type Change, type Episodes, followEpisodes, type OpenAlert } from './episodes.ts'
import { findCause } from './inhibition.ts'
import { type Notification, notify } from './notify.ts'
import type { NotifyDeps } from './notify-deps.ts'
import { recordedFromOpen } from './recorded-alert.ts'
import type { Note } from './render.ts'
import {
  episodeOf,
  FLAPPING_WINDOW_MS,
  hasRecovery,
  isFlapping,
  isMuted,
  nextReminder,
} from './rules.ts'
import * as store from './store.ts'
import { logEnded, logInhibited, logRecorded } from './trail.ts'
import { liveCauses, releaseUninhibited } from './uninhibit.ts'

/** A firing and its record, if it has one. */
type RecordedFiring = Change & { readonly candidate: AlertCandidate }
/** A firing newly recorded by this call. */
type Fresh = RecordedFiring & { readonly alertId: number }

/**
 * Records alert candidates as alerts and puts their deliveries into the outbox, in the transaction that caused them.
 * Already recorded firings (a replayed observation) are skipped.
 */
export async function recordAlerts(
  deps: NotifyDeps,
  tx: Db,
  candidates: readonly AlertCandidate[],
): Promise<void> {
  const now = deps.clock.now()
  const recorded = candidates.filter(({ isNotified }) => isNotified)
  const inserted = await store.insertAlerts(tx, recorded, now)
  const idOf = new Map(inserted.map(({ id, key }) => [key, id]))
  const fired = candidates.map((candidate): RecordedFiring => {
    const { signal, event, position } = candidate
    const watchId = candidate.watch.id
    const alertId = idOf.get(store.alertKey({ watchId, signal, event, position }))
    if (alertId !== undefined) logRecorded(deps, alertId, candidate)
    return { ...candidate, candidate, alertId, watchId }
  })
  const isEpisode = ({ isRecovery, event }: RecordedFiring) => isRecovery || hasRecovery(event)
  const alone = fired.filter((one) => !isEpisode(one)).filter(isFresh)
  const following = fired.filter((one) => isEpisode(one) && (isFresh(one) || one.isRecovery))
  const notifications = following.length === 0 ? [] : await follow(deps, tx, following, now)
  await notify(deps, tx, [
    ...alone.map((one) =>
      notificationOf(one, { kind: 'alert', effectiveSeverity: one.severity }, now),
    ),
    ...notifications,
  ])
}

/** Starts, changes and ends episodes. Returns the notifications. */
async function follow(
  deps: NotifyDeps,
  tx: Db,
  fired: readonly RecordedFiring[],
  now: Date,
): Promise<readonly Notification[]> {
  const wallets = [...new Set(fired.map(({ candidate }) => candidate.watch.wallet))]
  const before = await episodes.listOpen(tx, wallets)
  const followed = followEpisodes(fired, before)
  await episodes.endEpisodes(tx, followed.ends)
  logEnded(deps, followed.ends)
  const settings = await listSettings(tx, wallets)
  const fresh = fired.filter(isFresh)
  const rested = await rest(tx, before, followed)
  const flaps = await findFlaps(
    tx,
    fired.filter((one) => !isSeverityIncrease(one, followed)),
  )
  const ids = fresh.map(({ alertId }) => alertId)
  const causes = await liveCauses(tx, followed.open, ids)
  const inhibitedAlerts = followed.open.filter((alert) => findCause(alert, causes) !== undefined)
  const inhibited = new Set(
    fresh.filter((one) => inhibitedAlerts.some(({ id }) => id === one.alertId)),
  )
  const marks = fresh.flatMap((one) => {
    const isInhibited = inhibited.has(one)
    const anchor = flaps.get(one)
    const mark = markOf(one, followed)
    const own = settings.get(one.candidate.watch.wallet) ?? DEFAULT_SETTINGS
    const isMuted = mark.mutedAt !== undefined
    return [
      {
        ...mark,
        ...(isInhibited && { notifiedAt: null }),
        ...(anchor !== undefined && !isInhibited && { flappingAlertId: anchor.id }),
        remindAt:
          isInhibited || isMuted ? undefined : remindAt(one, anchor !== undefined, own, now),
      },
    ]
  })
  await episodes.markAlerts(tx, marks)
  logInhibited(deps, inhibited)
  const released = await releaseUninhibited(tx, { open: followed.open, causes, settings, now })
  await delivery.reviseMessages(tx, [
    ...followed.ends.flatMap(({ alertIds }) => alertIds),
    ...rested,
    ...[...flaps.values()].map(({ id }) => id),
  ])
  const notified = fresh.filter((one) => !inhibited.has(one) && !isUnnotified(one, followed))
  return [
    ...notified.map((one) => followingOf(one, followed, { isFlap: flaps.has(one), now })),
    ...released,
  ]
}

/** Whether the firing is a severity increase of an open episode. */
function isSeverityIncrease(firing: RecordedFiring, { meanings }: Episodes<RecordedFiring>): boolean {
  return !firing.isRecovery && (meanings.get(firing)?.episode ?? []).length > 0
}

/** Whether it is a recovery of an alert that no recipient was sent. */
function isUnnotified(firing: Fresh, { meanings }: Episodes<RecordedFiring>): boolean {
  const episode = meanings.get(firing)?.episode ?? []
  return (
    firing.isRecovery &&
    episode.length > 0 &&
    episode.every(({ notifiedAt }) => notifiedAt === null)
  )
}

/** The episode columns of an alert's row. */
function markOf(firing: Fresh, { meanings }: Episodes<RecordedFiring>): episodes.EpisodeMark {
  const id = firing.alertId
  const { episode: [first] = [], effectiveSeverity } = meanings.get(firing) ?? {}
  const ended =
    firing.isRecovery && effectiveSeverity !== undefined
      ? { episodeSeverity: effectiveSeverity }
      : {}
  if (first === undefined) return { id, ...ended }
  const startedAt = beganAt(first)
  if (firing.isRecovery) return { id, recoveryOf: first.id, startedAt, ...ended }
  const { mutedAt, escalatedAt } = first
  return {
    id,
    increaseOf: first.id,
    startedAt,
    ...(mutedAt !== null && { mutedAt }),
    ...(escalatedAt !== null && { escalatedAt }),
  }
}

/**
 * Time of the next reminder: of a critical alert until it is acknowledged, of a flapping one when it may
 * have settled.
 */
function remindAt(
  firing: Fresh,
  isFlap: boolean,
  { repeat }: Settings,
  now: Date,
): Date | undefined {
  if (isFlap) return new Date(now.getTime() + FLAPPING_WINDOW_MS)
  if (firing.isRecovery || firing.severity !== 'critical') return undefined
  return nextReminder(repeat.critical, now, now)
}

/** Updates messages whose alerts are over now. */
async function rest(
  tx: Db,
  before: readonly OpenAlert[],
  { ends }: Episodes<RecordedFiring>,
): Promise<readonly number[]> {
  const rested = ends.flatMap(({ alertIds, at }) =>
    before.flatMap(({ id, flappingAlertId }) =>
      flappingAlertId !== null && alertIds.includes(id) ? [{ id: flappingAlertId, at }] : [],
    ),
  )
  for (const { id, at } of rested) await episodes.settleFlapping(tx, id, at)
  return rested.map(({ id }) => id)
}

/** Finds flapping signals and the message that shows their changes from now on, and records it. */
async function findFlaps(
  tx: Db,
  fired: readonly RecordedFiring[],
): Promise<ReadonlyMap<RecordedFiring, { readonly id: number }>> {
  const flaps = new Map<RecordedFiring, { readonly id: number }>()
  const last = new Map(fired.map((one) => [`${one.watchId} ${one.signal}`, one]))
  const keys = [...last.values()].map(({ watchId, signal, firedAt }) => ({
    watchId,
    signal,
    after: new Date(firedAt.getTime() - FLAPPING_WINDOW_MS),
  }))
  const counted = await episodes.countChanges(tx, keys)
  const busy = counted.filter(({ changes }) => isFlapping(changes))
  if (busy.length === 0) return flaps
  const fresh = fired.flatMap(({ alertId }) => (alertId === undefined ? [] : [alertId]))
  const afterOf = ({ watchId, signal }: episodes.SignalKey) =>
    keys.find((key) => key.watchId === watchId && key.signal === signal)?.after ?? new Date(0)
  const wanted = busy.map((changes) => ({ ...changes, after: afterOf(changes) }))
  const anchors = await episodes.findAnchors(tx, wanted, fresh)
  for (const one of fired) {
    const isSame = ({ watchId, signal }: episodes.SignalKey) =>
      watchId === one.watchId && signal === one.signal
    const [count, anchor] = [busy.find(isSame), anchors.find(isSame)]
    if (count === undefined || anchor === undefined) continue
    const before = anchor.flapping
    await episodes.saveFlapping(tx, anchor.id, {
      changes: before === null ? count.changes : before.changes + 1,
      since: before?.since ?? count.since,
      recoveredAt: one.isRecovery ? one.firedAt : null,
    })
    flaps.set(one, anchor)
  }
  return flaps
}

function followingOf(
  firing: Fresh,
  { meanings, open }: Episodes<RecordedFiring>,
  { isFlap, now }: { readonly isFlap: boolean; readonly now: Date },
): Notification {
  const { episode, effectiveSeverity } = meanings.get(firing) ?? {
    episode: [],
    effectiveSeverity: firing.severity,
  }
  const answered = episode.find(({ notifiedAt }) => notifiedAt !== null)
  const isIncrease = !firing.isRecovery && episode.length > 0
  const takenBy = episode.findLast(({ acknowledgedBy }) => acknowledgedBy !== null)?.acknowledgedBy
  const isEscalated = episode.some(({ escalatedAt }) => escalatedAt !== null)
  const isEpisodeMuted = !firing.isRecovery && episode.some(({ mutedAt }) => mutedAt !== null)
  const notification = notificationOf(
    firing,
    { kind: isIncrease ? 'raised' : 'alert', effectiveSeverity: effectiveSeverity },
    now,
  )
  return {
    ...notification,
    ...(answered !== undefined && { answers: recordedFromOpen(answered) }),
    ...(isEscalated && { escalatedTo: firing.candidate.watch.escalateTo ?? [] }),
    ...(firing.isRecovery && {
      notes: recoveryNotes(firing, episode, open),
      episode: episode.map(({ id }) => id),
    }),
    ...(episode[0] && { startedAt: beganAt(episode[0]) }),
    ...(firing.isRecovery && takenBy && { takenBy }),
    isQuiet: notification.isQuiet || isEpisodeMuted || isFlap,
  }
}

function recoveryNotes(
  firing: Fresh,
  [first]: readonly OpenAlert[],
  open: readonly OpenAlert[],
): readonly Note[] {
  const secondsSince = (at: Date) => (firing.firedAt.getTime() - at.getTime()) / 1000
  const still = open.filter(
    ({ watchId, notifiedAt }) => watchId === firing.watchId && notifiedAt !== null,
  )
  // The newest alert of an escalated episode represents it.
  const others = [
    ...new Map(still.map((alert) => [`${alert.signal} ${episodeOf(alert)}`, alert])).values(),
  ]
  return [
    ...(first === undefined
      ? []
      : [{ kind: 'lasted', seconds: secondsSince(beganAt(first)) } as const]),
    ...(others.length === 0
      ? []
      : [
          {
            kind: 'stillFiring',
            alerts: others.map((alert) => ({
              type: alert.type,
              signal: alert.signal,
              event: alert.event,
              seconds: secondsSince(beganAt(alert)),
            })),
          } as const,
        ]),
  ]
}

function notificationOf(
  { alertId, candidate }: Fresh,
  how: Pick<Notification, 'kind' | 'effectiveSeverity'>,
  now: Date,
): Notification {
  const { type, signal, group, event, severity, data, firedAt, position, isRecovery } = candidate
  const record = { alertId, type, signal, group, event, severity, data, firedAt, position }
  const { watch } = candidate
  return { ...record, ...how, watch, isRecovery, isQuiet: isMuted(watch, now) }
}

function isFresh(firing: RecordedFiring): firing is Fresh {
  return firing.alertId !== undefined
}

/**
 * Number of alerts of all wallets recorded in a time span, without an end up to now, for the public
 * figures.
 */
export function countAlerts(db: Db, span: Span): Promise<number> {
  return store.countSpan(db, span.since, span.until)
}

interface Span {
  readonly since: Date
  readonly until: Date | undefined
}
