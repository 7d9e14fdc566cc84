// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Token} from "./Token.sol";

/// @dev What a contract wallet answers about a signature (ERC-1271).
interface ISigner {
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4);
}

/// @title A token whose transfers can be authorized by a signature (EIP-3009)
/// @notice Stands in for USD₮0. It works at every address that gets its code, because its EIP-712 domain has the address
/// at which it runs.
contract AuthorizedToken is Token {
    bytes32 private constant _DOMAIN_TYPE =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant _TRANSFER_TYPE =
        keccak256(
            "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );

    mapping(address authorizer => mapping(bytes32 nonce => bool)) public authorizationState;

    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    error AuthorizationNotYetValid();
    error AuthorizationExpired();
    error AuthorizationUsedOrCanceled();
    error InvalidSignature();

    constructor(bytes32 symbol_, uint8 decimals_) Token(symbol_, decimals_) {}

    function version() public pure returns (string memory) {
        return "1";
    }

    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return
            keccak256(
                abi.encode(
                    _DOMAIN_TYPE,
                    keccak256(bytes(symbol())),
                    keccak256(bytes(version())),
                    block.chainid,
                    address(this)
                )
            );
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        transferWithAuthorization(
            from,
            to,
            value,
            validAfter,
            validBefore,
            nonce,
            abi.encodePacked(r, s, v)
        );
    }

    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes memory signature
    ) public {
        if (block.timestamp <= validAfter) revert AuthorizationNotYetValid();
        if (block.timestamp >= validBefore) revert AuthorizationExpired();
        if (authorizationState[from][nonce]) revert AuthorizationUsedOrCanceled();
        bytes32 content = keccak256(
            abi.encode(_TRANSFER_TYPE, from, to, value, validAfter, validBefore, nonce)
        );
        _requireSigned(
            from,
            keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR(), content)),
            signature
        );
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        _move(from, to, value);
    }

    /// @notice Ends an authorization of the caller. The real token takes a signature for it.
    function cancel(bytes32 nonce) external {
        if (authorizationState[msg.sender][nonce]) revert AuthorizationUsedOrCanceled();
        authorizationState[msg.sender][nonce] = true;
        emit AuthorizationCanceled(msg.sender, nonce);
    }

    function _requireSigned(address from, bytes32 hash, bytes memory signature) private view {
        if (from.code.length > 0) {
            bytes4 answer = ISigner(from).isValidSignature(hash, signature);
            if (answer != ISigner.isValidSignature.selector) revert InvalidSignature();
            return;
        }
        if (signature.length != 65) revert InvalidSignature();
        bytes32 r;
        bytes32 s;
        uint8 v;
        assembly ("memory-safe") {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        address signer = ecrecover(hash, v, r, s);
        if (signer == address(0) || signer != from) revert InvalidSignature();
    }
}
