/** Checks claims about the length of a fast update: who signed it, how many feeds it covers, and how many there are. */
import { createHash } from 'node:crypto'
import { type Check, must, mustBeOf } from './claim.ts'
import { keccak } from './keccak.ts'
import { array, numberOf, type Protocol, VIEWS } from './protocol.ts'
import { unknownState } from './request.ts'
import { Refuted, Unchecked } from './rpc.ts'
import { recoverSigner } from './secp256k1.ts'

/** `FastUpdateFeedsSubmitted`: the FastUpdater accepted an update. */
export const UPDATED = '0x63db91b14b3d088c677f046180aefcea7a236649704d90ce810cde455d38d936'
/** Rounds for which a provider may be judged by the policy of the reward epoch before. */
export const EPOCH_SLACK = 20

/** `submitAndPass` of Submission, and `submitUpdates` of the FastUpdater. */
const PASSED = '0x833bf6c0'
const DIRECT = '0x470e91df'
const WORD = 32
const FEEDS_PER_BYTE = 4

/** An update for more feeds than there are. */
export const update: Check<'update'> = async (protocol, claim, { firedAt }) => {
  const { rpc } = protocol
  const { transaction: hash, rewardEpoch: epoch, feedsSent: feeds, feedCount: count } = claim
  const block = await rpc.block(claim.block)
  await checkAge(protocol, { at: block.at, what: `${hash} was sent` }, firedAt)
  const found = block.transactions.find((transaction) => transaction.hash === hash)
  if (found === undefined) throw new Refuted(`block ${block.number} has no transaction ${hash}`)
  const contract = found.input.startsWith(PASSED) ? 'Submission' : 'FastUpdater'
  const places = await protocol.contracts(contract, block.number)
  must(places.includes(String(found.to)), `it was not sent to ${contract}`)
  const sent = decode(found.input)
  if (sent === undefined) throw new Refuted('the transaction is no fast update')
  await checkWindow(protocol, sent.sortitionBlock, block.number)
  const { members } = await protocol.policy(epoch)
  const member = members.find(({ voter }) => voter === claim.provider)
  if (member === undefined) throw new Refuted('the provider is not in the signing policy')
  must(sent.signer === member.signingPolicy, `the update is signed by ${sent.signer}`)
  const { first, length } = await protocol.clock()
  await mustBeOf(protocol, epoch, Math.floor((block.at - first) / length), EPOCH_SLACK)
  must(sent.feeds === feeds, `the update covers ${sent.feeds} feeds`)
  must(feeds > count, `${feeds} feeds are not more than ${count}`)
  await checkCount(protocol, count, block.number)
  const isAccepted = await wasAccepted(protocol, hash, block.number, member.signingPolicy)
  must(isAccepted === claim.isAccepted, `it was ${isAccepted ? 'accepted' : 'not accepted'}`)
  return `${hash} covers ${feeds} feeds, and there are ${count}`
}

/** Rounds within which a transaction is judged. */
const JUDGED_ROUNDS = 3

/** An alert is about what happened since the last judgement, not about something earlier. */
export async function checkAge(
  protocol: Protocol,
  { at, what }: { readonly at: number; readonly what: string },
  firedAt: string,
): Promise<void> {
  const { length } = await protocol.clock()
  const age = Date.parse(firedAt) / 1000 - at
  must(age >= 0, `${what} after the alert`)
  if (!(age <= JUDGED_ROUNDS * length)) {
    throw new Unchecked(`${what} ${age} seconds before the alert`)
  }
}

/** Anybody can send an update again that a provider signed: it must be for this block or one shortly before it. */
async function checkWindow(protocol: Protocol, signed: number, block: number): Promise<void> {
  const updater = await protocol.contract('FastUpdater')
  const read = async (at?: number) =>
    (await protocol.view(updater, VIEWS.submissionWindow, at))?.[0]
  const then = await read(block).catch(unknownState)
  const window = then ?? (await read())
  if (window === undefined) throw new Unchecked('the submission window cannot be read')
  if (signed <= block && block < signed + numberOf(window)) return
  const blocks = `the update is for block ${signed} and was sent in block ${block}`
  // The window may have been longer at that block.
  if (signed <= block && then === undefined)
    throw new Unchecked(`${blocks}, too late by the window of now`)
  throw new Refuted(`${blocks}, as anybody can do`)
}

/** The feeds must be as many as now, or as at the end of the block. @throws Unchecked where only other ones are known */
async function checkCount(protocol: Protocol, count: number, block: number): Promise<void> {
  const configuration = await protocol.contract('FastUpdatesConfiguration')
  const read = async (at?: number) =>
    array(await protocol.view(configuration, VIEWS.feedIds, at), 0).length || undefined
  const [then, now] = [await read(block).catch(unknownState), await read()]
  if (count === then || count === now) return
  if (then !== undefined) throw new Refuted(`there were ${then} feeds`)
  throw new Unchecked(`how many feeds there were at block ${block} is not known here`)
}

async function wasAccepted(
  protocol: Protocol,
  hash: string,
  block: number,
  signer: string,
): Promise<boolean> {
  const { logs } = await protocol.rpc.receipt(hash, block)
  const updaters = await protocol.contracts('FastUpdater', block)
  return logs.some(({ address, topics: [topic, , indexed] }) => {
    return updaters.includes(address) && topic === UPDATED && `0x${indexed?.slice(26)}` === signer
  })
}

/** The block for which an update is, its signer and the number of feeds it covers; undefined for other calldata. */
function decode(input: string) {
  const selector = input.slice(0, 10)
  const calldata = Buffer.from(input.slice(10), 'hex')
  const bytes =
    selector === PASSED ? bytesAt(calldata, 0) : selector === DIRECT ? calldata : undefined
  const start = bytes && numberAt(bytes, 0)
  if (bytes === undefined || start === undefined) return undefined
  const tuple = bytes.subarray(start)
  const [sortitionBlock, deltas] = [numberAt(tuple, 0), bytesAt(tuple, 6)]
  const signature = tuple.subarray(8 * WORD, 10 * WORD)
  if (sortitionBlock === undefined || deltas === undefined) return undefined
  if (signature.length < 2 * WORD) return undefined
  const v = numberAt(tuple, 7) ?? 0
  const padding = Buffer.alloc((WORD - (deltas.length % WORD)) % WORD)
  // The block, the five words of the credential, and the bytes, whose place is the seventh word.
  const encoded = [
    tuple.subarray(0, 6 * WORD),
    word(7 * WORD),
    word(deltas.length),
    deltas,
    padding,
  ]
  const sha256 = createHash('sha256').update(Buffer.concat(encoded)).digest()
  const prefix = Buffer.from('\x19Ethereum Signed Message:\n32')
  const digest = keccak(Buffer.concat([prefix, sha256]))
  return {
    sortitionBlock,
    signer: recoverSigner(digest, signature, v >= 27 ? v - 27 : v),
    feeds: feedsIn(deltas),
  }
}

/** The feeds that the bytes cover: pairs of zeros that fill the last byte do not count. */
function feedsIn(deltas: Buffer): number {
  const last = deltas.at(-1)
  if (last === undefined) return 0
  let used = FEEDS_PER_BYTE
  while (used > 1 && ((last >> (2 * (FEEDS_PER_BYTE - used))) & 3) === 0) used -= 1
  return FEEDS_PER_BYTE * (deltas.length - 1) + used
}

function word(value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * WORD, '0'), 'hex')
}

/** A number in a word; undefined where there is none, or none that can be a place. */
function numberAt(bytes: Buffer, place: number): number | undefined {
  const word = bytes.subarray(place * WORD, (place + 1) * WORD)
  const value = word.length < WORD ? Number.NaN : numberOf(word.toString('hex'))
  return Number.isSafeInteger(value) ? value : undefined
}

/** The bytes to which a word points. */
function bytesAt(bytes: Buffer, place: number): Buffer | undefined {
  const start = numberAt(bytes, place)
  const length = start === undefined ? undefined : numberAt(bytes.subarray(start), 0)
  if (start === undefined || length === undefined) return undefined
  const found = bytes.subarray(start + WORD, start + WORD + length)
  return found.length === length ? found : undefined
}
