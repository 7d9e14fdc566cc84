import {
  decodeFunctionData,
  encodeFunctionData,
  encodeFunctionResult,
  type Hex,
  multicall3Abi,
} from 'viem'
import { expect, test } from 'vitest'
import { MULTICALL3_ADDRESS, NATIVE_BALANCE_ABI } from '../contracts.ts'
import { decodeResults, encodeAddressCall, encodeCalls } from './multicall.ts'

const HOLDER = MULTICALL3_ADDRESS
const LENGTHS = [0, 1, 4, 31, 32, 33, 36, 64, 1000]

function bytesOf(length: number): Hex {
  return `0x${Array.from({ length }, (_, place) => ((place * 37 + length) % 256).toString(16).padStart(2, '0')).join('')}`
}

const CALLS = LENGTHS.map((length) => ({ target: HOLDER, callData: bytesOf(length) }))
const RESULTS = LENGTHS.map((length) => ({
  success: length % 2 === 0,
  returnData: bytesOf(length),
}))

function answerOf(results: readonly { success: boolean; returnData: Hex }[]): Hex {
  return encodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    result: [...results],
  })
}

test.each([0, 1, 2, LENGTHS.length])('%i calls are encoded as viem encodes them', (count) => {
  const calls = CALLS.slice(0, count)
  const args = [calls.map((call) => ({ ...call, allowFailure: true }))] as const
  expect(encodeCalls(calls)).toBe(
    encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args }),
  )
  const { args: decoded } = decodeFunctionData({ abi: multicall3Abi, data: encodeCalls(calls) })
  expect(decoded?.[0]).toHaveLength(count)
})

test('a call with an address is encoded as viem encodes it', () => {
  const data = encodeFunctionData({ abi: NATIVE_BALANCE_ABI, args: [HOLDER] })
  expect(encodeAddressCall(data.slice(0, 10) as Hex, HOLDER)).toBe(data)
})

test.each([0, 1, 2, LENGTHS.length])('%i results are decoded', (count) => {
  const results = RESULTS.slice(0, count)
  expect(decodeResults(answerOf(results))).toEqual(results)
})

test('results in upper case are decoded', () => {
  const answer = `0x${answerOf(RESULTS).slice(2).toUpperCase()}` as Hex
  expect(decodeResults(answer)).toEqual(RESULTS)
})

test('results in an unusual layout, such as two that share their bytes, are decoded, too', () => {
  const word = (number: number) => number.toString(16).padStart(64, '0')
  const result = [word(1), word(64), word(1), 'ff'.padEnd(64, '0')]
  const answer = `0x${[word(32), word(2), word(64), word(64), ...result].join('')}` as Hex
  expect(decodeResults(answer)).toEqual([
    { success: true, returnData: '0xff' },
    { success: true, returnData: '0xff' },
  ])
})

test('an answer that is cut off is refused', () => {
  const answer = answerOf(RESULTS)
  for (let end = 2; end < answer.length - 64; end += 62) {
    expect(() => decodeResults(answer.slice(0, end) as Hex)).toThrow()
  }
})

test('an answer with fewer results than it states is refused', () => {
  const answer = answerOf(RESULTS)
  const count = 2 + 64
  const lie = `${answer.slice(0, count)}${'f'.repeat(64)}${answer.slice(count + 64)}` as Hex
  expect(() => decodeResults(lie)).toThrow()
})
