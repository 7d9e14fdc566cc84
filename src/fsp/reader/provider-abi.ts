import { parseAbi } from 'viem'

/**
 * Functions for judging providers, in addition to those of `vote-abi.ts`. Where a contract changed its
 * interface, both versions are listed.
 */

/** FlareSystemsManager: time, registration, policies. */
export const MANAGER_POLICY_ABI = parseAbi([
  'function firstVotingRoundStartTs() view returns (uint64)',
  'function votingEpochDurationSeconds() view returns (uint64)',
  'function firstRewardEpochStartTs() view returns (uint64)',
  'function rewardEpochDurationSeconds() view returns (uint64)',
  'function newSigningPolicyInitializationStartSeconds() view returns (uint64)',
  'function voterRegistrationMinDurationSeconds() view returns (uint64)',
  'function rewardExpiryOffsetSeconds() view returns (uint32)',
  'function getSigningPolicySignInfo(uint24 rewardEpochId) view returns (uint64 startTs, uint64 startBlock, uint64 endTs, uint64 endBlock)',
  'function voterRegistry() view returns (address)',
  'function relay() view returns (address)',
  'function getStartVotingRoundId(uint256 rewardEpochId) view returns (uint32)',
  'function getRandomAcquisitionInfo(uint24 rewardEpochId) view returns (uint64 startTs, uint64 startBlock, uint64 endTs, uint64 endBlock)',
])

/** VoterRegistry: registered voters, and once the policy is fixed their addresses and weights. */
export const VOTER_DATA_ABI = parseAbi([
  'function isVoterRegistered(address voter, uint256 rewardEpochId) view returns (bool)',
  'function getNumberOfRegisteredVoters(uint256 rewardEpochId) view returns (uint256)',
  'function getRegisteredSubmitAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredSubmitSignaturesAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredSigningPolicyAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredPublicKeys(uint256 rewardEpochId) view returns (bytes32[] parts1, bytes32[] parts2)',
  'function getWeightsSums(uint256 rewardEpochId) view returns (uint128 weightsSum, uint16 normalisedWeightsSum, uint16 normalisedWeightsSumOfVotersWithPublicKeys)',
])

/** VoterPreRegistry, both versions of the contract. */
export const PRE_REGISTRY_ABI = parseAbi([
  'function isVoterPreRegistered(uint256 rewardEpochId, address voter) view returns (bool)',
])
export const FORMER_PRE_REGISTRY_ABI = parseAbi([
  'function isVoterPreRegistered(uint24 rewardEpochId, address voter) view returns (bool)',
])

/** EntityManager: addresses of a provider that may not be in any policy. */
export const ENTITY_MANAGER_ACCOUNTS_ABI = parseAbi([
  'struct VoterAddresses { address submitAddress; address submitSignaturesAddress; address signingPolicyAddress; }',
  'function getVoterAddresses(address voter) view returns (VoterAddresses)',
  'function getNodeIdsOf(address voter) view returns (bytes20[])',
])

/** EntityManager: accounts and keys as they were at a block, kept by the contract. */
export const ENTITY_MANAGER_HISTORY_ABI = parseAbi([
  'struct VoterAddresses { address submitAddress; address submitSignaturesAddress; address signingPolicyAddress; }',
  'function getVoterForSigningPolicyAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterAddressesAt(address voter, uint256 blockNumber) view returns (VoterAddresses)',
  'function getPublicKeyOfAt(address voter, uint256 blockNumber) view returns (bytes32 x, bytes32 y)',
])

/** Relay: the hash of a signing policy; only newer ones name their chain. */
export const RELAY_POLICY_ABI = parseAbi([
  'function toSigningPolicyHash(uint256 rewardEpochId) view returns (bytes32)',
  'function sourceChainId() view returns (uint256)',
])
/** The event of the Relay with which a signing policy is fixed. */
export const POLICY_EVENT_ABI = parseAbi([
  'event SigningPolicyInitialized(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint16 threshold, uint256 seed, address[] voters, uint16[] weights, bytes signingPolicyBytes, uint64 timestamp)',
])

/** FastUpdater and the manager of its incentives. */
export const FAST_UPDATER_ABI = parseAbi(['function submissionWindow() view returns (uint8)'])
/** The feeds of fast updates, in their order; a removed feed keeps its place. */
export const FEEDS_ABI = parseAbi(['function getFeedIds() view returns (bytes21[])'])
export const INCENTIVE_ABI = parseAbi(['function getExpectedSampleSize() view returns (uint256)'])

/** A view of Multicall3 itself. */
export const BALANCE_ABI = parseAbi([
  'function getEthBalance(address account) view returns (uint256)',
])

/**
 * Events of the protocol that are read from blocks: registrations, finalizations, attestation requests, fast updates,
 * claims.
 */
export const PROTOCOL_EVENTS_ABI = parseAbi([
  'struct PublicKey { bytes32 x; bytes32 y; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'event VoterRegistered(address indexed voter, uint32 indexed rewardEpochId, address indexed signingPolicyAddress, address submitAddress, address submitSignaturesAddress, PublicKey publicKey, uint256 registrationWeight, Signature signature)',
  'event VoterRegistered(address indexed voter, uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address submitAddress, address submitSignaturesAddress, bytes32 publicKeyPart1, bytes32 publicKeyPart2, uint256 registrationWeight)',
  'event VoterRemoved(address indexed voter, uint32 indexed rewardEpochId)',
  'event VoterRemoved(address indexed voter, uint256 indexed rewardEpochId)',
  'event ProtocolMessageRelayed(uint8 indexed protocolId, uint32 indexed votingRoundId, bool isSecureRandom, bytes32 merkleRoot)',
  'event AttestationRequest(bytes data, uint256 fee)',
  'event FastUpdateFeedsSubmitted(uint32 indexed votingRoundId, address indexed signingPolicyAddress)',
  'event RewardClaimed(address indexed beneficiary, address indexed rewardOwner, address indexed recipient, uint24 rewardEpochId, uint8 claimType, uint120 amount)',
])
