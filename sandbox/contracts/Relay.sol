// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the Relay, of both generations
/// @notice Checks and counts signatures over protocol messages as the real ones do, but no Merkle proofs.
contract Relay {
    struct StateData {
        uint8 randomNumberProtocolId;
        uint32 firstVotingRoundStartTs;
        uint8 votingEpochDurationSeconds;
        uint32 firstRewardEpochStartVotingRoundId;
        uint16 rewardEpochDurationInVotingEpochs;
        uint16 thresholdIncreaseBIPS;
        uint32 randomVotingRoundId;
        bool isSecureRandom;
        uint32 lastInitializedRewardEpoch;
        bool noSigningPolicyRelay;
        uint32 messageFinalizationWindowInRewardEpochs;
    }

    event SigningPolicyInitialized(
        uint24 indexed rewardEpochId,
        uint32 startVotingRoundId,
        uint16 threshold,
        uint256 seed,
        address[] voters,
        uint16[] weights,
        bytes signingPolicyBytes,
        uint64 timestamp
    );
    event ProtocolMessageRelayed(
        uint8 indexed protocolId,
        uint32 indexed votingRoundId,
        bool isSecureRandom,
        bytes32 merkleRoot
    );
    event RandomNumberRelayed(
        uint32 indexed votingRoundId,
        uint256 randomNumber,
        bool isSecureRandom
    );

    error AlreadyRelayed();
    error NotEnoughWeight();
    error WrongSignature();
    error BadV();
    error BadS();
    error SigningPolicyHashMismatch();
    error InvalidVotingRoundId();

    uint256 private constant HALF_ORDER =
        0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    StateData public stateData;
    /// @notice The previous Relay, for older rounds; only the newer generation has one.
    address public oldRelay;
    bool private _isNewer;

    mapping(uint256 epoch => bytes32) private _policyHashes;
    mapping(uint256 epoch => uint256) private _startingRounds;
    mapping(uint256 protocolId => mapping(uint256 round => bytes32)) private _roots;

    // Setting up.

    function setUp(bool isNewer, address oldRelay_, StateData calldata state) external {
        _isNewer = isNewer;
        oldRelay = oldRelay_;
        stateData = state;
    }

    /// @notice Adds a policy; the last policy of the older Relay, which the newer one receives, emits no event.
    function setSigningPolicy(
        uint24 epoch,
        uint32 startVotingRoundId,
        uint256 seed,
        address[] calldata voters,
        uint16[] calldata weights
    ) external returns (bytes32 policyHash, uint16 threshold) {
        bytes memory policy;
        (policy, policyHash, threshold) = _keep(epoch, startVotingRoundId, seed, voters, weights);
        emit SigningPolicyInitialized(
            epoch,
            startVotingRoundId,
            threshold,
            seed,
            voters,
            weights,
            policy,
            uint64(block.timestamp)
        );
    }

    function seedSigningPolicy(
        uint24 epoch,
        uint32 startVotingRoundId,
        uint256 seed,
        address[] calldata voters,
        uint16[] calldata weights
    ) external {
        _keep(epoch, startVotingRoundId, seed, voters, weights);
    }

    // Finalisation.

    /// @notice The call data is the selector, the policy's bytes, a message of 38 bytes, the number of
    /// signatures and the signatures of 67 bytes; the newer generation takes a random number after that.
    function relay() external returns (bytes memory) {
        bytes calldata data = msg.data[4:];
        uint256 voters = uint16(bytes2(data[0:2]));
        uint256 length = 43 + 22 * voters;
        bytes calldata policy = data[:length];
        bytes calldata message = data[length:length + 38];
        if (_policyHashes[uint24(bytes3(policy[2:5]))] != _policyHash(policy)) {
            _fail("Signing policy hash mismatch", SigningPolicyHashMismatch.selector);
        }
        uint8 protocolId = uint8(message[0]);
        uint32 round = uint32(bytes4(message[1:5]));
        if (round < uint32(bytes4(policy[5:9]))) {
            _fail("Invalid voting round id", InvalidVotingRoundId.selector);
        }
        if (_roots[protocolId][round] != bytes32(0)) {
            _fail("Already relayed", AlreadyRelayed.selector);
        }
        _count(policy, _digest(message), data[length + 38:]);

        bytes32 root = bytes32(message[6:38]);
        bool isSecure = message[5] != 0;
        _roots[protocolId][round] = root;
        emit ProtocolMessageRelayed(protocolId, round, isSecure, root);
        if (protocolId == stateData.randomNumberProtocolId) {
            stateData.randomVotingRoundId = round;
            stateData.isSecureRandom = isSecure;
            if (_isNewer) _tellRandom(round, isSecure, data[length + 38:]);
        }
        return "";
    }

    // Views.

    function sourceChainId() external view returns (uint256) {
        require(_isNewer);
        return block.chainid;
    }

    function isFinalized(uint256 protocolId, uint256 round) external view returns (bool) {
        return merkleRoots(protocolId, round) != bytes32(0);
    }

    function merkleRoots(uint256 protocolId, uint256 round) public view returns (bytes32 root) {
        root = _roots[protocolId][round];
        if (root == bytes32(0) && oldRelay != address(0)) {
            return Relay(oldRelay).merkleRoots(protocolId, round);
        }
    }

    function startingVotingRoundIds(uint256 epoch) external view returns (uint256 round) {
        round = _startingRounds[epoch];
        if (round == 0 && oldRelay != address(0)) {
            return Relay(oldRelay).startingVotingRoundIds(epoch);
        }
    }

    function toSigningPolicyHash(uint256 epoch) external view returns (bytes32 hash) {
        hash = _policyHashes[epoch];
        if (hash == bytes32(0) && oldRelay != address(0)) {
            return Relay(oldRelay).toSigningPolicyHash(epoch);
        }
    }

    function getVotingRoundId(uint256 timestamp) external view returns (uint256) {
        return
            (timestamp - stateData.firstVotingRoundStartTs) / stateData.votingEpochDurationSeconds;
    }

    function lastInitializedRewardEpochData() external view returns (uint32, uint32) {
        uint32 epoch = stateData.lastInitializedRewardEpoch;
        return (epoch, uint32(_startingRounds[epoch]));
    }

    // Inside.

    function _keep(
        uint24 epoch,
        uint32 startVotingRoundId,
        uint256 seed,
        address[] calldata voters,
        uint16[] calldata weights
    ) private returns (bytes memory policy, bytes32 policyHash, uint16 threshold) {
        uint256 sum;
        for (uint256 i = 0; i < weights.length; i++) sum += weights[i];
        threshold = uint16((sum + 1) / 2);
        policy = abi.encodePacked(
            uint16(voters.length),
            epoch,
            startVotingRoundId,
            threshold,
            seed
        );
        uint256 length = policy.length;
        bytes memory all = new bytes(length + 22 * voters.length);
        for (uint256 i = 0; i < length; i++) all[i] = policy[i];
        for (uint256 i = 0; i < voters.length; i++) {
            bytes32 word = bytes32(
                (uint256(uint160(voters[i])) << 96) | (uint256(weights[i]) << 80)
            );
            uint256 place = length + 22 * i;
            for (uint256 j = 0; j < 22; j++) all[place + j] = word[j];
        }
        policy = all;
        policyHash = this.hashOf(policy);
        _policyHashes[epoch] = policyHash;
        _startingRounds[epoch] = startVotingRoundId;
        stateData.lastInitializedRewardEpoch = epoch;
    }

    /// @return The hash that is signed for a policy: of it and the chain's id, or formerly a chain of hashes.
    function hashOf(bytes calldata policy) external view returns (bytes32) {
        return _policyHash(policy);
    }

    function _policyHash(bytes calldata policy) private view returns (bytes32 hash) {
        if (_isNewer) return keccak256(abi.encodePacked(block.chainid, policy));
        hash = bytes32(policy[0:32]);
        for (uint256 place = 32; place < policy.length; place += 32) {
            uint256 end = place + 32 < policy.length ? place + 32 : policy.length;
            hash = keccak256(abi.encodePacked(hash, bytes32(policy[place:end])));
        }
    }

    function _digest(bytes calldata message) private view returns (bytes32) {
        bytes32 inner = _isNewer
            ? keccak256(abi.encodePacked(block.chainid, message))
            : keccak256(message);
        return keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", inner));
    }

    /// @dev Fails unless the signatures have more weight than the policy's threshold.
    function _count(bytes calldata policy, bytes32 digest, bytes calldata tail) private view {
        uint256 count = uint16(bytes2(tail[0:2]));
        uint256 weight;
        uint256 next;
        for (uint256 i = 0; i < count; i++) {
            bytes calldata one = tail[2 + 67 * i:69 + 67 * i];
            uint256 index = uint16(bytes2(one[65:67]));
            if (index < next) _fail("Index out of order", WrongSignature.selector);
            next = index + 1;
            bytes calldata voter = policy[43 + 22 * index:65 + 22 * index];
            _checkForm(one);
            address signer = ecrecover(digest, uint8(one[0]), bytes32(one[1:33]), bytes32(one[33:65]));
            if (signer != address(bytes20(voter[0:20]))) {
                _fail("Wrong signature", WrongSignature.selector);
            }
            weight += uint16(bytes2(voter[20:22]));
        }
        if (weight <= uint16(bytes2(policy[9:11]))) {
            _fail("Not enough weight", NotEnoughWeight.selector);
        }
    }

    function _checkForm(bytes calldata signature) private view {
        if (!_isNewer) return;
        if (uint8(signature[0]) != 27 && uint8(signature[0]) != 28) revert BadV();
        if (uint256(bytes32(signature[33:65])) > HALF_ORDER) revert BadS();
    }

    function _tellRandom(uint32 round, bool isSecure, bytes calldata tail) private {
        uint256 place = 2 + 67 * uint256(uint16(bytes2(tail[0:2])));
        if (tail.length < place + 32) return;
        emit RandomNumberRelayed(round, uint256(bytes32(tail[place:place + 32])), isSecure);
    }

    /// @dev Fails in the manner of its generation.
    function _fail(string memory reason, bytes4 selector) private view {
        if (!_isNewer) revert(reason);
        bytes memory data = abi.encodeWithSelector(selector);
        assembly {
            revert(add(data, 32), mload(data))
        }
    }
}
