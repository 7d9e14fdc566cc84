/** Roots and hashes of blocks, computed from their content. */
import { type Item, keccak, numberBytes, rlp } from './keccak.ts'
import { recoverSigner } from './secp256k1.ts'

export type Fields = Record<string, unknown>

function bytes(value: unknown): Buffer {
  return Buffer.from(String(value ?? '0x').slice(2), 'hex')
}

function number(value: unknown): Buffer {
  return numberBytes(BigInt(String(value ?? '0x0')))
}

/** The access list of a transaction. */
function accessList(value: unknown): Item {
  const entries = (value ?? []) as readonly { address: string; storageKeys: readonly string[] }[]
  return entries.map(({ address, storageKeys }) => [bytes(address), storageKeys.map(bytes)])
}

/** The parts of a transaction before its signature; undefined for a type that this script does not know. */
function unsigned(fields: Fields): { readonly type: number; readonly items: Item[] } | undefined {
  const type = Number(fields['type'] ?? 0)
  if (type > 2) return undefined
  const called = [
    number(fields['gas']),
    bytes(fields['to']),
    number(fields['value']),
    bytes(fields['input']),
  ]
  const nonce = number(fields['nonce'])
  if (type === 0) return { type, items: [nonce, number(fields['gasPrice']), ...called] }
  const fees =
    type === 1
      ? [number(fields['gasPrice'])]
      : [number(fields['maxPriorityFeePerGas']), number(fields['maxFeePerGas'])]
  const list = accessList(fields['accessList'])
  return { type, items: [number(fields['chainId']), nonce, ...fees, ...called, list] }
}

/** Items of a transaction as bytes, after its type if it has one. */
function typed(type: number, items: Item): Buffer {
  return type === 0 ? rlp(items) : Buffer.concat([Buffer.from([type]), rlp(items)])
}

/** The signed form of a transaction; undefined for a type that this script does not know. */
function encoded(fields: Fields): Buffer | undefined {
  const parts = unsigned(fields)
  if (parts === undefined) return undefined
  const { type, items } = parts
  const v = type === 0 ? number(fields['v']) : number(fields['yParity'] ?? fields['v'])
  return typed(type, [...items, v, number(fields['r']), number(fields['s'])])
}

/** The hash of a transaction; undefined for a type that this script does not know. */
export function hashOf(fields: Fields): string | undefined {
  const whole = encoded(fields)
  return whole && `0x${keccak(whole).toString('hex')}`
}

/** Senders that were computed before: several steps of a check read the same blocks. */
const senders = new WeakMap<Fields, string | undefined>()

/** Who signed a transaction; undefined for an unknown type, and for a chain whose transactions have no signatures. */
export function senderOf(fields: Fields): string | undefined {
  if (!senders.has(fields)) senders.set(fields, recoverSender(fields))
  return senders.get(fields)
}

function recoverSender(fields: Fields): string | undefined {
  const parts = unsigned(fields)
  if (parts === undefined) return undefined
  const { type, items } = parts
  const v = Number(fields[type === 0 ? 'v' : fields['yParity'] === undefined ? 'v' : 'yParity'])
  // Since EIP-155 the signature covers the id of the chain.
  const chain =
    type === 0 && v >= 35
      ? [numberBytes(BigInt(Math.floor((v - 35) / 2))), Buffer.alloc(0), Buffer.alloc(0)]
      : []
  const recovery = type !== 0 ? v : v >= 35 ? (v - 35) % 2 : v - 27
  const digest = keccak(typed(type, [...items, ...chain]))
  const scalar = (value: unknown) =>
    Buffer.from(
      BigInt(String(value ?? '0x0'))
        .toString(16)
        .padStart(64, '0'),
      'hex',
    )
  return recoverSigner(digest, Buffer.concat([scalar(fields['r']), scalar(fields['s'])]), recovery)
}

/** Root of a block's receipts. */
export function receiptsRoot(receipts: readonly Fields[]): string {
  const values = receipts.map((receipt) => {
    const logs = (receipt['logs'] as readonly Fields[]).map(
      (log): Item => [
        bytes(log['address']),
        (log['topics'] as readonly string[]).map(bytes),
        bytes(log['data']),
      ],
    )
    const items = [
      number(receipt['status']),
      number(receipt['cumulativeGasUsed']),
      bytes(receipt['logsBloom']),
    ]
    return typed(Number(receipt['type'] ?? 0), [...items, logs])
  })
  return trieRoot(values)
}

/** Root of a block's transactions; undefined where one is of an unknown type. */
export function transactionsRoot(transactions: readonly Fields[]): string | undefined {
  const all = transactions.map(encoded)
  const known = all.filter((value) => value !== undefined)
  return known.length < all.length ? undefined : trieRoot(known)
}

/** Root of the trie of these values by their places. */
function trieRoot(values: readonly Buffer[]): string {
  const leaves = values.map(
    (value, index): Leaf => [nibbles(rlp(numberBytes(BigInt(index)))), value],
  )
  const root = leaves.length === 0 ? Buffer.alloc(0) : node(leaves, 0)
  return `0x${keccak(rlp(root)).toString('hex')}`
}

type Leaf = readonly [number[], Buffer]

function nibbles(key: Buffer): number[] {
  return [...key].flatMap((byte) => [byte >> 4, byte & 15])
}

/** The node of a trie over these leaves below a depth. */
function node(leaves: readonly Leaf[], depth: number): Item {
  const [first, ...others] = leaves
  if (first === undefined) return Buffer.alloc(0)
  if (others.length === 0) return [path(first[0].slice(depth), true), first[1]]
  let shared = depth
  while (others.every(([key]) => key[shared] !== undefined && key[shared] === first[0][shared])) {
    shared += 1
  }
  if (shared > depth)
    return [path(first[0].slice(depth, shared), false), reference(node(leaves, shared))]
  const branches = Array.from({ length: 16 }, (_, digit) =>
    reference(
      node(
        leaves.filter(([key]) => key[depth] === digit),
        depth + 1,
      ),
    ),
  )
  const ending = leaves.find(([key]) => key.length === depth)
  return [...branches, ending?.[1] ?? Buffer.alloc(0)]
}

function path(part: readonly number[], isLeaf: boolean): Buffer {
  const flag = (isLeaf ? 2 : 0) + (part.length % 2)
  const all = part.length % 2 === 0 ? [flag, 0, ...part] : [flag, ...part]
  return Buffer.from(all.map((digit) => digit.toString(16)).join(''), 'hex')
}

/** A node inside another: itself if it is short, else its hash. */
function reference(item: Item): Item {
  if (item instanceof Uint8Array && item.length === 0) return item
  const whole = rlp(item)
  return whole.length < 32 ? item : keccak(whole)
}

const COMMON = [
  ['parentHash', bytes],
  ['sha3Uncles', bytes],
  ['miner', bytes],
  ['stateRoot', bytes],
  ['transactionsRoot', bytes],
  ['receiptsRoot', bytes],
  ['logsBloom', bytes],
  ['difficulty', number],
  ['number', number],
  ['gasLimit', number],
  ['gasUsed', number],
  ['timestamp', number],
  ['extraData', bytes],
  ['mixHash', bytes],
  ['nonce', bytes],
] as const
const ETHEREUM = [
  ['baseFeePerGas', number],
  ['withdrawalsRoot', bytes],
  ['blobGasUsed', number],
  ['excessBlobGas', number],
  ['parentBeaconBlockRoot', bytes],
  ['requestsHash', bytes],
] as const
/** Fields of the C-chains of Avalanche and Flare. */
const C_CHAIN = [
  ['extDataHash', bytes],
  ['baseFeePerGas', number],
  ['extDataGasUsed', number],
  ['blockGasCost', number],
  ['blobGasUsed', number],
  ['excessBlobGas', number],
  ['parentBeaconBlockRoot', bytes],
  ['timestampMilliseconds', number],
  ['minDelayExcess', number],
] as const

/** Whether a header has this hash, in one of the forms of headers known here. */
export function hasHash(header: Fields, hash: string): boolean {
  return [ETHEREUM, C_CHAIN].some((further) => {
    const present = further.filter(([name]) => header[name] !== undefined && header[name] !== null)
    const items = [...COMMON, ...present].map(([name, read]) => read(header[name]))
    return `0x${keccak(rlp(items)).toString('hex')}` === hash
  })
}
