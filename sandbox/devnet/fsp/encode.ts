import { createHash } from 'node:crypto'
import {
  concatHex,
  encodeAbiParameters,
  encodePacked,
  type Hex,
  hexToBytes,
  numberToHex,
  pad,
  parseAbiParameters,
  size,
  slice,
  stringToHex,
} from 'viem'
import { keccakOfHex } from '#src/chain/blocks/keccak.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import { signDigest } from '../keys.ts'

/** Protocols whose data is sent through Submission. */
export const FTSO_PROTOCOL = 100
export const FDC_PROTOCOL = 200

/** Selector of each submit function of Submission. */
export const SELECTOR_OF = {
  submit1: '0x6c532fae',
  submit2: '0x9d00c9fd',
  submitSignatures: '0x57eed580',
} as const

/** One protocol's part of a submission. */
export interface Frame {
  readonly protocolId: number
  readonly round: number
  readonly payload: Hex
}

/** Calldata of a submission. */
export function submissionData(name: keyof typeof SELECTOR_OF, frames: readonly Frame[]): Hex {
  return concatHex([SELECTOR_OF[name], ...frames.map(frameBytes)])
}

function frameBytes({ protocolId, round, payload }: Frame): Hex {
  return concatHex([
    numberToHex(protocolId, { size: 1 }),
    numberToHex(round, { size: 4 }),
    numberToHex(size(payload), { size: 2 }),
    payload,
  ])
}

/** Encodes prices, four bytes each; null without a price. */
export function encodeFeedValues(values: readonly (number | null)[]): Hex {
  return concatHex(
    values.map((value) => numberToHex(value === null ? 0 : value + 2 ** 31, { size: 4 })),
  )
}

/** Data that a provider commits by its hash, and reveals later. */
export interface Reveal {
  readonly random: bigint
  readonly values: Hex
}

const COMMIT = parseAbiParameters('address, uint32, uint256, bytes')

/** Hash that a provider commits. */
export function commitHash(submitAddress: Address, round: number, reveal: Reveal): Hash {
  return keccakOfHex(
    encodeAbiParameters(COMMIT, [submitAddress, round, reveal.random, reveal.values]),
  )
}

/** Payload of a reveal. */
export function revealPayload({ random, values }: Reveal): Hex {
  return concatHex([numberToHex(random, { size: 32 }), values])
}

/** Encodes the confirmed attestation requests, the first in the lowest bit; in the shortest form. */
export function encodeBitVote(requests: number, bits: bigint): Hex {
  return concatHex([numberToHex(requests, { size: 2 }), evenHex(bits)])
}

/** A number in the least number of whole bytes; empty for zero. */
function evenHex(value: bigint): Hex {
  if (value === 0n) return '0x'
  const digits = value.toString(16)
  return `0x${digits.length % 2 === 0 ? digits : `0${digits}`}`
}

/** The result of a round, which providers sign. */
export interface ProtocolMessage {
  readonly protocolId: number
  readonly round: number
  readonly isSecureRandom: boolean
  readonly merkleRoot: Hash
}

/** A result in its 38 bytes. */
export function messageBytes(message: ProtocolMessage): Hex {
  return concatHex([
    numberToHex(message.protocolId, { size: 1 }),
    numberToHex(message.round, { size: 4 }),
    message.isSecureRandom ? '0x01' : '0x00',
    message.merkleRoot,
  ])
}

/**
 * Hash that is signed for a message.
 *
 * @param chainId the chain for which the newer Relay accepts the signature; undefined for the older Relay
 */
export function signedHashOf(message: Hex, chainId?: number): Hash {
  return keccakOfHex(
    chainId === undefined ? message : concatHex([numberToHex(chainId, { size: 32 }), message]),
  )
}

const SIGNED_MESSAGE = stringToHex('\x19Ethereum Signed Message:\n32')

/** Digest of 32 bytes signed as a message (EIP-191). */
export function messageDigest(bytes: Hash): Hash {
  return keccakOfHex(concatHex([SIGNED_MESSAGE, bytes]))
}

/** Components of a signature. */
export interface Signature {
  readonly v: number
  readonly r: Hash
  readonly s: Hash
}

/** Signs 32 bytes as a message. */
export function signBytes(privateKey: Hash, bytes: Hash): Signature {
  return signDigest(messageDigest(bytes), privateKey)
}

function signatureBytes({ v, r, s }: Signature): Hex {
  return concatHex([numberToHex(v, { size: 1 }), r, s])
}

/**
 * Payload of a signature.
 *
 * @param unsigned data outside the signature, such as a consensus bit vote
 * @param message for the deprecated form that contains the message
 */
export function signaturePayload(signature: Signature, unsigned: Hex = '0x', message?: Hex): Hex {
  const head: Hex = message === undefined ? '0x01' : concatHex(['0x00', message])
  return concatHex([head, signatureBytes(signature), unsigned])
}

/** Signers of a reward epoch, and the required weight. */
export interface SigningPolicy {
  readonly epoch: number
  readonly startRound: number
  readonly threshold: number
  readonly seed: bigint
  readonly voters: readonly { readonly address: Address; readonly weight: number }[]
}

/** Encodes a policy. */
export function policyBytes(policy: SigningPolicy): Hex {
  const { epoch, startRound, threshold, seed, voters } = policy
  const head = encodePacked(
    ['uint16', 'uint24', 'uint32', 'uint16', 'uint256'],
    [voters.length, epoch, startRound, threshold, seed],
  )
  return concatHex([
    head,
    ...voters.map(({ address, weight }) => encodePacked(['address', 'uint16'], [address, weight])),
  ])
}

/**
 * Hash of a policy.
 *
 * @param chainId the chain for which the newer Relay accepts the policy; undefined for the older Relay
 */
export function policyHash(bytes: Hex, chainId?: number): Hash {
  if (chainId !== undefined) return signedHashOf(bytes, chainId)
  const parts = Array.from({ length: Math.ceil(size(bytes) / 32) }, (_, i) =>
    pad(slice(bytes, 32 * i, Math.min(32 * (i + 1), size(bytes))), { size: 32, dir: 'right' }),
  )
  return parts.reduce((hash, part) => keccakOfHex(concatHex([hash, part])))
}

const RELAY_SELECTOR = '0xb59589d1'

/** A signature with the index of its voter in the policy. */
export interface IndexedSignature extends Signature {
  readonly index: number
}

/**
 * Calldata that finalises a message.
 *
 * @param signatures in the order of the policy
 * @param random additional input of the newer Relay
 */
export function relayData(
  policy: Hex,
  message: Hex,
  signatures: readonly IndexedSignature[],
  random?: bigint,
): Hex {
  return concatHex([
    RELAY_SELECTOR,
    policy,
    message,
    numberToHex(signatures.length, { size: 2 }),
    ...signatures.map((signature) =>
      concatHex([signatureBytes(signature), numberToHex(signature.index, { size: 2 })]),
    ),
    random === undefined ? '0x' : numberToHex(random, { size: 32 }),
  ])
}

/** Proof that sortition chose a provider for a price update between rounds. */
export interface SortitionCredential {
  readonly replicate: bigint
  readonly gamma: { readonly x: bigint; readonly y: bigint }
  readonly c: bigint
  readonly s: bigint
}

/** A price update between rounds, before it is signed. */
export interface FastUpdate {
  readonly sortitionBlock: bigint
  readonly sortitionCredential: SortitionCredential
  /** Two bits for each feed. */
  readonly deltas: Hex
}

const FAST_UPDATE = parseAbiParameters([
  'uint256, Credential, bytes',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
])
const SIGNED_FAST_UPDATE = parseAbiParameters([
  'Update',
  'struct Update { uint256 sortitionBlock; Credential sortitionCredential; bytes deltas; Signature signature; }',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
])

/** Hash that is signed for a price update. */
export function fastUpdateHash(update: FastUpdate): Hash {
  const { sortitionBlock, sortitionCredential, deltas } = update
  const encoded = encodeAbiParameters(FAST_UPDATE, [sortitionBlock, sortitionCredential, deltas])
  return `0x${createHash('sha256').update(hexToBytes(encoded)).digest('hex')}`
}

/** Input of `submitAndPass` for a price update. */
export function fastUpdateBytes(update: FastUpdate, signature: Signature): Hex {
  return encodeAbiParameters(SIGNED_FAST_UPDATE, [{ ...update, signature }])
}

/** Hash that is signed to register a provider for an epoch. */
export function registrationHash(epoch: number, voter: Address, chainId?: number): Hash {
  return keccakOfHex(
    chainId === undefined
      ? encodeAbiParameters(parseAbiParameters('uint24, address'), [epoch, voter])
      : encodeAbiParameters(parseAbiParameters('uint256, uint24, address'), [
          BigInt(chainId),
          epoch,
          voter,
        ]),
  )
}

/** Hash that is signed to vote on an epoch's uptime. */
export function uptimeVoteHash(epoch: number, hash: Hash): Hash {
  return keccakOfHex(encodeAbiParameters(parseAbiParameters('uint24, bytes32'), [epoch, hash]))
}

/** Number of claims by weight of a reward manager. */
export interface WeightBasedClaims {
  readonly rewardManagerId: bigint
  readonly noOfWeightBasedClaims: bigint
}

const CLAIMS = parseAbiParameters([
  'Claims[]',
  'struct Claims { uint256 rewardManagerId; uint256 noOfWeightBasedClaims; }',
])

/** Hash that is signed to vote on an epoch's rewards. */
export function rewardsVoteHash(
  epoch: number,
  claims: readonly WeightBasedClaims[],
  hash: Hash,
): Hash {
  const inner = keccakOfHex(encodeAbiParameters(CLAIMS, [claims]))
  return keccakOfHex(
    encodeAbiParameters(parseAbiParameters('uint24, bytes32, bytes32'), [epoch, inner, hash]),
  )
}

/** Data of an attestation request: type, source, and body. */
export function requestData(type: string, source: string, asked: Hex): Hex {
  return concatHex([stringToHex(type, { size: 32 }), stringToHex(source, { size: 32 }), asked])
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Text form of a validator's id. */
export function nodeIdText(nodeId: Hex): string {
  const bytes = hexToBytes(nodeId)
  const check = createHash('sha256').update(bytes).digest().subarray(-4)
  let remaining = BigInt(concatHex([nodeId, `0x${check.toString('hex')}`]))
  let text = ''
  for (; remaining > 0n; remaining /= 58n) text = `${BASE58[Number(remaining % 58n)]}${text}`
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `NodeID-${'1'.repeat(zeros === -1 ? bytes.length : zeros)}${text}`
}
