// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface Present {
    event VoterPreRegistered(address indexed voter, uint32 indexed rewardEpochId);
    event VoterRegistrationFailed(address indexed voter, uint32 indexed rewardEpochId);
}

interface Former {
    event VoterPreRegistered(address indexed voter, uint256 indexed rewardEpochId);
    event VoterRegistrationFailed(address indexed voter, uint256 indexed rewardEpochId);
}

interface IPreManager {
    function getCurrentRewardEpochId() external view returns (uint24);
    function getVoterRegistrationData(uint256 epoch) external view returns (uint256, bool);
    function registryOf(uint256 epoch) external view returns (address);
}

interface IPreRegistry {
    function isVoterRegistered(address voter, uint256 epoch) external view returns (bool);
    function registerVoterFromPreRegistry(address voter, uint24 epoch) external;
}

/// @title Stands in for the VoterPreRegistry, of both generations
/// @notice Stores pre-registrations and registers these voters when registration opens. Signatures are not checked.
contract VoterPreRegistry {
    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    bool private _isFormer;
    IPreManager private _manager;
    IPreRegistry private _registry;
    mapping(uint256 epoch => address[]) private _voters;
    mapping(uint256 epoch => mapping(address voter => bool)) private _isIn;

    function setUp(bool isFormer, address manager, address registry) external {
        _isFormer = isFormer;
        _manager = IPreManager(manager);
        _registry = IPreRegistry(registry);
    }

    function preRegisterVoter(address voter, Signature calldata) external {
        uint24 current = _manager.getCurrentRewardEpochId();
        (uint256 votePowerBlock, ) = _manager.getVoterRegistrationData(current + 1);
        require(votePowerBlock == 0, "pre-registration not opened anymore");
        require(
            IPreRegistry(_manager.registryOf(current)).isVoterRegistered(voter, current),
            "voter currently not registered"
        );
        require(!_isIn[current + 1][voter], "voter already pre-registered");
        _isIn[current + 1][voter] = true;
        _voters[current + 1].push(voter);
        if (_isFormer) emit Former.VoterPreRegistered(voter, current + 1);
        else emit Present.VoterPreRegistered(voter, current + 1);
    }

    function triggerVoterRegistration(uint256 epoch) external {
        address[] storage voters = _voters[epoch];
        for (uint256 i = 0; i < voters.length; i++) {
            try _registry.registerVoterFromPreRegistry(voters[i], uint24(epoch)) {} catch {
                if (_isFormer) emit Former.VoterRegistrationFailed(voters[i], epoch);
                else emit Present.VoterRegistrationFailed(voters[i], uint32(epoch));
            }
        }
    }

    function isVoterPreRegistered(uint256 epoch, address voter) external view returns (bool) {
        return _isIn[epoch][voter];
    }

    function getPreRegisteredVoters(uint256 epoch) external view returns (address[] memory) {
        return _voters[epoch];
    }

    // Of the former generation.

    function isVoterPreRegistered(uint24 epoch, address voter) external view returns (bool) {
        return _isIn[epoch][voter];
    }

    function getPreRegisteredVoters(uint24 epoch) external view returns (address[] memory) {
        return _voters[epoch];
    }
}
