import { parseAbi } from 'viem'

/** Functions and events of the mocks, for the epoch daemon and for providers. */
export const FSP_ABI = parseAbi([
  'struct Constants { uint64 firstVotingRoundStartTs; uint64 votingEpochDurationSeconds; uint64 firstRewardEpochStartTs; uint64 rewardEpochDurationSeconds; uint64 newSigningPolicyInitializationStartSeconds; uint64 randomAcquisitionSeconds; uint64 voterRegistrationMinDurationSeconds; uint64 submitUptimeVoteMinDurationSeconds; uint32 rewardExpiryOffsetSeconds; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'struct NumberOfWeightBasedClaims { uint256 rewardManagerId; uint256 noOfWeightBasedClaims; }',
  'function setConstants(Constants given)',
  'function setContracts(address relay, address registry, address preRegistry)',
  'function seedEpoch(uint24 epoch, bytes32 uptimeHash, bytes32 rewardsHash)',
  'function daemonize() returns (bool)',
  'function signNewSigningPolicy(uint24 epoch, bytes32 policyHash, Signature signature)',
  'function signUptimeVote(uint24 epoch, bytes32 uptimeVoteHash, Signature signature)',
  'function signRewards(uint24 epoch, NumberOfWeightBasedClaims[] claims, bytes32 rewardsHash, Signature signature)',
  'event RandomAcquisitionStarted(uint24 indexed rewardEpochId, uint64 timestamp)',
  'event VotePowerBlockSelected(uint24 indexed rewardEpochId, uint64 votePowerBlock, uint64 timestamp)',
  'event RewardEpochStarted(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint64 timestamp)',
  'event SignUptimeVoteEnabled(uint24 indexed rewardEpochId, uint64 timestamp)',
  'event UptimeVoteSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 uptimeVoteHash, uint64 timestamp, bool thresholdReached)',
  'event RewardsSigned(uint24 indexed rewardEpochId, address indexed signingPolicyAddress, address indexed voter, bytes32 rewardsHash, NumberOfWeightBasedClaims[] noOfWeightBasedClaims, uint64 timestamp, bool thresholdReached)',
])

/** Functions of both generations of the Relay. */
export const RELAY_ABI = parseAbi([
  'struct StateData { uint8 randomNumberProtocolId; uint32 firstVotingRoundStartTs; uint8 votingEpochDurationSeconds; uint32 firstRewardEpochStartVotingRoundId; uint16 rewardEpochDurationInVotingEpochs; uint16 thresholdIncreaseBIPS; uint32 randomVotingRoundId; bool isSecureRandom; uint32 lastInitializedRewardEpoch; bool noSigningPolicyRelay; uint32 messageFinalizationWindowInRewardEpochs; }',
  'function setUp(bool isNewer, address oldRelay, StateData state)',
  'function seedSigningPolicy(uint24 epoch, uint32 startVotingRoundId, uint256 seed, address[] voters, uint16[] weights)',
  'event SigningPolicyInitialized(uint24 indexed rewardEpochId, uint32 startVotingRoundId, uint16 threshold, uint256 seed, address[] voters, uint16[] weights, bytes signingPolicyBytes, uint64 timestamp)',
  'event ProtocolMessageRelayed(uint8 indexed protocolId, uint32 indexed votingRoundId, bool isSecureRandom, bytes32 merkleRoot)',
])

/** Voters with their addresses and weights. */
export const VOTERS_ABI = parseAbi([
  'struct VoterAddresses { address submitAddress; address submitSignaturesAddress; address signingPolicyAddress; }',
  'struct Entity { VoterAddresses addresses; address delegationAddress; bytes32 publicKeyPart1; bytes32 publicKeyPart2; bytes20[] nodeIds; }',
  'struct Stake { address delegationAddress; uint16 delegationFeeBIPS; uint256 wNatWeight; uint256 wNatCappedWeight; bytes20[] nodeIds; uint256[] nodeWeights; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'function set(address[] voters, Entity[] entities)',
  'function setStakes(address[] voters, Stake[] stakes)',
  'function seedVoters(uint24 epoch, address[] voters)',
  'function registerVoter(address voter, Signature signature)',
  'function removeVoter(address voter, uint256 epoch)',
  'function preRegisterVoter(address voter, Signature signature)',
  'function isVoterRegistered(address voter, uint256 rewardEpochId) view returns (bool)',
])

/** Setup functions of each kind of mock, which share a name and differ in parameters. */
export const SET_UP_ABI = {
  registry: parseAbi(['function setAll(string[] names, address[] addresses)']),
  submission: parseAbi(['function setSubmitAndPassData(address target, bytes4 selector)']),
  voterRegistry: parseAbi([
    'function setUp(bool isFormer, address manager, address entities, address calculator, address preRegistry, uint256 maxVoters)',
  ]),
  voterPreRegistry: parseAbi(['function setUp(bool isFormer, address manager, address registry)']),
  calculator: parseAbi(['function setUp(bool isFormer)']),
  fastUpdater: parseAbi(['function setUp(address manager, uint8 window, uint256 feeds)']),
  fastUpdates: parseAbi([
    'function setFeedIds(bytes21[] ids)',
    'function setExpectedSampleSize(uint256 size)',
  ]),
} as const

/** Functions of rounds besides votes. */
export const ROUNDS_ABI = parseAbi([
  'struct G1Point { uint256 x; uint256 y; }',
  'struct SortitionCredential { uint256 replicate; G1Point gamma; uint256 c; uint256 s; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
  'struct FastUpdates { uint256 sortitionBlock; SortitionCredential sortitionCredential; bytes deltas; Signature signature; }',
  'function submit1() returns (bool)',
  'function submit2() returns (bool)',
  'function submitSignatures() returns (bool)',
  'function submitAndPass(bytes data) returns (bool)',
  'function submitUpdates(FastUpdates updates)',
  'function relay() returns (bytes)',
  'function requestAttestation(bytes data) payable',
])

/** Functions of the simulated RewardManager (contracts/RewardManager.sol). */
export const SIMULATED_REWARDS_ABI = parseAbi([
  'struct RewardState { uint24 rewardEpochId; bytes20 beneficiary; uint120 amount; uint8 claimType; bool initialised; }',
  'function setRange(uint24 start, uint24 end)',
  'function addReward(address owner, RewardState reward)',
  'function claim(address owner, address recipient, uint24 epoch, uint8 claimType)',
])
