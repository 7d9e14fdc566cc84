// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @dev The one function of the payment router that the token calls.
interface IRouter {
    function pay(bytes32 handle, address token, uint256 amount) external;
}

/// @title A token that pays once more while it is being paid with
/// @notice The second payment covers the amount that it withholds from the transfer, so that the sums match.
contract CallingToken is Token {
    constructor(bytes32 symbol_, uint8 decimals_) Token(symbol_, decimals_) {}

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) external override returns (bool) {
        if (from == address(this)) {
            _move(from, to, value);
            return true;
        }
        uint256 withheld = value / 2;
        _move(from, to, value - withheld);
        _move(from, address(this), withheld);
        IRouter(msg.sender).pay(bytes32(uint256(1)), address(this), withheld);
        return true;
    }
}
