// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IRewardsHashes {
    function rewardsHash(uint256 epoch) external view returns (bytes32);
}

/// @title Stands in for the RewardManager
/// @notice Records claims; every account may set the rewards, and no coins move.
contract RewardManager {
    struct RewardClaim {
        uint24 rewardEpochId;
        bytes20 beneficiary;
        uint120 amount;
        uint8 claimType;
    }

    struct RewardClaimWithProof {
        bytes32[] merkleProof;
        RewardClaim body;
    }

    struct UnclaimedRewardState {
        bool initialised;
        uint120 amount;
        uint128 weight;
    }

    struct RewardState {
        uint24 rewardEpochId;
        bytes20 beneficiary;
        uint120 amount;
        uint8 claimType;
        bool initialised;
    }

    event RewardClaimed(
        address indexed beneficiary,
        address indexed rewardOwner,
        address indexed recipient,
        uint24 rewardEpochId,
        uint8 claimType,
        uint120 amount
    );

    IRewardsHashes private constant _MANAGER =
        IRewardsHashes(0x89e50DC0380e597ecE79c8494bAAFD84537AD0D4);

    uint24 private _start;
    uint24 private _end;
    mapping(address owner => RewardState[]) private _rewards;
    mapping(address owner => uint256) private _next;

    /// @notice Sets the epochs whose rewards can be claimed.
    function setRange(uint24 start, uint24 end) external {
        (_start, _end) = (start, end);
    }

    function addReward(address owner, RewardState calldata reward) external {
        _rewards[owner].push(reward);
    }

    /// @notice Claims proven rewards. There are no rewards by weight here.
    /// @return amount what was left of them
    function claim(
        address owner,
        address payable recipient,
        uint24 epoch,
        bool,
        RewardClaimWithProof[] calldata proofs
    ) external returns (uint256 amount) {
        require(msg.sender == owner, "only owner");
        for (uint256 i = 0; i < proofs.length; i++) {
            RewardClaim calldata body = proofs[i].body;
            require(body.rewardEpochId <= epoch, "epoch not claimed");
            require(address(body.beneficiary) == owner, "wrong beneficiary");
            bytes32 hash = keccak256(abi.encode(body));
            for (uint256 p = 0; p < proofs[i].merkleProof.length; p++) {
                bytes32 other = proofs[i].merkleProof[p];
                hash = hash < other
                    ? keccak256(abi.encode(hash, other))
                    : keccak256(abi.encode(other, hash));
            }
            require(hash == _MANAGER.rewardsHash(body.rewardEpochId), "merkle proof invalid");
            amount += _claim(owner, recipient, body.rewardEpochId, body.claimType);
        }
    }

    /// @notice Claims everything of an epoch and type.
    function claim(address owner, address recipient, uint24 epoch, uint8 claimType) external {
        _claim(owner, recipient, epoch, claimType);
    }

    function _claim(
        address owner,
        address recipient,
        uint24 epoch,
        uint8 claimType
    ) private returns (uint256 amount) {
        RewardState[] storage rewards = _rewards[owner];
        for (uint256 i = rewards.length; i > 0; i--) {
            RewardState memory one = rewards[i - 1];
            if (one.rewardEpochId != epoch || one.claimType != claimType) continue;
            rewards[i - 1] = rewards[rewards.length - 1];
            rewards.pop();
            if (_next[owner] <= epoch) _next[owner] = epoch + 1;
            amount += one.amount;
            emit RewardClaimed(
                address(one.beneficiary),
                owner,
                recipient,
                epoch,
                claimType,
                one.amount
            );
        }
    }

    function getRewardEpochIdsWithClaimableRewards() external view returns (uint24, uint24) {
        require(_end != 0, "no epoch with claimable rewards");
        return (_start, _end);
    }

    function getNextClaimableRewardEpochId(address owner) external view returns (uint256) {
        return _next[owner] < _start ? _start : _next[owner];
    }

    function getUnclaimedRewardState(
        address beneficiary,
        uint24 epoch,
        uint8 claimType
    ) external view returns (UnclaimedRewardState memory state) {
        RewardState[] storage rewards = _rewards[beneficiary];
        for (uint256 i = 0; i < rewards.length; i++) {
            RewardState memory one = rewards[i];
            if (one.rewardEpochId != epoch || one.claimType != claimType || !one.initialised) {
                continue;
            }
            return UnclaimedRewardState(true, one.amount, 0);
        }
    }

    /// @return states the initialised rewards, one list for each epoch
    function getStateOfRewards(
        address owner
    ) external view returns (RewardState[][] memory states) {
        RewardState[] storage rewards = _rewards[owner];
        uint256 epochs = _end == 0 ? 0 : _end - _start + 1;
        states = new RewardState[][](epochs);
        for (uint256 e = 0; e < epochs; e++) {
            uint256 count;
            for (uint256 i = 0; i < rewards.length; i++) {
                if (rewards[i].rewardEpochId == _start + e && rewards[i].initialised) count++;
            }
            states[e] = new RewardState[](count);
            for (uint256 i = 0; i < rewards.length; i++) {
                if (rewards[i].rewardEpochId != _start + e || !rewards[i].initialised) continue;
                states[e][--count] = rewards[i];
            }
        }
    }
}
