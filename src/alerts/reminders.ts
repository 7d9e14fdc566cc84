/**
 * Alerts that are told again: critical ones that nobody acknowledges, those of a watch whose mute is over,
 * and signals that came and went and are at rest now. Each in the transaction that says when it is told
 * next, so that whoever takes over after a stop repeats and skips nothing.
 */
import { type Db, transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import { DEFAULT_SETTINGS, listSettings } from '#src/recipients/settings.ts'
import { endMutes, listTold, type ToldWatch } from '#src/watches/told.ts'
import { closeAlerts } from './episode-store.ts'
import { beganAt } from './episodes.ts'
import { notesOf, recordedOf } from './record.ts'
import { releaseForgotten } from './release.ts'
import { stepFor } from './reminder-rules.ts'
import * as reminderStore from './reminder-store.ts'
import { episodeOf, isMuted } from './rules.ts'
import * as store from './store.ts'
import { type TellDeps, type Telling, tell } from './tell.ts'

/** Alerts or watches of one transaction. */
const AT_ONCE = 200

type Deps = TellDeps & { readonly db: Db }

/** Tells everything again that is due. */
export async function sendReminders(deps: Deps, signal: AbortSignal): Promise<void> {
  await releaseForgotten(deps, signal)
  for (const pass of [afterMutes, remindDue]) {
    while (!signal.aborted) {
      const done = await transact(deps.db, (tx) => pass(deps, tx))
      if (done < AT_ONCE) break
    }
  }
}

/** Ends mutes; what still fires on their watches is told at once. @returns how many ended */
async function afterMutes(deps: Deps, tx: Db): Promise<number> {
  const now = deps.clock.now()
  const ended = await endMutes(tx, now, AT_ONCE)
  const open = await store.listOpenOfWatches(tx, ended)
  const watches = await listTold(tx, ended)
  const firing = open.filter(
    (row) => row.acknowledgedAt === null && row.mutedAt === null && isFiring(row, watches),
  )
  // Of an episode that became worse the newest alert speaks.
  const newest = new Map(
    firing.map((row) => [`${row.watchId} ${row.signal} ${episodeOf(recordedOf(row))}`, row]),
  )
  await tell(
    deps,
    tx,
    [...newest.values()].flatMap((row) =>
      reminderOf(row, watches, { number: undefined, nextAt: undefined }, now),
    ),
  )
  await delivery.reviseMessages(
    tx,
    open.map(({ id }) => id),
  )
  return ended.length
}

/** Tells what is due. @returns how many alerts were */
async function remindDue(deps: Deps, tx: Db): Promise<number> {
  const now = deps.clock.now()
  const rows = await reminderStore.lockDue(tx, now, AT_ONCE)
  const watches = await listTold(
    tx,
    rows.map(({ watchId }) => watchId),
  )
  const wallets = [...watches.values()].map(({ wallet }) => wallet)
  const settings = await listSettings(tx, [...new Set(wallets)])
  const overtaken = new Set(
    await reminderStore.listOvertaken(
      tx,
      rows.map(({ id }) => id),
    ),
  )
  const answered = await listAnswered(tx, rows)
  const decided = rows.map((row) => {
    const watch = watches.get(row.watchId)
    const own = (watch && settings.get(watch.wallet)) ?? DEFAULT_SETTINGS
    const step = stepFor(row, { watch, settings: own, isOvertaken: overtaken.has(row.id), now })
    return { row, step }
  })
  await closeAlerts(
    tx,
    decided.flatMap(({ row, step }) =>
      step.act === 'close' ? [{ alertIds: [row.id], at: now }] : [],
    ),
  )
  await reminderStore.saveReminded(
    tx,
    decided.map(({ row, step }) => ({
      id: row.id,
      remindAt: 'nextAt' in step ? (step.nextAt ?? null) : null,
      remindersSent:
        step.act === 'remind' && step.counts ? row.remindersSent + 1 : row.remindersSent,
    })),
  )
  const tellings = decided.flatMap(({ row, step }): readonly Telling[] => {
    if (step.act === 'recovered') return recoveryOf(row, watches, answered, now)
    if (step.act !== 'remind') return []
    const number = step.counts ? row.remindersSent + 1 : undefined
    return reminderOf(row, watches, { number, nextAt: step.nextAt }, now)
  })
  await tell(deps, tx, tellings)
  return rows.length
}

function isFiring(row: store.AlertRow, watches: ReadonlyMap<number, ToldWatch>): boolean {
  const watch = watches.get(row.watchId)
  if (watch === undefined || !watch.isJudged) return false
  return row.signal === null || watch.firing.includes(row.signal)
}

function reminderOf(
  row: store.AlertRow,
  watches: ReadonlyMap<number, ToldWatch>,
  reminder: { readonly number: number | undefined; readonly nextAt: Date | undefined },
  now: Date,
): readonly Telling[] {
  const watch = watches.get(row.watchId)
  if (watch === undefined) return []
  const record = recordedOf(row)
  const openSeconds = (now.getTime() - beganAt(row).getTime()) / 1000
  return [
    {
      ...record,
      watch,
      kind: 'reminder',
      weight: record.severity,
      isRecovery: false,
      answers: record,
      ...(row.startedAt && { startedAt: row.startedAt }),
      reminder: { ...reminder, openSeconds },
      isQuiet: false,
    },
  ]
}

function recoveryOf(
  row: store.AlertRow,
  watches: ReadonlyMap<number, ToldWatch>,
  answered: ReadonlyMap<number, store.AlertRow>,
  now: Date,
): readonly Telling[] {
  const watch = watches.get(row.watchId)
  const alert = answered.get(row.recoveryOf ?? 0)
  if (watch === undefined || alert === undefined) return []
  const answers = recordedOf(alert)
  return [
    {
      ...recordedOf(row),
      watch,
      kind: 'alert',
      weight: answers.severity,
      isRecovery: true,
      answers,
      startedAt: row.startedAt ?? alert.firedAt,
      notes: notesOf(row),
      isQuiet: isMuted(watch, now),
    },
  ]
}

/** The alerts that recoveries among these close. */
async function listAnswered(
  tx: Db,
  rows: readonly store.AlertRow[],
): Promise<ReadonlyMap<number, store.AlertRow>> {
  const ids = rows.flatMap(({ recoveryOf }) => recoveryOf ?? [])
  const found = ids.length === 0 ? [] : await store.listByIds(tx, ids)
  return new Map(found.map((row) => [row.id, row]))
}
