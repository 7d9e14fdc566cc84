import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import { createSharedCache } from '#src/kernel/shared-cache.ts'
import { createWorkLimiter } from '#src/kernel/work-limiter.ts'
import { tagOfDocument } from '#src/operations/gate/etag.ts'
import { drawPng } from '#src/pictures/png.ts'

/** Limits of rendering, which takes a fraction of a second of a thread. */
const RENDERING = { runningMax: 1, waitingMax: 20, waitMs: 5000 } as const
/** Maximum number of cached PNGs, of about 60 KB each. */
const CACHED_MAX = 100
/** Time for which a PNG is cached. */
const KEPT_MS = 10 * MINUTE_MS

/** Creates a renderer of drawings as PNGs. An unchanged drawing is not rendered again. */
export function createPngs(clock: Clock): (svg: string) => Promise<Buffer> {
  const rendering = createWorkLimiter(RENDERING)
  // The key is the hash of the SVG, which is shorter.
  const pngs = createSharedCache<string, Buffer>(clock, { max: CACHED_MAX, freshMs: () => KEPT_MS })
  return (svg) => pngs.get(tagOfDocument(svg), () => rendering.take(() => drawPng(svg)))
}
