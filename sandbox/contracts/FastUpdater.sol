// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface ISortitionManager {
    function getCurrentRewardEpochId() external view returns (uint24);
    function getCurrentVotingEpochId() external view returns (uint32);
    function registryOf(uint256 epoch) external view returns (address);
}

interface ISortitionRegistry {
    function getPublicKeyAndNormalisedWeight(
        uint256 epoch,
        address signingPolicyAddress
    ) external view returns (bytes32, bytes32, uint16, uint16);
}

/// @title Stands in for the FastUpdater
/// @notice Recovers the sender from the signature, as the real one does; the proof of having been drawn is not
/// checked, and prices stay as they are.
contract FastUpdater {
    struct G1Point {
        uint256 x;
        uint256 y;
    }

    struct SortitionCredential {
        uint256 replicate;
        G1Point gamma;
        uint256 c;
        uint256 s;
    }

    struct Signature {
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    struct FastUpdates {
        uint256 sortitionBlock;
        SortitionCredential sortitionCredential;
        bytes deltas;
        Signature signature;
    }

    event FastUpdateFeedsSubmitted(
        uint32 indexed votingRoundId,
        address indexed signingPolicyAddress
    );
    event FastUpdateFeeds(uint256 indexed votingEpochId, uint256[] feeds, int8[] decimals);

    struct BlockOfUpdates {
        uint256 number;
        bytes32[] updates;
    }

    uint256 private constant VIRTUAL_PROVIDERS = 4096;
    /// @dev The real one keeps eight feeds in a word, and accepts updates for as many as its words have places for.
    uint256 private constant FEEDS_PER_WORD = 8;
    uint256 private constant FEEDS_PER_BYTE = 4;
    /// @dev Older blocks are deleted, so that the state of a long-running chain does not grow.
    uint256 private constant KEPT_BLOCKS = 256;

    uint8 public submissionWindow;
    uint256 private _words;
    ISortitionManager private _manager;
    mapping(uint256 place => BlockOfUpdates) private _blocks;

    function setUp(address manager, uint8 window, uint256 feeds) external {
        _manager = ISortitionManager(manager);
        submissionWindow = window;
        _words = (feeds + FEEDS_PER_WORD - 1) / FEEDS_PER_WORD;
    }

    /// @notice Emits the prices of the feeds at the end of a voting round.
    function tellFeeds(
        uint256 round,
        uint256[] calldata feeds,
        int8[] calldata decimals
    ) external {
        emit FastUpdateFeeds(round, feeds, decimals);
    }

    function submitUpdates(FastUpdates calldata updates) external {
        require(
            block.number < updates.sortitionBlock + submissionWindow,
            "Updates no longer accepted for the given block"
        );
        require(
            block.number >= updates.sortitionBlock,
            "Updates not yet available for the given block"
        );
        require(
            updates.deltas.length * FEEDS_PER_BYTE <= _words * FEEDS_PER_WORD,
            "More updates than available feeds"
        );
        bytes32 message = sha256(
            abi.encode(updates.sortitionBlock, updates.sortitionCredential, updates.deltas)
        );
        bytes32 digest = keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", message));
        Signature calldata given = updates.signature;
        address signer = ecrecover(digest, given.v, given.r, given.s);
        currentSortitionWeight(signer);
        bytes32 update = keccak256(
            abi.encode(signer, updates.sortitionBlock, updates.sortitionCredential.replicate)
        );
        keep(update, updates.sortitionBlock);
        emit FastUpdateFeedsSubmitted(_manager.getCurrentVotingEpochId(), signer);
    }

    function currentRewardEpochId() public view returns (uint24) {
        return _manager.getCurrentRewardEpochId();
    }

    function currentSortitionWeight(address signer) public view returns (uint256) {
        uint24 epoch = currentRewardEpochId();
        (bytes32 x, bytes32 y, uint16 weight, uint16 sum) = ISortitionRegistry(
            _manager.registryOf(epoch)
        ).getPublicKeyAndNormalisedWeight(epoch, signer);
        require(x != 0 || y != 0, "Public key not registered");
        return (uint256(weight) * VIRTUAL_PROVIDERS + sum - 1) / sum;
    }

    /// @param history at most the blocks that are kept
    function numberOfUpdates(uint256 history) external view returns (uint256[] memory numbers) {
        require(history <= KEPT_BLOCKS, "History size too big");
        numbers = new uint256[](history);
        for (uint256 i = 0; i < history && i <= block.number; i++) {
            BlockOfUpdates storage found = _blocks[(block.number - i) % KEPT_BLOCKS];
            numbers[i] = found.number == block.number - i ? found.updates.length : 0;
        }
    }

    /// @dev An update is accepted at most once, within the window that begins with its block.
    function keep(bytes32 update, uint256 sortitionBlock) private {
        for (uint256 number = sortitionBlock; number <= block.number; number++) {
            BlockOfUpdates storage found = _blocks[number % KEPT_BLOCKS];
            if (found.number != number) continue;
            for (uint256 i = 0; i < found.updates.length; i++) {
                require(found.updates[i] != update, "submission already provided");
            }
        }
        BlockOfUpdates storage current = _blocks[block.number % KEPT_BLOCKS];
        if (current.number != block.number) {
            current.number = block.number;
            delete current.updates;
        }
        current.updates.push(update);
    }
}
