/** What the doctor asks each endpoint of the chain. */
import { CONTRACT_REGISTRY_ADDRESS as REGISTRY } from '#src/chain/contracts.ts'
import type { Config } from '#src/config.ts'
import { CHAINS } from '#src/kernel/chains.ts'
import type { Clock } from '#src/kernel/clock.ts'
import { type Finding, ok, warn, wrong } from './finding.ts'
import { type AskedEndpoint, ask, countLimited } from './json-rpc.ts'

const LATE_SECONDS = 90
/** Depths at which the state is asked, deepest first, with what a node that keeps no more is. */
const STATE_DEPTHS = [100_000, 1000, 128, 30, 5] as const
/** Lengths of ranges of logs, longest first. */
const LOG_RANGES = [1000, 100, 30] as const
const RATE_REQUESTS = 30

/** How far the doctor goes. */
export interface Depth {
  /** Whether only what a start can wait for is asked: chain and registry. */
  readonly isQuick: boolean
}

/** The endpoints of the configuration, with the name by which each is reported. */
export function endpointsOf({
  rpcUrls,
  rpcHeaders,
}: Config['chain']): readonly (AskedEndpoint & { readonly subject: string })[] {
  return rpcUrls.map((url, at) => ({
    url,
    headers: rpcHeaders[at] ?? {},
    subject: `endpoint ${new URL(url).host}`,
  }))
}

/** Asks every endpoint. */
export async function examineEndpoints(
  { chain }: Pick<Config, 'chain'>,
  { clock, isQuick }: Depth & { readonly clock: Clock },
): Promise<readonly Finding[]> {
  const each = endpointsOf(chain).map(async ({ subject, ...endpoint }) => {
    const asked = await ask(endpoint, 'eth_chainId', [])
    if (!asked.ok) {
      return [
        wrong(
          subject,
          `does not answer (${asked.why})`,
          'check its address, its key and the way out of this network',
        ),
      ]
    }
    const served = numberOf(asked.result)
    if (served !== chain.id) {
      const name = CHAINS.find(({ id }) => id === served)?.name ?? 'an unknown chain'
      return [
        wrong(
          subject,
          `serves ${name} (${served}), not ${chain.id}`,
          'correct FLARE_RPC_URLS or CHAIN_ID',
        ),
      ]
    }
    const registry = await examineRegistry(endpoint, subject, chain.contractRegistry ?? REGISTRY)
    if (isQuick) return registry
    return [...registry, ...(await examineDepth(endpoint, subject, clock))]
  })
  return (await Promise.all(each)).flat()
}

async function examineRegistry(
  endpoint: AskedEndpoint,
  subject: string,
  registry: string,
): Promise<readonly Finding[]> {
  const code = await ask(endpoint, 'eth_getCode', [registry, 'latest'])
  if (!code.ok)
    return [
      wrong(
        subject,
        `does not return the code of a contract (${code.why})`,
        'use another endpoint',
      ),
    ]
  if (code.result !== '0x')
    return [ok(subject, 'serves the chain, and has the registry of contracts')]
  return [
    wrong(
      subject,
      `has no contract at ${registry}`,
      'correct FLARE_CONTRACT_REGISTRY: empty is right on all four chains',
    ),
  ]
}

async function examineDepth(
  endpoint: AskedEndpoint,
  subject: string,
  clock: Clock,
): Promise<readonly Finding[]> {
  const head = await ask(endpoint, 'eth_getBlockByNumber', ['latest', false])
  const block =
    head.ok && typeof head.result === 'object'
      ? (head.result as Record<string, unknown> | null)
      : null
  const number = numberOf(block?.['number'])
  const at = numberOf(block?.['timestamp'])
  if (number === undefined || at === undefined) {
    return [wrong(subject, 'does not return its newest block', 'use another endpoint')]
  }
  const late = clock.now().getTime() / 1000 - at
  return [
    late > LATE_SECONDS
      ? wrong(
          subject,
          `its newest block is ${Math.round(late)} s old: the node does not follow the chain, or this clock is ahead`,
          'wait until the node has caught up, or use another endpoint',
        )
      : ok(subject, `newest block ${number}, ${Math.max(0, Math.round(late))} s old`),
    await examineState(endpoint, subject, number),
    await examineLogs(endpoint, subject, number),
    await examineRate(endpoint, subject),
  ]
}

async function examineState(
  endpoint: AskedEndpoint,
  subject: string,
  head: number,
): Promise<Finding> {
  for (const depth of STATE_DEPTHS.filter((one) => one <= head)) {
    const block = `0x${(head - depth).toString(16)}`
    const asked = await ask(endpoint, 'eth_getBalance', [REGISTRY, block])
    if (!asked.ok) continue
    if (depth >= 1000) return ok(subject, `keeps the state of ${depth} blocks and more`)
    if (depth >= 30)
      return ok(
        subject,
        `keeps the state of ${depth} blocks, as a node that prunes does; that is enough`,
      )
    return warn(
      subject,
      `keeps the state of ${depth} blocks only: watches of data providers may be behind`,
      'use a node that keeps 32 or more',
    )
  }
  return wrong(subject, 'answers no state of a few blocks ago', 'use another endpoint')
}

async function examineLogs(
  endpoint: AskedEndpoint,
  subject: string,
  head: number,
): Promise<Finding> {
  const tried = LOG_RANGES.filter((one) => one <= head)
  for (const range of tried) {
    const filter = {
      address: REGISTRY,
      fromBlock: `0x${(head - range).toString(16)}`,
      toBlock: `0x${head.toString(16)}`,
    }
    const asked = await ask(endpoint, 'eth_getLogs', [filter])
    if (!asked.ok) continue
    if (range === tried[0]) return ok(subject, `returns the logs of ${range} blocks at once`)
    return warn(
      subject,
      `returns the logs of at most about ${range} blocks at once: catching up takes many requests`,
      'nothing, or a node of your own',
    )
  }
  if (tried.length === 0) return ok(subject, 'has too few blocks to ask for ranges of logs')
  return wrong(subject, 'returns no logs of 30 blocks', 'use another endpoint')
}

async function examineRate(endpoint: AskedEndpoint, subject: string): Promise<Finding> {
  const limited = await countLimited(endpoint, RATE_REQUESTS)
  if (limited === 0) return ok(subject, `accepted ${RATE_REQUESTS} requests in a row`)
  return warn(
    subject,
    `refused ${limited} of ${RATE_REQUESTS} requests in a row, because there were too many`,
    'set FLARE_RPC_PER_MINUTE, or add an endpoint',
  )
}

/** A number of hexadecimal digits; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-fA-F]{1,13}$/.test(value)
    ? Number(value)
    : undefined
}
