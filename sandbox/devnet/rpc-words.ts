import type { HttpRefusal, RpcError, RpcFault } from './rpc-faults.ts'

/** A node's program; each says the same in other words. */
export type NodeProgram = 'coreth' | 'geth' | 'nethermind'

/** First and last block of a request for events. */
export interface BlockRange {
  readonly from: number
  readonly to: number
}

/**
 * Errors of a node for a block that it does not have yet, where it does not answer null.
 *
 * @see coreth, `eth/api_backend.go` and `eth/filters/filter.go`; geth, `internal/ethapi`; Nethermind, `JsonRpc/Modules`
 */
export const NOT_YET = {
  /** Another node may have the block, or its state, already. */
  block: {
    coreth: () => ({ code: -32000, message: 'cannot query unfinalized data' }),
    geth: () => ({ code: -32000, message: 'header not found' }),
    nethermind: (block: number) => ({ code: -32001, message: `${block} could not be found` }),
  } satisfies Record<NodeProgram, (block: number) => RpcError>,
  /** A state that was asked for by a block's hash. */
  hash: { code: -32000, message: 'header for hash not found' },
  /** Events that were asked for by a block's hash. */
  logsOfHash: { code: -32000, message: 'unknown block' },
  /** Events up to a later block, in the words of coreth; other programs answer what they have. */
  logs: ({ from, to }: BlockRange, tip: number): RpcError =>
    from > tip
      ? { code: -32000, message: `requested from block ${from} after last accepted block ${tip}` }
      : { code: -32000, message: `requested to block ${to} after last accepted block ${tip}` },
} as const

/**
 * Errors of a node that no longer has the state of a block.
 *
 * @see geth, `trie/errors.go`, which coreth shares; Nethermind, `GetStateFailureResult`
 */
export const PRUNED: Readonly<Record<NodeProgram, (block: number, hash: string) => RpcError>> = {
  coreth: (_block, hash) => ({
    code: -32000,
    message: `missing trie node ${hash.slice(2)} (path ) state ${hash} is not available`,
  }),
  geth: (_block, hash) => ({
    code: -32000,
    message: `missing trie node ${hash.slice(2)} (path )`,
  }),
  nethermind: (block, hash) => ({
    code: -32002,
    message: `No state available for block ${block} (${hash})`,
  }),
}

/** The error for a method that a node does not have. @see geth, `rpc/errors.go` */
export function methodNotFound(method: string): RpcError {
  return { code: -32601, message: `the method ${method} does not exist/is not available` }
}

/** Refusals of a request for events of too many blocks, by who refuses. */
export const RANGE_REFUSALS = {
  /** Flare's node. @see coreth, `eth/filters/filter.go` */
  coreth: ({ from, to }, max) => ({
    code: -32000,
    message: `requested too many blocks from ${from} to ${to}, maximum is set to ${max}`,
  }),
  quickNode: (_range, max) => ({
    status: 413,
    error: {
      code: -32615,
      message: `eth_getLogs is limited to a ${max} range, upgrade from discover plan to increase the limit`,
    },
  }),
  /** The same, when the body is the error itself. */
  quickNodeBare: (_range, max) => ({
    status: 413,
    isBare: true,
    error: { code: -32615, message: `eth_getLogs is limited to a ${max} range` },
  }),
  alchemy: ({ from }, max) => ({
    code: -32600,
    message:
      `You can make eth_getLogs requests with up to a ${max} block range. Based on your parameters, ` +
      `this block range should work: [0x${from.toString(16)}, 0x${(from + max - 1).toString(16)}]`,
  }),
  /** The reason stands in `data` alone. */
  dataOnly: (_range, max) => ({
    code: -32602,
    message: 'invalid params',
    data: `block range exceeds the limit of ${max} blocks`,
  }),
  /** Without a number. */
  wordless: () => ({ code: -32005, message: 'query exceeds max block range' }),
} satisfies Record<string, (range: BlockRange, max: number) => RpcFault>

/** Refusals of a request that comes too soon, by who refuses and how. */
export const RATE_REFUSALS = {
  page: () => ({ status: 429, page: titled('429 Too Many Requests') }),
  retryAfter: (retryAfterSeconds) => ({
    status: 429,
    headers: { 'retry-after': `${retryAfterSeconds}` },
    page: titled('429 Too Many Requests'),
  }),
  quickNode: () => ({ status: 429, error: TOO_MANY_A_SECOND }),
  /** The same error with a status that says nothing. */
  quickNodeOk: () => ({ status: 200, error: TOO_MANY_A_SECOND }),
  credits: () => ({
    status: 200,
    error: { code: -32012, message: 'credits limited to 6000/sec' },
  }),
  infura: (retryAfterSeconds) => ({
    status: 429,
    error: {
      code: -32005,
      message: 'project ID request rate exceeded',
      data: { rate: { backoff_seconds: retryAfterSeconds } },
    },
  }),
  cloudflare520: () => cloudflare(520, 'Web server is returning an unknown error'),
  cloudflare521: () => cloudflare(521, 'Web server is down'),
  cloudflare522: () => cloudflare(522, 'Connection timed out'),
  cloudflare524: () => cloudflare(524, 'A timeout occurred'),
} satisfies Record<string, (retryAfterSeconds: number) => HttpRefusal>

const TOO_MANY_A_SECOND: RpcError = {
  code: -32007,
  message:
    '50/second request limit reached - reduce calls per second or upgrade your account at quicknode.com',
}

function cloudflare(status: number, reason: string): HttpRefusal {
  return { status, page: titled(`${status}: ${reason}`) }
}

function titled(title: string): string {
  return `<html><head><title>${title}</title></head><body>${title}</body></html>`
}
