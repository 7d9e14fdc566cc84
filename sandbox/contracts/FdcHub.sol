// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title Stands in for the FdcHub
/// @notice Accepts every request for every fee.
contract FdcHub {
    event AttestationRequest(bytes data, uint256 fee);

    uint8 public requestsOffsetSeconds;

    function requestAttestation(bytes calldata data) external payable {
        emit AttestationRequest(data, msg.value);
    }
}
