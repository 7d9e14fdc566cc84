import {
  encodeDeployData,
  encodeFunctionData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  type Hex,
  hashMessage,
  numberToHex,
  parseAbi,
  size,
} from 'viem'
import type { Address } from '#src/kernel/units.ts'
import type { WorkLimiter } from '#src/kernel/work-limiter.ts'
import { addressOfKey, messageDigest } from '../blocks/keccak.ts'
import type { Endpoints, RpcClient } from '../endpoints/endpoints.ts'
import {
  CallFailure,
  EndpointError,
  EndpointTimeout,
  isExecutionFailure,
  isRefusal,
  rpcErrorOf,
} from '../endpoints/failures.ts'
import { recoverKey, type SignedDigest } from './recover.ts'
import type { RecoveryPool } from './recovery-pool.ts'

/** A signature with its alleged signer and message. */
export interface SignedMessage {
  readonly address: Address
  readonly message: string
  /** Hexadecimal; any other text is an invalid signature. */
  readonly signature: string
}

/** A signature over a hash, with its alleged signer. */
export interface SignedHash {
  readonly address: Address
  readonly hash: Hex
  readonly signature: Hex
}

/** Maximum length of a signature in bytes; contract wallets with many owners have long signatures. */
const SIGNATURE_BYTES_MAX = 4096

/** Length of r, s and v of a plain account's signature. */
const PLAIN_SIGNATURE_BYTES = 65
/** The same, with v in the highest bit of s. @see EIP-2098 */
const COMPACT_SIGNATURE_BYTES = 64
/**
 * Recovery number for each value of v, the last byte of a signature: 27 and 28 as Ethereum has them, 0 and 1 as
 * some hardware wallets have them.
 */
const RECOVERY_OF_V: ReadonlyMap<number, number> = new Map([
  [0, 0],
  [1, 1],
  [27, 0],
  [28, 1],
])
/**
 * The last 32 bytes of a signature of a wallet that is not deployed yet.
 * @see ERC-6492
 */
const UNDEPLOYED_SUFFIX = '6492'.repeat(16)
const WALLET_ABI = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])
/** What a contract wallet returns, padded to 32 bytes, for a signature that it accepts. @see ERC-1271 */
const ACCEPTED = `0x1626ba7e${'00'.repeat(28)}`
/** Maximum time to verify a contract wallet's signature, over all endpoints. */
const VERIFY_LIMIT_MS = 5000
const VERIFY_GAS = 30_000_000

/** Dependencies of `verifyMessage`. */
export interface VerifySource {
  readonly endpoints: Endpoints
  readonly turns: WorkLimiter
  /** Recovers the keys of plain accounts in other threads; if omitted, in this thread. */
  readonly recovery?: Pick<RecoveryPool, 'recoverOne'> | undefined
}

/**
 * Whether `address` signed `message` (EIP-191).
 *
 * Plain accounts are verified locally; v may be 27 or 28, or 0 or 1 as some hardware wallets have it, or in the highest
 * bit of s (EIP-2098). Contract wallets get the bytes exactly as they are, of any length from none. They are
 * called through the RPC, a few at a time, whether they are deployed (ERC-1271) or not yet (ERC-6492).
 *
 * @throws AppError upstream `dependency_unavailable`; never for a plain account's valid signature
 */
export async function verifyMessage(
  { endpoints, turns, recovery }: VerifySource,
  { address, message, signature }: SignedMessage,
  signal?: AbortSignal,
): Promise<boolean> {
  if (!isSignatureText(signature)) return false
  const signed = signatureOfKey(message, signature)
  const key = signed && (recovery ? await recovery.recoverOne(signed) : recoverKey(signed))
  if (key !== undefined && isAddressOf(key, address)) return true
  return verifyContractSignature(
    { endpoints, turns },
    { address, hash: hashMessage(message), signature },
    signal,
  )
}

/**
 * Whether the contract wallet at `address` accepts the signature over `hash` now, deployed (ERC-1271) or not yet (ERC-6492).
 *
 * @throws AppError upstream `dependency_unavailable`
 */
export function verifyContractSignature(
  { endpoints, turns }: Pick<VerifySource, 'endpoints' | 'turns'>,
  { address, hash, signature }: SignedHash,
  signal?: AbortSignal,
): Promise<boolean> {
  return turns.take(() =>
    endpoints.ask(
      (client) => isContractSigner(client, address, hash, signature),
      signal,
      verifyLimitMs(endpoints.count),
    ),
  )
}

/** Timeout of each endpoint, so that all of them together keep the limit. */
export function verifyLimitMs(endpointCount: number): number {
  return Math.floor(VERIFY_LIMIT_MS / Math.max(endpointCount, 1))
}

/** Whether the text is hexadecimal with a whole number of bytes, at most the limit. */
export function isSignatureText(text: string): text is Hex {
  return text.length <= 2 + 2 * SIGNATURE_BYTES_MAX && /^0x([0-9a-fA-F]{2})*$/.test(text)
}

/** Whether the signature is of a wallet that is not deployed yet. */
export function isUndeployedSignature(signature: Hex): boolean {
  return signature.toLowerCase().endsWith(UNDEPLOYED_SUFFIX)
}

/** Whether the address itself signed the message, with the key it is derived from. */
export function isPlainSigner(address: Address, message: string, signature: Hex): boolean {
  const signed = signatureOfKey(message, signature)
  const key = signed && recoverKey(signed)
  return key !== undefined && isAddressOf(key, address)
}

/** Parses the signature of a plain account; undefined when the text has another form. */
function signatureOfKey(message: string, signature: Hex): SignedDigest | undefined {
  const length = size(signature)
  if (length !== PLAIN_SIGNATURE_BYTES && length !== COMPACT_SIGNATURE_BYTES) return undefined
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const signed = bytes.subarray(0, COMPACT_SIGNATURE_BYTES)
  const ofS = signed[32] ?? 0
  const recovery =
    length === COMPACT_SIGNATURE_BYTES ? ofS >> 7 : RECOVERY_OF_V.get(bytes[length - 1] ?? -1)
  if (recovery === undefined) return undefined
  if (length === COMPACT_SIGNATURE_BYTES) signed[32] = ofS & 0x7f
  return { signature: signed, recovery, digest: messageDigest(Buffer.from(message)) }
}

function isAddressOf(key: Uint8Array, address: Address): boolean {
  return addressOfKey(key) === address.toLowerCase()
}

/**
 * Whether the contract at `address` accepts the signature over `hash`.
 *
 * A wallet that is not deployed yet is asked by viem's validator: a contract that is constructed inside the call and
 * never deployed. viem's `verifyHash` would treat an unreachable endpoint as an invalid signature.
 */
async function isContractSigner(
  client: RpcClient,
  address: Address,
  hash: Hex,
  signature: Hex,
): Promise<boolean> {
  const isUndeployed = isUndeployedSignature(signature)
  const call = isUndeployed
    ? { data: validatorCode([address, hash, signature]) }
    : {
        to: address,
        data: encodeFunctionData({
          abi: WALLET_ABI,
          functionName: 'isValidSignature',
          args: [hash, signature],
        }),
      }
  try {
    const limited = { ...call, gas: numberToHex(VERIFY_GAS) }
    const answer = await client.request({ method: 'eth_call', params: [limited, 'latest'] })
    if (answer === '0x' && !isUndeployed) {
      const code = await client.request({ method: 'eth_getCode', params: [address, 'latest'] })
      if (code === '0x') return false
      throw new CallFailure('the contract returned nothing')
    }
    if (!isUndeployed) return answer.toLowerCase() === ACCEPTED
    if (answer === '0x01') return true
    if (answer === '0x00') return false
  } catch (error) {
    if (isExecutionFailure(error)) return false
    if (error instanceof EndpointTimeout) throw new CallFailure('the call timed out')
    const answer = isRefusal(error, true) ? undefined : rpcErrorOf(error)
    if (answer !== undefined) throw new CallFailure(`the call failed: rpc error ${answer.code}`)
    throw error
  }
  throw new EndpointError('the validator returned neither true nor false')
}

function validatorCode(args: [address: Address, hash: Hex, signature: Hex]): Hex {
  return encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args,
  })
}
