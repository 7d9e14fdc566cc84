/** The pinned overview, which follows the wallet's watches. */
import { changeLiveMessage, type LiveCheck, type LiveChecks } from '../../core/live-messages.ts'
import { OVERVIEW_KIND, readOverview } from './overview.ts'
import { overviewKey, statusScreen } from './view.ts'

const OVERVIEW_POLL_MS = 60_000

const showOverview: LiveCheck = async (deps, row, seen) => {
  const { reader, link, ask } = seen
  const now = deps.app.clock.now()
  const overview = await readOverview(ask, { ...link, isGroup: reader.isGroup })
  const shown = overviewKey(overview, now)
  const view = statusScreen(reader, overview, { now, buttons: true, isPinned: true })
  const isChanged =
    shown !== row.shown && (await changeLiveMessage(deps, row, view, reader.t.locale))
  const nextAt = new Date(now.getTime() + OVERVIEW_POLL_MS)
  return { stage: null, shown, nextAt, isChanged }
}

/** Check of the pinned overview. */
export const OVERVIEW_CHECKS: LiveChecks = { [OVERVIEW_KIND]: showOverview }
