import { decodeEventLog, type Hex, numberToHex, toEventSelector } from 'viem'
import { z } from 'zod'
import type { ChainAccess } from '#src/chain/chain.ts'
import { contractView, readViews } from '#src/chain/endpoints/calls.ts'
import type { RpcClient } from '#src/chain/endpoints/endpoints.ts'
import { EndpointError } from '#src/chain/endpoints/failures.ts'
import { HexData, Log } from '#src/chain/endpoints/schemas.ts'
import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import { sortitionWeightOf } from '../protocol/fast-update-silence.ts'
import type { Policy, PolicyProvider } from '../protocol/policy.ts'
import {
  decodeSigningPolicy,
  type SigningPolicy,
  signingPolicyHashes,
} from '../protocol/signing-policy.ts'
import { ENTITY_MANAGER_ABI, RELAY_ABI, SYSTEMS_MANAGER_ABI, VOTER_REGISTRY_ABI } from './abi.ts'
import { readManager } from './manager.ts'

/** A provider in a loaded signing policy. */
export interface LoadedProvider extends PolicyProvider {
  /**
   * Number of its virtual providers in fast updates; null if it has no key for them and cannot take part, or if that
   * is unknown.
   */
  readonly sortitionWeight: number | null
}

/** A signing policy with the sum of its weights and the time at which it was fixed. */
export interface LoadedPolicy extends Policy {
  readonly providers: readonly LoadedProvider[]
  /** Sum of the normalised weights of all providers. */
  readonly weightSum: number
  /** Time at which the policy was fixed, in seconds since 1970; null if the chain does not return it. */
  readonly fixedAt: number | null
}

/** State in which a policy is read: that after a block, or the newest. */
type Block = number | 'latest'

/** A reader of the signing policy of one reward epoch. */
export interface EpochPolicyReader {
  /**
   * Reads the policy of a reward epoch in the state after a block; undefined if it is not fixed yet, or if this endpoint
   * does not return it.
   *
   * The voter registry that has the voters of the epoch is asked. A former registry may be unknown, as after the first
   * start of the service: then the policy is taken from the event with which it was fixed, proven by the hash that the
   * Relay keeps, and its voters from the EntityManager.
   */
  read(client: RpcClient, epoch: number, block: Block): Promise<LoadedPolicy | undefined>
}

/** Time for which an endpoint that did not return the event of a policy is not asked for it again. */
const RETRY_MS = MINUTE_MS

/** Creates a reader, which keeps the policies that were proven by events. */
export function createEpochPolicyReader(source: ChainAccess): EpochPolicyReader {
  const proven = new Map<number, LoadedPolicy>()
  /** By URL and reward epoch: time of the next try, by `performance.now()`. */
  const retryAt = new Map<string, number>()

  async function readProven(
    client: RpcClient,
    manager: Address,
    epoch: number,
    block: Block,
  ): Promise<LoadedPolicy | undefined> {
    const known = proven.get(epoch)
    if (known !== undefined) return known
    const key = `${client.transport.url} ${epoch}`
    if (performance.now() < (retryAt.get(key) ?? 0)) return undefined
    const policy = await readByEvent(source, client, manager, { epoch, block })
    if (policy === undefined) retryAt.set(key, performance.now() + RETRY_MS)
    else proven.set(epoch, policy)
    return policy
  }

  return {
    async read(client, epoch, block) {
      const manager = (await readManager(source, client, block))?.manager
      if (manager === undefined) return undefined
      const found = await readFromRegistries(source, client, manager, { epoch, block })
      return found ?? readProven(client, manager, epoch, block)
    },
  }
}

interface At {
  readonly epoch: number
  readonly block: Block
}

async function readFromRegistries(
  source: ChainAccess,
  client: RpcClient,
  manager: Address,
  { epoch, block }: At,
): Promise<LoadedPolicy | undefined> {
  const { contracts, multicallAddress } = source
  const id = [BigInt(epoch)] as const
  const start = contractView(SYSTEMS_MANAGER_ABI, 'getStartVotingRoundId', id)
  const fixed = contractView(SYSTEMS_MANAGER_ABI, 'getSigningPolicySignInfo', [epoch])
  const voters = contractView(VOTER_REGISTRY_ABI, 'getRegisteredVotersAndNormalisedWeights', id)
  const submit = contractView(VOTER_REGISTRY_ABI, 'getRegisteredSubmitAddresses', id)
  const signatures = contractView(VOTER_REGISTRY_ABI, 'getRegisteredSubmitSignaturesAddresses', id)
  const signing = contractView(VOTER_REGISTRY_ABI, 'getRegisteredSigningPolicyAddresses', id)
  const sums = contractView(VOTER_REGISTRY_ABI, 'getWeightsSums', id)
  const keys = contractView(VOTER_REGISTRY_ABI, 'getRegisteredPublicKeys', id)
  // Each voter registry has only its own reward epochs. If one has no voters, another one may have them.
  for (const registry of await contracts.all(client, 'VoterRegistry')) {
    const calls = [
      [manager, start],
      [manager, fixed],
      ...[voters, submit, signatures, signing, sums, keys].map((view) => [registry, view] as const),
    ] as const
    const answers = await readViews(client, multicallAddress, calls, block)
    const [identities, weights] = voters.of(answers[2]) ?? [[], []]
    const accounts = [submit.of(answers[3]), signatures.of(answers[4]), signing.of(answers[5])]
    const [submits, submitSignatures, signingPolicies] = accounts
    const startRound = start.of(answers[0])
    if (startRound === undefined || identities.length === 0) continue
    if (!submits || !submitSignatures || !signingPolicies) continue
    if ([weights, ...accounts].some((all) => all?.length !== identities.length)) {
      throw new EndpointError(`the voters of reward epoch ${epoch} are incomplete`)
    }
    const [, weightSum = sumOf(weights), keyedSum] = sums.of(answers[6]) ?? []
    const [xs, ys] = keys.of(answers[7]) ?? []
    return {
      rewardEpoch: epoch,
      startRound,
      weightSum,
      fixedAt: secondsOf(fixed.of(answers[1])?.[0]),
      providers: identities.map((voter, place) => ({
        voter,
        submit: submits[place] as Address,
        submitSignatures: submitSignatures[place] as Address,
        signingPolicy: signingPolicies[place] as Address,
        weight: weights[place] as number,
        sortitionWeight: sortitionWeight(weights[place], keyedSum, xs?.[place], ys?.[place]),
      })),
    }
  }
  return undefined
}

/** Reads a policy without its voter registry; undefined if it is not fixed, or an event or a voter is missing. */
async function readByEvent(
  { contracts, multicallAddress }: ChainAccess,
  client: RpcClient,
  manager: Address,
  { epoch, block }: At,
): Promise<LoadedPolicy | undefined> {
  const ask = (calls: Parameters<typeof readViews>[2]) =>
    readViews(client, multicallAddress, calls, block)
  const fixed = contractView(SYSTEMS_MANAGER_ABI, 'getSigningPolicySignInfo', [epoch])
  const acquired = contractView(SYSTEMS_MANAGER_ABI, 'getRandomAcquisitionInfo', [epoch])
  const hash = contractView(RELAY_ABI, 'toSigningPolicyHash', [BigInt(epoch)])
  const chain = contractView(RELAY_ABI, 'sourceChainId', [])
  const relays = await contracts.all(client, 'Relay')
  const answers = await ask([
    [manager, fixed],
    [manager, acquired],
    ...relays.flatMap((relay) => [[relay, hash] as const, [relay, chain] as const]),
  ])
  const [fixedAt = 0n, fixedIn = 0n] = fixed.of(answers[0]) ?? []
  // Accounts and keys of a reward epoch are those of the block in which its preparation started.
  const [, accountsOf = 0n] = acquired.of(answers[1]) ?? []
  if (fixedAt === 0n) return undefined
  const known = relays.map((_, index) => ({
    hash: hash.of(answers[2 + 2 * index]),
    chainId: chain.of(answers[3 + 2 * index]),
  }))
  // Anybody can emit such an event. The hash that a Relay keeps tells which one is true.
  const events = await readPolicyEvents(client, epoch, fixedIn)
  const policies = events.flatMap(({ topics: [topic, ...rest], data }) => {
    const bytes = topic === undefined ? undefined : policyBytesIn([topic, ...rest], data)
    const isTrue = known.some(
      ({ hash, chainId }) =>
        hash !== undefined && bytes && signingPolicyHashes(bytes, chainId).includes(hash),
    )
    return (isTrue && bytes && decodeSigningPolicy(bytes)) || []
  })
  const policy = policies.find(({ rewardEpoch }) => rewardEpoch === epoch)
  const entities = await contracts.find(client, 'EntityManager')
  const providers =
    policy && entities && (await readSigners(ask, entities, policy.signers, accountsOf))
  if (policy === undefined || providers === undefined) return undefined
  return {
    rewardEpoch: epoch,
    startRound: policy.startRound,
    weightSum: sumOf(policy.signers.map(({ weight }) => weight)),
    fixedAt: secondsOf(fixedAt),
    providers,
  }
}

/** Events in a block, of any contract, that fix the policy of a reward epoch. */
async function readPolicyEvents(
  client: RpcClient,
  epoch: number,
  block: bigint,
): Promise<readonly Log[]> {
  const topics: [Hex, Hex] = [POLICY_TOPIC, numberToHex(epoch, { size: 32 })]
  const range = { fromBlock: numberToHex(block), toBlock: numberToHex(block) }
  const answer = await client.request({ method: 'eth_getLogs', params: [{ ...range, topics }] })
  return z.array(Log).parse(answer)
}

/** Reads whose signing addresses these are, with all accounts; undefined if one of them has no certain owner. */
async function readSigners(
  ask: (calls: Parameters<typeof readViews>[2]) => ReturnType<typeof readViews>,
  entities: Address,
  signers: SigningPolicy['signers'],
  block: bigint,
): Promise<readonly LoadedProvider[] | undefined> {
  const abi = ENTITY_MANAGER_ABI
  const owners = signers.map(({ signingPolicy }) =>
    contractView(abi, 'getVoterForSigningPolicyAddress', [signingPolicy, block]),
  )
  const ownerAnswers = await ask(owners.map((view) => [entities, view] as const))
  const voters = owners.map((view, index) => view.of(ownerAnswers[index]))
  const rows = voters.flatMap((voter, place) => {
    const signer = signers[place]
    if (voter === undefined || signer === undefined) return []
    const accounts = contractView(abi, 'getVoterAddressesAt', [voter, block])
    return [
      { ...signer, voter, accounts, key: contractView(abi, 'getPublicKeyOfAt', [voter, block]) },
    ]
  })
  const answers = await ask(
    rows.flatMap(({ accounts, key }) => [[entities, accounts] as const, [entities, key] as const]),
  )
  const found = rows.flatMap(({ accounts, key, ...row }, index) => {
    const own = accounts.of(answers[2 * index])
    if (own?.signingPolicyAddress !== row.signingPolicy) return []
    return [{ ...row, own, key: key.of(answers[2 * index + 1]) }]
  })
  if (found.length !== signers.length) return undefined
  const keyed = found.filter(({ key }) => hasKey(key?.[0], key?.[1]) === true)
  const keyedSum = found.some(({ key }) => key === undefined)
    ? undefined
    : sumOf(keyed.map(({ weight }) => weight))
  return found.map(({ voter, own, signingPolicy, weight, key }) => ({
    voter,
    submit: own.submitAddress,
    submitSignatures: own.submitSignaturesAddress,
    signingPolicy,
    weight,
    sortitionWeight: sortitionWeight(weight, keyedSum, key?.[0], key?.[1]),
  }))
}

const POLICY_TOPIC = toEventSelector(
  'SigningPolicyInitialized(uint24,uint32,uint16,uint256,address[],uint16[],bytes,uint64)',
)
const PolicyEvent = z.object({ signingPolicyBytes: HexData })

/** The bytes of the policy in an event; undefined if the event cannot be decoded. */
function policyBytesIn(topics: [Hex, ...Hex[]], data: Hex): Hex | undefined {
  try {
    const event = decodeEventLog({ abi: RELAY_ABI, topics, data })
    return PolicyEvent.safeParse(event.args).data?.signingPolicyBytes
  } catch {
    return undefined
  }
}

function sortitionWeight(
  weight: number | undefined,
  keyedSum: number | undefined,
  x: Hex | undefined,
  y: Hex | undefined,
): number | null {
  if (weight === undefined || keyedSum === undefined || keyedSum === 0) return null
  return hasKey(x, y) === true ? sortitionWeightOf(weight, keyedSum) : null
}

/** Whether there is a key; undefined if that is unknown. */
function hasKey(x: Hex | undefined, y: Hex | undefined): boolean | undefined {
  return x === undefined || y === undefined ? undefined : BigInt(x) !== 0n || BigInt(y) !== 0n
}

function sumOf(weights: readonly number[]): number {
  return weights.reduce((sum, weight) => sum + weight, 0)
}

function secondsOf(time: bigint | undefined): number | null {
  return time === undefined || time === 0n ? null : Number(time)
}
