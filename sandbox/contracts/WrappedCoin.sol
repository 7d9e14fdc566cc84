// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @title The chain's coin as a token
/// @notice Stands in for WFLR: one token for each deposited coin, and back. On a local chain tokens can also be
/// minted without a deposit; these cannot be withdrawn.
contract WrappedCoin is Token {
    error WithdrawalFailed();

    constructor(bytes32 symbol_) Token(symbol_, 18) {}

    receive() external payable {
        _mint(msg.sender, msg.value);
    }

    function deposit() external payable {
        _mint(msg.sender, msg.value);
    }

    function withdraw(uint256 value) external {
        _burn(msg.sender, value);
        (bool done, ) = msg.sender.call{value: value}("");
        if (!done) revert WithdrawalFailed();
    }
}
