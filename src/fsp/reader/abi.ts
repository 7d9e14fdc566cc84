/**
 * The used functions and events of the contracts of the Flare Systems Protocol. Where a contract changed its interface,
 * both versions are listed.
 *
 * @see flare-foundation/flare-smart-contracts-v2
 */
import { parseAbi } from 'viem'

/** FlareSystemsManager: time, reward epochs, registration, policies, and the votes on reward epochs. */
export const SYSTEMS_MANAGER_ABI = parseAbi([
  'struct NumberOfWeightBasedClaims { uint256 rewardManagerId; uint256 noOfWeightBasedClaims; }',
  'event UptimeVoteSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 uptimeVoteHash, uint64 timestamp, bool thresholdReached)',
  'event RewardsSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 rewardsHash, NumberOfWeightBasedClaims[] noOfWeightBasedClaims, uint64 timestamp, bool thresholdReached)',
  'function getCurrentRewardEpochId() view returns (uint24)',
  'function getRewardEpochStartInfo(uint24 rewardEpochId) view returns (uint64 startTs, uint64 startBlock)',
  'function getUptimeVoteSignStartInfo(uint24 rewardEpochId) view returns (uint64 startTs, uint64 startBlock)',
  'function getRewardsSignInfo(uint24 rewardEpochId) view returns (uint64 startTs, uint64 startBlock, uint64 endTs, uint64 endBlock)',
  'function uptimeVoteHash(uint256 rewardEpochId) view returns (bytes32)',
  'function rewardsHash(uint256 rewardEpochId) view returns (bytes32)',
  'function getVoterUptimeVoteSignInfo(uint24 rewardEpochId, address voter) view returns (uint64 signTs, uint64 signBlock)',
  'function getVoterRewardsSignInfo(uint24 rewardEpochId, address voter) view returns (uint64 signTs, uint64 signBlock)',
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

/**
 * VoterRegistry: registered voters, and once the policy is fixed their addresses and weights. Both versions of the
 * contract have these functions.
 */
export const VOTER_REGISTRY_ABI = parseAbi([
  'function getRegisteredVoters(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredVotersAndNormalisedWeights(uint256 rewardEpochId) view returns (address[] voters, uint16[] weights)',
  'function isVoterRegistered(address voter, uint256 rewardEpochId) view returns (bool)',
  'function getNumberOfRegisteredVoters(uint256 rewardEpochId) view returns (uint256)',
  'function getRegisteredSubmitAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredSubmitSignaturesAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredSigningPolicyAddresses(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredPublicKeys(uint256 rewardEpochId) view returns (bytes32[] parts1, bytes32[] parts2)',
  'function getWeightsSums(uint256 rewardEpochId) view returns (uint128 weightsSum, uint16 normalisedWeightsSum, uint16 normalisedWeightsSumOfVotersWithPublicKeys)',
])

/** VoterPreRegistry. */
export const PRE_REGISTRY_ABI = parseAbi([
  'function isVoterPreRegistered(uint256 rewardEpochId, address voter) view returns (bool)',
])

/** The former version of VoterPreRegistry. */
export const FORMER_PRE_REGISTRY_ABI = parseAbi([
  'function isVoterPreRegistered(uint24 rewardEpochId, address voter) view returns (bool)',
])

/**
 * EntityManager: addresses and keys of a provider, now and as they were at a block; owner of an address, which is the
 * address itself if nobody owns it.
 */
export const ENTITY_MANAGER_ABI = parseAbi([
  'struct VoterAddresses { address submitAddress; address submitSignaturesAddress; address signingPolicyAddress; }',
  'function getVoterAddresses(address voter) view returns (VoterAddresses)',
  'function getNodeIdsOf(address voter) view returns (bytes20[])',
  'function getVoterForSigningPolicyAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterAddressesAt(address voter, uint256 blockNumber) view returns (VoterAddresses)',
  'function getPublicKeyOfAt(address voter, uint256 blockNumber) view returns (bytes32 x, bytes32 y)',
  'function getVoterForSubmitAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForSubmitSignaturesAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForDelegationAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForNodeId(bytes20 nodeId, uint256 blockNumber) view returns (address)',
])

/**
 * WNat: delegation of vote power by shares, in hundredths of a percent. Delegations by amounts (mode 2) are not listed.
 *
 * @see flare-foundation/flare-smart-contracts, `IVPToken`
 */
export const DELEGATION_ABI = parseAbi([
  'function balanceOf(address owner) view returns (uint256)',
  'function delegationModeOf(address who) view returns (uint256)',
  'function delegatesOf(address owner) view returns (address[] delegates, uint256[] bips, uint256 count, uint256 mode)',
])

/** PChainStakeMirror: stakes of an account on the P-chain, by validator. */
export const STAKE_MIRROR_ABI = parseAbi([
  'function stakesOf(address owner) view returns (bytes20[] nodeIds, uint256[] amounts)',
])

/** RewardManager: rewards of an account that can be claimed now, a list for each reward epoch. */
export const REWARD_MANAGER_ABI = parseAbi([
  'struct RewardState { uint24 rewardEpochId; bytes20 beneficiary; uint120 amount; uint8 claimType; bool initialised; }',
  'function getStateOfRewards(address owner) view returns (RewardState[][])',
])

/** ValidatorRewardManager: all rewards of an account for stakes, and those that were claimed. */
export const VALIDATOR_REWARDS_ABI = parseAbi([
  'function getStateOfRewards(address owner) view returns (uint256 totalReward, uint256 claimedReward)',
])

/** Relay: signing policies. Only newer ones name their chain. */
export const RELAY_ABI = parseAbi([
  'function toSigningPolicyHash(uint256 rewardEpochId) view returns (bytes32)',
  'function sourceChainId() view returns (uint256)',
  'event SigningPolicyInitialized(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint16 threshold, uint256 seed, address[] voters, uint16[] weights, bytes signingPolicyBytes, uint64 timestamp)',
])

/** FastUpdater. */
export const FAST_UPDATER_ABI = parseAbi(['function submissionWindow() view returns (uint8)'])

/** FastUpdatesConfiguration: the feeds of fast updates, in their order; a removed feed keeps its place. */
export const FEEDS_ABI = parseAbi(['function getFeedIds() view returns (bytes21[])'])

/** FastUpdateIncentiveManager. */
export const INCENTIVE_ABI = parseAbi(['function getExpectedSampleSize() view returns (uint256)'])

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
