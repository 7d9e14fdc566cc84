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
}

/** How a call is refused: an HTTP status for its whole request, or a JSON-RPC error. */
export type RpcFault = { readonly status: number } | RpcError

/** Changes a result on its way back. */
export type RpcChange = (result: unknown, params: unknown) => unknown

/** Present faults. */
export interface RpcFaults {
  /** Requests are accepted and never answered. */
  hanging: boolean
  delayMs: number
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
    refusals: [],
    share: { part: 0, status: 429, seed: 1 },
    changes: new Map(),
  }
}

/** Ends every fault. */
export function clearFaults(faults: RpcFaults): void {
  faults.hanging = false
  faults.delayMs = 0
  faults.refusals.length = 0
  faults.share.part = 0
  faults.changes.clear()
}

/** The HTTP status with which a request of these calls is refused, if any; consumes the refusal. */
export function takeStatus(faults: RpcFaults, calls: readonly RpcCall[]): number | undefined {
  for (const refusal of faults.refusals) {
    const { fault, left } = refusal
    if (left === 0 || !('status' in fault) || !concerns(refusal, calls)) continue
    refusal.left -= 1
    return fault.status
  }
  return isInShare(faults.share) ? faults.share.status : undefined
}

/** Whether the next request is refused: pseudo-random, but deterministic. */
function isInShare(share: RpcFaults['share']): boolean {
  if (share.part === 0) return false
  // A linear congruential generator modulo 2^31 - 1, exact in a number.
  share.seed = (share.seed * 1_103_515 + 12_345) % 2_147_483_647
  return share.seed / 2_147_483_647 < share.part
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

/** The answer after its changes. */
export function changeAnswer(
  faults: RpcFaults,
  answer: RpcAnswer,
  calls: readonly RpcCall[],
): RpcAnswer {
  const call = calls.find(({ id }) => id === answer.id)
  const change = call && faults.changes.get(call.method)
  if (change === undefined || !('result' in answer)) return answer
  return { ...answer, result: change(answer.result, call?.params) }
}

function concerns({ method }: RpcRefusal, calls: readonly RpcCall[]): boolean {
  return method === undefined || calls.some((call) => call.method === method)
}
