import type { RpcCall } from './rpc-faults.ts'

/** Why a call got no answer of the chain. */
export type RefusalCause = 'fault' | 'rate' | 'not-yet' | 'range' | 'pruned' | 'method'

/** What an endpoint was asked since its counts were reset. */
export interface RpcTraffic {
  /** Number of calls, single or in a batch, with any result. */
  readonly requests: number
  readonly byMethod: Readonly<Record<string, number>>
  /** Calls without an answer of the chain, by cause. */
  readonly refused: Readonly<Record<RefusalCause, number>>
  /** Calls that were refused and whose next repetition, with the same method and parameters, was refused too. */
  readonly refusedTwice: number
  /** Most calls that arrived within one second of the clock. */
  readonly peakPerSecond: number
}

/** Counts calls of an endpoint. */
export interface TrafficCounter {
  /** @param nowMs time of a monotonic clock */
  arrived(call: RpcCall, nowMs: number): void
  answered(call: RpcCall): void
  refused(call: RpcCall, cause: RefusalCause): void
  read(): RpcTraffic
  reset(): void
}

/** Starts counting at zero. */
export function createTrafficCounter(): TrafficCounter {
  const byMethod = new Map<string, number>()
  /** Calls whose latest repetition was refused. */
  const waiting = new Set<string>()
  let refused = noRefusals()
  let refusedTwice = 0
  let second = { at: Number.NaN, calls: 0 }
  let peakPerSecond = 0
  return {
    arrived: ({ method }, nowMs) => {
      byMethod.set(method, (byMethod.get(method) ?? 0) + 1)
      const at = Math.floor(nowMs / 1000)
      second = { at, calls: at === second.at ? second.calls + 1 : 1 }
      peakPerSecond = Math.max(peakPerSecond, second.calls)
    },
    answered: (call) => {
      waiting.delete(keyOf(call))
    },
    refused: (call, cause) => {
      refused[cause] += 1
      if (waiting.has(keyOf(call))) refusedTwice += 1
      waiting.add(keyOf(call))
    },
    read: () => ({
      requests: [...byMethod.values()].reduce((sum, count) => sum + count, 0),
      byMethod: Object.fromEntries(byMethod),
      refused: { ...refused },
      refusedTwice,
      peakPerSecond,
    }),
    reset: () => {
      byMethod.clear()
      waiting.clear()
      refused = noRefusals()
      refusedTwice = 0
      second = { at: Number.NaN, calls: 0 }
      peakPerSecond = 0
    },
  }
}

function noRefusals(): Record<RefusalCause, number> {
  return { fault: 0, rate: 0, 'not-yet': 0, range: 0, pruned: 0, method: 0 }
}

function keyOf({ method, params }: RpcCall): string {
  return `${method} ${JSON.stringify(params ?? [])}`
}
