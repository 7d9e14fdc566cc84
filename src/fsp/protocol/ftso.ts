import { keccak256 } from '#src/chain/blocks/keccak.ts'
import type { Address, Hash } from '#src/kernel/units.ts'

/** Encoding of the FTSO's commits and reveals in submissions. */

const WORD_BYTES = 32
const VALUE_BYTES = 4
/** Offset of encoded values; 0 encodes no value. */
const VALUE_OFFSET = 2 ** 31

/** A provider's reveal for a round. */
export interface Reveal {
  readonly random: Uint8Array
  /** Encoded values as sent; the commit's hash covers these bytes. */
  readonly feedBytes: Uint8Array
}

/** Decodes the commit of a submit1 payload: exactly 32 bytes; else undefined. */
export function decodeCommit(payload: Uint8Array): Hash | undefined {
  if (payload.length !== WORD_BYTES) return undefined
  return `0x${Buffer.from(payload).toString('hex')}`
}

/** Decodes the reveal of a submit2 payload; undefined when it is malformed. */
export function decodeReveal(payload: Uint8Array): Reveal | undefined {
  const feedLength = payload.length - WORD_BYTES
  if (feedLength < 0 || feedLength % VALUE_BYTES !== 0) return undefined
  return { random: payload.subarray(0, WORD_BYTES), feedBytes: payload.subarray(WORD_BYTES) }
}

/** Prices of a reveal in canonical order, scaled by each feed's decimals; null where there is no value. */
export function decodeFeedValues({ feedBytes }: Pick<Reveal, 'feedBytes'>): (number | null)[] {
  const words = Buffer.from(feedBytes.buffer, feedBytes.byteOffset, feedBytes.length)
  return Array.from({ length: words.length / VALUE_BYTES }, (_, index) => {
    const word = words.readUInt32BE(index * VALUE_BYTES)
    return word === 0 ? null : word - VALUE_OFFSET
  })
}

/**
 * The commit that belongs to a reveal: keccak256 of the ABI encoding of
 * (address submitAddress, uint32 round, uint256 random, bytes feedValues).
 */
export function commitHash(submitAddress: Address, round: number, reveal: Reveal): Hash {
  const { random, feedBytes } = reveal
  const padded = Math.ceil(feedBytes.length / WORD_BYTES) * WORD_BYTES
  const encoded = Buffer.alloc(5 * WORD_BYTES + padded)
  // Word 1: the address, at the right.
  encoded.write(submitAddress.slice(2), WORD_BYTES - 20, 'hex')
  // Words 2 and 3: round and random number.
  encoded.writeUInt32BE(round, 2 * WORD_BYTES - 4)
  encoded.set(random, 2 * WORD_BYTES)
  // Word 4: the offset of the feed values. Word 5: their length; the bytes follow, padded to whole words.
  encoded.writeUInt8(4 * WORD_BYTES, 4 * WORD_BYTES - 1)
  encoded.writeUInt32BE(feedBytes.length, 5 * WORD_BYTES - 4)
  encoded.set(feedBytes, 5 * WORD_BYTES)
  return keccak256(encoded)
}

/** One provider's value with its weight, a whole number below 65536. */
export interface WeightedValue {
  readonly value: number
  readonly weight: number
}

/** For sorting, value and weight are one number, value × 65536 + weight: 48 bits, which a double holds exactly. */
const WEIGHT_RANGE = 2 ** 16

/**
 * The weighted median, as the protocol defines it; undefined without a vote.
 *
 * Where the weights split exactly in half, the median is the mean of both values, rounded down. The order of
 * equal values does not matter.
 */
export function weightedMedian(votes: readonly WeightedValue[]): number | undefined {
  const sorted = new Float64Array(votes.length)
  let [place, total, reached] = [0, 0, 0]
  for (const { value, weight } of votes) {
    sorted[place] = value * WEIGHT_RANGE + weight
    place += 1
    total += weight
  }
  sorted.sort()
  const half = Math.floor(total / 2) + (total % 2)
  for (place = 0; place < sorted.length; place += 1) {
    const packed = sorted[place] ?? 0
    const value = Math.floor(packed / WEIGHT_RANGE)
    reached += packed - value * WEIGHT_RANGE
    if (reached < half) continue
    const next = sorted[place + 1]
    const isSplit = reached === half && total % 2 === 0 && next !== undefined
    return isSplit ? Math.floor((value + Math.floor(next / WEIGHT_RANGE)) / 2) : value
  }
  return undefined
}
