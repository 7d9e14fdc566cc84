// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A plain ERC-20 token that every account can mint
/// @notice For local chains only. Its constants are part of its code, so it works at every address that
/// gets the code.
contract Token {
    bytes32 private immutable _symbol;
    uint8 public immutable decimals;

    uint256 public totalSupply;
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed);

    /// @param symbol_ ASCII, filled up with zeros
    constructor(bytes32 symbol_, uint8 decimals_) {
        _symbol = symbol_;
        decimals = decimals_;
    }

    function symbol() public view returns (string memory) {
        uint256 length = 0;
        while (length < 32 && _symbol[length] != 0) length++;
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; i++) text[i] = _symbol[i];
        return string(text);
    }

    function name() external view returns (string memory) {
        return symbol();
    }

    /// @notice Mints `value` for an account.
    function mint(address to, uint256 value) external {
        _mint(to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        _move(msg.sender, to, value);
        return true;
    }

    function transferFrom(
        address from,
        address to,
        uint256 value
    ) external virtual returns (bool) {
        _spend(from, value);
        _move(from, to, value);
        return true;
    }

    function _mint(address to, uint256 value) internal {
        totalSupply += value;
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function _burn(address from, uint256 value) internal {
        _take(from, value);
        totalSupply -= value;
        emit Transfer(from, address(0), value);
    }

    function _spend(address from, uint256 value) internal {
        uint256 left = allowance[from][msg.sender];
        if (left < value) revert ERC20InsufficientAllowance(msg.sender, left, value);
        if (left != type(uint256).max) allowance[from][msg.sender] = left - value;
    }

    function _move(address from, address to, uint256 value) internal {
        _take(from, value);
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }

    function _take(address from, uint256 value) private {
        uint256 balance = balanceOf[from];
        if (balance < value) revert ERC20InsufficientBalance(from, balance, value);
        balanceOf[from] = balance - value;
    }
}
