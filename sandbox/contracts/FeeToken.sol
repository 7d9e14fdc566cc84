// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @title A token that keeps one hundredth of every transfer as a fee
contract FeeToken is Token {
    constructor(bytes32 symbol_, uint8 decimals_) Token(symbol_, decimals_) {}

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) external override returns (bool) {
        _spend(from, value);
        _move(from, to, value);
        _burn(to, value / 100);
        return true;
    }
}
