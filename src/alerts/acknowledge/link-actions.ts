/** Actions on the page of an alert. */

import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import {
  findLinkedActor,
  findLinkedAlert,
  listLinkedOthers,
  readLinkedAlertPage,
} from '../history/public-view.ts'
import { isAcknowledged, mayBeAcknowledged } from '../rules.ts'
import type { AlertRow } from '../store.ts'
import {
  acknowledgeAlert,
  acknowledgeEach,
  muteEpisode,
  muteWatchOf,
  unacknowledgeAlert,
  unacknowledgeEach,
} from './acknowledge.ts'

export const ALERT_LINK_ACTIONS = [
  'ack',
  'ackAll',
  'unack',
  'unackAll',
  'mute1',
  'mute8',
  'muteRecovered',
  'unmute',
] as const

/** `ackAll` acknowledges the alert and other open alerts of its watch; `unackAll` takes that back. `mute1` and `mute8` mute the alert's watch for hours, `muteRecovered` its episode until it recovers. */
export type AlertLinkAction = (typeof ALERT_LINK_ACTIONS)[number]

type Deps = Parameters<typeof muteWatchOf>[0] & Parameters<typeof findLinkedActor>[0]

/**
 * Acts on the alert of a link; without `act` nothing is changed.
 *
 * @param seen ids of the alerts that the page showed; `ackAll` and `unackAll` act on no others
 * @throws AppError not_found `not_found`; forbidden `insufficient_scope` when the link may only read
 */
export async function performLinkAction(
  deps: Deps,
  code: string,
  act?: AlertLinkAction,
  seen: readonly number[] = [],
): Promise<void> {
  if ((await readLinkedAlertPage(deps, code)) === undefined)
    throw new AppError('not_found', 'not_found')
  const actor = await findLinkedActor(deps, code)
  if (actor === undefined) {
    throw new AppError('forbidden', 'insufficient_scope', { values: { scope: 'write' } })
  }
  const { caller, alertId: id, by } = actor
  const hoursFromNow = (hours: number) => new Date(deps.clock.now().getTime() + hours * HOUR_MS)
  switch (act) {
    case undefined:
      return
    case 'ack':
      await acknowledgeAlert(deps, caller, { id, by })
      return
    case 'ackAll':
      await acknowledgeEach(deps, caller, {
        by,
        find: async (tx) => {
          const open = await listOpenOfLink({ ...deps, db: tx }, code)
          return open.filter((row) => mayBeAcknowledged(row) && seen.includes(row.id))
        },
      })
      return
    case 'unackAll':
      await unacknowledgeEach(deps, caller, {
        find: async (tx) => {
          const open = await listOpenOfLink({ ...deps, db: tx }, code)
          return open.filter((row) => isAcknowledged(row) && seen.includes(row.id))
        },
      })
      return
    case 'unack':
      await unacknowledgeAlert(deps, caller, { id })
      return
    case 'mute1':
      await muteWatchOf(deps, caller, { id, until: hoursFromNow(1) })
      return
    case 'mute8':
      await muteWatchOf(deps, caller, { id, until: hoursFromNow(8) })
      return
    case 'muteRecovered':
      await muteEpisode(deps, caller, { id, muted: true })
      return
    case 'unmute':
      await muteEpisode(deps, caller, { id, muted: false })
      await muteWatchOf(deps, caller, { id, until: null })
      return
    default:
      act satisfies never
  }
}

/** The alert of a link and the others on which the link may act, by id: every action locks them in one order. */
async function listOpenOfLink(
  deps: Parameters<typeof listLinkedOthers>[0] & Parameters<typeof findLinkedAlert>[0],
  code: string,
): Promise<readonly AlertRow[]> {
  const linked = await findLinkedAlert(deps, code)
  if (linked === undefined) return []
  const others = await listLinkedOthers(deps, linked)
  return [linked.row, ...others].toSorted((a, b) => a.id - b.id)
}
