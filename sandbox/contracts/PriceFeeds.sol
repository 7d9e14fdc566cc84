// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for FtsoV2
/// @notice Answers as the real one does; every account may set the price of a feed.
contract PriceFeeds {
    struct Feed {
        uint256 value;
        int8 decimals;
        /// Zero: always the present.
        uint64 timestamp;
        bool isKnown;
    }

    struct FeedIdChange {
        bytes21 oldFeedId;
        bytes21 newFeedId;
    }

    /// @notice Fee for reading one feed.
    uint256 public feePerFeed;

    bytes21[] private _ids;
    FeedIdChange[] private _changes;
    mapping(bytes21 id => Feed) private _feeds;

    /// @notice Sets the price of a feed and its time; with a timestamp of zero it is always fresh.
    function set(bytes21 id, uint256 value, int8 decimals, uint64 timestamp) external {
        if (!_feeds[id].isKnown) _ids.push(id);
        _feeds[id] = Feed(value, decimals, timestamp, true);
    }

    /// @notice Renames a feed; its old id stays valid where a single feed is read.
    function rename(bytes21 oldFeedId, bytes21 newFeedId) external {
        _feeds[newFeedId] = _feeds[oldFeedId];
        _changes.push(FeedIdChange(oldFeedId, newFeedId));
        for (uint256 i = 0; i < _ids.length; i++) {
            if (_ids[i] == oldFeedId) _ids[i] = newFeedId;
        }
    }

    function setFeePerFeed(uint256 fee) external {
        feePerFeed = fee;
    }

    function getFeedById(bytes21 id) external payable returns (uint256, int8, uint64) {
        _charge(1);
        Feed memory feed = _read(id);
        return (feed.value, feed.decimals, feed.timestamp);
    }

    /// @return values one per feed
    /// @return decimals one per feed
    /// @return timestamp of the feed that is the oldest
    function getFeedsById(
        bytes21[] calldata ids
    )
        external
        payable
        returns (uint256[] memory values, int8[] memory decimals, uint64 timestamp)
    {
        _charge(ids.length);
        values = new uint256[](ids.length);
        decimals = new int8[](ids.length);
        timestamp = uint64(block.timestamp);
        for (uint256 i = 0; i < ids.length; i++) {
            Feed memory feed = _read(ids[i]);
            values[i] = feed.value;
            decimals[i] = feed.decimals;
            if (feed.timestamp < timestamp) timestamp = feed.timestamp;
        }
    }

    function getFeedByIdInWei(bytes21 id) external payable returns (uint256, uint64) {
        _charge(1);
        Feed memory feed = _read(id);
        return (_inWei(feed), feed.timestamp);
    }

    function getFeedsByIdInWei(
        bytes21[] calldata ids
    ) external payable returns (uint256[] memory values, uint64 timestamp) {
        _charge(ids.length);
        values = new uint256[](ids.length);
        timestamp = uint64(block.timestamp);
        for (uint256 i = 0; i < ids.length; i++) {
            Feed memory feed = _read(ids[i]);
            values[i] = _inWei(feed);
            if (feed.timestamp < timestamp) timestamp = feed.timestamp;
        }
    }

    function calculateFeeByIds(bytes21[] calldata ids) external view returns (uint256) {
        return feePerFeed * ids.length;
    }

    function getSupportedFeedIds() external view returns (bytes21[] memory) {
        return _ids;
    }

    function getFeedIdChanges() external view returns (FeedIdChange[] memory) {
        return _changes;
    }

    function _charge(uint256 feeds) private {
        require(msg.value >= feePerFeed * feeds, "too low fee");
    }

    function _read(bytes21 id) private view returns (Feed memory feed) {
        feed = _feeds[_current(id)];
        require(feed.isKnown, "feed does not exist");
        if (feed.timestamp == 0) feed.timestamp = uint64(block.timestamp);
    }

    function _current(bytes21 id) private view returns (bytes21) {
        for (uint256 i = 0; i < _changes.length; i++) {
            if (_changes[i].oldFeedId == id) id = _changes[i].newFeedId;
        }
        return id;
    }

    function _inWei(Feed memory feed) private pure returns (uint256) {
        int256 exponent = 18 - int256(feed.decimals);
        return
            exponent < 0
                ? feed.value / 10 ** uint256(-exponent)
                : feed.value * 10 ** uint256(exponent);
    }
}
