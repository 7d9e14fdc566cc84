import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { EndpointError } from '#src/chain/endpoints/failures.ts'
import { createPChain } from '#src/chain/pchain.ts'
import { listing } from '../../examples/evidence/p-chain.ts'
import type { Protocol } from '../../examples/evidence/protocol.ts'

/**
 * Answers in the forms that nodes of several versions give, after the documentation and the source of the node
 * software: for one node with its delegators, for several without; as versions before 1.4 did; with numbers as texts
 * and as numbers.
 */

const NODE = 'NodeID-JA63moobNNMLby4ENNUiJqVJA2cdpks5J'
const OTHER = 'NodeID-KiAUisCU8UvXGnMRiUvoeyWneSdUm987'
const END = 1_798_761_600

const OWNER = { locktime: '0', threshold: '1', addresses: ['P-flare1exampleexampleexampleexample'] }
const STAKER = {
  txID: '2NNkpYTGfTFLSGXJcHtVv6drwVU2cczhmjK2uhvwDyxwsjzZMm',
  startTime: '1790985600',
  endTime: `${END}`,
  weight: '5000000000000000',
  nodeID: NODE,
}
/** Since keys for signatures: no `stakeAmount`; delegators only when one node was asked for. */
const RECENT = {
  ...STAKER,
  validationRewardOwner: OWNER,
  delegationRewardOwner: OWNER,
  potentialReward: '117431493426',
  accruedDelegateeReward: '0',
  delegationFee: '10.0000',
  uptime: '99.9870',
  connected: true,
  signer: { publicKey: '0x8f95', proofOfPossession: '0x86a3' },
  delegatorCount: '1',
  delegatorWeight: '25000000000',
}
const WITH_DELEGATORS = {
  ...RECENT,
  delegators: [
    { ...STAKER, txID: 'Bbai8nzGVcyn2VmeYcbS74zfjJLjDacGNVuzuvAQkHn1uWfoV', rewardOwner: OWNER },
  ],
}
/** Before 1.9: the amount beside the weight, the uptime from 0 to 1, always with delegators. */
const EARLIER = {
  ...STAKER,
  stakeAmount: '5000000000000000',
  rewardOwner: OWNER,
  potentialReward: '117431493426',
  delegationFee: '10.0000',
  uptime: '0.9999',
  connected: true,
  delegators: null,
}
const IN_NUMBERS = {
  ...EARLIER,
  startTime: 1_790_985_600,
  endTime: END,
  weight: 5e15,
  uptime: 0.99,
}

let close = async () => {}
afterEach(() => close())

/** Serves until the result is disposed. */
async function listen(answer: RequestListener) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = () => new Promise<void>((resolve) => server.close(() => resolve()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, [Symbol.asyncDispose]: end }
}

/** A node that answers each method with this; it remembers what it was asked. */
async function node(results: Readonly<Record<string, unknown>>) {
  const asked: unknown[] = []
  const server = await listen(async (request, response) => {
    const call = JSON.parse(await text(request))
    asked.push({ path: request.url, key: request.headers['x-api-key'], ...call })
    const found = results[call.method]
    const result = typeof found === 'function' ? found(call.params) : found
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, result }))
  })
  close = () => server[Symbol.asyncDispose]()
  return { url: server.url, asked }
}

async function validatorsFrom(validators: unknown, nodeIds = [NODE]) {
  const { url, asked } = await node({ 'platform.getCurrentValidators': { validators } })
  return { found: await createPChain({ url }).validators(nodeIds), asked }
}

test('the nodes are asked for by name', async () => {
  const { asked } = await validatorsFrom([], [NODE, OTHER])
  expect(asked).toMatchObject([
    {
      path: '/ext/bc/P',
      method: 'platform.getCurrentValidators',
      params: { nodeIDs: [NODE, OTHER] },
    },
  ])
})

test.each([
  ['', '/ext/bc/P'],
  ['/', '/ext/bc/P'],
  ['/ext/bc/P', '/ext/bc/P'],
  ['/ext/bc/P/', '/ext/bc/P'],
  ['?x-apikey=K', '/ext/bc/P?x-apikey=K'],
  ['/?x-apikey=K', '/ext/bc/P?x-apikey=K'],
  ['/?x-apikey=ab%2F+/', '/ext/bc/P?x-apikey=ab%2F+/'],
  ['/ext/bc/P?x-apikey=K&y=/', '/ext/bc/P?x-apikey=K&y=/'],
  ['/key', '/key/ext/bc/P'],
  ['/key//', '/key/ext/bc/P'],
  ['/key/ext/bc/P?x-apikey=K', '/key/ext/bc/P?x-apikey=K'],
])('a node at its address with "%s" is asked at %s', async (suffix, path) => {
  const { url, asked } = await node({ 'platform.getCurrentValidators': { validators: [RECENT] } })
  const pChain = createPChain({ url: url + suffix })
  expect((await pChain.validators([NODE]))?.size).toBe(1)
  expect(asked).toMatchObject([{ path }])
})

test('the headers of the settings are sent, to no other host', async () => {
  const headers = { 'x-api-key': 'K' }
  const { url, asked } = await node({ 'platform.getCurrentValidators': { validators: [RECENT] } })
  await createPChain({ url, headers }).validators([NODE])
  expect(asked).toMatchObject([{ key: 'K' }])
  await using redirecting = await listen((_, response) => {
    response.writeHead(308, { location: `${url}/ext/bc/P` }).end()
  })
  const pChain = createPChain({ url: redirecting.url, headers })
  await expect(pChain.validators([NODE])).rejects.toThrow('status 308')
  expect(asked).toHaveLength(1)
})

test.each([
  ['refuses', 'http://127.0.0.1:2/geheim?k=geheim', 'ECONNREFUSED'],
  ['is not found', 'http://nobody.invalid/geheim?k=geheim', 'ENOTFOUND'],
])('a node that %s is named by the cause, without its key', async (_, url, reason) => {
  const pChain = createPChain({ url, headers: { 'x-api-key': 'geheim' } })
  await expect(pChain.validators([NODE])).rejects.toThrow(new EndpointError(reason))
})

test.each([
  ['several nodes', RECENT],
  ['one node, with its delegators', WITH_DELEGATORS],
  ['an earlier version', EARLIER],
  ['numbers', IN_NUMBERS],
])('an answer with %s gives connection and end of the stake', async (_form, validator) => {
  const { found } = await validatorsFrom([validator])
  expect(found).toEqual(new Map([[NODE, { connected: true, endsAt: new Date(END * 1000) }]]))
})

test('what a node leaves out is unknown, and a node that is not listed is absent', async () => {
  const { connected, ...silent } = RECENT
  expect(connected).toBe(true)
  const { found } = await validatorsFrom([{ ...silent, endTime: undefined }], [NODE, OTHER])
  expect(found).toEqual(new Map([[NODE, { connected: null, endsAt: null }]]))
})

test.each([
  ['an entry without a name', [RECENT, { ...RECENT, nodeID: undefined }]],
  ['an entry with a name of another kind', [{ ...RECENT, nodeID: 'P-flare1example' }]],
  ['no list', null],
  ['an object', { [NODE]: RECENT }],
])('an answer with %s is none, so nobody counts as gone', async (_form, validators) => {
  await expect(validatorsFrom(validators)).rejects.toThrow('malformed response')
})

/** What the script of examples/ says of a claim that NODE was not listed; `validators` is what the node answers. */
async function claimed(validators: unknown) {
  const { url } = await node({
    'platform.getHeight': { height: '12' },
    'platform.getBlockByHeight': ({ height }: { height: number }) => ({
      block: {
        time: 1_790_000_000 + height,
        parentID: '11111111111111111111111111111111LpoYY',
        height,
        txs: [],
      },
      encoding: 'json',
    }),
    'platform.getValidatorsAt': validators,
  })
  // 20 bytes of the node that the provider has.
  const word = 'bc32187e0ec1c6e655f95ba2d15f2f300587528c'.padEnd(64, '0')
  const protocol = {
    rpc: { block: async (number: number) => ({ number, at: 1_790_000_005 }) },
    contract: async () => '0x134b3311C6BdeD895556807a30C7f047D99DfdC2',
    view: async () => ['20', '1', word].map((text) => text.padStart(64, '0')),
  } as unknown as Protocol
  const claim = {
    kind: 'listing',
    block: 7,
    provider: `0x${'1'.repeat(40)}`,
    nodeIds: [NODE],
  } as const
  const alert = {
    chainId: 14,
    firedAt: '2026-09-21T14:13:25.000Z',
    data: {},
    blocks: null as never,
  }
  return listing(protocol, claim, alert, { pChain: `${url}/ext/bc/P` })
}

const KEYED = { publicKey: '0x8f95', weight: '5000000000000000' }

test.each([
  ['objects by node', { [OTHER]: KEYED }],
  ['weights by node', { validators: { [OTHER]: 2_000_000_000_000_000 } }],
  ['weights as texts', { validators: { [OTHER]: '2000000000000000' } }],
])('validators of a height as %s confirm that a node was not listed', async (_form, validators) => {
  await expect(claimed(validators)).resolves.toMatch(/no validator at height 5 /)
})

test.each([
  ['objects by node', { [NODE]: KEYED }],
  ['weights by node', { validators: { [NODE]: 2_000_000_000_000_000 } }],
])('validators of a height as %s refute it of one that was', async (_form, validators) => {
  await expect(claimed(validators)).rejects.toThrow(`${NODE} was a validator at height 5`)
})

test.each([
  ['no validator', {}],
  ['no validator in the list', { validators: {} }],
  ['no list', { validators: null }],
  ['something else', { height: '5' }],
])('an answer with %s confirms nothing', async (_form, validators) => {
  await expect(claimed(validators)).rejects.toThrow('the P-chain gives no validators')
})
