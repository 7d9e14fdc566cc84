// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the FlareContractRegistry
/// @notice Answers as the real one does; every account may set a contract.
contract ContractRegistry {
    string[] private _names;
    mapping(bytes32 nameHash => address) private _addresses;

    /// @notice Sets the contract of a name.
    function set(string calldata name, address contractAddress) external {
        _set(name, contractAddress);
    }

    /// @notice Sets the contracts of several names.
    function setAll(string[] calldata names, address[] calldata addresses) external {
        for (uint256 i = 0; i < names.length; i++) _set(names[i], addresses[i]);
    }

    /// @return The zero address for an unknown name.
    function getContractAddressByName(string calldata name) external view returns (address) {
        return _addresses[_hash(name)];
    }

    function getContractAddressesByName(
        string[] calldata names
    ) external view returns (address[] memory addresses) {
        addresses = new address[](names.length);
        for (uint256 i = 0; i < names.length; i++) addresses[i] = _addresses[_hash(names[i])];
    }

    /// @param nameHash keccak256 of the ABI encoding of the name
    function getContractAddressByHash(bytes32 nameHash) external view returns (address) {
        return _addresses[nameHash];
    }

    function getContractAddressesByHash(
        bytes32[] calldata nameHashes
    ) external view returns (address[] memory addresses) {
        addresses = new address[](nameHashes.length);
        for (uint256 i = 0; i < nameHashes.length; i++) addresses[i] = _addresses[nameHashes[i]];
    }

    function getAllContracts()
        external
        view
        returns (string[] memory names, address[] memory addresses)
    {
        names = _names;
        addresses = new address[](names.length);
        for (uint256 i = 0; i < names.length; i++) addresses[i] = _addresses[_hash(names[i])];
    }

    function _set(string calldata name, address contractAddress) private {
        bytes32 nameHash = _hash(name);
        if (_addresses[nameHash] == address(0)) _names.push(name);
        _addresses[nameHash] = contractAddress;
    }

    function _hash(string memory name) private pure returns (bytes32) {
        return keccak256(abi.encode(name));
    }
}
