/** Acts of people on one alert or several, whatever they do: the transaction, the messages that change, the result. */
import { type Db, transact } from '#src/db/connection.ts'
import * as delivery from '#src/delivery/service.ts'
import type { Caller } from '#src/kernel/caller.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { AppError } from '#src/kernel/errors.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { listForNotification } from '#src/watches/notification-view.ts'
import { logEach } from '../log-lines.ts'
import { isMuted, isOpenEpisode } from '../rules.ts'
import * as store from '../store.ts'
import type { ActionTarget } from './store.ts'

export interface AlertActionDeps {
  readonly db: Db
  readonly clock: Clock
  readonly log: Logger
}

/** State of an alert after an action. */
export interface ActedAlert {
  readonly id: number
  readonly watchId: number
  readonly watchLabel: string
  readonly event: string
  /** Whether the alert is open until its signal recovers. */
  readonly isOpen: boolean
  readonly recoveredAt: Date | null
  readonly acknowledged: { readonly at: Date; readonly by: string | null } | null
  readonly note: { readonly text: string; readonly by: string | null } | null
  /** End of the alert's mute in chats and mailboxes. */
  readonly muted: { readonly until: Date | 'recovered' } | null
}

/**
 * State after an action, and whether the state was the same before, for example because another person was
 * faster.
 */
export interface ActionResult extends ActedAlert {
  readonly already: boolean
}

/** Reads alerts in the transaction that acts on them. */
type FindAlerts = (tx: Db) => Promise<readonly Pick<store.AlertRow, 'id'>[]>

/** What an action does. */
export interface AlertAction {
  /** For the log. */
  readonly what: string
  /** Changes one alert and its incident. Returns the ids of the alerts that it changed. */
  change(tx: Db, chosen: ActionTarget, at: Date): Promise<readonly number[]>
  /** What follows for all that were changed. */
  afterAll?(tx: Db, ids: readonly number[], at: Date): Promise<void>
}

/** Acts on one alert. @throws AppError not_found */
export async function applyToAlert(
  deps: AlertActionDeps,
  caller: Caller,
  id: number,
  act: AlertAction,
): Promise<ActionResult> {
  const [acted] = await applyToAlerts(deps, caller, async () => [{ id }], act)
  if (acted === undefined) throw new AppError('not_found', 'not_found')
  return acted
}

/**
 * Acts on several alerts, in one transaction and at one time. Only the change itself is a statement for each: hundreds
 * are locked until all are done.
 *
 * @throws AppError not_found when one is not of the wallet
 */
export async function applyToAlerts(
  deps: AlertActionDeps,
  caller: Caller,
  find: FindAlerts,
  { what, change, afterAll }: AlertAction,
): Promise<readonly ActionResult[]> {
  return await transact(deps.db, async (tx) => {
    const at = deps.clock.now()
    const ids = (await find(tx)).map(({ id }) => id)
    const changes: number[] = []
    for (const { id } of await requireAlerts(tx, caller, ids)) {
      changes.push(...(await change(tx, { id }, at)))
    }
    const changed = [...new Set(changes)]
    await afterAll?.(tx, changed, at)
    // A press may come from a message that still shows an earlier state, although nothing changes any more.
    const isAwaited = caller.via === 'telegram'
    const shown = isAwaited ? [...new Set([...ids, ...changed])] : changed
    await delivery.reviseMessages(tx, shown, { isAwaited })
    logEach(deps, changed, what)
    const statuses = await statusesOf({ ...deps, db: tx }, await requireAlerts(tx, caller, ids))
    // The change of one alert may have been that of another one of its incident.
    return statuses.map((status) => ({ ...status, already: !changed.includes(status.id) }))
  })
}

/** One alert of the wallet. @throws AppError not_found */
export async function requireAlert(db: Db, caller: Caller, id: number): Promise<store.AlertRow> {
  const [row] = await requireAlerts(db, caller, [id])
  if (row === undefined) throw new AppError('not_found', 'not_found')
  return row
}

/** These alerts, by id. @throws AppError not_found when one is not of the wallet */
async function requireAlerts(
  db: Db,
  { wallet }: Caller,
  ids: readonly number[],
): Promise<readonly store.AlertRow[]> {
  const rows = await store.listAlertsByIds(db, ids)
  if (rows.length < new Set(ids).size || rows.some((row) => row.wallet !== wallet)) {
    throw new AppError('not_found', 'not_found')
  }
  return rows
}

/**
 * State of an alert of the wallet.
 * @throws AppError not_found
 */
export async function alertStatus(
  deps: Pick<AlertActionDeps, 'db' | 'clock'>,
  caller: Caller,
  id: number,
): Promise<ActedAlert> {
  const [status] = await statusesOf(deps, [await requireAlert(deps.db, caller, id)])
  if (status === undefined) throw new AppError('not_found', 'not_found')
  return status
}

async function statusesOf(
  { db, clock }: Pick<AlertActionDeps, 'db' | 'clock'>,
  rows: readonly store.AlertRow[],
): Promise<readonly ActedAlert[]> {
  const watches = await listForNotification(
    db,
    rows.map(({ watchId }) => watchId),
  )
  return rows.map((row) => {
    const { id, watchId, watchLabel, event, recoveredAt, acknowledgedAt, acknowledgedBy } = row
    const until = watches.get(watchId)?.mutedUntil ?? null
    const isOpen = isOpenEpisode(row)
    const watchMuted = isMuted({ mutedUntil: until }, clock.now()) ? until : null
    const mute = row.mutedAt !== null && isOpen ? 'recovered' : watchMuted
    return {
      ...{ id, watchId, watchLabel, event, isOpen, recoveredAt },
      acknowledged: acknowledgedAt === null ? null : { at: acknowledgedAt, by: acknowledgedBy },
      note: row.note === null ? null : { text: row.note, by: row.notedBy },
      muted: mute === null ? null : { until: mute },
    }
  })
}
