// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @title The chain's coin as a token
/// @notice Stands in for WFLR: one token for each deposited coin, and back. On a local chain tokens can also be
/// minted without a deposit; these cannot be withdrawn.
contract WrappedCoin is Token {
    error WithdrawalFailed();

    /// @dev Modes of delegation: none yet, by shares, by amounts.
    uint256 private constant _BY_SHARE = 1;
    uint256 private constant _BY_AMOUNT = 2;

    mapping(address owner => address[]) private _delegates;
    mapping(address owner => uint256[]) private _bips;
    mapping(address owner => uint256) private _modes;

    constructor(bytes32 symbol_) Token(symbol_, 18) {}

    receive() external payable {
        _mint(msg.sender, msg.value);
    }

    function deposit() external payable {
        _mint(msg.sender, msg.value);
    }

    /// @notice Delegates a share of the vote power, in hundredths of a percent, to one more account.
    function delegate(address to, uint256 bips) external {
        require(_modes[msg.sender] != _BY_AMOUNT, "delegates by amounts");
        _modes[msg.sender] = _BY_SHARE;
        _delegates[msg.sender].push(to);
        _bips[msg.sender].push(bips);
    }

    /// @notice Delegates an amount, which is not recorded here.
    function delegateExplicit(address, uint256) external {
        require(_modes[msg.sender] != _BY_SHARE, "delegates by shares");
        _modes[msg.sender] = _BY_AMOUNT;
    }

    function delegationModeOf(address owner) external view returns (uint256) {
        return _modes[owner];
    }

    function delegatesOf(
        address owner
    )
        external
        view
        returns (address[] memory delegates, uint256[] memory bips, uint256 count, uint256 mode)
    {
        require(_modes[owner] != _BY_AMOUNT, "delegates by amounts");
        (delegates, bips) = (_delegates[owner], _bips[owner]);
        return (delegates, bips, delegates.length, _modes[owner]);
    }

    function withdraw(uint256 value) external {
        _burn(msg.sender, value);
        (bool done, ) = msg.sender.call{value: value}("");
        if (!done) revert WithdrawalFailed();
    }
}
