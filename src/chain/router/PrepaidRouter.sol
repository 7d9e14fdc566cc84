// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev The two functions of a token that a payment needs. See ERC-20.
interface IToken {
    function balanceOf(address account) external view returns (uint256);

    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

/// @title Prepaid router
/// @notice Takes payments for top-ups. A payment names its top-up by a handle; the token goes straight
/// from the payer to the treasury, and an event records the payment. No funds stay in the contract: it
/// holds no token, and accepts the chain's coin only to forward it in the same transaction.
contract PrepaidRouter {
    /// @notice Version of the contract. Version 2 has `payNative`; earlier routers lack both functions.
    uint256 public constant version = 2;

    /// @notice Receiver of every payment. Immutable: another treasury needs another router.
    address public immutable treasury;

    /// @notice Account that sets the accepted tokens and pauses the router.
    address public owner;

    /// @notice Account that may accept the ownership; the zero address without an offer.
    address public pendingOwner;

    /// @notice Whether payments are paused.
    bool public paused;

    /// @notice Whether payments in a token are accepted.
    mapping(address token => bool) public allowed;

    bool private _paying;

    /// @notice `amount` of `token` went from `payer` to the treasury for the top-up `handle`. The zero
    /// address stands for the chain's coin.
    event Paid(
        bytes32 indexed handle,
        address indexed payer,
        address indexed token,
        uint256 amount
    );

    /// @notice Payments in `token` are accepted from now on (`on`), or refused.
    event AllowedSet(address indexed token, bool on);

    /// @notice Payments are paused (`on`), or accepted again.
    event PausedSet(bool on);

    /// @notice `pendingOwner` may accept the ownership; the zero address withdraws an offer.
    event OwnershipTransferStarted(address indexed owner, address indexed pendingOwner);

    /// @notice The ownership has changed.
    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    /// @notice The caller is not the owner.
    error NotOwner();

    /// @notice The caller is not the account that the ownership was offered to.
    error NotPendingOwner();

    /// @notice The zero address cannot be an owner or a treasury.
    error ZeroAddress();

    /// @notice There is no contract at `account`, so it cannot be a token.
    error NoContract(address account);

    /// @notice Payments are paused.
    error IsPaused();

    /// @notice Payments in `token` are not accepted.
    error TokenNotAllowed(address token);

    /// @notice The amount of the payment is zero.
    error ZeroAmount();

    /// @notice `token` did not make the transfer and gave no reason.
    error TransferFailed(address token);

    /// @notice The treasury received another amount than the payment's, as with a fee on transfers.
    error WrongAmountReceived(uint256 expected, uint256 received);

    /// @notice The treasury did not accept the coins.
    error ForwardingFailed();

    /// @notice A token or the treasury called back during a payment.
    error Reentered();

    modifier onlyOwner() {
        if (msg.sender != owner) revert NotOwner();
        _;
    }

    /// @param owner_ first owner of the router
    /// @param treasury_ receiver of every payment
    constructor(address owner_, address treasury_) {
        if (owner_ == address(0) || treasury_ == address(0)) revert ZeroAddress();
        owner = owner_;
        treasury = treasury_;
        emit OwnershipTransferred(address(0), owner_);
    }

    /// @notice Pays `amount` of `token` for the top-up `handle`. The caller must have approved this
    /// contract for that amount before. Exactly that amount arrives at the treasury, or nothing happens.
    /// @param handle the 32 bytes that name the top-up
    /// @param token an accepted ERC-20 token
    /// @param amount in the token's smallest unit, above zero
    function pay(bytes32 handle, address token, uint256 amount) external {
        if (_paying) revert Reentered();
        if (paused) revert IsPaused();
        if (!allowed[token]) revert TokenNotAllowed(token);
        if (amount == 0) revert ZeroAmount();

        _paying = true;
        uint256 balanceBefore = IToken(token).balanceOf(treasury);
        _transferFrom(token, msg.sender, amount);
        uint256 balanceAfter = IToken(token).balanceOf(treasury);
        uint256 received = balanceAfter > balanceBefore ? balanceAfter - balanceBefore : 0;
        if (received != amount) revert WrongAmountReceived(amount, received);
        _paying = false;

        emit Paid(handle, msg.sender, token, amount);
    }

    /// @notice Pays the coins of the call for the top-up `handle`. For contract wallets: their plain
    /// transfers leave no event and name no top-up.
    /// @param handle the 32 bytes that name the top-up
    function payNative(bytes32 handle) external payable {
        if (_paying) revert Reentered();
        if (paused) revert IsPaused();
        if (msg.value == 0) revert ZeroAmount();

        _paying = true;
        (bool done, ) = treasury.call{value: msg.value}("");
        if (!done) revert ForwardingFailed();
        _paying = false;

        emit Paid(handle, msg.sender, address(0), msg.value);
    }

    /// @notice Sets whether payments in `token` are accepted.
    function setAllowed(address token, bool on) external onlyOwner {
        if (on && token.code.length == 0) revert NoContract(token);
        allowed[token] = on;
        emit AllowedSet(token, on);
    }

    /// @notice Pauses payments, or accepts them again.
    function setPaused(bool on) external onlyOwner {
        paused = on;
        emit PausedSet(on);
    }

    /// @notice Offers the ownership to `newOwner`, who becomes the owner by accepting it. A later offer
    /// replaces it; offering to the zero address withdraws it.
    function transferOwnership(address newOwner) external onlyOwner {
        pendingOwner = newOwner;
        emit OwnershipTransferStarted(msg.sender, newOwner);
    }

    /// @notice Accepts the ownership that was offered to the caller.
    function acceptOwnership() external {
        if (msg.sender != pendingOwner) revert NotPendingOwner();
        address previousOwner = owner;
        owner = msg.sender;
        pendingOwner = address(0);
        emit OwnershipTransferred(previousOwner, msg.sender);
    }

    /// @dev Some tokens return nothing; others return false instead of failing. The reason
    /// of a token that fails with one is passed on unchanged.
    function _transferFrom(address token, address from, uint256 amount) private {
        (bool done, bytes memory answer) = token.call(
            abi.encodeCall(IToken.transferFrom, (from, treasury, amount))
        );
        if (!done && answer.length > 0) {
            assembly ("memory-safe") {
                revert(add(answer, 32), mload(answer))
            }
        }
        bool saysYes = answer.length == 0 ||
            (answer.length >= 32 && abi.decode(answer, (uint256)) == 1);
        if (!done || !saysYes) revert TransferFailed(token);
    }
}
