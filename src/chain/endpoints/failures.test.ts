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
  isNotYet,
  isPruned,
  isRateLimit,
  isRefusal,
  isTooLarge,
  RefusedRequest,
  statedMaximum,
} from './failures.ts'

const URL_WITH_KEYS = 'https://user:password1@rpc.example/v1/key-0123456789?token=abcdef'

function answered(code: number, message: string, data?: unknown): UnknownRpcError {
  const error = { code, message, data }
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
    [-32002, 'No state available for block 17878785 (0xab)'],
    [-32000, 'state of block 0x5 not found'],
    [-32000, 'Archive requests require a personal token'],
    [-32000, "state histories haven't been fully indexed yet"],
    [-32000, 'requested block is too old'],
    [-32000, 'missing state'],
    [-32000, 'revision not found'],
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

describe('a block that a node does not have yet', () => {
  test.each([
    [-32000, 'cannot query unfinalized data'],
    [-32000, 'requested to block 120 after last accepted block 119'],
    [-32000, 'requested from block 120 after last accepted block 119'],
    [-32000, 'header not found'],
    [-32000, 'header for hash not found'],
    [-32000, 'block not found: 0x78'],
    [-32001, 'Block 120 could not be found'],
    [-32000, 'block number is in the future'],
    [-32000, 'Requested block is beyond chain head'],
    [-32000, 'toBlock is higher than latest'],
    [-32000, 'block not available'],
    [-32000, 'could not find block 120'],
    [-32000, 'requested block 120, latest block is 119'],
    [-39001, 'Unknown block'],
    [-32000, 'block range extends beyond current head block'],
    [-32602, 'BlockOutOfRangeError: block height is 446 but requested was 447'],
  ])('is recognized by the answer %i %s', (code, message) => {
    expect(isNotYet(answered(code, message))).toBe(true)
    expect(isPruned(answered(code, message))).toBe(false)
    expect(isTooLarge(answered(code, message))).toBe(false)
  })

  test.each([
    [-32602, 'BlockOutOfRangeError: block height is 446 but requested was 0'],
    [-32000, 'missing trie node 1234 (path ) state 0xab is not available'],
    [-32601, 'the method eth_getBlockReceipts does not exist/is not available'],
    [3, 'execution reverted: order not found'],
    [-32000, 'execution reverted: Block not found'],
    [-32007, '50/second request limit reached'],
  ])('is not assumed for the answer %i %s', (code, message) => {
    expect(isNotYet(answered(code, message))).toBe(false)
  })
})

describe('too many requests', () => {
  test.each([
    [-32007, '50/second request limit reached - reduce calls per second or upgrade your account'],
    [-32012, 'credits limited to 6000/sec'],
    [-32005, 'daily request count exceeded, request rate limited'],
    [-32005, 'project ID request rate exceeded'],
    [-32029, 'Too Many Requests'],
    [-32000, 'rate limit exceeded'],
    [429, 'Your app has exceeded its compute units per second capacity'],
    [-32097, 'limit exceeded'],
    [-32603, 'limit exceeded'],
    [-32000, 'too many concurrent calls'],
    [-32000, 'Too many request'],
    [-32000, 'call rate exceeded'],
    [-32000, 'too many connections'],
    [-32000, 'max concurrent requests reached'],
    [-32000, 'daily limit reached'],
  ])('are recognized by the answer %i %s', (code, message) => {
    expect(isRateLimit(answered(code, message))).toBe(true)
    expect(isRefusal(answered(code, message), false)).toBe(true)
    expect(isTooLarge(answered(code, message))).toBe(false)
  })

  test('may be meant by a code that also means a result that is too large', () => {
    expect(isRateLimit(answered(-32005, 'limit exceeded'))).toBe(true)
    expect(isTooLarge(answered(-32005, 'limit exceeded'))).toBe(true)
  })

  test('are recognized by the status 429, whatever the body says', () => {
    expect(isRateLimit(new RefusedRequest(429))).toBe(true)
    expect(isTooLarge(new RefusedRequest(429))).toBe(false)
  })

  test.each([
    [-32005, 'query returned more than 10000 results'],
    [-32602, 'block range is too wide'],
    [3, 'execution reverted: try again later'],
    [3, 'execution reverted: rate limit'],
    [-32000, 'execution reverted: quota exceeded, too many requests'],
    [-32000, 'header not found'],
  ])('are not assumed for the answer %i %s', (code, message) => {
    expect(isRateLimit(answered(code, message))).toBe(false)
    expect(isRefusal(answered(code, message), false)).toBe(false)
  })
})

describe('a refusal of one moment', () => {
  test.each([
    [-32603, 'Internal error'],
    [-32000, 'the node is overloaded, try again'],
    [-32000, 'service temporarily unavailable'],
  ])('is recognized by the answer %i %s', (code, message) => {
    expect(isRefusal(answered(code, message), false)).toBe(true)
  })

  test.each([
    408, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 530,
  ])('is recognized by the status %i', (status) => {
    expect(isRefusal(new RefusedRequest(status), false)).toBe(true)
    expect(isRefusal(new HttpRequestError({ url: URL_WITH_KEYS, status }), false)).toBe(true)
  })

  test.each([401, 403, 404, 413])('is not assumed for the status %i', (status) => {
    expect(isRefusal(new RefusedRequest(status), false)).toBe(false)
  })
})

/** Answers of nodes that cap the blocks of a request for events, with the cap. */
const CAPS: readonly [string, unknown, number, number | undefined][] = [
  ['requested too many blocks from 1000 to 1999, maximum is set to 30', undefined, -32000, 30],
  ['eth_getLogs is limited to a 5 range, upgrade from your plan', undefined, -32615, 5],
  [
    'You can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x3e8, 0x3f1]',
    undefined,
    -32600,
    10,
  ],
  ['GetLogs query must be smaller than size 100', undefined, -32000, 100],
  ['exceed maximum block range: 500', undefined, -32000, 500],
  ['eth_getLogs range is limited to 0 - 25 blocks', undefined, -32602, 25],
  ['block range exceeds 0.1k', undefined, -32602, undefined],
  ['ranges over 100 blocks are not supported on freetier', undefined, 35, 100],
  ['Block range is too large', { max_block_range: 50, reason: 'at most 50 blocks' }, -32602, 50],
  ['Invalid params', 'the block range must be less than 64', -32602, 64],
  ['eth_getLogs request limit: max 100 blocks', undefined, -32000, 100],
  ['Query capacity: max 100 blocks', undefined, -32000, 100],
  ['not enough credits: reduce the block range to 100 blocks', undefined, -32000, 100],
  ['query returned more than 10000 results', undefined, -32005, undefined],
  ['query timeout exceeded', undefined, -32000, undefined],
]

describe('a request of events that covers too many blocks', () => {
  test.each(CAPS)('is recognized by the answer %s', (message, data, code, max) => {
    const error = answered(code, message, data)
    expect(isTooLarge(error)).toBe(true)
    expect(statedMaximum(error, 1000)).toBe(max)
  })

  test('has no maximum if the number in the text is larger than the request', () => {
    expect(
      statedMaximum(answered(-32000, 'exceed maximum block range: 5000'), 1000),
    ).toBeUndefined()
  })

  test.each([
    [-32601, 'the method eth_getLogs does not exist/is not available'],
    [-32000, 'no such project'],
  ])('is not assumed for the answer %i %s', (code, message) => {
    expect(isTooLarge(answered(code, message))).toBe(false)
  })
})
