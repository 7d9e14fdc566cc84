import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { Clock } from '#src/kernel/clock.ts'
import { nodeIdText } from '../devnet/fsp/encode.ts'
import type { KnownPolicy } from '../devnet/fsp/policy.ts'
import { rewardTree } from '../devnet/fsp/reward-tree.ts'
import type { ProviderSimulation } from '../devnet/provider-simulation.ts'
import { closeServer, listenOnLoopback } from '../loopback.ts'

/** A server of published data about reward epochs, and of the P-chain's API. */
export interface ProtocolData {
  /** URL of eligibility, with `{epoch}`. */
  readonly passesUrl: string
  /** Base URL of rewards, followed by an epoch and a file name. */
  readonly rewardsUrl: string
  /** URL of a node, without the path of the P-chain's API. */
  readonly pChainUrl: string
  close(): Promise<void>
}

const PASSES_MAX = 3
const VALIDATOR_DAYS = 60
const DAY_S = 86_400
const WEIGHT = '5000000000000000'

const PChainRequest = z.object({
  id: z.unknown(),
  method: z.string(),
  params: z
    .object({
      nodeIDs: z.array(z.string()).optional(),
      height: z.int().min(0).optional(),
    })
    .optional(),
})

interface Answer {
  readonly status: number
  readonly body: unknown
}

const NOTHING: Answer = { status: 404, body: { error: 'not published' } }

/** Starts it on loopback. It publishes the simulation's reward epochs. */
export async function startProtocolData(options: {
  readonly simulation: ProviderSimulation
  readonly clock: Clock
}): Promise<ProtocolData> {
  const { simulation, clock } = options
  const pChain = createPChainHistory()
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://data.invalid')
    if (pathname === '/ext/bc/P')
      send(request, response, await askPChain(request, simulation, clock, pChain))
    else send(request, response, read(pathname, simulation))
  })
  const port = await listenOnLoopback(server, 0)
  const url = `http://127.0.0.1:${port}`
  return {
    passesUrl: `${url}/flare/{epoch}/passes.json`,
    rewardsUrl: `${url}/flare/`,
    pChainUrl: url,
    close: () => closeServer(server),
  }
}

function send(request: IncomingMessage, response: ServerResponse, { status, body }: Answer): void {
  const json = JSON.stringify(body)
  const etag = `"${createHash('sha256').update(json).digest('base64url')}"`
  if (status === 200 && request.headers['if-none-match'] === etag) {
    response.writeHead(304, { etag }).end()
    return
  }
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', etag }).end(json)
}

function read(pathname: string, simulation: ProviderSimulation): Answer {
  const [, epochText, file] = /^\/flare\/(\d+)\/([\w-]+\.json)$/.exec(pathname) ?? []
  const epoch = Number(epochText)
  const policy = simulation.policies.find((policy) => policy.epoch === epoch)
  if (policy === undefined || !simulation.published.includes(epoch)) return NOTHING
  if (file === 'reward-distribution-data.json') return { status: 200, body: rewardsOf(policy) }
  if (file !== 'passes.json') return NOTHING
  return { status: 200, body: passesOf(policy, epoch === simulation.published.at(-1)) }
}

/** Eligibility of providers. In the newest epoch it follows their present faults. */
function passesOf({ epoch, members }: KnownPolicy, isNewest: boolean) {
  return members.map(({ provider, accounts }) => {
    const isEligible = !isNewest || !provider.behaviours.has('not-eligible')
    return {
      rewardEpochId: epoch,
      dataProviderName: provider.name,
      eligibleForReward: isEligible,
      voterAddress: accounts.identity.address.toLowerCase(),
      passes: isEligible ? PASSES_MAX : 0,
      failures: isEligible ? [] : [{ protocolId: 100, failureId: 'FTSO_SCALING_FAILURE' }],
    }
  })
}

function rewardsOf({ epoch, members }: KnownPolicy) {
  const { root, claims } = rewardTree(epoch, members)
  return {
    rewardEpochId: epoch,
    network: 'flare',
    appliedMinConditions: true,
    rewardClaims: claims.map(({ owner, claimType, amount, proof }) => ({
      merkleProof: proof,
      body: {
        rewardEpochId: epoch,
        beneficiary: owner.toLowerCase(),
        amount: amount.toString(),
        claimType,
      },
    })),
    noOfWeightBasedClaims: 12,
    merkleRoot: root,
  }
}

/** The blocks of the P-chain: one for each change of its validators that was seen. */
interface PChainHistory {
  see(validators: readonly string[], at: Date): void
  /** Number of the last block; -1 without any. */
  height(): number
  block(
    height: number,
  ): { readonly time: number; readonly validators: readonly string[] } | undefined
}

function createPChainHistory(): PChainHistory {
  const blocks: { readonly time: number; readonly validators: readonly string[] }[] = []
  return {
    see(validators, at) {
      if (blocks.at(-1)?.validators.join() === validators.join()) return
      blocks.push({ time: Math.floor(at.getTime() / 1000), validators })
    },
    height: () => blocks.length - 1,
    block: (height) => blocks[height],
  }
}

async function askPChain(
  request: IncomingMessage,
  simulation: ProviderSimulation,
  clock: Clock,
  history: PChainHistory,
): Promise<Answer> {
  const asked = PChainRequest.safeParse(parseJson(await text(request)))
  if (!asked.success) return { status: 400, body: { error: 'not a call' } }
  const { id, method, params } = asked.data
  const current = validatorsOf(simulation, clock)
  history.see(
    current.map(({ nodeID }) => nodeID),
    clock.now(),
  )
  const result = answerOf(method, params ?? {}, current, history)
  if (result !== undefined) return { status: 200, body: { jsonrpc: '2.0', id, result } }
  const error = { code: -32601, message: `the method ${method} does not exist` }
  return { status: 200, body: { jsonrpc: '2.0', id, error } }
}

/** The result of a method; undefined for an unknown one, or an unknown height. */
function answerOf(
  method: string,
  { nodeIDs: wanted = [], height = -1 }: NonNullable<z.output<typeof PChainRequest>['params']>,
  current: ReturnType<typeof validatorsOf>,
  history: PChainHistory,
): object | undefined {
  const block = history.block(height)
  switch (method) {
    case 'platform.getCurrentValidators': {
      const isWanted = (nodeID: string) => wanted.length === 0 || wanted.includes(nodeID)
      return { validators: current.filter(({ nodeID }) => isWanted(nodeID)) }
    }
    case 'platform.getHeight':
      return { height: String(history.height()) }
    case 'platform.getBlockByHeight':
      return block && { block: { height, time: block.time }, encoding: 'json' }
    case 'platform.getValidatorsAt':
      // Documented as `{ validators }`; nodes with keys for signatures answer like this.
      return (
        block &&
        Object.fromEntries(
          block.validators.map((validator) => [validator, { publicKey: null, weight: WEIGHT }]),
        )
      )
    default:
      return undefined
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Current validators; other nodes are missing. Numbers are texts, like in answers of nodes. */
function validatorsOf(simulation: ProviderSimulation, clock: Clock) {
  const day = Math.floor(clock.now().getTime() / 1000 / DAY_S) * DAY_S
  return simulation.providers
    .filter(({ behaviours }) => !behaviours.has('validator-gone'))
    .flatMap(({ accounts, behaviours }) =>
      accounts.nodeIds.map((nodeId) => ({
        nodeID: nodeIdText(nodeId),
        connected: !behaviours.has('validator-offline'),
        uptime: behaviours.has('validator-offline') ? '61.2500' : '99.9870',
        startTime: `${day - VALIDATOR_DAYS * DAY_S}`,
        endTime: `${day + VALIDATOR_DAYS * DAY_S}`,
        weight: WEIGHT,
        delegationFee: '10.0000',
      })),
    )
}
