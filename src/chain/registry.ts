import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { readCall } from './calls.ts'
import { CONTRACT_REGISTRY_ABI } from './contracts.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'

/** Where the chain's own contracts are. They move from time to time: nothing is known for ever. */
export interface ContractAddresses {
  /** The contract of that name now; undefined when the chain has none. Asked for every 10 minutes. */
  find(client: RpcClient, name: string): Promise<Address | undefined>
  /** The contract of that name now, then those it had before, as far as this process or an earlier one saw. */
  all(client: RpcClient, name: string): Promise<readonly Address[]>
  /** Keeps the address of a contract that another one names; the list may be ahead of it. */
  remember(name: string, address: Address): void
  /** Every address that was seen, by name, the newest first. */
  seen(): ReadonlyMap<string, readonly Address[]>
  /** Looks anew at the next question: at a new reward epoch, or when a contract does not answer. */
  forget(): void
}

/** What is needed to look contracts up. */
export interface RegistrySource {
  /** The list of the chain's own contracts. */
  readonly registry: Address
  /** Endpoints that can be asked. */
  readonly endpointCount: number
  /** What earlier processes saw, by name; asked for with each reading of the list. */
  readonly stored?: () => Promise<Readonly<Record<string, readonly Address[]>>>
  readonly clock: Clock
  readonly log: Logger
}

/** How long the list is used before it is read again. */
const KEPT_MS = 10 * MINUTE_MS
/** How long a list is used on after an empty answer. */
const DOUBTED_MS = 60_000

/**
 * Looks contracts up in the FlareContractRegistry, all of them in one request.
 *
 */
export function createContractAddresses({
  registry,
  endpointCount,
  stored = async () => ({}),
  clock,
  log,
}: RegistrySource): ContractAddresses {
  const known = new Map<string, readonly Address[]>()
  /** Beside those of the list: named by other contracts, or seen by earlier processes. */
  const others = new Map<string, ReadonlySet<Address>>()
  /** Names in the list now: what left it is no contract of today, but one of former times. */
  let current: ReadonlySet<string> = new Set()
  /** Endpoints, by address, that gave an empty list where one is known. */
  const emptyAt = new Set<string>()
  let readUntilMs = 0
  /** The last look at what earlier processes saw, which contracts of today do not wait for. */
  let recalled = Promise.resolve()

  async function look(client: RpcClient): Promise<void> {
    const nowMs = clock.now().getTime()
    if (nowMs < readUntilMs) return
    recalled = recall()
    const listed = await readRegistry(client, registry)
    if (listed.size === 0 && known.size > 0) {
      doubt(client.transport.url ?? '')
      readUntilMs = nowMs + DOUBTED_MS
      return
    }
    emptyAt.clear()
    current = new Set(listed.keys())
    for (const [name, address] of listed) {
      const before = known.get(name) ?? []
      if (before[0] === address) continue
      known.set(name, [address, ...before.filter((other) => other !== address)])
      if (before[0] !== undefined)
        log.warn({ name, from: before[0], to: address }, 'contract moved')
    }
    readUntilMs = nowMs + KEPT_MS
  }

  /**
   * A list that is known is never replaced by an empty one: the next endpoint is asked, and where all say
   * the same the known list is used on.
   */
  function doubt(url: string): void {
    const isNews = !emptyAt.has(url)
    emptyAt.add(url)
    if (isNews && emptyAt.size < endpointCount) {
      throw new EndpointError('the list of contracts is empty, which was not so before')
    }
    if (isNews)
      log.warn({ contracts: known.size }, 'list of contracts is empty: the known one is kept')
  }

  /** Adds what earlier processes saw. Where that cannot be read, what is known goes on to be used. */
  async function recall(): Promise<void> {
    try {
      for (const [name, addresses] of Object.entries(await stored())) {
        for (const address of addresses) remember(name, address)
      }
    } catch (error) {
      log.warn({ err: error }, 'former addresses of contracts could not be read')
    }
  }

  function remember(name: string, address: Address): void {
    others.set(name, new Set([...(others.get(name) ?? []), address]))
  }

  function allOf(name: string): readonly Address[] {
    return [...new Set([...(known.get(name) ?? []), ...(others.get(name) ?? [])])]
  }

  return {
    find: async (client, name) => {
      await look(client)
      return current.has(name) ? known.get(name)?.[0] : undefined
    },
    all: async (client, name) => {
      await look(client)
      await recalled
      return allOf(name)
    },
    remember,
    seen: () =>
      new Map([...known.keys(), ...others.keys()].map((name) => [name, allOf(name)] as const)),
    forget: () => {
      readUntilMs = 0
    },
  }
}

/** Every entry of the list; empty where the chain has no such list. */
async function readRegistry(
  client: RpcClient,
  registry: Address,
): Promise<ReadonlyMap<string, Address>> {
  const call = { abi: CONTRACT_REGISTRY_ABI, functionName: 'getAllContracts' } as const
  const data = await readCall(client, { to: registry, data: encodeFunctionData(call) })
  if (data === undefined) return new Map()
  const [names, addresses] = decodeFunctionResult({ ...call, data })
  const entries = names.map((name, index) => [name, addresses[index] ?? ZERO_ADDRESS] as const)
  return new Map(entries.filter(([, address]) => address !== ZERO_ADDRESS))
}
