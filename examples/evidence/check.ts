/** The steps that check evidence: what it names, and then its claim. */

import type { Beside, Claim } from './claim.ts'
import { CHECKS } from './claims.ts'
import { checkEvent } from './events.ts'
import { checkAge } from './fast-updates.ts'
import { checkData, checkSubject } from './figures.ts'
import { createProtocol } from './protocol.ts'
import { checkSilence, checkTimes } from './round-claims.ts'
import { framesOf } from './rounds.ts'
import { createRpc, Refuted, type Rpc, Unchecked } from './rpc.ts'
import { checkMessage, type StatedAlert, statementOf } from './statement.ts'

const VERSION = 1

interface Place {
  readonly number: number
  readonly hash: string
  readonly at: string
}

interface Transaction {
  readonly hash: string
  readonly block: number
  readonly blockHash: string
  readonly index: number
  readonly sender: string
  readonly receiver: string | null
  readonly input: string
  readonly function: string | null
  readonly frames: readonly { protocol: number; round: number; bytes: number; payload: string }[]
}

interface Evidence extends StatedAlert {
  readonly version: number
  readonly rule: string | null
  readonly unproven: string | null
  readonly blocks: { readonly first: Place | null; readonly last: Place } | null
  readonly transactions: readonly Transaction[]
}

function must(holds: boolean, contradiction: string): void {
  if (!holds) throw new Refuted(contradiction)
}

const lower = (value: unknown) => String(value).toLowerCase()

/** The blocks that the evidence names must be those of the chain. */
async function checkBlocks(rpc: Rpc, { blocks }: Evidence): Promise<void> {
  for (const place of [blocks?.first, blocks?.last]) {
    if (!place) continue
    const { hash, at } = await rpc.block(place.number)
    must(hash === lower(place.hash), `block ${place.number} has the hash ${hash}`)
    must(at * 1000 === Date.parse(place.at), `block ${place.number} is of ${at}`)
  }
}

/**
 * An alert is of the last block that was read for it, and so is its claim; a transaction may be of an earlier one.
 *
 * @returns whether this says when the alert was raised
 */
function checkTime({ blocks, firedAt }: Evidence, claim: Claim): boolean {
  if (blocks === null || claim['kind'] === 'failed-call') return false
  const { at, number } = blocks.last
  must(Date.parse(at) === Date.parse(firedAt), `the alert is of ${firedAt}, its block of ${at}`)
  const block = claim['block'] ?? number
  // An update is judged with the round in which it was sent.
  const isOf = claim['kind'] === 'update' ? Number(block) <= number : block === number
  must(isOf, `the alert is of block ${number}`)
  return true
}

/** The transactions that the alert names must be in the evidence as they are in their blocks. */
async function checkTransactions(rpc: Rpc, evidence: Evidence): Promise<void> {
  const { data, transactions } = evidence
  for (const name of ['tx', 'submit1Tx', 'submit2Tx']) {
    const hash = data[name]
    if (typeof hash !== 'string') continue
    must(
      transactions.some((transaction) => lower(transaction.hash) === lower(hash)),
      `transaction ${hash} is missing from the evidence`,
    )
  }
  for (const transaction of transactions) {
    const block = await rpc.block(transaction.block)
    const found = block.transactions[transaction.index]
    must(
      lower(found?.hash) === lower(transaction.hash),
      `${transaction.hash} is not number ${transaction.index} of its block`,
    )
    must(
      block.hash === lower(transaction.blockHash),
      `block ${transaction.block} has the hash ${block.hash}`,
    )
    const sender = found && rpc.sender(found)
    must(sender === lower(transaction.sender), `${transaction.hash} was sent by ${sender}`)
    must(
      lower(found?.to) === lower(transaction.receiver),
      `${transaction.hash} was sent to ${found?.to}`,
    )
    must(lower(found?.input) === lower(transaction.input), `${transaction.hash} has other calldata`)
    const submission = framesOf(transaction.input)
    must(
      transaction.function === (submission?.name ?? null),
      `${transaction.hash} calls ${submission?.name}`,
    )
    const frames = (submission?.frames ?? []).map(({ protocol, round, payload }) => ({
      protocol,
      round,
      bytes: payload.length,
      payload: `0x${payload.toString('hex')}`,
    }))
    must(
      JSON.stringify(frames) === JSON.stringify(transaction.frames),
      `${transaction.hash} has other frames`,
    )
  }
}

/** What the chain says of a claim; 0: confirmed, 1: refuted, 2: not checked. */
export interface EvidenceVerdict {
  readonly code: 0 | 1 | 2
  /** What the file states; empty where it cannot be read. */
  readonly stated: readonly string[]
  readonly said: string
}

/** What evidence is checked with beside the endpoints. */
export interface CheckOptions extends Beside {
  readonly registry: string
  /** Body of the webhook of the alert. */
  readonly message?: string | undefined
}

/** Checks the JSON of evidence against these endpoints, and what is published beside the chain. */
export function checkEvidence(
  json: string,
  urls: readonly string[],
  options: CheckOptions,
): Promise<EvidenceVerdict> {
  return checkWith(json, createRpc(urls), options)
}

/** Checks the JSON of evidence with a client of endpoints, which keeps the blocks that it has read and checked. */
export async function checkWith(
  json: string,
  rpc: Rpc,
  options: CheckOptions,
): Promise<EvidenceVerdict> {
  let stated: readonly string[] = []
  try {
    const evidence = read(json)
    stated = statementOf(evidence)
    return { code: 0, stated, said: `confirmed: ${await confirm(evidence, rpc, options)}` }
  } catch (error) {
    const isRefuted = error instanceof Refuted
    const line = `${isRefuted ? 'refuted' : 'not checked'}: ${(error as Error).message}`
    return { code: isRefuted ? 1 : 2, stated, said: line }
  }
}

function read(json: string): Evidence {
  const evidence = JSON.parse(json) as Evidence | null
  if (evidence?.version !== VERSION)
    throw new Unchecked(`version ${evidence?.version} is not known here`)
  return evidence
}

async function confirm(
  evidence: Evidence,
  rpc: Rpc,
  { registry, message, ...beside }: CheckOptions,
): Promise<string> {
  if (message !== undefined) checkMessage(evidence, message)
  const { claim } = evidence
  if (claim === null) throw new Unchecked(`the chain alone does not prove it: ${evidence.unproven}`)
  const kind = String(claim['kind'])
  // A kind such as `constructor` must not find what every object has.
  const check = Object.hasOwn(CHECKS, kind) ? CHECKS[kind] : undefined
  if (check === undefined) throw new Unchecked(`claims of the kind ${kind} are not known here`)
  const chainId = Number(await rpc.call('eth_chainId', []))
  if (chainId !== evidence.chainId) throw new Unchecked(`the endpoint is of chain ${chainId}`)
  const left = checkData(evidence.data, claim)
  const silence = checkEvent(evidence, claim)
  await checkBlocks(rpc, evidence)
  const isTimed = checkTime(evidence, claim)
  await checkTransactions(rpc, evidence)
  const protocol = createProtocol(rpc, registry)
  const found = await check(protocol, claim, chainId, beside)
  if (silence !== undefined) await checkSilence(protocol, claim, chainId, silence)
  if (kind === 'update') await checkAge(protocol, claim, evidence.firedAt)
  if (kind === 'round') await checkTimes(protocol, claim, evidence.data)
  checkSubject(evidence.data, claim)
  // Only the message says which alert it is.
  const ofMessage = message === undefined ? ['alertId', ...(isTimed ? [] : ['firedAt'])] : []
  const unchecked = [...ofMessage, ...left]
  const isCompared = message !== undefined
  const limits = limitsOf({ isCompared, taken: rpc.unproven(), unchecked })
  return limits.length === 0 ? found : `${found} (${limits.join('; ')})`
}

/** What a confirmation does not say, in words. */
export function limitsOf(checked: {
  /** Whether the file was compared with the message that was received. */
  readonly isCompared: boolean
  readonly taken: readonly string[]
  readonly unchecked: readonly string[]
}): readonly string[] {
  const { isCompared, taken, unchecked } = checked
  return [
    ...(isCompared
      ? []
      : ['of this file alone: compare its statement with your message, or give --message']),
    ...(taken.length === 0 ? [] : [`taken from the endpoint: ${taken.join(', ')}`]),
    ...(unchecked.length === 0 ? [] : [`not checked: ${unchecked.join(', ')}`]),
  ]
}
