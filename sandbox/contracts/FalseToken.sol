// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @title A token of the old kind that returns false instead of failing
contract FalseToken is Token {
    constructor(bytes32 symbol_, uint8 decimals_) Token(symbol_, decimals_) {}

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) external override returns (bool) {
        if (balanceOf[from] < value || allowance[from][msg.sender] < value) return false;
        _spend(from, value);
        _move(from, to, value);
        return true;
    }
}
