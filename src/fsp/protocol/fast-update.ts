import { createHash } from 'node:crypto'
import {
  type DecodeAbiParametersReturnType,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  hexToBytes,
  parseAbiParameters,
} from 'viem'
import { messageDigest } from '#src/chain/blocks/keccak.ts'
import type { Address } from '#src/kernel/units.ts'
import { SUBMIT_AND_PASS_SELECTOR } from './framing.ts'
import { recoverSigner } from './signatures.ts'

/**
 * The calldata of fast updates. An update has two bits for each feed, four feeds a byte, in the order of the feeds.
 */

/** `submitUpdates` of the FastUpdater, to which Submission passes updates on. */
export const SUBMIT_UPDATES_SELECTOR = '470e91df'

const PASSED = parseAbiParameters('bytes')
const SIGNED = parseAbiParameters([
  'Update',
  'struct Update { uint256 sortitionBlock; Credential sortitionCredential; bytes deltas; Signature signature; }',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
  'struct Signature { uint8 v; bytes32 r; bytes32 s; }',
])
const UNSIGNED = parseAbiParameters([
  'uint256, Credential, bytes',
  'struct Credential { uint256 replicate; Point gamma; uint256 c; uint256 s; }',
  'struct Point { uint256 x; uint256 y; }',
])

/** A decoded fast update. */
export type SignedUpdate = DecodeAbiParametersReturnType<typeof SIGNED>[0]

/**
 * Decodes the calldata of a fast update.
 *
 * @param input calldata of `submitAndPass` or `submitUpdates`, 0x-hex
 * @returns undefined for another function, and for bytes that are no update
 */
export function decodeUpdate(input: string): SignedUpdate | undefined {
  const selector = input.slice(2, 10).toLowerCase()
  const args: Hex = `0x${input.slice(10)}`
  try {
    if (selector === SUBMIT_UPDATES_SELECTOR) return decodeAbiParameters(SIGNED, args)[0]
    if (selector !== SUBMIT_AND_PASS_SELECTOR) return undefined
    return decodeAbiParameters(SIGNED, decodeAbiParameters(PASSED, args)[0])[0]
  } catch {
    // Anybody can send any bytes.
    return undefined
  }
}

const FEEDS_PER_BYTE = 4

/**
 * Number of feeds that an update covers. Pairs of zeros at the end of the last byte fill the byte and do not count;
 * a byte without any other bits counts as one feed, because nothing else needs it.
 */
export function feedsCovered({ deltas }: Pick<SignedUpdate, 'deltas'>): number {
  const bytes = hexToBytes(deltas)
  const last = bytes.at(-1)
  if (last === undefined) return 0
  const filled = [0b11, 0b1100, 0b110000].findIndex((pair) => (last & pair) !== 0)
  const inLast = filled === -1 ? 1 : FEEDS_PER_BYTE - filled
  return FEEDS_PER_BYTE * (bytes.length - 1) + inLast
}

/** The FastUpdater keeps eight feeds in a word. It refuses updates for more feeds than its words have places for. */
const FEEDS_PER_WORD = 8

/**
 * The most that the FastUpdater's `submissionWindow` can be: the number of blocks, from its sortition block on, in which
 * an update is accepted. The contract keeps it in a byte.
 */
export const SUBMISSION_WINDOW_MAX = 255

/** Number of feeds up to which the FastUpdater accepts an update. */
export function acceptedFeedsMax(feedCount: number): number {
  return FEEDS_PER_WORD * Math.ceil(feedCount / FEEDS_PER_WORD)
}

/** Signing policy address of the provider that signed an update; undefined for an invalid signature. */
export function signerOfUpdate(update: SignedUpdate): Address | undefined {
  const { sortitionBlock, sortitionCredential, deltas, signature } = update
  const encoded = encodeAbiParameters(UNSIGNED, [sortitionBlock, sortitionCredential, deltas])
  const hash = createHash('sha256').update(hexToBytes(encoded)).digest()
  const { v, r, s } = signature
  const signed = {
    recovery: v >= 27 ? v - 27 : v,
    signature: Buffer.concat([hexToBytes(r), hexToBytes(s)]),
  }
  return recoverSigner(signed, messageDigest(hash))
}
