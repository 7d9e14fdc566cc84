import { z } from 'zod'

/** A JSON-RPC call. */
export const RpcCall = z.looseObject({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string(),
  params: z.unknown().optional(),
})
export type RpcCall = z.output<typeof RpcCall>

/** A JSON-RPC answer. */
export const RpcAnswer = z.looseObject({ id: RpcCall.shape.id, result: z.unknown().optional() })
export type RpcAnswer = z.output<typeof RpcAnswer>

/** A JSON-RPC error. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** An HTTP answer that refuses a whole request. */
export interface HttpRefusal {
  readonly status: number
  /** JSON-RPC error of the body. */
  readonly error?: RpcError
  /** Whether the body is the error itself, outside an answer of JSON-RPC. */
  readonly isBare?: boolean
  /** HTML of the body, in place of JSON. */
  readonly page?: string
  /** Further headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How a call is refused: an HTTP answer to its whole request, or a JSON-RPC error. */
export type RpcFault = HttpRefusal | RpcError

/** Changes a result on its way back. */
export type RpcChange = (result: unknown, params: unknown) => unknown

/** Present faults. */
export interface RpcFaults {
  /** Requests are accepted and never answered. */
  hanging: boolean
  delayMs: number
  /** Until when requests are kept. */
  held: Promise<void> | undefined
  readonly refusals: RpcRefusal[]
  /** Ratio of refused requests, 0 to 1. */
  readonly share: { part: number; status: number; seed: number }
  /** Changes of results, by method. */
  readonly changes: Map<string, RpcChange>
}

/** A refusal of the next calls, or of the next ones of a method. */
export interface RpcRefusal {
  readonly fault: RpcFault
  readonly method: string | undefined
  left: number
}

/** No faults. */
export function noFaults(): RpcFaults {
  return {
    hanging: false,
    delayMs: 0,
    held: undefined,
    refusals: [],
    share: { part: 0, status: 429, seed: 1 },
    changes: new Map(),
  }
}

/** Ends every fault. */
export function clearFaults(faults: RpcFaults): void {
  faults.hanging = false
  faults.delayMs = 0
  faults.held = undefined
  faults.refusals.length = 0
  faults.share.part = 0
  faults.changes.clear()
}

/** The HTTP answer with which a request of these calls is refused, if any; consumes the refusal. */
export function takeRefusal(faults: RpcFaults, calls: readonly RpcCall[]): HttpRefusal | undefined {
  for (const refusal of faults.refusals) {
    const { fault, left } = refusal
    if (left === 0 || !('status' in fault) || !concerns(refusal, calls)) continue
    refusal.left -= 1
    return fault
  }
  const { share } = faults
  if (share.part === 0) return undefined
  return nextRandom(share) < share.part ? { status: share.status } : undefined
}

/** The next number from 0 to 1: pseudo-random, but deterministic. */
export function nextRandom(state: { seed: number }): number {
  // A linear congruential generator modulo 2^31 - 1, exact in a number.
  state.seed = (state.seed * 1_103_515 + 12_345) % 2_147_483_647
  return state.seed / 2_147_483_647
}

/** The error with which a call is refused, if any; consumes the refusal. */
export function takeError(faults: RpcFaults, call: RpcCall): RpcError | undefined {
  for (const refusal of faults.refusals) {
    const { fault, left } = refusal
    if (left === 0 || !('code' in fault) || !concerns(refusal, [call])) continue
    refusal.left -= 1
    return fault
  }
  return undefined
}

function concerns({ method }: RpcRefusal, calls: readonly RpcCall[]): boolean {
  return method === undefined || calls.some((call) => call.method === method)
}
