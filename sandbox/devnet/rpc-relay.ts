import { once } from 'node:events'
import { type Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import {
  type HttpRefusal,
  RpcAnswer,
  RpcCall,
  type RpcFaults,
  takeError,
  takeRefusal,
} from './rpc-faults.ts'
import { answerLikeNode, type ChainFacts, type NodeAnswer, type NodeRules } from './rpc-node.ts'
import type { RateLimit } from './rpc-rate.ts'
import type { RefusalCause, TrafficCounter } from './rpc-traffic.ts'

/** What stands between a request and the chain. */
export interface Endpoint {
  /** URL of the chain. */
  readonly url: string
  readonly agent: Agent
  readonly faults: RpcFaults
  readonly traffic: TrafficCounter
  readonly rules: NodeRules
  readonly rate: RateLimit | undefined
  /** Number of blocks that the node of the next request is behind. */
  readonly chooseNode: () => number
}

/** An HTTP answer. */
export interface Relayed {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string
}

/** Answers a request as the endpoint does, with the chain's answers or without. */
export async function relay(endpoint: Endpoint, body: string): Promise<Relayed> {
  const { faults, traffic, rate } = endpoint
  const { calls, isBatch } = readCalls(body)
  const refuse = (refusal: HttpRefusal, cause: RefusalCause) => {
    for (const call of calls) traffic.refused(call, cause)
    return refused(refusal, calls[0])
  }
  const fault = takeRefusal(faults, calls)
  if (fault !== undefined) return refuse(fault, 'fault')
  const limited = rate?.take(Math.max(calls.length, 1), performance.now())
  if (limited !== undefined) return refuse(limited, 'rate')
  if (calls.length === 0) return post(endpoint, body)

  const facts = chainFacts(endpoint)
  const prepared = await Promise.all(
    calls.map(async (call): Promise<Prepared> => {
      const error = takeError(faults, call)
      if (error !== undefined) return { asked: call, answer: { cause: 'fault', fault: error } }
      return { asked: call, answer: await answerLikeNode(call, endpoint.rules, facts) }
    }),
  )
  const refusal = prepared
    .map(({ answer }) => ('fault' in answer && 'status' in answer.fault ? answer : undefined))
    .find((answer) => answer !== undefined)
  if (refusal !== undefined && 'status' in refusal.fault) {
    return refuse(refusal.fault, refusal.cause)
  }
  if (prepared.every((one) => isUntouched(one, faults))) {
    for (const call of calls) traffic.answered(call)
    return post(endpoint, body)
  }
  const all = await askChain(endpoint, prepared)
  return { status: 200, body: JSON.stringify(isBatch ? all : all[0]) }
}

/** A call with what the node makes of it. */
interface Prepared {
  readonly asked: RpcCall
  readonly answer: NodeAnswer
}

/** Whether a call goes to the chain and back as it is. */
function isUntouched({ asked, answer }: Prepared, { changes }: RpcFaults): boolean {
  if (!('call' in answer) || answer.call !== asked) return false
  return answer.isKnown === undefined && answer.change === undefined && !changes.has(asked.method)
}

function same(result: unknown): unknown {
  return result
}

/** The answers to all calls; those that need the chain go there in one batch. */
async function askChain(
  endpoint: Endpoint,
  prepared: readonly Prepared[],
): Promise<readonly unknown[]> {
  const { faults, traffic } = endpoint
  const passed = prepared.flatMap(({ answer }) => ('call' in answer ? answer.call : []))
  const answers = passed.length === 0 ? [] : await ask(endpoint, passed)
  return prepared.map(({ asked, answer }) => {
    const envelope = { jsonrpc: '2.0', id: asked.id ?? null }
    const rewrite = faults.changes.get(asked.method) ?? same
    if ('fault' in answer) {
      traffic.refused(asked, answer.cause)
      return { ...envelope, error: answer.fault }
    }
    if (!('call' in answer)) {
      if (answer.cause === undefined) traffic.answered(asked)
      else traffic.refused(asked, answer.cause)
      return { ...envelope, result: rewrite(answer.result, asked.params) }
    }
    const found = answers.find(({ id }) => id === asked.id)
    const { isKnown = () => true, change = same } = answer
    if (found !== undefined && !isKnown(found.result)) {
      traffic.refused(asked, 'not-yet')
      return { ...envelope, result: null }
    }
    traffic.answered(asked)
    if (found === undefined || !('result' in found)) return found
    return { ...found, result: rewrite(change(found.result), asked.params) }
  })
}

function refused(refusal: HttpRefusal, call: RpcCall | undefined): Relayed {
  const { status, error, isBare, page, headers } = refusal
  const envelope = { jsonrpc: '2.0', id: call?.id ?? null, error: error ?? `status ${status}` }
  return {
    status,
    headers: {
      'content-type': page === undefined ? 'application/json' : 'text/html',
      ...headers,
    },
    body: page ?? JSON.stringify(isBare === true ? error : envelope),
  }
}

/** Facts as the node of one request sees them. */
function chainFacts(endpoint: Endpoint): ChainFacts {
  const behind = endpoint.chooseNode()
  let tip: Promise<number> | undefined
  const askOne = async (method: string, params: readonly unknown[]) => {
    const [answer] = await ask(endpoint, [{ jsonrpc: '2.0', id: 0, method, params }])
    return answer?.result
  }
  return {
    tip: () => {
      tip ??= askOne('eth_blockNumber', []).then((number) => Math.max(0, Number(number) - behind))
      return tip
    },
    numberOf: async (hash) => {
      const head = NumberedHead.safeParse(await askOne('eth_getBlockByHash', [hash, false]))
      return head.success ? Number(head.data.number) : undefined
    },
  }
}

const NumberedHead = z.looseObject({ number: z.string() })

async function ask(endpoint: Endpoint, calls: readonly RpcCall[]): Promise<readonly RpcAnswer[]> {
  const { body } = await post(endpoint, JSON.stringify(calls))
  return z.array(RpcAnswer).parse(JSON.parse(body))
}

async function post({ url, agent }: Endpoint, body: string): Promise<Relayed> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const asked = request(url, { method: 'POST', headers, agent }).end(body)
  const [response]: IncomingMessage[] = await once(asked, 'response')
  if (response === undefined) throw new Error('no answer')
  return { status: response.statusCode ?? 0, body: await text(response) }
}

/** Parses calls; a body that is not JSON-RPC has none and passes unchanged. */
export function readCalls(body: string): {
  readonly calls: readonly RpcCall[]
  readonly isBatch: boolean
} {
  try {
    const json: unknown = JSON.parse(body)
    const isBatch = Array.isArray(json)
    return { calls: z.array(RpcCall).parse(isBatch ? json : [json]), isBatch }
  } catch {
    return { calls: [], isBatch: false }
  }
}
