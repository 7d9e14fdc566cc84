// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the PChainStakeMirror
/// @notice Every account may set what an owner has staked to validators on the P-chain.
contract StakeMirror {
    mapping(address owner => bytes20[]) private _nodeIds;
    mapping(address owner => uint256[]) private _amounts;

    function set(
        address owner,
        bytes20[] calldata nodeIds,
        uint256[] calldata amounts
    ) external {
        require(nodeIds.length == amounts.length, "an amount for each node");
        (_nodeIds[owner], _amounts[owner]) = (nodeIds, amounts);
    }

    function stakesOf(
        address owner
    ) external view returns (bytes20[] memory nodeIds, uint256[] memory amounts) {
        return (_nodeIds[owner], _amounts[owner]);
    }
}
