import type { ChannelKey, SendingLimits } from '#src/channels/define.ts'

/**
 * How much is sent at once, to whom. Every channel has its own room, so that a slow mail server leaves
 * webhooks alone; within it every lane (a host, a chat, a mail domain) has a smaller one that grows
 * while it answers quickly and shrinks to 1 while it does not, so that hanging hosts leave the others
 * their room. A lane that has proved quick may have twice as many more waiting, so that none of its
 * places stands empty while the next ones are fetched. These take no room from other lanes.
 */

const QUICK_MS = 1000
const SLOW_MS = 5000
/** What a quick lane may have, on its way and waiting, for each that is on its way at most. */
const QUICK_SHARE = 3

/** What may be claimed of a channel now. */
export interface Room {
  /** In all. */
  readonly free: number
  /** Of each lane that is not in `lanes`. */
  readonly perLane: number
  readonly lanes: Readonly<Record<string, number>>
}

/** Counts what is on its way. */
export interface Lanes {
  roomOf(channel: ChannelKey): Room
  /** Takes a place, counted at once; fulfilled when it is free. */
  enter(channel: ChannelKey, lane: string): Promise<void>
  /** @param latencyMs until the answer; undefined when none came */
  leave(channel: ChannelKey, lane: string, latencyMs: number | undefined): void
}

interface Lane {
  used: number
  limit: number
  readonly waiting: (() => void)[]
}

/** Empty lanes of these channels. */
export function createLanes(
  channels: Readonly<Record<ChannelKey, { readonly limits: SendingLimits }>>,
): Lanes {
  const lanesOf = new Map<ChannelKey, Map<string, Lane>>()

  function lanes(channel: ChannelKey): Map<string, Lane> {
    const known = lanesOf.get(channel) ?? new Map<string, Lane>()
    lanesOf.set(channel, known)
    return known
  }

  return {
    roomOf(channel) {
      const { room, laneStart } = channels[channel].limits
      const entries = [...lanes(channel)]
      return {
        free: Math.max(0, room - heldIn(lanes(channel))),
        perLane: laneStart,
        lanes: Object.fromEntries(
          entries.map(([name, lane]) => [name, Math.max(0, places(lane, laneStart) - taken(lane))]),
        ),
      }
    },
    async enter(channel, name) {
      const known = lanes(channel).get(name)
      const lane = known ?? { used: 0, limit: channels[channel].limits.laneStart, waiting: [] }
      if (known === undefined) lanes(channel).set(name, lane)
      if (lane.used < lane.limit) lane.used += 1
      else await new Promise<void>((resolve) => lane.waiting.push(resolve))
    },
    leave(channel, name, latencyMs) {
      const lane = lanes(channel).get(name)
      if (lane === undefined) throw new Error(`nothing is on its way to ${name}`)
      const { room, laneStart, laneMax } = channels[channel].limits
      lane.used -= 1
      // No wider while the channel is full: what waits in it would come on top.
      const max = heldIn(lanes(channel)) < room ? laneMax : lane.limit
      lane.limit = nextLimit(lane.limit, latencyMs, max)
      while (lane.used < lane.limit && lane.waiting.length > 0) {
        lane.used += 1
        lane.waiting.shift()?.()
      }
      if (taken(lane) === 0 && lane.limit === laneStart) lanes(channel).delete(name)
    },
  }
}

function taken(lane: Lane): number {
  return lane.used + lane.waiting.length
}

/** Places of the room that are taken: what is on its way, and what will be as soon as it may. */
function heldIn(lanes: ReadonlyMap<string, Lane>): number {
  let held = 0
  for (const lane of lanes.values()) held += Math.max(lane.used, Math.min(taken(lane), lane.limit))
  return held
}

function places(lane: Lane, laneStart: number): number {
  return lane.limit > laneStart ? QUICK_SHARE * lane.limit : lane.limit
}

function nextLimit(limit: number, latencyMs: number | undefined, max: number): number {
  if (latencyMs === undefined || latencyMs > SLOW_MS) return Math.max(1, Math.floor(limit / 2))
  return latencyMs <= QUICK_MS ? Math.min(max, limit + 1) : limit
}
