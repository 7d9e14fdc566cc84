// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the ValidatorRewardManager
contract ValidatorRewardManager {
    mapping(address owner => uint256) private _total;
    mapping(address owner => uint256) private _claimed;

    function set(address owner, uint256 total, uint256 claimed) external {
        (_total[owner], _claimed[owner]) = (total, claimed);
    }

    function getStateOfRewards(address owner) external view returns (uint256, uint256) {
        return (_total[owner], _claimed[owner]);
    }
}
