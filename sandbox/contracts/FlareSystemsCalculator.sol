// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Present {
    event VoterRegistrationInfo(
        address indexed voter,
        uint32 indexed rewardEpochId,
        address delegationAddress,
        uint16 delegationFeeBIPS,
        uint256 wNatWeight,
        uint256 wNatCappedWeight,
        bytes20[] nodeIds,
        uint256[] nodeWeights
    );
}

interface Former {
    event VoterRegistrationInfo(
        address indexed voter,
        uint24 indexed rewardEpochId,
        address delegationAddress,
        uint16 delegationFeeBIPS,
        uint256 wNatWeight,
        uint256 wNatCappedWeight,
        bytes20[] nodeIds,
        uint256[] nodeWeights
    );
}

/// @title Stands in for the FlareSystemsCalculator, of both generations
/// @notice Weighs voters; every account may set the weight of each.
contract FlareSystemsCalculator {
    struct Stake {
        address delegationAddress;
        uint16 delegationFeeBIPS;
        uint256 wNatWeight;
        uint256 wNatCappedWeight;
        bytes20[] nodeIds;
        uint256[] nodeWeights;
    }

    bool private _isFormer;
    mapping(address voter => Stake) private _stakes;
    mapping(uint256 epoch => mapping(address voter => uint256)) private _burnFactors;

    function setUp(bool isFormer) external {
        _isFormer = isFormer;
    }

    function setStakes(address[] calldata voters, Stake[] calldata stakes) external {
        for (uint256 i = 0; i < voters.length; i++) _stakes[voters[i]] = stakes[i];
    }

    function setBurnFactor(uint24 epoch, address voter, uint256 ppm) external {
        _burnFactors[epoch][voter] = ppm;
    }

    /// @notice Weighs a voter and emits the weight.
    function calculateRegistrationWeight(
        address voter,
        uint24 epoch
    ) external returns (uint256 weight) {
        Stake memory one = _stakes[voter];
        weight = one.wNatCappedWeight;
        for (uint256 i = 0; i < one.nodeWeights.length; i++) weight += one.nodeWeights[i];
        if (_isFormer) {
            emit Former.VoterRegistrationInfo(
                voter,
                epoch,
                one.delegationAddress,
                one.delegationFeeBIPS,
                one.wNatWeight,
                one.wNatCappedWeight,
                one.nodeIds,
                one.nodeWeights
            );
        } else {
            emit Present.VoterRegistrationInfo(
                voter,
                epoch,
                one.delegationAddress,
                one.delegationFeeBIPS,
                one.wNatWeight,
                one.wNatCappedWeight,
                one.nodeIds,
                one.nodeWeights
            );
        }
    }

    function calculateBurnFactorPPM(uint24 epoch, address voter) external view returns (uint256) {
        return _burnFactors[epoch][voter];
    }
}
