/** Reads what endpoints answer: receipts and their events, and what must be the same in the answers of all. */
import { keccak } from './keccak.ts'
import type { Fields } from './roots.ts'

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly block: number
  /** Place in the block. */
  readonly index: number
}

/** What a transaction did. */
export interface Receipt {
  readonly isReverted: boolean
  readonly gasUsed: number
  readonly logs: readonly Log[]
}

export interface LogFilter {
  readonly addresses: readonly string[]
  /** Alternatives by position; undefined: any. */
  readonly topics: readonly (readonly string[] | undefined)[]
}

/** Receipts of a block in order. Only what its root covers is read: not the numbers of logs, nor the gas of each. */
export function receiptsIn(raws: readonly Fields[], block: number): readonly Receipt[] {
  let [index, before] = [0, 0]
  return raws.map((raw) => {
    const total = Number(raw['cumulativeGasUsed'])
    const logs = (raw['logs'] as readonly Fields[]).map((log): Log => {
      index += 1
      const topics = (log['topics'] as readonly string[]).map(text)
      return { address: text(log['address']), topics, data: text(log['data']), block, index }
    })
    const gasUsed = total - before
    before = total
    return { isReverted: Number(raw['status']) !== 1, gasUsed, logs }
  })
}

/** What endpoints must agree on in an answer; programs add properties of their own. */
export function matterOf(method: string, answer: unknown): unknown {
  if (method === 'eth_getBlockReceipts') {
    const all = answer as readonly Fields[] | null
    return all?.map((receipt) => matterOf('eth_getTransactionReceipt', receipt))
  }
  if (method !== 'eth_getTransactionReceipt' || answer === null) return answer
  const some = answer as Fields
  const logs = (some['logs'] as readonly Fields[]).map(({ address, topics, data }) =>
    text(JSON.stringify([address, topics, data])),
  )
  return [Number(some['status']), Number(some['cumulativeGasUsed']), logs]
}

/** The senders that endpoints name may be unproven, and are compared; the rest of a raw transaction is in its hash. */
export function withoutRaw(key: string, value: unknown): unknown {
  return key === 'raw' ? undefined : value
}

/** A text of an answer in lower case: addresses and hashes have no other meaning in another case. */
export function text(value: unknown): string {
  return String(value).toLowerCase()
}

/** Whether an event is one that a filter asks for. */
export function fits({ addresses, topics }: LogFilter, log: Log): boolean {
  if (!addresses.includes(log.address)) return false
  return topics.every((some, at) => some === undefined || some.includes(log.topics[at] ?? ''))
}

/** Tells from the bloom filter of a block whether it may have an event of the filter. */
export function bloomTest({ addresses, topics }: LogFilter): (bloom: Buffer) => boolean {
  const bitsOf = (value: string) => {
    const hash = keccak(Buffer.from(value.slice(2), 'hex'))
    return [0, 2, 4].map((at) => hash.readUInt16BE(at) & 2047)
  }
  const wanted = [addresses, ...topics].flatMap((some) => (some ? [some.map(bitsOf)] : []))
  const has = (bloom: Buffer, bit: number) => ((bloom[255 - (bit >> 3)] ?? 0) >> (bit & 7)) & 1
  return (bloom) => wanted.every((any) => any.some((bits) => bits.every((bit) => has(bloom, bit))))
}
