// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title A token of the old kind whose functions return nothing, and which fails without a reason
contract SilentToken {
    mapping(address account => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    function symbol() external pure returns (string memory) {
        return "SILENT";
    }

    function decimals() external pure returns (uint8) {
        return 6;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function approve(address spender, uint256 value) external {
        allowance[msg.sender][spender] = value;
    }

    function transferFrom(address from, address to, uint256 value) external {
        if (balanceOf[from] < value || allowance[from][msg.sender] < value) revert();
        allowance[from][msg.sender] -= value;
        balanceOf[from] -= value;
        balanceOf[to] += value;
    }
}
