// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

struct NumberOfWeightBasedClaims {
    uint256 rewardManagerId;
    uint256 noOfWeightBasedClaims;
}

struct Signature {
    uint8 v;
    bytes32 r;
    bytes32 s;
}

interface IRelay {
    function setSigningPolicy(
        uint24 epoch,
        uint32 startVotingRoundId,
        uint256 seed,
        address[] calldata voters,
        uint16[] calldata weights
    ) external returns (bytes32 policyHash, uint16 threshold);
}

interface IVoterRegistry {
    function setInitialBlock(uint256 epoch) external;
    function createSigningPolicySnapshot(
        uint256 epoch
    ) external returns (address[] memory signingPolicyAddresses, uint16[] memory weights);
    function isVoterRegistered(address voter, uint256 epoch) external view returns (bool);
    function getVoterWithNormalisedWeight(
        uint256 epoch,
        address signingPolicyAddress
    ) external view returns (address voter, uint16 weight);
}

interface IVoterPreRegistry {
    function triggerVoterRegistration(uint256 epoch) external;
}

/// @title Stands in for the FlareSystemsManager
/// @notice Keeps the time of reward epochs and counts votes as the real one does. Every account may set it up,
/// and the caller of `daemonize` acts as the chain's daemon.
contract FlareSystemsManager {
    struct Moment {
        uint64 timestamp;
        uint64 blockNumber;
    }

    /// State of a reward epoch.
    struct Epoch {
        uint32 startVotingRoundId;
        uint16 threshold;
        uint256 seed;
        bytes32 policyHash;
        Moment acquisitionStart;
        Moment acquisitionEnd;
        uint64 votePowerBlock;
        Moment start;
        Moment policySignStart;
        Moment policySignEnd;
        Moment uptimeSignStart;
        Moment rewardsSignStart;
        Moment rewardsSignEnd;
        /// Registry of its voters.
        address registry;
        /// Whether it was set up with concluded votes, in which every voter has voted.
        bool isSeeded;
    }

    event RandomAcquisitionStarted(uint24 indexed rewardEpochId, uint64 timestamp);
    event VotePowerBlockSelected(
        uint24 indexed rewardEpochId,
        uint64 votePowerBlock,
        uint64 timestamp
    );
    event SigningPolicySigned(
        uint24 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address indexed voter,
        uint64 timestamp,
        bool thresholdReached
    );
    event RewardEpochStarted(
        uint24 indexed rewardEpochId,
        uint32 startVotingRoundId,
        uint64 timestamp
    );
    event SignUptimeVoteEnabled(uint24 indexed rewardEpochId, uint64 timestamp);
    event UptimeVoteSubmitted(
        uint24 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address indexed voter,
        bytes20[] nodeIds,
        uint64 timestamp
    );
    event UptimeVoteSigned(
        uint24 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address indexed voter,
        bytes32 uptimeVoteHash,
        uint64 timestamp,
        bool thresholdReached
    );
    event RewardsSigned(
        uint24 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address indexed voter,
        bytes32 rewardsHash,
        NumberOfWeightBasedClaims[] noOfWeightBasedClaims,
        uint64 timestamp,
        bool thresholdReached
    );

    uint64 public firstVotingRoundStartTs;
    uint64 public votingEpochDurationSeconds;
    uint64 public firstRewardEpochStartTs;
    uint64 public rewardEpochDurationSeconds;
    uint64 public newSigningPolicyInitializationStartSeconds;
    uint64 public randomAcquisitionSeconds;
    uint64 public voterRegistrationMinDurationSeconds;
    uint64 public submitUptimeVoteMinDurationSeconds;
    uint32 public rewardExpiryOffsetSeconds;

    address public relay;
    address public voterRegistry;
    address public voterPreRegistry;
    uint24 public getCurrentRewardEpochId;

    mapping(uint256 rewardEpochId => bytes32) public uptimeVoteHash;
    mapping(uint256 rewardEpochId => bytes32) public rewardsHash;

    mapping(uint256 epoch => Epoch) private _epochs;
    /// By kind of vote, epoch and hash.
    mapping(bytes32 vote => uint256) private _weights;
    mapping(bytes32 vote => mapping(address voter => Moment)) private _signed;

    // Setting up.

    struct Constants {
        uint64 firstVotingRoundStartTs;
        uint64 votingEpochDurationSeconds;
        uint64 firstRewardEpochStartTs;
        uint64 rewardEpochDurationSeconds;
        uint64 newSigningPolicyInitializationStartSeconds;
        uint64 randomAcquisitionSeconds;
        uint64 voterRegistrationMinDurationSeconds;
        uint64 submitUptimeVoteMinDurationSeconds;
        uint32 rewardExpiryOffsetSeconds;
    }

    function setConstants(Constants calldata given) external {
        firstVotingRoundStartTs = given.firstVotingRoundStartTs;
        votingEpochDurationSeconds = given.votingEpochDurationSeconds;
        firstRewardEpochStartTs = given.firstRewardEpochStartTs;
        rewardEpochDurationSeconds = given.rewardEpochDurationSeconds;
        newSigningPolicyInitializationStartSeconds = given
            .newSigningPolicyInitializationStartSeconds;
        randomAcquisitionSeconds = given.randomAcquisitionSeconds;
        voterRegistrationMinDurationSeconds = given.voterRegistrationMinDurationSeconds;
        submitUptimeVoteMinDurationSeconds = given.submitUptimeVoteMinDurationSeconds;
        rewardExpiryOffsetSeconds = given.rewardExpiryOffsetSeconds;
    }

    /// @notice Sets the contracts that belong to it.
    function setContracts(address relay_, address registry, address preRegistry) external {
        relay = relay_;
        voterRegistry = registry;
        voterPreRegistry = preRegistry;
    }

    /// @notice Adds an epoch whose voters are already in the present registry: in force, or over with its
    /// votes concluded.
    function seedEpoch(uint24 epoch, bytes32 uptimeHash, bytes32 rewardsHash_) external {
        Epoch storage one = _epochs[epoch];
        uint64 startTs = _expectedStart(epoch);
        one.registry = voterRegistry;
        one.votePowerBlock = uint64(block.number);
        one.acquisitionStart = Moment(
            startTs - newSigningPolicyInitializationStartSeconds,
            uint64(block.number)
        );
        one.acquisitionEnd = Moment(
            one.acquisitionStart.timestamp + randomAcquisitionSeconds,
            uint64(block.number)
        );
        one.start = Moment(startTs, uint64(block.number));
        one.policySignStart = one.acquisitionEnd;
        one.policySignEnd = one.acquisitionEnd;
        _initializePolicy(epoch);
        getCurrentRewardEpochId = epoch;
        if (uptimeHash == bytes32(0)) return;
        one.isSeeded = true;
        uint64 endTs = startTs + rewardEpochDurationSeconds;
        one.uptimeSignStart = Moment(
            endTs + submitUptimeVoteMinDurationSeconds,
            uint64(block.number)
        );
        one.rewardsSignStart = one.uptimeSignStart;
        one.rewardsSignEnd = one.uptimeSignStart;
        uptimeVoteHash[epoch] = uptimeHash;
        rewardsHash[epoch] = rewardsHash_;
    }

    /// @notice Decides an epoch's rewards without a vote, as governance can.
    function setRewardsData(
        uint24 epoch,
        NumberOfWeightBasedClaims[] calldata,
        bytes32 hash
    ) external {
        rewardsHash[epoch] = hash;
        _epochs[epoch].rewardsSignEnd = _now();
    }

    // Automatic steps of the chain, at most one in each call.

    function daemonize() external returns (bool) {
        if (_enableUptimeVote()) return true;
        uint24 next = getCurrentRewardEpochId + 1;
        Epoch storage one = _epochs[next];
        uint64 endTs = currentRewardEpochExpectedEndTs();
        if (one.acquisitionStart.timestamp == 0) {
            if (block.timestamp < endTs - newSigningPolicyInitializationStartSeconds) return false;
            one.acquisitionStart = _now();
            emit RandomAcquisitionStarted(next, uint64(block.timestamp));
        } else if (one.votePowerBlock == 0) {
            if (block.timestamp < one.acquisitionStart.timestamp + randomAcquisitionSeconds) {
                return false;
            }
            _openRegistration(next);
        } else if (one.policyHash == bytes32(0)) {
            if (
                block.timestamp <=
                one.acquisitionEnd.timestamp + voterRegistrationMinDurationSeconds
            ) return false;
            _initializePolicy(next);
            one.policySignStart = _now();
        } else {
            if (block.timestamp < endTs || getCurrentVotingEpochId() < one.startVotingRoundId) {
                return false;
            }
            getCurrentRewardEpochId = next;
            one.start = _now();
            emit RewardEpochStarted(next, one.startVotingRoundId, uint64(block.timestamp));
        }
        return true;
    }

    // Votes.

    function signNewSigningPolicy(
        uint24 epoch,
        bytes32 policyHash,
        Signature calldata signature
    ) external {
        Epoch storage one = _epochs[epoch];
        require(
            one.policyHash == policyHash && policyHash != bytes32(0),
            "new signing policy hash invalid"
        );
        _checkOpen(one.policySignEnd, "new signing policy already signed");
        address signer = _signerOf(policyHash, signature);
        (address voter, bool isReached) = _vote("policy", epoch, epoch - 1, policyHash, signer);
        if (isReached) one.policySignEnd = _now();
        emit SigningPolicySigned(epoch, signer, voter, uint64(block.timestamp), isReached);
    }

    function submitUptimeVote(
        uint24 epoch,
        bytes20[] calldata nodeIds,
        Signature calldata signature
    ) external {
        require(_epochs[epoch].uptimeSignStart.timestamp == 0, "submit uptime vote already ended");
        address signer = _signerOf(keccak256(abi.encode(epoch, nodeIds)), signature);
        (address voter, ) = _registryOf(epoch).getVoterWithNormalisedWeight(epoch, signer);
        emit UptimeVoteSubmitted(epoch, signer, voter, nodeIds, uint64(block.timestamp));
    }

    function signUptimeVote(
        uint24 epoch,
        bytes32 hash,
        Signature calldata signature
    ) external {
        require(_epochs[epoch].uptimeSignStart.timestamp != 0, "sign uptime vote not started");
        _checkOpen(_epochs[epoch].rewardsSignStart, "uptime vote hash already signed");
        address signer = _signerOf(keccak256(abi.encode(epoch, hash)), signature);
        (address voter, bool isReached) = _vote("uptime", epoch, epoch, hash, signer);
        if (isReached) {
            uptimeVoteHash[epoch] = hash;
            _epochs[epoch].rewardsSignStart = _now();
        }
        emit UptimeVoteSigned(epoch, signer, voter, hash, uint64(block.timestamp), isReached);
    }

    function signRewards(
        uint24 epoch,
        NumberOfWeightBasedClaims[] calldata claims,
        bytes32 hash,
        Signature calldata signature
    ) external {
        require(epoch < getCurrentRewardEpochId, "epoch not ended yet");
        require(_epochs[epoch + 1].policySignEnd.timestamp != 0, "new signing policy not signed yet");
        require(uptimeVoteHash[epoch] != bytes32(0), "uptime vote hash not signed yet");
        _checkOpen(_epochs[epoch].rewardsSignEnd, "rewards hash already signed");
        bytes32 message = keccak256(abi.encode(epoch, keccak256(abi.encode(claims)), hash));
        address signer = _signerOf(message, signature);
        (address voter, bool isReached) = _vote("rewards", epoch, epoch, hash, signer);
        if (isReached) {
            rewardsHash[epoch] = hash;
            _epochs[epoch].rewardsSignEnd = _now();
        }
        emit RewardsSigned(epoch, signer, voter, hash, claims, uint64(block.timestamp), isReached);
    }

    // Views.

    function getCurrentVotingEpochId() public view returns (uint32) {
        return uint32((block.timestamp - firstVotingRoundStartTs) / votingEpochDurationSeconds);
    }

    function currentRewardEpochExpectedEndTs() public view returns (uint64) {
        return _expectedStart(getCurrentRewardEpochId + 1);
    }

    /// @notice Registry of an epoch's voters; the real contract has no such view.
    function registryOf(uint256 epoch) public view returns (address) {
        address registry = _epochs[epoch].registry;
        return registry == address(0) ? voterRegistry : registry;
    }

    function getStartVotingRoundId(uint256 epoch) external view returns (uint32) {
        return _initialized(epoch).startVotingRoundId;
    }

    function getThreshold(uint256 epoch) external view returns (uint16) {
        return _initialized(epoch).threshold;
    }

    function getSeed(uint256 epoch) external view returns (uint256) {
        return _initialized(epoch).seed;
    }

    function getVotePowerBlock(uint256 epoch) external view returns (uint64) {
        uint64 votePowerBlock = _epochs[epoch].votePowerBlock;
        require(votePowerBlock != 0, "vote power block not initialized yet");
        return votePowerBlock;
    }

    function isVoterRegistrationEnabled() external view returns (bool) {
        return _isOpen(getCurrentRewardEpochId + 1);
    }

    function getVoterRegistrationData(uint256 epoch) external view returns (uint256, bool) {
        return (_epochs[epoch].votePowerBlock, _isOpen(epoch));
    }

    function getRandomAcquisitionInfo(
        uint24 epoch
    ) external view returns (uint64, uint64, uint64, uint64) {
        return _pair(_epochs[epoch].acquisitionStart, _epochs[epoch].acquisitionEnd);
    }

    function getRewardEpochStartInfo(uint24 epoch) external view returns (uint64, uint64) {
        return _single(_epochs[epoch].start);
    }

    function getUptimeVoteSignStartInfo(uint24 epoch) external view returns (uint64, uint64) {
        return _single(_epochs[epoch].uptimeSignStart);
    }

    function getRewardsSignInfo(
        uint24 epoch
    ) external view returns (uint64, uint64, uint64, uint64) {
        return _pair(_epochs[epoch].rewardsSignStart, _epochs[epoch].rewardsSignEnd);
    }

    function getSigningPolicySignInfo(
        uint24 epoch
    ) external view returns (uint64, uint64, uint64, uint64) {
        return _pair(_epochs[epoch].policySignStart, _epochs[epoch].policySignEnd);
    }

    function getVoterUptimeVoteSignInfo(
        uint24 epoch,
        address voter
    ) external view returns (uint64, uint64) {
        bytes32 hash = uptimeVoteHash[epoch];
        require(hash != bytes32(0), "uptime vote hash not signed yet");
        return _voteOf("uptime", epoch, hash, voter);
    }

    function getVoterRewardsSignInfo(
        uint24 epoch,
        address voter
    ) external view returns (uint64, uint64) {
        bytes32 hash = rewardsHash[epoch];
        require(hash != bytes32(0), "rewards hash not signed yet");
        return _voteOf("rewards", epoch, hash, voter);
    }

    function getVoterSigningPolicySignInfo(
        uint24 epoch,
        address voter
    ) external view returns (uint64, uint64) {
        require(
            _epochs[epoch].policySignEnd.timestamp != 0,
            "new signing policy not signed yet"
        );
        return _voteOf("policy", epoch, _epochs[epoch].policyHash, voter);
    }

    // Inside.

    function _openRegistration(uint24 epoch) private {
        Epoch storage one = _epochs[epoch];
        one.votePowerBlock = uint64(block.number - 1);
        one.acquisitionEnd = _now();
        one.seed = uint256(keccak256(abi.encode("seed", epoch)));
        one.registry = voterRegistry;
        IVoterRegistry(voterRegistry).setInitialBlock(epoch);
        emit VotePowerBlockSelected(epoch, one.votePowerBlock, uint64(block.timestamp));
        IVoterPreRegistry(voterPreRegistry).triggerVoterRegistration(epoch);
    }

    function _initializePolicy(uint24 epoch) private {
        Epoch storage one = _epochs[epoch];
        uint64 rounds = rewardEpochDurationSeconds / votingEpochDurationSeconds;
        uint64 first = (firstRewardEpochStartTs - firstVotingRoundStartTs) /
            votingEpochDurationSeconds;
        uint64 expected = first + epoch * rounds;
        uint64 soonest = getCurrentVotingEpochId() + 3;
        bool isLate = getCurrentRewardEpochId != 0 && one.start.timestamp == 0 && soonest > expected;
        one.startVotingRoundId = uint32(isLate ? soonest : expected);
        (address[] memory voters, uint16[] memory weights) = _registryOf(epoch)
            .createSigningPolicySnapshot(epoch);
        (one.policyHash, one.threshold) = IRelay(relay).setSigningPolicy(
            epoch,
            one.startVotingRoundId,
            one.seed,
            voters,
            weights
        );
    }

    function _enableUptimeVote() private returns (bool) {
        uint24 ended = getCurrentRewardEpochId - 1;
        Epoch storage one = _epochs[ended];
        if (
            one.uptimeSignStart.timestamp != 0 ||
            block.timestamp <=
            _epochs[ended + 1].start.timestamp + submitUptimeVoteMinDurationSeconds
        ) return false;
        one.uptimeSignStart = _now();
        emit SignUptimeVoteEnabled(ended, uint64(block.timestamp));
        return true;
    }

    /// @dev Unlike in the real contract, votes in the deciding block still count, so that the order
    /// within a block makes no vote late.
    function _checkOpen(Moment storage end, string memory reason) private view {
        require(end.timestamp == 0 || end.blockNumber == block.number, reason);
    }

    /// @param electorate the epoch whose voters decide
    function _vote(
        string memory kind,
        uint24 epoch,
        uint24 electorate,
        bytes32 hash,
        address signer
    ) private returns (address voter, bool isReached) {
        uint16 weight;
        (voter, weight) = _registryOf(electorate).getVoterWithNormalisedWeight(electorate, signer);
        bytes32 vote = keccak256(abi.encode(kind, epoch, hash));
        require(_signed[vote][voter].timestamp == 0, "voter already signed");
        _signed[vote][voter] = _now();
        uint256 before = _weights[vote];
        _weights[vote] = before + weight;
        uint16 threshold = _epochs[electorate].threshold;
        isReached = before <= threshold && before + weight > threshold;
    }

    function _voteOf(
        string memory kind,
        uint24 epoch,
        bytes32 hash,
        address voter
    ) private view returns (uint64, uint64) {
        Epoch storage one = _epochs[epoch];
        if (one.isSeeded && IVoterRegistry(one.registry).isVoterRegistered(voter, epoch)) {
            return _single(one.uptimeSignStart);
        }
        return _single(_signed[keccak256(abi.encode(kind, epoch, hash))][voter]);
    }

    function _initialized(uint256 epoch) private view returns (Epoch storage one) {
        one = _epochs[epoch];
        require(one.policyHash != bytes32(0), "signing policy not initialized yet");
    }

    function _isOpen(uint256 epoch) private view returns (bool) {
        return _epochs[epoch].votePowerBlock != 0 && _epochs[epoch].policyHash == bytes32(0);
    }

    function _registryOf(uint256 epoch) private view returns (IVoterRegistry) {
        return IVoterRegistry(registryOf(epoch));
    }

    function _expectedStart(uint256 epoch) private view returns (uint64) {
        return firstRewardEpochStartTs + uint64(epoch) * rewardEpochDurationSeconds;
    }

    function _signerOf(bytes32 message, Signature calldata given) private pure returns (address) {
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", message));
        return ecrecover(digest, given.v, given.r, given.s);
    }

    function _now() private view returns (Moment memory) {
        return Moment(uint64(block.timestamp), uint64(block.number));
    }

    function _single(Moment memory one) private pure returns (uint64, uint64) {
        return (one.timestamp, one.blockNumber);
    }

    function _pair(
        Moment memory start,
        Moment memory end
    ) private pure returns (uint64, uint64, uint64, uint64) {
        return (start.timestamp, start.blockNumber, end.timestamp, end.blockNumber);
    }
}
