/** The pinned overview, which follows the wallet's watches. */
import { type LiveKinds, whileLinked } from '../../core/live-messages.ts'
import { OVERVIEW_KIND, readOverview } from './overview.ts'
import { overviewKey, statusScreen } from './view.ts'

/** Interval of updating a pinned message. */
export const OVERVIEW_POLL_MS = 60_000

const showOverview = whileLinked(async ({ app }, _, { reader, link, ask }) => {
  const now = app.clock.now()
  const overview = await readOverview(ask, { ...link, isGroup: reader.isGroup })
  const view = statusScreen(reader, overview, { now, buttons: true, isPinned: true })
  const nextAt = new Date(now.getTime() + OVERVIEW_POLL_MS)
  return { kind: 'redraw', view, key: overviewKey(overview, now), nextAt }
})

/** The pinned overview. */
export const PINNED_OVERVIEW: LiveKinds = { [OVERVIEW_KIND]: { check: showOverview } }
