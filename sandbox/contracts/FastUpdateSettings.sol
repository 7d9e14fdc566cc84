// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for FastUpdatesConfiguration and FastUpdateIncentiveManager
/// @notice The feeds that are updated between rounds, and the expected updates per block; every account may set them.
contract FastUpdateSettings {
    event IncentiveOffered(
        uint24 indexed rewardEpochId,
        uint256 rangeIncrease,
        uint256 sampleSizeIncrease,
        uint256 offerAmount
    );

    /// @notice In units of 2^-120: one and a half updates per block.
    uint256 public getExpectedSampleSize;
    bytes21[] private _feedIds;

    function setFeedIds(bytes21[] calldata ids) external {
        _feedIds = ids;
    }

    function setExpectedSampleSize(uint256 size) external {
        getExpectedSampleSize = size;
    }

    function offerIncentive(uint24 epoch, uint256 sampleSizeIncrease) external payable {
        getExpectedSampleSize += sampleSizeIncrease;
        emit IncentiveOffered(epoch, 0, sampleSizeIncrease, msg.value);
    }

    function getFeedIds() external view returns (bytes21[] memory) {
        return _feedIds;
    }
}
