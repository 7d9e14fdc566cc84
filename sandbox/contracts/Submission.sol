// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the Submission contract
/// @notice Does not check call data, like the real one; unlike it, it refunds no gas.
contract Submission {
    event NewVotingRoundInitiated();

    address public submitAndPassContract;
    bytes4 public submitAndPassSelector;

    function setSubmitAndPassData(address target, bytes4 selector) external {
        submitAndPassContract = target;
        submitAndPassSelector = selector;
    }

    function initiateNewVotingRound() external {
        emit NewVotingRoundInitiated();
    }

    function submit1() external pure returns (bool) {
        return true;
    }

    function submit2() external pure returns (bool) {
        return true;
    }

    function submit3() external pure returns (bool) {
        return true;
    }

    function submitSignatures() external pure returns (bool) {
        return true;
    }

    function submitAndPass(bytes calldata data) external returns (bool) {
        (bool isDone, bytes memory answer) = submitAndPassContract.call(
            bytes.concat(submitAndPassSelector, data)
        );
        if (!isDone) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return true;
    }
}
