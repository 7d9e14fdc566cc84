import {
  CallExecutionError,
  ExecutionRevertedError,
  HttpRequestError,
  RpcRequestError,
  UnknownRpcError,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { ZodError } from 'zod'
import {
  describeFailure,
  EndpointError,
  isEndpointFailure,
  isExecutionFailure,
  isPruned,
} from './failures.ts'

const URL_WITH_KEYS = 'https://user:password1@rpc.example/v1/key-0123456789?token=abcdef'

function answered(code: number, message: string): UnknownRpcError {
  const error = { code, message }
  return new UnknownRpcError(new RpcRequestError({ body: {}, error, url: URL_WITH_KEYS }))
}

describe('a failure of the call itself', () => {
  test.each([
    [3, 'execution reverted: not allowed'],
    [-32000, 'execution reverted'],
    [-32000, 'out of gas'],
    [-32000, 'invalid opcode: INVALID'],
    [-32000, 'invalid jump destination'],
    [-32000, 'stack underflow (0 <=> 1)'],
    [-32003, 'EVM error OutOfGas'],
    [-32015, 'VM execution error: Reverted 0x'],
  ])('is recognized by the answer %i %s', (code, message) => {
    expect(isExecutionFailure(answered(code, message))).toBe(true)
  })

  test.each([
    [-32000, 'header not found'],
    [-32000, 'missing trie node 1234 (path ) state 0xab is not available'],
    [-32000, 'execution aborted (timeout = 5s)'],
    [-32000, 'cannot query unfinalized data'],
    [-32005, 'daily request count exceeded, request rate limited'],
    [-32601, 'the method eth_call does not exist/is not available'],
    [-32603, 'Internal error'],
  ])('is not assumed for the answer %i %s', (code, message) => {
    expect(isExecutionFailure(answered(code, message))).toBe(false)
  })

  test('is not assumed if the endpoint was not reached, or for an error of our own code', () => {
    const http = new HttpRequestError({ url: URL_WITH_KEYS, status: 502 })
    expect(isExecutionFailure(new CallExecutionError(http, {}))).toBe(false)
    expect(isExecutionFailure(new ExecutionRevertedError({}))).toBe(false)
    expect(isExecutionFailure(new TypeError('revert'))).toBe(false)
  })
})

describe('a failure of the endpoint', () => {
  test('is assumed for every refusal, malformed answer and lost connection, and for no error of our own code', () => {
    expect(isEndpointFailure(answered(-32000, 'header not found'))).toBe(true)
    expect(isEndpointFailure(new HttpRequestError({ url: URL_WITH_KEYS }))).toBe(true)
    expect(isEndpointFailure(new ZodError([]))).toBe(true)
    expect(isEndpointFailure(new EndpointError('timeout'))).toBe(true)
    expect(isEndpointFailure(new TypeError('x is not a function'))).toBe(false)
  })

  test('is described in at most 160 characters', () => {
    const describe = (error: unknown) => describeFailure(error, URL_WITH_KEYS)
    expect(describe(answered(-32000, 'header not found'))).toBe('rpc -32000: header not found')
    expect(describe(new HttpRequestError({ url: URL_WITH_KEYS, status: 502 }))).toBe('http 502')
    expect(describe(new HttpRequestError({ url: URL_WITH_KEYS }))).toBe('connection failed')
    expect(describe(new ZodError([]))).toBe('malformed response')
    expect(describe(new EndpointError('timeout'))).toBe('timeout')
    expect(describe(answered(1, 'x'.repeat(5000)))).toHaveLength(160)
  })

  test('is described without the keys in the endpoint’s URL, even if the node repeats them', () => {
    const message = 'invalid project key-0123456789 (token=abcdef) for user with password1'
    const described = describeFailure(answered(-32000, message), URL_WITH_KEYS)
    expect(described).not.toMatch(/key-0123456789|abcdef|password1/)
    expect(described).toContain('invalid project')
  })
})

describe('a pruned state', () => {
  test.each([
    [-32000, 'missing trie node 1234 (path ) state 0xab is not available'],
    [-32000, 'historical state 0xab is not available'],
    [-32000, 'required historical state unavailable (reexec=128)'],
    [-32000, 'state at block #5 is pruned'],
    [-32602, 'this request needs an archive node'],
    [-32602, 'BlockOutOfRangeError: block height is 446 but requested was 0'],
  ])('is recognized by the answer %i %s', (code, message) => {
    expect(isPruned(answered(code, message))).toBe(true)
  })

  test.each([
    [-32000, 'header not found'],
    [-32603, 'internal error'],
    [-32005, 'archive data: too many requests'],
  ])('is not assumed for the answer %i %s', (code, message) => {
    expect(isPruned(answered(code, message))).toBe(false)
  })

  test('is not assumed for a lost connection', () => {
    expect(isPruned(new HttpRequestError({ url: URL_WITH_KEYS }))).toBe(false)
    expect(isPruned(new EndpointError('timeout'))).toBe(false)
  })
})
