/**
 * Batches of calls through Multicall3's `aggregate3`. A batch has hundreds of calls with the same layout, which joined
 * strings encode several times as fast as viem does; a look at many targets consists of them. Results with any other
 * layout are decoded by viem.
 */
import { decodeFunctionResult, type Hex, multicall3Abi, numberToHex } from 'viem'
import type { Address } from '#src/kernel/units.ts'
import type { RpcClient } from './endpoints.ts'
import { EndpointError } from './failures.ts'

/** One call of one contract in a batch. */
export interface ContractCall {
  readonly target: Address
  readonly callData: Hex
}

/** Block, and Multicall3 contract of a batch. */
export interface BatchOptions {
  readonly multicallAddress: Address
  /** State at the end of this block. */
  readonly block: number | 'latest'
}

/**
 * Gas of a whole batch. Bounds the gas that a hostile contract can burn, and the size of its result: memory
 * costs gas quadratically.
 */
const BATCH_GAS = 30_000_000

/**
 * Returns the results of the calls, in order, all read in one request; undefined for a call that failed.
 *
 * @throws viem's error of the request; `isExecutionFailure` tells whether the batch failed as a whole
 * @throws EndpointError when the number of results differs from the number of calls
 */
export async function readBatch(
  client: RpcClient,
  calls: readonly ContractCall[],
  { multicallAddress, block }: BatchOptions,
): Promise<readonly (Hex | undefined)[]> {
  const data = encodeCalls(calls)
  const answer = await client.request({
    method: 'eth_call',
    params: [
      { to: multicallAddress, data, gas: numberToHex(BATCH_GAS) },
      block === 'latest' ? block : numberToHex(block),
    ],
  })
  const results = decodeResults(answer)
  if (results.length !== calls.length) throw new EndpointError('wrong number of results')
  return results.map(({ success, returnData }) => (success ? returnData : undefined))
}

/** The number in the first word; undefined when the data is shorter. */
export function readWord(data: Hex): bigint | undefined {
  const word = /^0x[0-9a-f]{64}/i.exec(data)?.[0]
  return word === undefined ? undefined : BigInt(word)
}

/** `aggregate3((address,bool,bytes)[])`. */
const AGGREGATE3 = '0x82ad56cb'
/** Hex digits of a word. */
const WORD = 64
const TRUE = word(1)
const FALSE = word(0)
/** Bytes of the fixed part of a call. */
const CALL_HEAD = word(96)
const RESULT_HEAD = word(64)
const LIST_HEAD = word(32)

/** Result of one call of a batch. */
export interface CallResult {
  readonly success: boolean
  readonly returnData: Hex
}

/** Call data of `aggregate3` for these calls, each of which may fail. */
export function encodeCalls(calls: readonly ContractCall[]): Hex {
  const offsets: string[] = []
  const bodies: string[] = []
  let end = calls.length * (WORD / 2)
  for (const { target, callData } of calls) {
    const digits = callData.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / WORD) * WORD, '0')
    offsets.push(word(end))
    bodies.push(addressWord(target), TRUE, CALL_HEAD, word(digits.length / 2), padded)
    end += 4 * (WORD / 2) + padded.length / 2
  }
  return `${AGGREGATE3}${LIST_HEAD}${word(calls.length)}${offsets.join('')}${bodies.join('')}`
}

/** Calldata of a function whose only parameter is an address. */
export function encodeAddressCall(selector: Hex, address: Address): Hex {
  return `${selector}${addressWord(address)}`
}

/**
 * Decodes the results of `aggregate3`, in order.
 *
 * @throws viem's error when the result is not one of `aggregate3`
 */
export function decodeResults(answer: Hex): readonly CallResult[] {
  return (
    decodeUsual(answer) ??
    decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data: answer })
  )
}

/**
 * Decodes results in the layout that contracts use: one after another, without gaps. Returns undefined for
 * any other layout.
 */
function decodeUsual(data: Hex): readonly CallResult[] | undefined {
  // An endpoint may return anything.
  if (!/^0x[0-9a-f]+$/i.test(data)) return undefined
  const answer = data.toLowerCase()
  const wordAt = (place: number) => answer.slice(place, place + WORD)
  const list = 2 + 2 * WORD
  const count = smallNumber(wordAt(2 + WORD))
  if (wordAt(2) !== LIST_HEAD || count === undefined) return undefined
  // Each result has an offset and at least three words.
  if (answer.length < list + count * 4 * WORD) return undefined
  const results: CallResult[] = []
  let place = list + count * WORD
  for (let index = 0; index < count; index += 1) {
    const success = wordAt(place)
    const length = smallNumber(wordAt(place + 2 * WORD))
    const isUsual =
      wordAt(list + index * WORD) === word((place - list) / 2) &&
      (success === TRUE || success === FALSE) &&
      wordAt(place + WORD) === RESULT_HEAD
    if (!isUsual || length === undefined) return undefined
    const start = place + 3 * WORD
    const end = start + length * 2
    place = start + Math.ceil((length * 2) / WORD) * WORD
    if (place > answer.length) return undefined
    results.push({ success: success === TRUE, returnData: `0x${answer.slice(start, end)}` })
  }
  return place === answer.length ? results : undefined
}

function word(number: number): string {
  return number.toString(16).padStart(WORD, '0')
}

function addressWord(address: Address): string {
  return address.slice(2).toLowerCase().padStart(WORD, '0')
}

/** Returns the number in a word, or undefined from 2^32 on. */
function smallNumber(text: string): number | undefined {
  return /^0{56}[0-9a-f]{8}$/.test(text) ? Number.parseInt(text.slice(-8), 16) : undefined
}
