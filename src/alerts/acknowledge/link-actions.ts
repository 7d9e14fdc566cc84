/** Actions on the page of an alert. */

import { HOUR_MS } from '#src/kernel/durations.ts'
import { AppError } from '#src/kernel/errors.ts'
import { findLinkedActor, readLinkedAlertPage } from '../history/public-view.ts'
import { acknowledgeAlert, muteIncident, muteWatchOf, unacknowledgeAlert } from './acknowledge.ts'

export const ALERT_LINK_ACTIONS = [
  'ack',
  'unack',
  'mute1',
  'mute8',
  'muteRecovered',
  'unmute',
] as const

/** Acts on the incident of the alert; `mute1` and `mute8` mute the alert's watch for hours. */
export type AlertLinkAction = (typeof ALERT_LINK_ACTIONS)[number]

type Deps = Parameters<typeof muteWatchOf>[0] & Parameters<typeof findLinkedActor>[0]

/**
 * Acts on the alert of a link; without `act` nothing is changed.
 *
 * @throws AppError not_found `not_found`; forbidden `insufficient_scope` when the link may only read
 */
export async function performLinkAction(
  deps: Deps,
  code: string,
  act?: AlertLinkAction,
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
      await muteIncident(deps, caller, { id, muted: true })
      return
    case 'unmute':
      await muteIncident(deps, caller, { id, muted: false })
      await muteWatchOf(deps, caller, { id, until: null })
      return
    default:
      act satisfies never
  }
}
