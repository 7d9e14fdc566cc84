import { loadavg } from 'node:os'
import { createDevnetClient } from '#sandbox/devnet/client.ts'
import type { RefusalCause, RpcTraffic } from '#sandbox/devnet/rpc-traffic.ts'
import { ENDPOINT_KINDS, type EndpointKind, type EndpointKindName } from './endpoint-kinds.ts'
import {
  type ChainHead,
  type EndpointChain,
  type EndpointFigures,
  runOnEndpoint,
} from './endpoint-run.ts'
import type { Measurement } from './report.ts'
import { startServer } from './start-server.ts'

/** Kinds that run at once, beside the endpoint without faults. */
const AT_ONCE = 3
const MINUTES = 4
const HEAD_POLL_MS = 250
const HEALTHY = 'healthy'
const CAUSES: readonly RefusalCause[] = ['rate', 'not-yet', 'range', 'pruned', 'method', 'fault']
/** Requests per block from which on a method is listed. */
const LISTED = 0.05

/** Whether `npm run bench -- endpoint` knows an argument. */
export function isEndpointArgument(argument: string): boolean {
  return argument in ENDPOINT_KINDS || /^--minutes=\d+(\.\d+)?$/.test(argument)
}

/**
 * The service's requests to endpoints of several kinds, each beside an endpoint without faults in the same run. The
 * chain has a block a second and a hundred providers; an answer takes 40 ms.
 *
 * @param args names of kinds, all of them by default; `--minutes=4` is the measured time of each
 */
export async function benchEndpoint(
  show: (measurements: readonly Measurement[]) => void,
  args: readonly string[] = [],
): Promise<readonly Measurement[]> {
  const named = args.filter((name): name is EndpointKindName => name in ENDPOINT_KINDS)
  const kinds = named.length > 0 ? named : (Object.keys(ENDPOINT_KINDS) as EndpointKindName[])
  const minutes = Number(
    /^--minutes=(.+)$/.exec(args.find((arg) => arg.startsWith('--')) ?? '')?.[1] ?? MINUTES,
  )
  const server = await startServer('endpoint-chain.ts')
  const chain: EndpointChain = JSON.parse(server.url)
  const heads = followHead(chain)
  try {
    const others = kinds.filter((name) => name !== HEALTHY)
    for (let at = 0; ; at += AT_ONCE) {
      const group = others.slice(at, at + AT_ONCE)
      const run = (name: EndpointKindName) =>
        runOnEndpoint(ENDPOINT_KINDS[name], chain, heads.head, minutes)
      const [healthy, ...figures] = await Promise.all([run(HEALTHY), ...group.map(run)])
      const [load = 0] = loadavg()
      process.stdout.write(`endpoint: load ${load.toFixed(1)} at the end of this run\n`)
      const measured = [
        ...(at === 0 ? measurementsOf(HEALTHY, healthy) : []),
        ...figures.flatMap((one, index) => measurementsOf(group[index] ?? HEALTHY, one, healthy)),
      ]
      if (at + AT_ONCE >= others.length) return measured
      show(measured)
    }
  } finally {
    heads.stop()
    server.stop()
  }
}

/** Reads the newest block of the chain all the time. */
function followHead({ rpcUrl }: EndpointChain) {
  const client = createDevnetClient(rpcUrl)
  let head: ChainHead = { number: 0, seconds: 0 }
  const timer = setInterval(async () => {
    const { number, timestamp } = await client
      .getBlock()
      .catch(() => ({ number: 0n, timestamp: 0n }))
    if (Number(number) > head.number) head = { number: Number(number), seconds: Number(timestamp) }
  }, HEAD_POLL_MS)
  return { head: () => head, stop: () => clearInterval(timer) }
}

function measurementsOf(
  name: EndpointKindName,
  figures: EndpointFigures,
  healthy?: EndpointFigures,
): readonly Measurement[] {
  const { goals = {} }: EndpointKind = ENDPOINT_KINDS[name]
  const { steady, start, linesPerMinute } = figures
  // A service that asked nothing was not measured.
  const perBlock = ({ steady, steadyBlocks }: EndpointFigures) =>
    steady.requests === 0 ? Number.NaN : steady.requests / steadyBlocks
  const line = (
    measure: string,
    unit: string,
    read: (all: EndpointFigures) => number | undefined,
    [goal, met]: readonly [string, boolean] = ['-', true],
  ): readonly Measurement[] => {
    const value = read(figures)
    if (value === undefined) return []
    const floor = (healthy && read(healthy)) ?? null
    const ratio = floor === null || floor === 0 ? null : value / floor
    const named = `${name}: ${measure}`
    return [{ bench: 'endpoint', measure: named, value, unit, floor, ratio, goal, met }]
  }
  return [
    line(
      'requests',
      'per block',
      perBlock,
      requestGoal(goals, perBlock(figures), healthy && perBlock(healthy)),
    ),
    ...Object.entries(steady.byMethod)
      .filter(([, count]) => count / figures.steadyBlocks >= LISTED)
      .toSorted(([, a], [, b]) => b - a)
      .map(([method]) =>
        line(
          `of them ${method}`,
          'per block',
          (all) => (all.steady.byMethod[method] ?? 0) / all.steadyBlocks,
        ),
      ),
    line('peak', 'a second', (all) => all.steady.peakPerSecond),
    line('peak during the start', 'a second', (all) => all.start.peakPerSecond),
    line('refused', '%', (all) => refusedPercent(all.steady)),
    ...CAUSES.filter((cause) => steady.refused[cause] > 0).map((cause) =>
      line(`of them for ${cause}`, '%', (all) => refusedPercent(all.steady, cause)),
    ),
    line('refused during the start', '%', (all) => refusedPercent(all.start)),
    line(
      'refused twice in a row',
      'calls',
      (all) => all.steady.refusedTwice + all.start.refusedTwice,
      atMost(goals.refusedTwice, steady.refusedTwice + start.refusedTwice, 'calls'),
    ),
    ...['error', 'warn', 'info']
      .filter((level) => (linesPerMinute[level] ?? 0) > 0)
      .map((level) =>
        line(`log lines, ${level}`, 'a minute', (all) => all.linesPerMinute[level] ?? 0),
      ),
    line('first judged round after', 's', (all) => all.firstJudgedSeconds),
    line('judged', 'rounds', (all) => all.judged),
    line(
      'latest round',
      's late',
      (all) => all.lateSeconds,
      atMost(goals.lateSeconds, figures.lateSeconds, 's'),
    ),
  ].flat()
}

function requestGoal(
  { requestsPerBlock, ratio }: NonNullable<EndpointKind['goals']>,
  value: number,
  healthy: number | undefined,
): readonly [string, boolean] {
  if (requestsPerBlock !== undefined) return atMost(requestsPerBlock, value, 'per block')
  if (ratio === undefined || healthy === undefined) return ['-', true]
  return [`<= ${ratio} times the endpoint without faults`, value <= ratio * healthy]
}

function atMost(max: number | undefined, value: number, unit: string): readonly [string, boolean] {
  return max === undefined ? ['-', true] : [`<= ${max} ${unit}`, value <= max]
}

/** Share of the calls that were refused for these causes. */
function refusedPercent({ requests, refused }: RpcTraffic, ...causes: RefusalCause[]): number {
  const counted = causes.length > 0 ? causes : CAUSES
  const all = counted.reduce((sum, cause) => sum + refused[cause], 0)
  return requests === 0 ? 0 : (100 * all) / requests
}
