/** The steps that check evidence: what it names, and then its claim. */

import { mustBeBounded } from './bounds.ts'
import { type Beside, type Check, isEqual, must } from './claim.ts'
import { CHECKS } from './claims.ts'
import { checkEvent, type SilenceClaimed } from './events.ts'
import { checkData } from './figures.ts'
import { decodeEvidence, type Evidence, type Kind } from './file.ts'
import { createProtocol } from './protocol.ts'
import { checkSilence } from './round-claims.ts'
import { framesOf } from './rounds.ts'
import { createRpc, Refuted, type Rpc, Unchecked } from './rpc.ts'
import { checkMessage, statementOf } from './statement.ts'

/** The blocks that the evidence names must be those of the chain. */
async function checkBlocks(rpc: Rpc, { blocks }: Evidence): Promise<void> {
  for (const place of [blocks.first, blocks.last]) {
    if (place === null) continue
    const { hash, at } = await rpc.block(place.number)
    must(hash === place.hash, `block ${place.number} has the hash ${hash}`)
    must(at * 1000 === Date.parse(place.at), `block ${place.number} is of ${at}`)
  }
}

/** An alert is of the last block that was read for it, and so is its claim; a transaction may be of an earlier one. */
function checkTime({ blocks: { last }, firedAt, claim }: Evidence): void {
  if (claim.kind === 'failed-call') {
    must(last.number === claim.block, `the transaction is of block ${claim.block}`)
    return
  }
  must(last.at === firedAt, `the alert is of ${firedAt}, its block of ${last.at}`)
  if (!('block' in claim)) return
  // An update is judged with the round in which it was sent.
  const isOf = claim.kind === 'update' ? claim.block <= last.number : claim.block === last.number
  must(isOf, `the alert is of block ${last.number}`)
}

/** The transactions that the alert names must be in the evidence as they are in their blocks. */
async function checkTransactions(rpc: Rpc, evidence: Evidence): Promise<void> {
  const { data, transactions } = evidence
  const hashes = ['tx', 'submit1Tx', 'submit2Tx'].flatMap((name) => data[name] ?? [])
  must(
    isEqual(
      [...new Set(hashes)],
      transactions.map(({ hash }) => hash),
    ),
    `the alert names the transactions ${hashes.join(', ')}`,
  )
  for (const transaction of transactions) {
    const block = await rpc.block(transaction.block)
    const found = block.transactions[transaction.index]
    must(
      found?.hash === transaction.hash,
      `${transaction.hash} is not number ${transaction.index} of its block`,
    )
    must(
      block.hash === transaction.blockHash,
      `block ${transaction.block} has the hash ${block.hash}`,
    )
    const sender = found && rpc.sender(found)
    must(sender === transaction.sender, `${transaction.hash} was sent by ${sender}`)
    must(found?.to === transaction.receiver, `${transaction.hash} was sent to ${found?.to}`)
    must(found?.input === transaction.input, `${transaction.hash} has other calldata`)
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
    must(isEqual(frames, transaction.frames), `${transaction.hash} has other frames`)
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
    const evidence = decodeEvidence(json)
    stated = statementOf(evidence)
    return { code: 0, stated, said: `confirmed: ${await confirm(evidence, rpc, options)}` }
  } catch (error) {
    const isRefuted = error instanceof Refuted
    const line = `${isRefuted ? 'refuted' : 'not checked'}: ${(error as Error).message}`
    return { code: isRefuted ? 1 : 2, stated, said: line }
  }
}

async function confirm(
  evidence: Evidence,
  rpc: Rpc,
  { registry, message, ...beside }: CheckOptions,
): Promise<string> {
  const isCompared = message !== undefined
  if (isCompared) checkMessage(evidence, message)
  const left = checkData(evidence.data, evidence.claim)
  const silence = checkEvent(evidence)
  checkTime(evidence)
  mustBeBounded(evidence)
  const found = rpc.isAlone
    ? await onlyAsked(() => onChain(evidence, rpc, { registry, silence, beside }))
    : await onChain(evidence, rpc, { registry, silence, beside })
  // Only the message says which alert it is.
  const ofMessage = isCompared ? [] : ['alertId']
  // The alert of a transaction is later, and only the message says when.
  const time = !isCompared && evidence.claim.kind === 'failed-call' ? ['firedAt'] : []
  const unchecked = [...ofMessage, ...time, 'sources', ...left]
  const limits = limitsOf({ isCompared, taken: rpc.unproven(), unchecked })
  return `${found} (${limits.join('; ')})`
}

/** One endpoint alone decides nothing: it can show a chain of its own, and what contracts answer has no proof. */
async function onlyAsked(check: () => Promise<string>): Promise<never> {
  const answer = await check().catch((error: unknown) => {
    if (error instanceof Refuted) return `It contradicts: ${error.message}`
    throw error
  })
  const said = answer.startsWith('It contradicts') ? answer : `It agrees: ${answer}`
  throw new Unchecked(`one endpoint alone can lie: give a second one, of another host. ${said}`)
}

async function onChain(
  evidence: Evidence,
  rpc: Rpc,
  options: {
    readonly registry: string
    readonly silence: SilenceClaimed | undefined
    readonly beside: Beside
  },
): Promise<string> {
  const { registry, silence, beside } = options
  const { claim, chainId } = evidence
  const served = Number(await rpc.call('eth_chainId', []))
  if (served !== chainId) throw new Unchecked(`the endpoint is of chain ${served}`)
  await checkBlocks(rpc, evidence)
  await checkTransactions(rpc, evidence)
  const protocol = createProtocol(rpc, registry)
  const check = CHECKS[claim.kind] as Check<Kind>
  const found = await check(protocol, claim, evidence, beside)
  if (silence !== undefined && claim.kind === 'round') {
    await checkSilence(protocol, claim, chainId, silence)
  }
  return found
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
    ...(taken.length === 0 ? [] : [`taken from the endpoints: ${taken.join(', ')}`]),
    ...(unchecked.length === 0 ? [] : [`not checked: ${unchecked.join(', ')}`]),
  ]
}
