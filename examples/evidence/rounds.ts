/** Collects the submissions, requests and results of voting rounds from blocks and events. */
import { numberOf, type Policy, type Protocol, word } from './protocol.ts'
import { unknownState } from './request.ts'
import { Unchecked } from './rpc.ts'
import {
  FDC,
  FTSO,
  nothing,
  type ProtocolId,
  type Round,
  type Seen,
  type Sent,
  type SettledRound,
  type Submissions,
  settle,
  type Windows,
} from './submissions.ts'

const SELECTORS: Readonly<Record<string, 'submit1' | 'submit2' | 'submitSignatures'>> = {
  '6c532fae': 'submit1',
  '9d00c9fd': 'submit2',
  '57eed580': 'submitSignatures',
}
const RELAYED = '0x4b781cfef3123d9257ab69e6e8ea36ad75a346d63c5ecf8a46931a0eef48bb9e'
const REQUESTED = '0x251377668af6553101c9bb094ba89c0c536783e005e203625e6cd57345918cc9'
/** Seconds after the end of a round in which reveals count, and up to which signatures are always paid. */
const REVEAL_SECONDS = 45
const GRACE_SECONDS = 60
/** Frames that name a round further away than this were not meant for it. */
const ROUNDS_AWAY = 2

export interface Frame {
  readonly protocol: number
  readonly round: number
  readonly payload: Buffer
}

function windowsOf(first: number, length: number, round: number): Windows {
  const start = first + round * length
  const end = start + length
  const [revealEnd, graceEnd] = [end + REVEAL_SECONDS, end + GRACE_SECONDS]
  return { start, end, revealEnd, graceEnd, complete: end + length }
}

/** Rounds to collect, and the reward epoch of the last. */
interface RoundSpan {
  readonly epoch: number
  readonly from: number
  readonly to: number
  readonly isPartial?: boolean | undefined
}

/** Decodes a submission; undefined for other calldata, or where a frame exceeds it. */
export function framesOf(input: string) {
  const name = SELECTORS[input.slice(2, 10)]
  if (name === undefined) return undefined
  const bytes = Buffer.from(input.slice(10), 'hex')
  const frames = new Map<number, Frame>()
  for (let at = 0; at < bytes.length; ) {
    if (at + 7 > bytes.length) return undefined
    const end = at + 7 + bytes.readUInt16BE(at + 5)
    if (end > bytes.length) return undefined
    const payload = bytes.subarray(at + 7, end)
    frames.set(bytes.readUInt8(at), {
      protocol: bytes.readUInt8(at),
      round: bytes.readUInt32BE(at + 1),
      payload,
    })
    at = end
  }
  return { name, frames: [...frames.values()] }
}

/**
 * The rounds `from` to `to`, complete, with their policies; `isPartial`: as far back as there are policies.
 *
 * @param others further contracts that may be former Submission contracts
 */
export async function collectRounds(
  protocol: Protocol,
  { epoch, from, to, isPartial = false }: RoundSpan,
  voter: string,
  others: readonly string[] = [],
): Promise<{
  readonly rounds: readonly SettledRound[]
  readonly blocks: readonly [number, number]
}> {
  const { first, length } = await protocol.clock()
  const policies = await policiesFor(protocol, { epoch, from, isPartial })
  const rounds = new Map<number, Round>()
  for (let round = from; round <= to; round += 1) {
    const policy = policies.findLast((policy) => policy.startRound <= round)
    if (policy === undefined && isPartial) continue
    if (policy === undefined) throw new Unchecked(`no signing policy of round ${round} is known`)
    const windows = windowsOf(first, length, round)
    rounds.set(round, { round, policy, windows, contracts: new Map(), requests: [], results: {} })
  }
  const earliest = rounds.keys().next().value ?? from
  const start = await protocol.firstBlockAt(windowsOf(first, length, earliest - ROUNDS_AWAY).start)
  const end = await protocol.firstBlockAt(windowsOf(first, length, to).complete)
  const roundAt = (at: number) => Math.floor((at - first) / length)
  const submission = new Set([...(await protocol.contracts('Submission', end)), ...others])
  const own = sendersOf(rounds, voter)
  const blocks = await protocol.rpc.blocks(start, end)
  const times = new Map(blocks.map(({ number, at }) => [number, at]))
  // The block that completes the last round belongs to the next.
  for (const block of blocks.slice(0, -1)) {
    for (const transaction of block.transactions) {
      const { to } = transaction
      if (to === null || !submission.has(to)) continue
      const sender = protocol.rpc.sender(transaction)
      // Whether it was reverted is asked for the judged provider; others' are taken from the blocks alone.
      if (own.has(sender) && (await isReverted(protocol, transaction.hash, block.number))) continue
      const { hash, input } = transaction
      add(rounds, roundAt(block.at), { hash, from: sender, to, input }, block.at)
    }
  }
  await addEvents(protocol, rounds, { start, end: end - 1, times, roundAt })
  return { rounds: [...rounds.values()].map(settle), blocks: [start, end] }
}

/** Addresses from which a provider submits in these rounds. */
function sendersOf(rounds: ReadonlyMap<number, Round>, voter: string): ReadonlySet<string> {
  const policies = new Set([...rounds.values()].map(({ policy }) => policy))
  const members = [...policies].flatMap((policy) => policy.members)
  const own = members.filter((member) => member.voter === voter)
  return new Set(own.flatMap(({ submit, submitSignatures }) => [submit, submitSignatures]))
}

async function isReverted({ rpc }: Protocol, hash: string, block: number): Promise<boolean> {
  return (await rpc.receipt(hash, block)).isReverted
}

/** The policy of the epoch and, for the rounds before it, those of the epochs before. */
async function policiesFor(
  protocol: Protocol,
  { epoch, from, isPartial }: Pick<RoundSpan, 'epoch' | 'from' | 'isPartial'>,
): Promise<readonly Policy[]> {
  const policies = [await protocol.policy(epoch)]
  for (let before = epoch - 1; (policies[0]?.startRound ?? 0) > from && before >= 0; before -= 1) {
    const read = protocol.policy(before)
    const known = await (isPartial ? read.catch(unknownState) : read)
    if (known === undefined) break
    policies.unshift(known)
  }
  return policies
}

async function addEvents(
  protocol: Protocol,
  rounds: ReadonlyMap<number, Round>,
  span: {
    readonly start: number
    readonly end: number
    readonly times: ReadonlyMap<number, number>
    readonly roundAt: (at: number) => number
  },
): Promise<void> {
  const { start, end, times, roundAt } = span
  const relays = await protocol.contracts('Relay', end)
  const hubs = await protocol.contracts('FdcHub', end)
  const relayed = {
    addresses: relays,
    topics: [[RELAYED], [FTSO, FDC].map((id) => `0x${word(id)}`)],
  }
  for (const log of await protocol.rpc.logs(relayed, start, end)) {
    const [, id, round] = log.topics
    const found = rounds.get(numberOf(round?.slice(2)))
    const [isSecure, root] = log.data.slice(2).match(/.{64}/g) ?? []
    const result = {
      isSecure: numberOf(isSecure) === 1,
      root: `0x${root}`,
      at: times.get(log.block) ?? 0,
    }
    if (found !== undefined && result.at < found.windows.complete) {
      found.results[numberOf(id?.slice(2)) as ProtocolId] ??= result
    }
  }
  const requested = { addresses: hubs, topics: [[REQUESTED]] }
  const requests = await protocol.rpc.logs(requested, start, end)
  for (const log of requests.toSorted((a, b) => a.block - b.block || a.index - b.index)) {
    const data = log.data.slice(2)
    const bytes = numberOf(data.slice(128, 192))
    rounds
      .get(roundAt(times.get(log.block) ?? 0))
      ?.requests.push(`0x${data.slice(192, 192 + 2 * bytes)}`)
  }
}

function add(
  rounds: ReadonlyMap<number, Round>,
  current: number,
  call: {
    readonly hash: string
    readonly from: string
    readonly to: string
    readonly input: string
  },
  at: number,
): void {
  const { hash, from, to, input } = call
  const submission = framesOf(input)
  for (const frame of submission?.frames ?? []) {
    const { protocol, payload } = frame
    if (protocol !== FTSO && protocol !== FDC) continue
    const isStray = submission?.name === 'submit1' && protocol === FDC
    const named =
      Math.abs(frame.round - current) > ROUNDS_AWAY ? undefined : rounds.get(frame.round)
    const found = named ?? (isStray ? rounds.get(current) : undefined)
    if (found === undefined || at >= found.windows.complete) continue
    const { windows, policy } = found
    const role = submission?.name === 'submitSignatures' ? 'submitSignatures' : 'submit'
    const place = policy.members.findLastIndex((member) => member[role] === from)
    if (place < 0) continue
    const all = found.contracts.get(to) ?? new Map<number, Submissions>()
    found.contracts.set(to, all)
    const own = all.get(place) ?? nothing()
    all.set(place, own)
    const sent = { payload, tx: hash, at, to }
    if (isStray) own.stray = sent
    else if (submission?.name === 'submit1') sort(own.commit, sent, windows.start, windows.end)
    else if (submission?.name === 'submit2') {
      sort(protocol === FTSO ? own.reveal : own.bitVote, sent, windows.end, windows.revealEnd)
    } else if (at < windows.revealEnd) {
      own.early[protocol] = sent
      if (protocol === FDC && at >= windows.end) own.withReveals.push(sent)
    } else if (at < windows.complete) own.signatures[protocol].push(sent)
  }
}

function sort(seen: Seen, sent: Sent, from: number, to: number): void {
  if (sent.at < from) seen.early = sent
  else if (sent.at < to) seen.inTime = sent
  else seen.late = sent
}
