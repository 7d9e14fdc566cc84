import { type Abi, encodeFunctionData, type Hex, zeroAddress, zeroHash } from 'viem'
import { CONTRACT_REGISTRY_ADDRESS } from '#src/chain/contracts.ts'
import { cryptoFeedId } from '#src/chain/feeds/feed-names.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import entityManager from '../../contracts/EntityManager.json' with { type: 'json' }
import fastUpdater from '../../contracts/FastUpdater.json' with { type: 'json' }
import fastUpdateSettings from '../../contracts/FastUpdateSettings.json' with { type: 'json' }
import fdcHub from '../../contracts/FdcHub.json' with { type: 'json' }
import calculator from '../../contracts/FlareSystemsCalculator.json' with { type: 'json' }
import manager from '../../contracts/FlareSystemsManager.json' with { type: 'json' }
import relay from '../../contracts/Relay.json' with { type: 'json' }
import rewardManager from '../../contracts/RewardManager.json' with { type: 'json' }
import stakeMirror from '../../contracts/StakeMirror.json' with { type: 'json' }
import submission from '../../contracts/Submission.json' with { type: 'json' }
import validatorRewardManager from '../../contracts/ValidatorRewardManager.json' with {
  type: 'json',
}
import voterPreRegistry from '../../contracts/VoterPreRegistry.json' with { type: 'json' }
import voterRegistry from '../../contracts/VoterRegistry.json' with { type: 'json' }
import { bytecodeOf, PRICES } from '../deployment.ts'
import { FSP_ABI, RELAY_ABI, SET_UP_ABI, VOTERS_ABI } from './abi.ts'
import { CONTRACTS, REGISTRY_CONTRACTS } from './contract-addresses.ts'
import type { ProviderAccounts } from './provider.ts'
import { rewardTree } from './reward-tree.ts'
import type { ProtocolTiming } from './timing.ts'
import { type BlockWriter, type MinedReceipt, readReceipts, type UnsignedTx } from './writer.ts'

/** A provider that is registered when the contracts are installed. */
export interface GenesisProvider {
  readonly accounts: ProviderAccounts
  /** Stake in whole FLR. */
  readonly stake: number
}

/** Initial state of Flare's systems. */
export interface GenesisState {
  readonly timing: ProtocolTiming
  /** The present reward epoch; the previous one has ended with all its votes. */
  readonly epoch: number
  /** Registered in both epochs. */
  readonly founders: readonly GenesisProvider[]
  /** Whether the present Relay, voter registries and calculator are those of the former generation. */
  readonly isFormer: boolean
}

/** Sender of the daemon's calls and of setup transactions. */
export const SIMULATION_ACCOUNT: Address = '0x00000000000000000000000000000000000f1A04'
/** Initial balance: a thousand FLR for every sender. */
export const FUNDED_WEI = 1000n * 10n ** 18n
/** The hash that uptime votes sign. @see flare-foundation/flare-system-client */
export const UPTIME_HASH: Hash =
  '0x290decd9548b62a8d60345a988386fc84ba6bc95484008f6362f93160ef3e563'

const INITIAL_WEI = 1_000_000n * 10n ** 18n
const MAX_VOTERS = 100n
const FTSO_PROTOCOL_ID = 100
/** Number of blocks in which a fast update is accepted. */
const UPDATE_WINDOW_BLOCKS = 10
/** One and a half updates per block, in units of 2^-120. */
const SAMPLE_SIZE = 3n << 119n
const REWARD_EXPIRY_SECONDS = 7_776_000
export const SUBMIT_UPDATES_SELECTOR = '0x470e91df'
const SET_UP_GAS = 1_000_000
const GAS_PER_VOTER = 900_000
/** Voters set up in one transaction, which must not use more than about 16 million gas. */
const VOTERS_AT_ONCE = 15

const CODES: readonly (readonly [Address, { readonly bytecode: string }])[] = [
  [CONTRACTS.flareSystemsManager, manager],
  [CONTRACTS.relay, relay],
  [CONTRACTS.oldRelay, relay],
  [CONTRACTS.submission, submission],
  [CONTRACTS.oldSubmission, submission],
  [CONTRACTS.voterRegistry, voterRegistry],
  [CONTRACTS.oldVoterRegistry, voterRegistry],
  [CONTRACTS.voterPreRegistry, voterPreRegistry],
  [CONTRACTS.oldVoterPreRegistry, voterPreRegistry],
  [CONTRACTS.flareSystemsCalculator, calculator],
  [CONTRACTS.oldFlareSystemsCalculator, calculator],
  [CONTRACTS.entityManager, entityManager],
  [CONTRACTS.fastUpdater, fastUpdater],
  [CONTRACTS.fastUpdatesConfiguration, fastUpdateSettings],
  [CONTRACTS.fastUpdateIncentiveManager, fastUpdateSettings],
  [CONTRACTS.fdcHub, fdcHub],
  [CONTRACTS.rewardManager, rewardManager],
  [CONTRACTS.validatorRewardManager, validatorRewardManager],
  [CONTRACTS.stakeMirror, stakeMirror],
]

/**
 * Installs the contracts of Flare's systems at their addresses, funds senders, and creates both epochs in one block.
 *
 * @param writer has exclusive access to the chain
 * @throws Error when a transaction fails
 */
export async function installFsp(
  writer: BlockWriter,
  founding: GenesisState,
): Promise<readonly MinedReceipt[]> {
  await putCodes(writer)
  await fundAll(writer, founding.founders)
  const transactions = [
    ...setUpContracts(founding),
    ...enterFounders(founding.founders),
    ...seedEpochs(founding),
  ]
  return expectSuccess(writer, await writer.block(writer.head.timestamp + 1, transactions))
}

/**
 * Receipts of mined transactions.
 * @throws Error when one of them failed
 */
export async function expectSuccess(
  writer: BlockWriter,
  hashes: readonly Hash[],
): Promise<readonly MinedReceipt[]> {
  const receipts = await readReceipts(writer, hashes)
  return receipts.map((receipt, i) => {
    if (receipt?.status === '0x1') return receipt
    const problem = receipt === null ? 'is in no block' : 'failed'
    throw new Error(`transaction ${i} of ${hashes.length} ${problem}`)
  })
}

async function putCodes(writer: BlockWriter): Promise<void> {
  const codes = await writer.ask(
    CODES.map(([, code]) => ({
      method: 'eth_call',
      params: [{ data: bytecodeOf(code) }, 'latest'],
    })),
  )
  await writer.ask(
    CODES.map(([address], i) => ({ method: 'anvil_setCode', params: [address, codes[i]] })),
  )
}

/** Funds every sender. */
export async function fundAll(writer: BlockWriter, all: readonly GenesisProvider[]): Promise<void> {
  const senders = all.flatMap(({ accounts }) => [
    accounts.submit,
    accounts.submitSignatures,
    accounts.signingPolicy,
    accounts.identity,
    ...accounts.fastUpdates,
  ])
  const balance = (address: Address, wei: bigint) => ({
    method: 'anvil_setBalance',
    params: [address, `0x${wei.toString(16)}`],
  })
  await writer.ask([
    balance(SIMULATION_ACCOUNT, INITIAL_WEI),
    ...senders.map(({ address }) => balance(address, FUNDED_WEI)),
  ])
}

/** A call by `SIMULATION_ACCOUNT`. */
export function setUpCall(to: Address, data: Hex, gas = SET_UP_GAS): UnsignedTx {
  return { from: SIMULATION_ACCOUNT, to, data, gas }
}

/** Sets which generation of Relay, and which of the voter registries with their calculator, is the present one. */
export function setGeneration(isFormer: {
  readonly relay: boolean
  readonly registries: boolean
}): readonly UnsignedTx[] {
  const relay = isFormer.relay ? CONTRACTS.oldRelay : CONTRACTS.relay
  const registries = isFormer.registries
    ? {
        VoterRegistry: CONTRACTS.oldVoterRegistry,
        VoterPreRegistry: CONTRACTS.oldVoterPreRegistry,
        FlareSystemsCalculator: CONTRACTS.oldFlareSystemsCalculator,
      }
    : {}
  const addresses = { ...REGISTRY_CONTRACTS, ...registries, Relay: relay, RandomNumberV2: relay }
  return [
    setUpCall(
      CONTRACT_REGISTRY_ADDRESS,
      encodeFunctionData({
        abi: SET_UP_ABI.registry,
        args: [Object.keys(addresses), Object.values(addresses)],
      }),
      5 * SET_UP_GAS,
    ),
    setManagerContracts(relay, isFormer.registries),
  ]
}

/** Sets the manager's contracts. */
export function setManagerContracts(relay: Address, isFormer: boolean): UnsignedTx {
  return setUpCall(
    CONTRACTS.flareSystemsManager,
    encodeFunctionData({
      abi: FSP_ABI,
      functionName: 'setContracts',
      args: isFormer
        ? [relay, CONTRACTS.oldVoterRegistry, CONTRACTS.oldVoterPreRegistry]
        : [relay, CONTRACTS.voterRegistry, CONTRACTS.voterPreRegistry],
    }),
  )
}

function setUpContracts({ timing, isFormer, epoch }: GenesisState): readonly UnsignedTx[] {
  const set = (to: Address, abi: Abi, functionName: string, args: readonly unknown[]) =>
    setUpCall(to, encodeFunctionData({ abi, functionName, args }))
  const state = {
    randomNumberProtocolId: FTSO_PROTOCOL_ID,
    firstVotingRoundStartTs: timing.firstRoundStart,
    votingEpochDurationSeconds: timing.roundSeconds,
    firstRewardEpochStartVotingRoundId: 0,
    rewardEpochDurationInVotingEpochs: timing.roundsPerEpoch,
    thresholdIncreaseBIPS: 12_000,
    randomVotingRoundId: 0,
    isSecureRandom: false,
    lastInitializedRewardEpoch: epoch,
    noSigningPolicyRelay: true,
    messageFinalizationWindowInRewardEpochs: 20,
  }
  const { flareSystemsManager: managerAddress, entityManager: entities } = CONTRACTS
  const updaterSettings = [managerAddress, UPDATE_WINDOW_BLOCKS, PRICES.length]
  return [
    ...setGeneration({ relay: isFormer, registries: isFormer }),
    setUpCall(managerAddress, constantsData(timing)),
    set(CONTRACTS.oldRelay, RELAY_ABI, 'setUp', [false, zeroAddress, state]),
    set(CONTRACTS.relay, RELAY_ABI, 'setUp', [true, CONTRACTS.oldRelay, state]),
    set(CONTRACTS.submission, SET_UP_ABI.submission, 'setSubmitAndPassData', [
      CONTRACTS.fastUpdater,
      SUBMIT_UPDATES_SELECTOR,
    ]),
    set(CONTRACTS.voterRegistry, SET_UP_ABI.voterRegistry, 'setUp', [
      ...[false, managerAddress, entities],
      ...[CONTRACTS.flareSystemsCalculator, CONTRACTS.voterPreRegistry, MAX_VOTERS],
    ]),
    set(CONTRACTS.oldVoterRegistry, SET_UP_ABI.voterRegistry, 'setUp', [
      ...[true, managerAddress, entities],
      ...[CONTRACTS.oldFlareSystemsCalculator, CONTRACTS.oldVoterPreRegistry, MAX_VOTERS],
    ]),
    set(CONTRACTS.voterPreRegistry, SET_UP_ABI.voterPreRegistry, 'setUp', [
      ...[false, managerAddress, CONTRACTS.voterRegistry],
    ]),
    set(CONTRACTS.oldVoterPreRegistry, SET_UP_ABI.voterPreRegistry, 'setUp', [
      ...[true, managerAddress, CONTRACTS.oldVoterRegistry],
    ]),
    set(CONTRACTS.flareSystemsCalculator, SET_UP_ABI.calculator, 'setUp', [false]),
    set(CONTRACTS.oldFlareSystemsCalculator, SET_UP_ABI.calculator, 'setUp', [true]),
    set(CONTRACTS.fastUpdater, SET_UP_ABI.fastUpdater, 'setUp', updaterSettings),
    set(CONTRACTS.fastUpdatesConfiguration, SET_UP_ABI.fastUpdates, 'setFeedIds', [
      PRICES.map(({ name }) => cryptoFeedId(name)),
    ]),
    set(CONTRACTS.fastUpdateIncentiveManager, SET_UP_ABI.fastUpdates, 'setExpectedSampleSize', [
      SAMPLE_SIZE,
    ]),
  ]
}

function constantsData(timing: ProtocolTiming): Hex {
  const { firstRoundStart, roundSeconds, roundsPerEpoch } = timing
  return encodeFunctionData({
    abi: FSP_ABI,
    functionName: 'setConstants',
    args: [
      {
        firstVotingRoundStartTs: BigInt(firstRoundStart),
        votingEpochDurationSeconds: BigInt(roundSeconds),
        firstRewardEpochStartTs: BigInt(firstRoundStart),
        rewardEpochDurationSeconds: BigInt(roundSeconds * roundsPerEpoch),
        newSigningPolicyInitializationStartSeconds: BigInt(timing.initializationSeconds),
        randomAcquisitionSeconds: BigInt(timing.randomAcquisitionSeconds),
        voterRegistrationMinDurationSeconds: BigInt(timing.registrationSeconds),
        submitUptimeVoteMinDurationSeconds: BigInt(timing.uptimeVoteSeconds),
        rewardExpiryOffsetSeconds: REWARD_EXPIRY_SECONDS,
      },
    ],
  })
}

/** Sets the founders' accounts in the EntityManager and their stakes in both calculators. */
function enterFounders(founders: readonly GenesisProvider[]): readonly UnsignedTx[] {
  return inParts(founders).flatMap((part) => {
    const voters = part.map(({ accounts }) => accounts.identity.address)
    const stakes = part.map(({ accounts, stake }) => ({
      delegationAddress: accounts.delegation.address,
      delegationFeeBIPS: 2000,
      wNatWeight: BigInt(stake) * 10n ** 18n,
      wNatCappedWeight: BigInt(stake) * 10n ** 18n,
      nodeIds: accounts.nodeIds,
      nodeWeights: accounts.nodeIds.map(() => 0n),
    }))
    const stakesData = encodeFunctionData({
      abi: VOTERS_ABI,
      functionName: 'setStakes',
      args: [voters, stakes],
    })
    const gas = SET_UP_GAS + part.length * GAS_PER_VOTER
    return [
      entityTx(part.map(({ accounts }) => accounts)),
      setUpCall(CONTRACTS.flareSystemsCalculator, stakesData, gas),
      setUpCall(CONTRACTS.oldFlareSystemsCalculator, stakesData, gas),
    ]
  })
}

/** Sets the providers' accounts in the EntityManager from now on. */
export function entityTx(all: readonly ProviderAccounts[]): UnsignedTx {
  const entities = all.map((accounts) => ({
    addresses: {
      submitAddress: accounts.submit.address,
      submitSignaturesAddress: accounts.submitSignatures.address,
      signingPolicyAddress: accounts.signingPolicy.address,
    },
    delegationAddress: accounts.delegation.address,
    publicKeyPart1: accounts.sortitionKey.x,
    publicKeyPart2: accounts.sortitionKey.y,
    nodeIds: accounts.nodeIds,
  }))
  const args = [all.map(({ identity }) => identity.address), entities] as const
  return setUpCall(
    CONTRACTS.entityManager,
    encodeFunctionData({ abi: VOTERS_ABI, functionName: 'set', args }),
    SET_UP_GAS + all.length * GAS_PER_VOTER,
  )
}

function seedEpochs({ epoch, founders, isFormer }: GenesisState): readonly UnsignedTx[] {
  const registry = isFormer ? CONTRACTS.oldVoterRegistry : CONTRACTS.voterRegistry
  return [
    { epoch: epoch - 1, uptime: UPTIME_HASH, rewards: rewardTree(epoch - 1, founders).root },
    { epoch, uptime: zeroHash, rewards: zeroHash },
  ].flatMap(({ epoch: id, uptime, rewards }) => [
    ...inParts(founders).map((part) => {
      const voters = part.map(({ accounts }) => accounts.identity.address)
      const args = [id, voters] as const
      return setUpCall(
        registry,
        encodeFunctionData({ abi: VOTERS_ABI, functionName: 'seedVoters', args }),
        SET_UP_GAS + part.length * GAS_PER_VOTER,
      )
    }),
    setUpCall(
      CONTRACTS.flareSystemsManager,
      encodeFunctionData({ abi: FSP_ABI, functionName: 'seedEpoch', args: [id, uptime, rewards] }),
      SET_UP_GAS * 15,
    ),
  ])
}

function inParts(founders: readonly GenesisProvider[]): readonly (readonly GenesisProvider[])[] {
  const parts = Math.ceil(founders.length / VOTERS_AT_ONCE)
  return Array.from({ length: parts }, (_, i) =>
    founders.slice(i * VOTERS_AT_ONCE, (i + 1) * VOTERS_AT_ONCE),
  )
}
