// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the EntityManager
/// @notice Answers as the real one does; every account may set the addresses of a voter, and no address
/// confirms that.
contract EntityManager {
    struct VoterAddresses {
        address submitAddress;
        address submitSignaturesAddress;
        address signingPolicyAddress;
    }

    /// The addresses and nodes of a voter, from a block on.
    struct Entity {
        VoterAddresses addresses;
        address delegationAddress;
        bytes32 publicKeyPart1;
        bytes32 publicKeyPart2;
        bytes20[] nodeIds;
    }

    struct Version {
        uint256 fromBlock;
        Entity entity;
    }

    event SubmitAddressRegistrationConfirmed(
        address indexed voter,
        address indexed submitAddress
    );
    event SubmitSignaturesAddressRegistrationConfirmed(
        address indexed voter,
        address indexed submitSignaturesAddress
    );
    event SigningPolicyAddressRegistrationConfirmed(
        address indexed voter,
        address indexed signingPolicyAddress
    );
    event DelegationAddressRegistrationConfirmed(
        address indexed voter,
        address indexed delegationAddress
    );
    event NodeIdRegistered(address indexed voter, bytes20 indexed nodeId);
    event NodeIdUnregistered(address indexed voter, bytes20 indexed nodeId);

    mapping(address voter => Version[]) private _versions;
    /// The last voter of an address or node; an address has one voter here, whatever its role.
    mapping(address account => address voter) private _voters;
    mapping(bytes20 nodeId => address voter) private _nodes;

    // Setting up.

    /// @notice Sets the addresses and nodes of voters from this block on.
    function set(address[] calldata voters, Entity[] calldata entities) external {
        for (uint256 i = 0; i < voters.length; i++) _set(voters[i], entities[i]);
    }

    function _set(address voter, Entity calldata to) private {
        Entity memory from = _at(voter, block.number);
        Version storage version = _versions[voter].push();
        version.fromBlock = block.number;
        version.entity = to;

        VoterAddresses calldata now_ = to.addresses;
        VoterAddresses memory was = from.addresses;
        _voters[now_.submitAddress] = voter;
        _voters[now_.submitSignaturesAddress] = voter;
        _voters[now_.signingPolicyAddress] = voter;
        _voters[to.delegationAddress] = voter;
        if (now_.submitAddress != was.submitAddress) {
            emit SubmitAddressRegistrationConfirmed(voter, now_.submitAddress);
        }
        if (now_.submitSignaturesAddress != was.submitSignaturesAddress) {
            emit SubmitSignaturesAddressRegistrationConfirmed(voter, now_.submitSignaturesAddress);
        }
        if (now_.signingPolicyAddress != was.signingPolicyAddress) {
            emit SigningPolicyAddressRegistrationConfirmed(voter, now_.signingPolicyAddress);
        }
        if (to.delegationAddress != from.delegationAddress) {
            emit DelegationAddressRegistrationConfirmed(voter, to.delegationAddress);
        }
        for (uint256 i = 0; i < from.nodeIds.length; i++) {
            if (!_has(to.nodeIds, from.nodeIds[i])) emit NodeIdUnregistered(voter, from.nodeIds[i]);
        }
        for (uint256 i = 0; i < to.nodeIds.length; i++) {
            _nodes[to.nodeIds[i]] = voter;
            if (!_has(from.nodeIds, to.nodeIds[i])) emit NodeIdRegistered(voter, to.nodeIds[i]);
        }
    }

    // Views.

    function getVoterAddresses(address voter) external view returns (VoterAddresses memory) {
        return _at(voter, block.number).addresses;
    }

    function getVoterAddressesAt(
        address voter,
        uint256 blockNumber
    ) external view returns (VoterAddresses memory) {
        return _at(voter, blockNumber).addresses;
    }

    function getDelegationAddressOf(address voter) external view returns (address) {
        return _at(voter, block.number).delegationAddress;
    }

    function getDelegationAddressOfAt(
        address voter,
        uint256 blockNumber
    ) external view returns (address) {
        return _at(voter, blockNumber).delegationAddress;
    }

    function getNodeIdsOf(address voter) external view returns (bytes20[] memory) {
        return _at(voter, block.number).nodeIds;
    }

    function getNodeIdsOfAt(
        address voter,
        uint256 blockNumber
    ) external view returns (bytes20[] memory) {
        return _at(voter, blockNumber).nodeIds;
    }

    function getPublicKeyOf(address voter) external view returns (bytes32, bytes32) {
        return getPublicKeyOfAt(voter, block.number);
    }

    function getPublicKeyOfAt(
        address voter,
        uint256 blockNumber
    ) public view returns (bytes32, bytes32) {
        Entity memory entity = _at(voter, blockNumber);
        return (entity.publicKeyPart1, entity.publicKeyPart2);
    }

    /// @return The address itself when no voter had it at that block.
    function getVoterForSubmitAddress(
        address account,
        uint256 blockNumber
    ) external view returns (address) {
        address voter = _voters[account];
        return _at(voter, blockNumber).addresses.submitAddress == account ? voter : account;
    }

    function getVoterForSubmitSignaturesAddress(
        address account,
        uint256 blockNumber
    ) external view returns (address) {
        address voter = _voters[account];
        VoterAddresses memory addresses = _at(voter, blockNumber).addresses;
        return addresses.submitSignaturesAddress == account ? voter : account;
    }

    function getVoterForSigningPolicyAddress(
        address account,
        uint256 blockNumber
    ) external view returns (address) {
        address voter = _voters[account];
        return _at(voter, blockNumber).addresses.signingPolicyAddress == account ? voter : account;
    }

    function getVoterForDelegationAddress(
        address account,
        uint256 blockNumber
    ) external view returns (address) {
        address voter = _voters[account];
        return _at(voter, blockNumber).delegationAddress == account ? voter : account;
    }

    /// @return The zero address when no voter had it at that block.
    function getVoterForNodeId(
        bytes20 nodeId,
        uint256 blockNumber
    ) external view returns (address) {
        address voter = _nodes[nodeId];
        return _has(_at(voter, blockNumber).nodeIds, nodeId) ? voter : address(0);
    }

    // Inside.

    /// @dev An address that is not set is the voter's own.
    function _at(address voter, uint256 blockNumber) private view returns (Entity memory entity) {
        Version[] storage versions = _versions[voter];
        for (uint256 i = versions.length; i > 0; i--) {
            if (versions[i - 1].fromBlock <= blockNumber) return versions[i - 1].entity;
        }
        entity.addresses = VoterAddresses(voter, voter, voter);
        entity.delegationAddress = voter;
    }

    function _has(bytes20[] memory nodeIds, bytes20 nodeId) private pure returns (bool) {
        for (uint256 i = 0; i < nodeIds.length; i++) if (nodeIds[i] == nodeId) return true;
        return false;
    }
}
