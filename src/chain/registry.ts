import { decodeFunctionResult, encodeFunctionData } from 'viem'
import type { Clock } from '#src/kernel/clock.ts'
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
  /** The contract of that name now, then those it had before, as far back as this process has looked. */
  all(client: RpcClient, name: string): Promise<readonly Address[]>
  /** Looks anew at the next question: at a new reward epoch, or when a contract does not answer. */
  forget(): void
}

/** What is needed to look contracts up. */
export interface RegistrySource {
  /** The list of the chain's own contracts. */
  readonly registry: Address
  readonly clock: Clock
  readonly log: Logger
}

/** How long the list is used before it is read again. */
const KEPT_MS = 10 * 60_000

/**
 * Looks contracts up in the FlareContractRegistry, all of them in one request.
 *
 * @see protocol reference, 1.2
 */
export function createContractAddresses({
  registry,
  clock,
  log,
}: RegistrySource): ContractAddresses {
  const known = new Map<string, readonly Address[]>()
  let readUntilMs = 0

  async function look(client: RpcClient): Promise<void> {
    const nowMs = clock.now().getTime()
    if (nowMs < readUntilMs) return
    const listed = await readRegistry(client, registry)
    // A chain does not lose its list: an endpoint that has none any more has not read it.
    if (listed.size === 0 && known.size > 0) {
      throw new EndpointError('the list of contracts is empty, which was not so before')
    }
    for (const name of known.keys()) if (!listed.has(name)) known.delete(name)
    for (const [name, address] of listed) {
      const before = known.get(name) ?? []
      if (before[0] === address) continue
      known.set(name, [address, ...before.filter((other) => other !== address)])
      if (before[0] !== undefined)
        log.warn({ name, from: before[0], to: address }, 'contract moved')
    }
    readUntilMs = nowMs + KEPT_MS
  }

  return {
    find: async (client, name) => {
      await look(client)
      return known.get(name)?.[0]
    },
    all: async (client, name) => {
      await look(client)
      return known.get(name) ?? []
    },
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
