/** Checks claims about validators on the P-chain. */
import { createHash } from 'node:crypto'
import { type Check, must } from './claim.ts'
import { addressWord, array, VIEWS, word } from './protocol.ts'
import { isRecord } from './published.ts'
import { request, Unchecked } from './request.ts'

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/**
 * Nodes of the provider that were no validators at the time of a block. The chain says whose nodes they are; who was a
 * validator is the answer of a node of the P-chain, which computes the set at any height.
 */
export const listing: Check<'listing'> = async (protocol, claim, _alert, { pChain }) => {
  const { provider, nodeIds: named } = claim
  const block = await protocol.rpc.block(claim.block)
  const entities = await protocol.contract('EntityManager')
  const data = VIEWS.nodeIdsAt + addressWord(provider) + word(block.number)
  const own = array(await protocol.view(entities, data), 0).map((text) =>
    nodeName(text.slice(0, 40)),
  )
  must(named.length > 0, 'the claim names no node')
  must(new Set(named).size === named.length, 'the claim names a node twice')
  for (const node of named) must(own.includes(node), `${node} was no node of the provider`)
  if (pChain === undefined) {
    throw new Unchecked('give the P-chain API of a node: --p-chain https://…/ext/bc/P')
  }
  const height = await heightAt(pChain, block.at)
  const validators = validatorsIn(await asked(pChain, 'platform.getValidatorsAt', { height }))
  for (const node of named) {
    must(!validators.includes(node), `${node} was a validator at height ${height}`)
  }
  return `${named.join(', ')}: no validator at height ${height} of the P-chain, as its node answers`
}

const NODE = /^NodeID-[1-9A-HJ-NP-Za-km-z]+$/

/**
 * The validators of a height. Nodes answer with weights by node in `validators`, or since they have keys with objects
 * by node. A network without any validator does not exist: such an answer proves nothing.
 */
function validatorsIn(answer: Readonly<Record<string, unknown>>): readonly string[] {
  const { validators = answer } = answer
  const nodes = isRecord(validators) ? Object.keys(validators) : []
  if (nodes.length === 0 || nodes.some((node) => !NODE.test(node))) {
    throw new Unchecked('the P-chain gives no validators')
  }
  return nodes
}

/** The last height of the P-chain at a time. */
async function heightAt(url: string, seconds: number): Promise<number> {
  const timeOf = async (height: number) => {
    const { block } = await asked(url, 'platform.getBlockByHeight', { height, encoding: 'json' })
    const time = isRecord(block) ? Number(block['time']) : Number.NaN
    if (Number.isNaN(time)) throw new Unchecked(`block ${height} of the P-chain has no time`)
    return time
  }
  let low = 0
  let high = Number((await asked(url, 'platform.getHeight', {}))['height'])
  if (!Number.isSafeInteger(high)) throw new Unchecked('the P-chain gives no height')
  // Blocks before a certain one have no time: the search begins at the end, with growing steps.
  for (let step = 1; (await timeOf(high)) > seconds; step *= 2) {
    low = Math.max(0, high - step)
    if ((await timeOf(low)) <= seconds) break
    if (low === 0) throw new Unchecked('the P-chain begins after the time of the claim')
    high = low
  }
  if ((await timeOf(high)) <= seconds) return high
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await timeOf(middle)) <= seconds) low = middle
    else high = middle
  }
  return low
}

async function asked(
  url: string,
  method: string,
  params: object,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const answer = await request(url, method, params)
    if (isRecord(answer)) return answer
  } catch (error) {
    throw new Unchecked(`${method}: ${(error as Error).message}`)
  }
  throw new Unchecked(`${method} gives no object`)
}

/** The text of a node: its 20 bytes with a check sum, in base 58. */
function nodeName(hex: string): string {
  const id = Buffer.from(hex, 'hex')
  const sum = createHash('sha256').update(id).digest().subarray(-4)
  const bytes = Buffer.concat([id, sum])
  let value = BigInt(`0x${bytes.toString('hex')}`)
  let name = ''
  for (; value > 0n; value /= 58n) name = `${DIGITS[Number(value % 58n)]}${name}`
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return `NodeID-${'1'.repeat(Math.max(0, zeros))}${name}`
}
