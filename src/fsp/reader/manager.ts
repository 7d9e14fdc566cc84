import type { ChainAccess } from '#src/chain/chain.ts'
import { contractView, readViews } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import type { Address } from '#src/kernel/units.ts'
import { SYSTEMS_MANAGER_ABI } from './abi.ts'

/** The FlareSystemsManager after a block. */
export interface ManagerState {
  readonly manager: Address
  /** The reward epoch in force; undefined if the contract did not return it. */
  readonly currentEpoch: number | undefined
}

/**
 * Reads the manager; undefined on a chain without the protocol. The voter registry and the Relay that it uses are added
 * to the known contracts, because the registry of contracts may be ahead of it.
 */
export async function readManager(
  { contracts, multicallAddress }: ChainAccess,
  client: RpcClient,
  block: number | 'latest',
): Promise<ManagerState | undefined> {
  const manager = await contracts.find(client, 'FlareSystemsManager')
  if (manager === undefined) return undefined
  const epoch = contractView(SYSTEMS_MANAGER_ABI, 'getCurrentRewardEpochId', [])
  const registry = contractView(SYSTEMS_MANAGER_ABI, 'voterRegistry', [])
  const relay = contractView(SYSTEMS_MANAGER_ABI, 'relay', [])
  const calls = [epoch, registry, relay].map((view) => [manager, view] as const)
  const answers = await readViews(client, multicallAddress, calls, block)
  const [registryInUse, relayInUse] = [registry.of(answers[1]), relay.of(answers[2])]
  if (registryInUse !== undefined) contracts.addAddress('VoterRegistry', registryInUse)
  if (relayInUse !== undefined) contracts.addAddress('Relay', relayInUse)
  return { manager, currentEpoch: epoch.of(answers[0]) }
}
