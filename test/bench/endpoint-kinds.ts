import type { EndpointRules } from '#sandbox/devnet/rpc-proxy.ts'

/** A kind of endpoint, and what the service is told about it. */
export interface EndpointKind {
  readonly rules: EndpointRules
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the service hears of new blocks over a WebSocket. */
  readonly hasSocket?: true
  readonly goals?: {
    readonly requestsPerBlock?: number
    /** Requests per block, as a multiple of those to an endpoint without faults. */
    readonly ratio?: number
    readonly refusedTwice?: number
    readonly lateSeconds?: number
  }
}

/** Nodes of which one answer in ten is two blocks old. */
const ONE_IN_TEN = { behind: [0, 0, 0, 0, 0, 0, 0, 0, 0, 2], order: 'random' } as const
/** An endpoint without faults: Flare's node, with its cap of events. */
const HEALTHY: EndpointRules = { nodes: { behind: [0] }, logBlocks: { max: 30 } }

/** Every kind by name: `npm run bench -- endpoint <name>`. */
export const ENDPOINT_KINDS = {
  healthy: { rules: HEALTHY, goals: { requestsPerBlock: 4 } },
  socket: { rules: HEALTHY, hasSocket: true },
  'nodes-012': {
    rules: { ...HEALTHY, nodes: { behind: [0, 0, 1, 2], order: 'random' } },
  },
  'one-in-ten-behind': { rules: { ...HEALTHY, nodes: ONE_IN_TEN } },
  'logs-uncapped': { rules: { nodes: { behind: [0] } } },
  'logs-5': { rules: { ...HEALTHY, logBlocks: { max: 5, refusal: 'quickNode' } } },
  'per-minute-1000': { rules: { ...HEALTHY, rate: { perMinute: 1000 } } },
  'per-minute-300': {
    rules: { ...HEALTHY, rate: { perMinute: 300 } },
    goals: { refusedTwice: 0, lateSeconds: 60 },
  },
  'per-second-30': { rules: { ...HEALTHY, rate: { perSecond: 30 } } },
  'per-second-30-behind': {
    rules: { ...HEALTHY, nodes: ONE_IN_TEN, rate: { perSecond: 30 } },
    goals: { ratio: 1.1 },
  },
  'pruned-32': { rules: { ...HEALTHY, stateBlocks: 32 } },
  'no-receipts': { rules: { ...HEALTHY, missingMethods: ['eth_getBlockReceipts'] } },
  'interval-12000': {
    rules: HEALTHY,
    environment: { EVALUATION_INTERVAL_MS: '12000' },
    goals: { requestsPerBlock: 1.5 },
  },
} as const satisfies Readonly<Record<string, EndpointKind>>

export type EndpointKindName = keyof typeof ENDPOINT_KINDS
