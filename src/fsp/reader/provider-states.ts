import type { Hex } from 'viem'
import type { BlockRef, ChainAccess } from '#src/chain/chain.ts'
import { type ContractView, contractView, readViews } from '#src/chain/contract-views.ts'
import type { RpcClient } from '#src/chain/endpoints.ts'
import { type Address, ZERO_ADDRESS } from '#src/kernel/units.ts'
import type { PolicyProvider } from '../protocol/policy.ts'
import { updatesPerBlockOf } from '../protocol/silence.ts'
import {
  BALANCE_ABI,
  ENTITY_MANAGER_ACCOUNTS_ABI,
  FAST_UPDATER_ABI,
  FEEDS_ABI,
  FORMER_PRE_REGISTRY_ABI,
  INCENTIVE_ABI,
  MANAGER_POLICY_ABI,
  PRE_REGISTRY_ABI,
  VOTER_DATA_ABI,
} from './provider-abi.ts'

/** State of a provider at the end of a block. A field is null if the chain returned no value. */
export interface ProviderState {
  readonly addresses: Omit<PolicyProvider, 'voter' | 'weight'> | null
  readonly isRegistered: boolean | null
  readonly isRegisteredNext: boolean | null
  readonly isPreRegistered: boolean | null
  /** Number of the provider's virtual providers in fast updates; null when it cannot take part. */
  readonly sortitionWeight: number | null
  /** Ids of the provider's validators, 20 bytes each. */
  readonly nodeIds: readonly Hex[] | null
  /** Balances in native coins, by address. */
  readonly balancesWei: ReadonlyMap<Address, bigint>
}

/** States at the end of a block: of the system, and of each provider. */
export interface SystemState {
  /**
   * Reward epoch whose registration is open or has closed, with its opening; null before registration
   * opens.
   */
  readonly registration: { readonly epoch: number; readonly openedAt: Date } | null
  /** Expected fast updates per block. */
  readonly sampleSize: number | null
  /** Number of feeds of fast updates. */
  readonly feedCount: number | null
  /** Number of blocks, from its sortition block on, in which a fast update is accepted. */
  readonly submissionWindow: number | null
  readonly providers: ReadonlyMap<Address, ProviderState>
}

/** Providers and time of a request for states. */
export interface StatesQuery {
  readonly currentEpoch: number
  readonly voters: readonly Address[]
  /**
   * Members of the signing policy in force, by identity, with the accounts that pay fees and send updates.
   */
  readonly members: ReadonlyMap<Address, Omit<PolicyProvider, 'voter' | 'weight'>>
  /** Further accounts of each provider, whose balances count. */
  readonly extra: ReadonlyMap<Address, readonly Address[]>
  readonly block: BlockRef
}

/** Providers in one request. */
const PROVIDERS_AT_ONCE = 50

/** Reads the states of providers, with two requests per 50 providers. */
export async function readStates(
  { endpoints, contracts, multicallAddress }: ChainAccess,
  query: StatesQuery,
  signal: AbortSignal | undefined,
): Promise<SystemState> {
  const { currentEpoch, voters, block } = query
  return endpoints.ask(async (client) => {
    const find = (name: string) => contracts.find(client, name)
    const protocolAddresses = {
      multicall: multicallAddress,
      manager: await find('FlareSystemsManager'),
      registries: await contracts.all(client, 'VoterRegistry'),
      preRegistry: await find('VoterPreRegistry'),
      entities: await find('EntityManager'),
      updater: await find('FastUpdater'),
      incentives: await find('FastUpdateIncentiveManager'),
      configuration: await find('FastUpdatesConfiguration'),
    }
    const next = currentEpoch + 1
    const opened = contractView(MANAGER_POLICY_ABI, 'getRandomAcquisitionInfo', [next])
    const size = contractView(INCENTIVE_ABI, 'getExpectedSampleSize', [])
    const feeds = contractView(FEEDS_ABI, 'getFeedIds', [])
    const window = contractView(FAST_UPDATER_ABI, 'submissionWindow', [])
    const [openedAnswer, sizeAnswer, feedsAnswer, windowAnswer] = await readViews(
      client,
      multicallAddress,
      [
        [protocolAddresses.manager, opened],
        [protocolAddresses.incentives, size],
        [protocolAddresses.configuration, feeds],
        [protocolAddresses.updater, window],
      ],
      block.number,
    )
    const [, , endTs = 0n] = opened.of(openedAnswer) ?? []
    const fixedPoint = size.of(sizeAnswer)
    const holders = await readHolders(client, protocolAddresses, [currentEpoch, next], block.number)
    const providers = new Map<Address, ProviderState>()
    for (let at = 0; at < voters.length; at += PROVIDERS_AT_ONCE) {
      const batch = voters.slice(at, at + PROVIDERS_AT_ONCE)
      const entities = await readEntities(client, protocolAddresses, batch, block.number)
      const states = await readProviders(client, { ...protocolAddresses, holders }, entities, query)
      for (const [voter, state] of states) providers.set(voter, state)
    }
    return {
      registration: endTs === 0n ? null : { epoch: next, openedAt: new Date(Number(endTs) * 1000) },
      sampleSize: fixedPoint === undefined ? null : updatesPerBlockOf(fixedPoint),
      feedCount: feeds.of(feedsAnswer)?.length ?? null,
      submissionWindow: window.of(windowAnswer) ?? null,
      providers,
    }
  }, signal)
}

/** Addresses of the contracts; undefined if a contract is not on this chain. */
type ProtocolAddresses = Readonly<
  Record<'manager' | 'preRegistry' | 'entities' | 'updater' | 'incentives', Address | undefined>
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
    addresses: contractView(ENTITY_MANAGER_ACCOUNTS_ABI, 'getVoterAddresses', [voter]),
    nodes: contractView(ENTITY_MANAGER_ACCOUNTS_ABI, 'getNodeIdsOf', [voter]),
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

/**
 * Voter registry by reward epoch: the first registry that has voters of the epoch, or else the current
 * registry.
 */
type Holders = ReadonlyMap<number, Address | undefined>

async function readHolders(
  client: RpcClient,
  { multicall, registries }: ProtocolAddresses,
  epochs: readonly number[],
  block: number,
): Promise<Holders> {
  if (registries.length < 2) return new Map(epochs.map((epoch) => [epoch, registries[0]]))
  const rows = epochs.flatMap((epoch) => {
    const count = contractView(VOTER_DATA_ABI, 'getNumberOfRegisteredVoters', [BigInt(epoch)])
    return registries.map((registry) => ({ epoch, registry, count }))
  })
  const questions = rows.map(({ registry, count }) => [registry, count] as const)
  const answers = await readViews(client, multicall, questions, block)
  const holding = rows.filter(({ count }, index) => (count.of(answers[index]) ?? 0n) > 0n)
  return new Map(
    epochs.map((epoch) => [
      epoch,
      holding.find((row) => row.epoch === epoch)?.registry ?? registries[0],
    ]),
  )
}

async function readProviders(
  client: RpcClient,
  { holders, preRegistry, updater, multicall }: ProtocolAddresses & { readonly holders: Holders },
  entities: readonly Entity[],
  { currentEpoch, members, extra, block }: Omit<StatesQuery, 'voters'>,
): Promise<readonly (readonly [Address, ProviderState])[]> {
  const next = currentEpoch + 1
  const rows = entities.map((entity) => {
    const { voter, addresses } = entity
    const member = members.get(voter)
    const inForce = member && [member.submit, member.submitSignatures, member.signingPolicy]
    const all = [...(inForce ?? []), ...Object.values(addresses ?? {}), ...(extra.get(voter) ?? [])]
    const signer = member?.signingPolicy ?? addresses?.signingPolicy ?? voter
    const accounts = [...new Set(all)].filter((account) => account !== ZERO_ADDRESS)
    return {
      ...entity,
      accounts,
      registered: contractView(VOTER_DATA_ABI, 'isVoterRegistered', [voter, BigInt(currentEpoch)]),
      registeredNext: contractView(VOTER_DATA_ABI, 'isVoterRegistered', [voter, BigInt(next)]),
      preRegistered: contractView(PRE_REGISTRY_ABI, 'isVoterPreRegistered', [BigInt(next), voter]),
      formerly: contractView(FORMER_PRE_REGISTRY_ABI, 'isVoterPreRegistered', [next, voter]),
      weight: contractView(FAST_UPDATER_ABI, 'currentSortitionWeight', [signer]),
      balances: accounts.map((account) => contractView(BALANCE_ABI, 'getEthBalance', [account])),
    }
  })
  const questionsOf = (
    row: (typeof rows)[number],
  ): (readonly [Address | undefined, ContractView<unknown>])[] => [
    [holders.get(currentEpoch), row.registered],
    [holders.get(next), row.registeredNext],
    [preRegistry, row.preRegistered],
    [preRegistry, row.formerly],
    [updater, row.weight],
    ...row.balances.map((balance) => [multicall, balance] as const),
  ]
  const answers = await readViews(client, multicall, rows.flatMap(questionsOf), block.number)
  let at = 0
  return rows.map((row) => {
    const answersOfRow = answers.slice(at, at + questionsOf(row).length)
    at += answersOfRow.length
    const weight = row.weight.of(answersOfRow[4])
    const balances = row.accounts.flatMap((account, index) => {
      const balance = row.balances[index]?.of(answersOfRow[5 + index])
      return balance === undefined ? [] : [[account, balance] as const]
    })
    return [
      row.voter,
      {
        addresses: row.addresses,
        nodeIds: row.nodeIds,
        isRegistered: row.registered.of(answersOfRow[0]) ?? null,
        isRegisteredNext: row.registeredNext.of(answersOfRow[1]) ?? null,
        isPreRegistered:
          row.preRegistered.of(answersOfRow[2]) ?? row.formerly.of(answersOfRow[3]) ?? null,
        sortitionWeight: weight === undefined ? null : Number(weight),
        balancesWei: new Map(balances),
      },
    ]
  })
}
