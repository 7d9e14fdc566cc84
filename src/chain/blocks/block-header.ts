/**
 * Whether a block can be believed: its hash follows from the fields of its header, and its time is not ahead
 * of the clock.
 */
import { type Hex, toRlp } from 'viem'
import { EndpointError } from '../endpoints/failures.ts'
import { keccakOfHex } from './keccak.ts'
import { rlpNumber } from './trie.ts'

/** How far the time of a block may be ahead of the clock, in milliseconds. */
export const BLOCK_AHEAD_MS_MAX = 60_000

type Kind = 'bytes' | 'number'
type Fields = Readonly<Record<string, unknown>>

/** Fields of every header, in the order in which they are hashed, by their names in JSON-RPC. */
const COMMON: Readonly<Record<string, Kind>> = {
  parentHash: 'bytes',
  sha3Uncles: 'bytes',
  miner: 'bytes',
  stateRoot: 'bytes',
  transactionsRoot: 'bytes',
  receiptsRoot: 'bytes',
  logsBloom: 'bytes',
  difficulty: 'number',
  number: 'number',
  gasLimit: 'number',
  gasUsed: 'number',
  timestamp: 'number',
  extraData: 'bytes',
  mixHash: 'bytes',
  nonce: 'bytes',
}
/** Further fields of Ethereum. Forks append fields: a header has them up to one of these. @see EIP-7685 */
const ETHEREUM: Readonly<Record<string, Kind>> = {
  baseFeePerGas: 'number',
  withdrawalsRoot: 'bytes',
  blobGasUsed: 'number',
  excessBlobGas: 'number',
  parentBeaconBlockRoot: 'bytes',
  requestsHash: 'bytes',
}
/** Further fields of the C-chains of Flare and Avalanche. @see coreth, `plugin/evm/customtypes` */
const C_CHAIN: Readonly<Record<string, Kind>> = {
  extDataHash: 'bytes',
  baseFeePerGas: 'number',
  extDataGasUsed: 'number',
  blockGasCost: 'number',
  blobGasUsed: 'number',
  excessBlobGas: 'number',
  parentBeaconBlockRoot: 'bytes',
  timestampMilliseconds: 'number',
  minDelayExcess: 'number',
}
/** Fields of blocks in JSON-RPC that are no part of the header. */
const BESIDE = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'] as const
const KNOWN = new Set<string>([
  ...Object.keys({ ...COMMON, ...ETHEREUM, ...C_CHAIN }),
  ...[...BESIDE, 'blockExtraData'],
])

/**
 * The hash of a header, computed from its fields in a JSON-RPC result; undefined if one is missing or malformed.
 *
 * The script of `examples/` that verifies evidence computes it, too, and shares no code with the service.
 */
export function headerHash(header: Fields): Hex | undefined {
  const further = isPresent(header['extDataHash']) ? C_CHAIN : ETHEREUM
  const names = Object.keys(further)
  const count = names.findLastIndex((name) => isPresent(header[name])) + 1
  const items: Hex[] = []
  for (const [name, kind] of [
    ...Object.entries(COMMON),
    ...Object.entries(further).slice(0, count),
  ]) {
    // A field that is missing before a later one is hashed as empty.
    const value = name in COMMON ? header[name] : (header[name] ?? '0x')
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]*$/.test(value)) return undefined
    if (kind === 'bytes' && value.length % 2 === 1) return undefined
    items.push(kind === 'bytes' ? (value as Hex) : rlpNumber(value === '0x' ? 0n : BigInt(value)))
  }
  return keccakOfHex(toRlp(items))
}

/** Proof of a block: by its hash; or none, because the header has fields that this version does not know. */
export type HeaderProof = 'hash' | 'unknown fields'

/**
 * Checks a block of a JSON-RPC result.
 *
 * A later version of the chain may add fields to the header. Their place in the hash is not known, so a block with
 * unknown fields and another hash is believed by its time alone: whoever invents a field to be believed could as
 * well compute the hash of an invented header.
 *
 * @param isProvable whether the hash of an earlier block with the same fields could be computed
 * @throws EndpointError when the block's hash does not follow from its fields, or its time is ahead of the clock
 */
export function checkHeader(block: Fields, now: Date, isProvable: boolean): HeaderProof {
  const number = Number(block['number'])
  const seconds = typeof block['timestamp'] === 'string' ? Number(block['timestamp']) : Number.NaN
  const aheadMs = seconds * 1000 - now.getTime()
  if (aheadMs > BLOCK_AHEAD_MS_MAX) {
    const aheadSeconds = Math.round(aheadMs / 1000)
    throw new EndpointError(`block ${number} is ${aheadSeconds} s ahead of the clock of this host`)
  }
  if (headerHash(block) === String(block['hash']).toLowerCase()) return 'hash'
  if (isProvable || unknownFieldsOf(block).length === 0) {
    throw new EndpointError(`the fields of block ${number} do not give its hash`)
  }
  return 'unknown fields'
}

/** Fields of a block that this version does not know, sorted. */
export function unknownFieldsOf(block: Fields): readonly string[] {
  return Object.keys(block)
    .filter((name) => !KNOWN.has(name) && isPresent(block[name]))
    .toSorted()
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
