// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

struct PublicKey {
    bytes32 x;
    bytes32 y;
}

struct Signature {
    uint8 v;
    bytes32 r;
    bytes32 s;
}

interface Present {
    event VoterRegistered(
        address indexed voter,
        uint32 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address submitAddress,
        address submitSignaturesAddress,
        PublicKey publicKey,
        uint256 registrationWeight,
        Signature signature
    );
    event VoterRemoved(address indexed voter, uint32 indexed rewardEpochId);
    event BeneficiaryChilled(bytes20 indexed beneficiary, uint32 untilRewardEpochId);
}

interface Former {
    event VoterRegistered(
        address indexed voter,
        uint24 indexed rewardEpochId,
        address indexed signingPolicyAddress,
        address submitAddress,
        address submitSignaturesAddress,
        bytes32 publicKeyPart1,
        bytes32 publicKeyPart2,
        uint256 registrationWeight
    );
    event VoterRemoved(address indexed voter, uint256 indexed rewardEpochId);
    event BeneficiaryChilled(bytes20 indexed beneficiary, uint256 untilRewardEpochId);
}

interface IEntities {
    struct VoterAddresses {
        address submitAddress;
        address submitSignaturesAddress;
        address signingPolicyAddress;
    }

    function getVoterAddressesAt(
        address voter,
        uint256 blockNumber
    ) external view returns (VoterAddresses memory);
    function getDelegationAddressOfAt(
        address voter,
        uint256 blockNumber
    ) external view returns (address);
    function getNodeIdsOfAt(
        address voter,
        uint256 blockNumber
    ) external view returns (bytes20[] memory);
    function getPublicKeyOfAt(
        address voter,
        uint256 blockNumber
    ) external view returns (bytes32, bytes32);
}

interface IManager {
    function getCurrentRewardEpochId() external view returns (uint24);
    function isVoterRegistrationEnabled() external view returns (bool);
}

interface ICalculator {
    function calculateRegistrationWeight(address voter, uint24 epoch) external returns (uint256);
}

/// @title Stands in for the VoterRegistry, of both generations
/// @notice Registers voters and takes the snapshot as the real ones do; every account may set it up.
contract VoterRegistry {
    struct Voter {
        uint256 weight;
        uint16 normalisedWeight;
        IEntities.VoterAddresses addresses;
        address delegationAddress;
        bytes20[] nodeIds;
        PublicKey publicKey;
    }

    uint256 public maxVoters;
    mapping(uint256 rewardEpochId => uint256) public newSigningPolicyInitializationStartBlockNumber;
    mapping(bytes20 beneficiary => uint256) public chilledUntilRewardEpochId;

    bool private _isFormer;
    IManager private _manager;
    IEntities private _entities;
    ICalculator private _calculator;
    address private _preRegistry;

    mapping(uint256 epoch => address[]) private _voters;
    mapping(uint256 epoch => mapping(address voter => Voter)) private _voterOf;
    mapping(uint256 epoch => mapping(address signingPolicyAddress => address)) private _bySigner;
    mapping(uint256 epoch => uint256) private _weightsSums;
    mapping(uint256 epoch => uint16) private _normalisedSums;
    mapping(uint256 epoch => uint16) private _keyedSums;

    // Setting up.

    function setUp(
        bool isFormer,
        address manager,
        address entities,
        address calculator,
        address preRegistry,
        uint256 maxVoters_
    ) external {
        _isFormer = isFormer;
        _manager = IManager(manager);
        _entities = IEntities(entities);
        _calculator = ICalculator(calculator);
        _preRegistry = preRegistry;
        maxVoters = maxVoters_;
    }

    /// @notice Registers voters at any time.
    function seedVoters(uint24 epoch, address[] calldata voters) external {
        if (newSigningPolicyInitializationStartBlockNumber[epoch] == 0) setInitialBlock(epoch);
        Signature memory none;
        for (uint256 i = 0; i < voters.length; i++) _register(voters[i], epoch, none);
    }

    function removeVoter(address voter, uint256 epoch) external {
        _remove(voter, epoch);
    }

    function chill(bytes20 beneficiary, uint32 untilEpoch) external {
        chilledUntilRewardEpochId[beneficiary] = untilEpoch;
        if (_isFormer) emit Former.BeneficiaryChilled(beneficiary, untilEpoch);
        else emit Present.BeneficiaryChilled(beneficiary, untilEpoch);
    }

    function setInitialBlock(uint256 epoch) public {
        newSigningPolicyInitializationStartBlockNumber[epoch] = block.number;
    }

    // Registration.

    function registerVoter(address voter, Signature calldata signature) external {
        require(_manager.isVoterRegistrationEnabled(), "voter registration not enabled");
        uint24 epoch = _manager.getCurrentRewardEpochId() + 1;
        address signer = _entities
            .getVoterAddressesAt(voter, newSigningPolicyInitializationStartBlockNumber[epoch])
            .signingPolicyAddress;
        bytes32 message = _isFormer
            ? keccak256(abi.encode(epoch, voter))
            : keccak256(abi.encode(block.chainid, epoch, voter));
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", message));
        require(
            ecrecover(digest, signature.v, signature.r, signature.s) == signer,
            "invalid signature"
        );
        _register(voter, epoch, signature);
    }

    /// @notice Registers a pre-registered voter. Fails where `registerVoter` would.
    function registerVoterFromPreRegistry(address voter, uint24 epoch) external {
        require(msg.sender == _preRegistry, "only voter pre-registry");
        Signature memory none;
        _register(voter, epoch, none);
    }

    /// @notice Ends the registration and computes the normalised weights.
    function createSigningPolicySnapshot(
        uint256 epoch
    ) external returns (address[] memory signers, uint16[] memory weights) {
        address[] storage voters = _voters[epoch];
        uint256 sum;
        for (uint256 i = 0; i < voters.length; i++) sum += _voterOf[epoch][voters[i]].weight;
        require(sum > 0, "no voters");
        signers = new address[](voters.length);
        weights = new uint16[](voters.length);
        uint16 all;
        uint16 keyed;
        for (uint256 i = 0; i < voters.length; i++) {
            Voter storage one = _voterOf[epoch][voters[i]];
            uint16 weight = uint16((one.weight * 65535) / sum);
            one.normalisedWeight = weight;
            signers[i] = one.addresses.signingPolicyAddress;
            weights[i] = weight;
            _bySigner[epoch][signers[i]] = voters[i];
            all += weight;
            if (one.publicKey.x != 0 || one.publicKey.y != 0) keyed += weight;
        }
        _weightsSums[epoch] = sum;
        _normalisedSums[epoch] = all;
        _keyedSums[epoch] = keyed;
    }

    // Views.

    function isVoterRegistered(address voter, uint256 epoch) external view returns (bool) {
        return _voterOf[epoch][voter].weight != 0;
    }

    function getRegisteredVoters(uint256 epoch) external view returns (address[] memory) {
        return _voters[epoch];
    }

    function getNumberOfRegisteredVoters(uint256 epoch) external view returns (uint256) {
        return _voters[epoch].length;
    }

    function getRegisteredVotersAndNormalisedWeights(
        uint256 epoch
    ) external view returns (address[] memory voters, uint16[] memory weights) {
        voters = _snapshotted(epoch);
        weights = new uint16[](voters.length);
        for (uint256 i = 0; i < voters.length; i++) {
            weights[i] = _voterOf[epoch][voters[i]].normalisedWeight;
        }
    }

    function getRegisteredSigningPolicyAddresses(
        uint256 epoch
    ) external view returns (address[] memory all) {
        all = _snapshotted(epoch);
        for (uint256 i = 0; i < all.length; i++) {
            all[i] = _voterOf[epoch][all[i]].addresses.signingPolicyAddress;
        }
    }

    function getRegisteredSubmitAddresses(
        uint256 epoch
    ) external view returns (address[] memory all) {
        all = _snapshotted(epoch);
        for (uint256 i = 0; i < all.length; i++) {
            all[i] = _voterOf[epoch][all[i]].addresses.submitAddress;
        }
    }

    function getRegisteredSubmitSignaturesAddresses(
        uint256 epoch
    ) external view returns (address[] memory all) {
        all = _snapshotted(epoch);
        for (uint256 i = 0; i < all.length; i++) {
            all[i] = _voterOf[epoch][all[i]].addresses.submitSignaturesAddress;
        }
    }

    function getRegisteredDelegationAddresses(
        uint256 epoch
    ) external view returns (address[] memory all) {
        all = _snapshotted(epoch);
        for (uint256 i = 0; i < all.length; i++) all[i] = _voterOf[epoch][all[i]].delegationAddress;
    }

    function getRegisteredNodeIds(
        uint256 epoch
    ) external view returns (bytes20[][] memory nodeIds) {
        address[] memory voters = _snapshotted(epoch);
        nodeIds = new bytes20[][](voters.length);
        for (uint256 i = 0; i < voters.length; i++) nodeIds[i] = _voterOf[epoch][voters[i]].nodeIds;
    }

    function getRegisteredPublicKeys(
        uint256 epoch
    ) external view returns (bytes32[] memory parts1, bytes32[] memory parts2) {
        address[] memory voters = _snapshotted(epoch);
        parts1 = new bytes32[](voters.length);
        parts2 = new bytes32[](voters.length);
        for (uint256 i = 0; i < voters.length; i++) {
            PublicKey storage key = _voterOf[epoch][voters[i]].publicKey;
            (parts1[i], parts2[i]) = (key.x, key.y);
        }
    }

    function getVoterNormalisedWeight(address voter, uint256 epoch) external view returns (uint16) {
        _snapshotted(epoch);
        Voter storage one = _voterOf[epoch][voter];
        require(one.weight != 0, "voter not registered");
        return one.normalisedWeight;
    }

    function getVoterRegistrationWeight(
        address voter,
        uint256 epoch
    ) external view returns (uint256 weight) {
        weight = _voterOf[epoch][voter].weight;
        require(weight != 0, "voter not registered");
    }

    function getVoterWithNormalisedWeight(
        uint256 epoch,
        address signer
    ) public view returns (address voter, uint16 weight) {
        _snapshotted(epoch);
        voter = _bySigner[epoch][signer];
        require(voter != address(0), "invalid signing policy address");
        weight = _voterOf[epoch][voter].normalisedWeight;
    }

    function getPublicKeyAndNormalisedWeight(
        uint256 epoch,
        address signer
    ) external view returns (bytes32, bytes32, uint16, uint16) {
        (address voter, uint16 weight) = getVoterWithNormalisedWeight(epoch, signer);
        PublicKey storage key = _voterOf[epoch][voter].publicKey;
        return (key.x, key.y, weight, _keyedSums[epoch]);
    }

    function getWeightsSums(uint256 epoch) external view returns (uint128, uint16, uint16) {
        _snapshotted(epoch);
        return (uint128(_weightsSums[epoch]), _normalisedSums[epoch], _keyedSums[epoch]);
    }

    // Inside.

    function _register(address voter, uint24 epoch, Signature memory signature) private {
        require(_voterOf[epoch][voter].weight == 0, "already registered");
        uint256 weight = _calculator.calculateRegistrationWeight(voter, epoch);
        require(weight > 0, "voter weight zero");
        _makeRoom(epoch, weight);

        uint256 blockNumber = newSigningPolicyInitializationStartBlockNumber[epoch];
        Voter storage one = _voterOf[epoch][voter];
        IEntities.VoterAddresses memory addresses = _entities.getVoterAddressesAt(
            voter,
            blockNumber
        );
        (bytes32 x, bytes32 y) = _entities.getPublicKeyOfAt(voter, blockNumber);
        one.weight = weight;
        one.addresses = addresses;
        one.delegationAddress = _entities.getDelegationAddressOfAt(voter, blockNumber);
        one.nodeIds = _entities.getNodeIdsOfAt(voter, blockNumber);
        one.publicKey = PublicKey(x, y);
        _voters[epoch].push(voter);
        _tell(voter, epoch, one, signature);
    }

    function _tell(
        address voter,
        uint24 epoch,
        Voter storage one,
        Signature memory signature
    ) private {
        if (_isFormer) {
            emit Former.VoterRegistered(
                voter,
                epoch,
                one.addresses.signingPolicyAddress,
                one.addresses.submitAddress,
                one.addresses.submitSignaturesAddress,
                one.publicKey.x,
                one.publicKey.y,
                one.weight
            );
        } else {
            emit Present.VoterRegistered(
                voter,
                epoch,
                one.addresses.signingPolicyAddress,
                one.addresses.submitAddress,
                one.addresses.submitSignaturesAddress,
                one.publicKey,
                one.weight,
                signature
            );
        }
    }

    /// @dev At the upper limit of voters, a heavier voter replaces the lightest.
    function _makeRoom(uint256 epoch, uint256 weight) private {
        address[] storage voters = _voters[epoch];
        if (voters.length < maxVoters) return;
        address lightest = voters[0];
        for (uint256 i = 1; i < voters.length; i++) {
            if (_voterOf[epoch][voters[i]].weight < _voterOf[epoch][lightest].weight) {
                lightest = voters[i];
            }
        }
        require(_voterOf[epoch][lightest].weight < weight, "vote power too low");
        _remove(lightest, epoch);
    }

    function _remove(address voter, uint256 epoch) private {
        address[] storage voters = _voters[epoch];
        for (uint256 i = 0; i < voters.length; i++) {
            if (voters[i] != voter) continue;
            voters[i] = voters[voters.length - 1];
            voters.pop();
            delete _voterOf[epoch][voter];
            if (_isFormer) emit Former.VoterRemoved(voter, epoch);
            else emit Present.VoterRemoved(voter, uint32(epoch));
            return;
        }
        revert("voter not registered");
    }

    function _snapshotted(uint256 epoch) private view returns (address[] memory) {
        require(_weightsSums[epoch] != 0, "reward epoch id not supported");
        return _voters[epoch];
    }
}
