import type { Hex } from 'viem'
import { readPastState } from '#src/chain/balances/past-state.ts'
import { requireBlock } from '#src/chain/blocks/blocks.ts'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { NATIVE_BALANCE_ABI } from '#src/chain/contracts.ts'
import { type ContractView, contractView, readViews } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import { updatesPerBlockOf } from '../protocol/fast-update-silence.ts'
import type { PolicyProvider } from '../protocol/policy.ts'
import {
  ENTITY_MANAGER_ABI,
  FAST_UPDATER_ABI,
  FEEDS_ABI,
  FORMER_PRE_REGISTRY_ABI,
  INCENTIVE_ABI,
  PRE_REGISTRY_ABI,
  SYSTEMS_MANAGER_ABI,
  VOTER_REGISTRY_ABI,
} from './abi.ts'

/** The accounts with which a provider votes. */
type VotingAccounts = Omit<PolicyProvider, 'voter' | 'weight'>

/** State of a provider at the end of a block. A field is null if the chain returned no value. */
export interface ProviderState {
  readonly addresses: VotingAccounts | null
  readonly isRegisteredNext: boolean | null
  readonly isPreRegistered: boolean | null
  /** Ids of the provider's validators, 20 bytes each. */
  readonly nodeIds: readonly Hex[] | null
  /** Balances in native coins, by address. */
  readonly balancesWei: ReadonlyMap<Address, bigint>
}

/** Settings of fast updates at the end of a block. A field is null if the chain returned no value. */
export interface UpdateSettings {
  /** Expected fast updates per block. */
  readonly sampleSize: number | null
  /** Number of feeds of fast updates. */
  readonly feedCount: number | null
  /** Number of blocks, from its sortition block on, in which a fast update is accepted. */
  readonly submissionWindow: number | null
}

/** States at the end of a block: of the system, and of each provider. */
export interface SystemState extends UpdateSettings {
  /**
   * Reward epoch whose registration is open or has closed, with its opening; null before registration
   * opens.
   */
  readonly registration: { readonly epoch: number; readonly openedAt: Date } | null
  readonly providers: ReadonlyMap<Address, ProviderState>
}

/** Providers and time of a request for states. */
export interface StatesQuery {
  readonly currentEpoch: number
  readonly voters: readonly Address[]
  /**
   * Members of the signing policy in force, by identity, with the accounts that pay fees and send updates.
   */
  readonly members: ReadonlyMap<Address, VotingAccounts>
  /** Further accounts of each provider, whose balances count. */
  readonly extra: ReadonlyMap<Address, readonly Address[]>
  readonly block: BlockRef
}

/** Providers in one request. */
const PROVIDERS_AT_ONCE = 50

/**
 * Reads the states of providers after a block, with four requests for up to 50 providers; undefined if no endpoint that
 * answers still has this state.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint answers
 */
export async function readStates(
  { endpoints, contracts, multicallAddress }: ChainAccess,
  query: StatesQuery,
  signal: AbortSignal | undefined,
): Promise<SystemState | undefined> {
  const { currentEpoch, voters, block } = query
  const { found } = await readPastState(
    endpoints,
    async (client) => {
      const protocolAddresses = {
        multicall: multicallAddress,
        manager: await contracts.find(client, 'FlareSystemsManager'),
        registries: await contracts.all(client, 'VoterRegistry'),
        preRegistry: await contracts.find(client, 'VoterPreRegistry'),
        entities: await contracts.find(client, 'EntityManager'),
      }
      const next = currentEpoch + 1
      const opened = contractView(SYSTEMS_MANAGER_ABI, 'getRandomAcquisitionInfo', [next])
      const [{ settings, answer }, nextRegistry] = await Promise.all([
        readSettings(client, { contracts, multicallAddress }, block.number, [
          protocolAddresses.manager,
          opened,
        ]),
        findRegistryOf(client, protocolAddresses, next, block.number),
      ])
      const [, , endTs = 0n] = opened.of(answer) ?? []
      const providers = new Map<Address, ProviderState>()
      for (let at = 0; at < voters.length; at += PROVIDERS_AT_ONCE) {
        const batch = voters.slice(at, at + PROVIDERS_AT_ONCE)
        const entities = await readEntities(client, protocolAddresses, batch, block.number)
        const addresses = { ...protocolAddresses, nextRegistry }
        const states = await readProviders(client, addresses, entities, query)
        for (const [voter, state] of states) providers.set(voter, state)
      }
      const openedAt = new Date(Number(endTs) * 1000)
      return {
        ...settings,
        registration: endTs === 0n ? null : { epoch: next, openedAt },
        providers,
      }
    },
    signal,
  )
  return found
}

/**
 * Reads the settings of fast updates in the newest state, of an endpoint that has a block.
 *
 * @throws AppError upstream `dependency_unavailable` when no endpoint has the block
 */
export function readNewestSettings(
  source: ChainAccess,
  block: number,
  signal: AbortSignal | undefined,
): Promise<UpdateSettings> {
  return source.endpoints.ask(async (client) => {
    await requireBlock(client, block)
    const { settings } = await readSettings(client, source, 'latest')
    return settings
  }, signal)
}

/** Reads the settings of fast updates, and in the same request the answer to one more question. */
async function readSettings(
  client: RpcClient,
  { contracts, multicallAddress }: Pick<ChainAccess, 'contracts' | 'multicallAddress'>,
  block: number | 'latest',
  ...more: readonly (readonly [Address | undefined, ContractView<unknown>])[]
): Promise<{ readonly settings: UpdateSettings; readonly answer: Hex | undefined }> {
  const size = contractView(INCENTIVE_ABI, 'getExpectedSampleSize', [])
  const feeds = contractView(FEEDS_ABI, 'getFeedIds', [])
  const window = contractView(FAST_UPDATER_ABI, 'submissionWindow', [])
  const [sizeAnswer, feedsAnswer, windowAnswer, answer] = await readViews(
    client,
    multicallAddress,
    [
      [await contracts.find(client, 'FastUpdateIncentiveManager'), size],
      [await contracts.find(client, 'FastUpdatesConfiguration'), feeds],
      [await contracts.find(client, 'FastUpdater'), window],
      ...more,
    ],
    block,
  )
  const fixedPoint = size.of(sizeAnswer)
  const settings = {
    sampleSize: fixedPoint === undefined ? null : updatesPerBlockOf(fixedPoint),
    feedCount: feeds.of(feedsAnswer)?.length ?? null,
    submissionWindow: window.of(windowAnswer) ?? null,
  }
  return { settings, answer }
}

/** Addresses of the contracts; undefined if a contract is not on this chain. */
type ProtocolAddresses = Readonly<
  Record<'manager' | 'preRegistry' | 'entities', Address | undefined>
> & {
  readonly multicall: Address
  /** Voter registries, the current one first. */
  readonly registries: readonly Address[]
}

interface Entity {
  readonly voter: Address
  readonly addresses: ProviderState['addresses']
  readonly nodeIds: readonly Hex[] | null
}

async function readEntities(
  client: RpcClient,
  { entities, multicall }: ProtocolAddresses,
  voters: readonly Address[],
  block: number,
): Promise<readonly Entity[]> {
  const rows = voters.map((voter) => ({
    voter,
    addresses: contractView(ENTITY_MANAGER_ABI, 'getVoterAddresses', [voter]),
    nodes: contractView(ENTITY_MANAGER_ABI, 'getNodeIdsOf', [voter]),
  }))
  const questions = rows.flatMap(({ addresses, nodes }) => [
    [entities, addresses] as const,
    [entities, nodes] as const,
  ])
  const answers = await readViews(client, multicall, questions, block)
  return rows.map(({ voter, addresses, nodes }, index) => {
    const ownAddresses = addresses.of(answers[2 * index])
    return {
      voter,
      addresses:
        ownAddresses === undefined
          ? null
          : {
              submit: ownAddresses.submitAddress,
              submitSignatures: ownAddresses.submitSignaturesAddress,
              signingPolicy: ownAddresses.signingPolicyAddress,
            },
      nodeIds: nodes.of(answers[2 * index + 1]) ?? null,
    }
  })
}

/** The first registry that has voters of a reward epoch, or else the current one; undefined without any. */
async function findRegistryOf(
  client: RpcClient,
  { multicall, registries }: ProtocolAddresses,
  epoch: number,
  block: number,
): Promise<Address | undefined> {
  if (registries.length < 2) return registries[0]
  const count = contractView(VOTER_REGISTRY_ABI, 'getNumberOfRegisteredVoters', [BigInt(epoch)])
  const questions = registries.map((registry) => [registry, count] as const)
  const answers = await readViews(client, multicall, questions, block)
  return registries.find((_, index) => (count.of(answers[index]) ?? 0n) > 0n) ?? registries[0]
}

async function readProviders(
  client: RpcClient,
  {
    nextRegistry,
    preRegistry,
    multicall,
  }: ProtocolAddresses & { readonly nextRegistry: Address | undefined },
  entities: readonly Entity[],
  { currentEpoch, members, extra, block }: Omit<StatesQuery, 'voters'>,
): Promise<readonly (readonly [Address, ProviderState])[]> {
  const next = currentEpoch + 1
  const rows = entities.map((entity) => {
    const { voter, addresses } = entity
    const member = members.get(voter)
    const inForce = member && [member.submit, member.submitSignatures, member.signingPolicy]
    const all = [...(inForce ?? []), ...Object.values(addresses ?? {}), ...(extra.get(voter) ?? [])]
    const accounts = [...new Set(all)].filter((account) => account !== ZERO_ADDRESS)
    return {
      ...entity,
      accounts,
      registeredNext: contractView(VOTER_REGISTRY_ABI, 'isVoterRegistered', [voter, BigInt(next)]),
      preRegistered: contractView(PRE_REGISTRY_ABI, 'isVoterPreRegistered', [BigInt(next), voter]),
      formerly: contractView(FORMER_PRE_REGISTRY_ABI, 'isVoterPreRegistered', [next, voter]),
      balances: accounts.map((account) =>
        contractView(NATIVE_BALANCE_ABI, 'getEthBalance', [account]),
      ),
    }
  })
  const questionsOf = (
    row: (typeof rows)[number],
  ): (readonly [Address | undefined, ContractView<unknown>])[] => [
    [nextRegistry, row.registeredNext],
    [preRegistry, row.preRegistered],
    [preRegistry, row.formerly],
    ...row.balances.map((balance) => [multicall, balance] as const),
  ]
  const answers = await readViews(client, multicall, rows.flatMap(questionsOf), block.number)
  let at = 0
  return rows.map((row) => {
    const answersOfRow = answers.slice(at, at + questionsOf(row).length)
    at += answersOfRow.length
    const balances = row.accounts.flatMap((account, index) => {
      const balance = row.balances[index]?.of(answersOfRow[3 + index])
      return balance === undefined ? [] : [[account, balance] as const]
    })
    return [
      row.voter,
      {
        addresses: row.addresses,
        nodeIds: row.nodeIds,
        isRegisteredNext: row.registeredNext.of(answersOfRow[0]) ?? null,
        isPreRegistered:
          row.preRegistered.of(answersOfRow[1]) ?? row.formerly.of(answersOfRow[2]) ?? null,
        balancesWei: new Map(balances),
      },
    ]
  })
}
