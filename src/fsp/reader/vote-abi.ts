import { parseAbi } from 'viem'

/**
 * The functions of the signing protocol's contracts that are used.
 *
 * @see flare-foundation/flare-smart-contracts-v2
 */

/** FlareSystemsManager: reward epochs, and the votes on them. */
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
])

/** VoterRegistry: functions that both versions of the contract have. */
export const VOTER_REGISTRY_ABI = parseAbi([
  'function getRegisteredVoters(uint256 rewardEpochId) view returns (address[])',
  'function getRegisteredVotersAndNormalisedWeights(uint256 rewardEpochId) view returns (address[] voters, uint16[] weights)',
])

/** EntityManager: owner of an address; the address itself without an owner. */
export const ENTITY_MANAGER_ABI = parseAbi([
  'function getVoterForSubmitAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForSubmitSignaturesAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForSigningPolicyAddress(address account, uint256 blockNumber) view returns (address)',
  'function getVoterForDelegationAddress(address account, uint256 blockNumber) view returns (address)',
])
