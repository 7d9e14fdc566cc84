/** Notices types that are not observed, whatever the reason. The process that reads the tip runs this. */
import type { BlockRef } from '#src/chain/chain.ts'
import { isolateEach } from '#src/db/isolate.ts'
import { transactUnder } from '#src/db/lock.ts'
import type { ChainWatchType, Sources } from '../define.ts'
import type { ChainOutageDeps } from '../outage/chain-outage.ts'
import { failingSince, STALE_CHAIN_MS } from '../outage/monitoring.ts'
import * as store from '../target-store.ts'

/** Interval at which data comes that has to be stored first: a voting round. */
const ROUND_MS = 90_000

/** Dependencies of noticing types that are behind. */
export type BehindDeps = Pick<ChainOutageDeps, 'db' | 'fence' | 'clock' | 'quarantine'> &
  Pick<Sources, 'chain' | 'facts'>

/**
 * Records since when each type has been behind the newest block, or behind the data that it needs, by more than
 * 90 seconds; null once it no longer is. A type that fails, fails alone.
 *
 * @throws FenceError when another process took over; database errors
 */
export async function markBehind(
  deps: BehindDeps,
  types: readonly ChainWatchType[],
): Promise<void> {
  const [cursors, tip] = await Promise.all([
    store.cursorsByName(deps.db),
    store.findPublishedBlock(deps.db),
  ])
  const options = { quarantine: deps.quarantine, kind: 'watch_type', idOf: nameOf }
  await isolateEach(types, options, (type) => markType(deps, type, cursors, tip))
}

const nameOf = ({ name }: ChainWatchType) => name

async function markType(
  { db, fence, clock, chain, facts }: BehindDeps,
  { name, watermark, everySeconds }: ChainWatchType,
  cursors: ReadonlyMap<string, store.Cursor>,
  tip: BlockRef | undefined,
): Promise<void> {
  const type = store.behindName(name)
  const before = cursors.get(type)
  const end = watermark ? await watermark({ chain, facts }) : tip
  const everyMs = watermark ? ROUND_MS : everySeconds * 1000
  const isBehind = msBehind(cursors.get(name), end) > everyMs + STALE_CHAIN_MS
  if (!isBehind && before?.failingSince == null) return
  const now = clock.now()
  const since = isBehind ? failingSince(before, now) : null
  const checkedAt = isBehind ? now : null
  await transactUnder(fence, db, (tx) =>
    store.saveCursor(tx, { type, failingSince: since, checkedAt }),
  )
}

function msBehind(
  cursor: store.Cursor | undefined,
  end: { readonly at: Date } | undefined,
): number {
  if (end === undefined) return 0
  return end.at.getTime() - (cursor?.blockAt?.getTime() ?? Number.NEGATIVE_INFINITY)
}
