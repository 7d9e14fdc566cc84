import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Clock } from '#src/kernel/clock.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Logger } from '#src/kernel/logger.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { CONTRACT_REGISTRY_ABI } from './contracts.ts'
import { readCall } from './endpoints/calls.ts'
import type { RpcClient } from './endpoints/endpoints.ts'
import { EndpointError } from './endpoints/failures.ts'

/**
 * Addresses of the contracts of the Flare Systems Protocol. Contracts move from time to time, so every
 * address expires.
 */
export interface ContractAddresses {
  /**
   * Current contract of a name; undefined when the chain has no contract of that name. Refreshed every 10
   * minutes.
   */
  find(client: RpcClient, name: string): Promise<Address | undefined>
  /**
   * The current contract of a name, then the other known contracts: former ones, and new ones that contracts name.
   */
  all(client: RpcClient, name: string): Promise<readonly Address[]>
  /**
   * Stores the address of a contract that another contract names; the registry may not have that address
   * yet.
   */
  addAddress(name: string, address: Address): void
  /** Every address seen, by name. */
  seen(): ReadonlyMap<string, readonly Address[]>
  /**
   * Makes the next lookup read the registry again: at a new reward epoch, or when a contract does not
   * answer.
   */
  expire(): void
  /**
   * As `expire`, at most once a minute: a transaction that anybody can send suggests that a contract moved.
   *
   * @returns whether the next lookup reads the registry
   */
  suspectMove(): boolean
  /** Address of the registry. */
  readonly registry: Address
  /** Whether no endpoint has any contract in the registry, and none was ever known. */
  isMissing(): boolean
}

/** Dependencies of looking up contracts. */
export interface RegistrySource {
  /** Address of the registry of the chain's contracts. */
  readonly registry: Address
  /** Number of endpoints. */
  readonly endpointCount: number
  /** Reads the addresses that earlier processes saw, by name. Called with each reading of the registry. */
  readonly stored?: () => Promise<Readonly<Record<string, readonly Address[]>>>
  readonly clock: Clock
  readonly log: Logger
}

/** Time for which the registry's entries are cached. */
const FRESH_MS = 10 * MINUTE_MS
/** Time for which the cached entries are used after an empty result. */
const AFTER_EMPTY_MS = 60_000
/** Shortest time between readings for suspected moves. */
const SUSPECTED_GAP_MS = MINUTE_MS

/**
 * Creates lookups in the FlareContractRegistry, whose entries are read in one request. Long because lookup,
 * refresh and the handling of empty results share the known addresses.
 */
export function createContractAddresses({
  registry,
  endpointCount,
  stored = async () => ({}),
  clock,
  log,
}: RegistrySource): ContractAddresses {
  const addressesByName = new Map<string, readonly Address[]>()
  /** Further addresses: named by other contracts, or seen by earlier processes. */
  const furtherByName = new Map<string, ReadonlySet<Address>>()
  /** Names in the registry now; other names may be known, too. */
  let current: ReadonlySet<string> = new Set()
  /** URLs of endpoints that returned an empty registry. */
  const emptyUrls = new Set<string>()
  let isMissing = false
  let readUntilMs = 0
  let suspectedAtMs = Number.NEGATIVE_INFINITY
  /**
   * Settles when the addresses of earlier processes are read; lookups of current contracts do not wait for
   * this.
   */
  let storedRead = Promise.resolve()

  async function refreshIfDue(client: RpcClient): Promise<void> {
    const nowMs = clock.now().getTime()
    if (nowMs < readUntilMs) return
    storedRead = readStored()
    const listed = await readRegistry(client, registry)
    if (listed.size === 0) {
      handleEmptyRegistry(client.transport.url ?? '')
      readUntilMs = nowMs + AFTER_EMPTY_MS
      return
    }
    emptyUrls.clear()
    if (isMissing) log.info({ registry }, 'contracts are in the registry now')
    isMissing = false
    current = new Set(listed.keys())
    for (const [name, address] of listed) {
      const before = addressesByName.get(name) ?? []
      if (before[0] === address) continue
      addressesByName.set(name, [address, ...before.filter((other) => other !== address)])
      if (before[0] !== undefined)
        log.warn({ name, from: before[0], to: address }, 'contract moved')
    }
    readUntilMs = nowMs + FRESH_MS
  }

  /**
   * Handles an empty registry, which never replaces known entries: the next endpoint is asked, and if all
   * return an empty registry the known entries are used. Without any, the address of the registry is wrong.
   */
  function handleEmptyRegistry(url: string): void {
    const isFirst = !emptyUrls.has(url)
    emptyUrls.add(url)
    if (isFirst && emptyUrls.size < endpointCount) {
      throw new EndpointError('the list of contracts is empty')
    }
    if (addressesByName.size === 0) {
      if (!isMissing)
        log.error({ registry }, 'there are no contracts at the address of the registry')
      isMissing = true
    } else if (isFirst)
      log.warn(
        { contracts: addressesByName.size },
        'list of contracts is empty: the known addresses are used',
      )
  }

  /**
   * Adds the addresses of earlier processes; if these cannot be read, only the known addresses are used.
   */
  async function readStored(): Promise<void> {
    try {
      for (const [name, addresses] of Object.entries(await stored())) {
        for (const address of addresses) addAddress(name, address)
      }
    } catch (error) {
      log.warn({ err: error }, 'former addresses of contracts could not be read')
    }
  }

  function addAddress(name: string, address: Address): void {
    furtherByName.set(name, new Set([...(furtherByName.get(name) ?? []), address]))
  }

  function listKnown(name: string): readonly Address[] {
    return [...new Set([...(addressesByName.get(name) ?? []), ...(furtherByName.get(name) ?? [])])]
  }

  return {
    find: async (client, name) => {
      await refreshIfDue(client)
      return current.has(name) ? addressesByName.get(name)?.[0] : undefined
    },
    all: async (client, name) => {
      await refreshIfDue(client)
      await storedRead
      return listKnown(name)
    },
    addAddress,
    seen: () =>
      new Map(
        [...addressesByName.keys(), ...furtherByName.keys()].map(
          (name) => [name, listKnown(name)] as const,
        ),
      ),
    expire: () => {
      readUntilMs = 0
    },
    registry,
    isMissing: () => isMissing,
    suspectMove: () => {
      const nowMs = clock.now().getTime()
      if (nowMs - suspectedAtMs < SUSPECTED_GAP_MS) return false
      suspectedAtMs = nowMs
      readUntilMs = 0
      return true
    },
  }
}

/** Reads every entry of the registry; empty where the chain has no registry. */
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
