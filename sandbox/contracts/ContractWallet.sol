// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for a contract wallet
/// @notice Makes calls as a Safe or a smart account does; every account may request them. It
/// also stands in for a treasury that refuses coins, or that calls back when it receives some.
contract ContractWallet {
    address private _answerTo;
    bytes private _answer;
    bool private _refuses;

    error Refused();

    receive() external payable {
        if (_refuses) revert Refused();
        if (_answerTo != address(0)) _call(_answerTo, msg.value, _answer);
    }

    /// @notice Calls `to` with the coins of the call.
    function execute(address to, bytes calldata data) external payable {
        _call(to, msg.value, data);
    }

    /// @notice Refuses coins from now on, or accepts them again.
    function setRefuses(bool on) external {
        _refuses = on;
    }

    /// @notice Passes coins that arrive on to `to`, by this call.
    function setAnswer(address to, bytes calldata data) external {
        _answerTo = to;
        _answer = data;
    }

    function _call(address to, uint256 value, bytes memory data) private {
        (bool done, bytes memory answer) = to.call{value: value}(data);
        if (done) return;
        assembly ("memory-safe") {
            revert(add(answer, 32), mload(answer))
        }
    }
}
