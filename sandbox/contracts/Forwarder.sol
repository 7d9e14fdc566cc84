// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Calls other contracts for every account
/// @notice Stands in for smart accounts and batches: the sender of a transaction is not its actor.
contract Forwarder {
    function forward(address target, bytes calldata data) external {
        (bool isDone, bytes memory answer) = target.call(data);
        if (!isDone) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
    }
}
