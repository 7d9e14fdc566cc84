/** Checks claims about voting rounds. */
import { anchorsOf, feedVerdict } from './anchors.ts'
import { type Check, isEqual, must, mustBeOf, type OfAlert } from './claim.ts'
import type { SilenceClaimed } from './events.ts'
import type { ClaimOf } from './file.ts'
import { judge, type Verdict } from './judge.ts'
import { numberOf, type Protocol, VIEWS } from './protocol.ts'
import { collectRounds } from './rounds.ts'
import { Unchecked } from './rpc.ts'
import type { SettledRound as Round } from './submissions.ts'

/** Rounds that a block may complete at once, where the chain stood still. */
const GAP_MAX = 80
/** Rounds of which the blocks are kept at a time. */
const ROUNDS_AT_ONCE = 40

function placeOf(round: Round, voter: string): number {
  const place = round.policy.members.findIndex((member) => member.voter === voter)
  must(place >= 0, `the provider is not in the signing policy of round ${round.round}`)
  return place
}

/** The worst verdict of several checks: bad, then good, then unknown. */
function worst(all: readonly Verdict[]): Verdict {
  return all.find((verdict) => verdict) ?? all.find((verdict) => verdict === null)
}

/**
 * Where the alert says it was sent, which is no contract of the protocol; the chain tells whether it was sent
 * there.
 */
function elsewhereOf({ values: { sentTo } }: ClaimOf<'round'>): readonly string[] {
  return sentTo === undefined ? [] : [sentTo]
}

/**
 * An alert is of the block that completed its round: the first one after signatures for it count no longer.
 *
 * @returns the last round that this block completed, which is a later one where the chain stood still
 */
async function mustBeJudged(
  protocol: Protocol,
  round: number,
  { firedAt, blocks: { last } }: OfAlert,
): Promise<number> {
  const { first, length } = await protocol.clock()
  // Signatures count until the end of the next round.
  const complete = first + (round + 2) * length
  const at = Date.parse(firedAt) / 1000
  must(at >= complete, `round ${round} was not complete at ${firedAt}`)
  const before = await protocol.rpc.block(Math.max(0, last.number - 1))
  if (before.at >= complete) {
    throw new Unchecked(`round ${round} was complete before block ${last.number}`)
  }
  return Math.floor((at - first) / length) - 2
}

/** Whose duties are judged, and which. */
interface Judged {
  readonly voter: string
  readonly checks: readonly string[]
  readonly chainId: number
}

/** The verdicts of checks in a round; none where the round has no such duty. */
function verdictsOf(round: Round, { voter, checks, chainId }: Judged): readonly Verdict[] {
  const place = placeOf(round, voter)
  const all: Readonly<Record<string, Verdict>> = {
    ...judge(round, place, chainId),
    feedValues: feedVerdict(round, place),
  }
  // A round without requests has no duty in the FDC.
  return checks.some((check) => check in all) ? checks.map((check) => all[check]) : []
}

/**
 * Counts the bad rounds in a row up to the last, and the most of them before. Refutes rounds of which the first is not
 * bad, and rounds with one in which every check that was bad has been good: there, the streak ended.
 */
function streakOf(
  rounds: readonly Round[],
  judged: Judged,
): { readonly run: number; readonly longest: number } {
  let [run, longest] = [0, 0]
  let bad: readonly string[] = []
  for (const [index, round] of rounds.entries()) {
    const verdicts = verdictsOf(round, judged)
    const isBad = Boolean(worst(verdicts))
    must(index > 0 || isBad, `round ${round.round} is not bad, so that nothing began with it`)
    if (verdicts.length === 0) continue
    run = isBad ? run + 1 : 0
    longest = Math.max(longest, run)
    bad = judged.checks.filter((check, at) => {
      const verdict = verdicts[at]
      return verdict || (verdict === undefined && bad.includes(check))
    })
    const isGood = bad.length === 0 && verdicts.includes(null)
    must(!isGood, `round ${round.round} is good, so that the bad rounds began after it`)
  }
  return { run, longest }
}

/** Duties that were missed in several rounds in a row. */
export const round: Check<'round'> = async (protocol, claim, alert) => {
  const { round: last, streak, required, firstRound: first, rewardEpoch: epoch } = claim
  const { provider: voter, checks } = claim
  must(streak >= 1, 'there is no bad round')
  must(last + 1 - first >= streak, 'the streak is longer than its rounds')
  await mustBeOf(protocol, epoch, last)
  await mustBeJudged(protocol, last, alert)
  await checkTimes(protocol, claim, alert.data)
  const judged = { voter, checks, chainId: alert.chainId }
  const span = { epoch, from: first, to: last }
  const { rounds, blocks } = await collectRounds(protocol, span, voter, elsewhereOf(claim))
  const verdicts = rounds.slice(-1).flatMap((round) => verdictsOf(round, judged))
  const worstVerdict = JSON.stringify(worst(verdicts) ?? 'that the duty was fulfilled')
  must(
    verdicts.some((verdict) => verdict && isEqual(verdict, claim.values)),
    `in round ${last} the chain says ${worstVerdict}`,
  )
  const { run, longest } = streakOf(rounds, judged)
  must(run >= streak, `only ${run} rounds in a row are bad, not ${streak}`)
  must(longest >= required, `only ${longest} of ${required} rounds are bad`)
  if (run > streak) {
    throw new Unchecked(
      `${run} rounds in a row are bad, not ${streak}: the service left out rounds that it was not sure of, or lies`,
    )
  }
  return `${run} rounds in a row up to ${last} are bad (${checks.join(', ')}), in blocks ${blocks.join(' to ')}`
}

/** The times of an alert about rounds must be those at which its rounds began. */
async function checkTimes(
  protocol: Protocol,
  claim: ClaimOf<'round'>,
  data: OfAlert['data'],
): Promise<void> {
  const { first, length } = await protocol.clock()
  const times = { since: claim.firstRound, roundStart: claim.round }
  for (const [name, of] of Object.entries(times)) {
    const at = first + of * length
    const isSame = Date.parse(String(data[name])) === 1000 * at
    must(
      isSame,
      `the alert says ${JSON.stringify(data[name])} for ${name}, the round began at ${at}`,
    )
  }
}

/** Duties of every round, and those of a round with attestation requests. */
const ALWAYS = ['commit', 'reveal', 'signature'] as const
const ON_REQUEST = ['bitVote', 'fdcSignature'] as const

/** Whether the provider sent nothing at all in the last rounds, which makes an alert critical. */
export async function checkSilence(
  protocol: Protocol,
  claim: ClaimOf<'round'>,
  chainId: number,
  { rounds: count, isSilent }: SilenceClaimed,
): Promise<void> {
  const { round: last, rewardEpoch: epoch, provider: voter } = claim
  const span = { epoch, from: last + 1 - count, to: last, isPartial: true }
  const { rounds } = await collectRounds(protocol, span, voter, elsewhereOf(claim))
  const silent = rounds.filter((round) => {
    const place = round.policy.members.findIndex((member) => member.voter === voter)
    if (place < 0) return false
    const all = judge(round, place, chainId)
    const isMissed = (name: string) => all[name]?.['reason'] === 'missing'
    return (
      ALWAYS.every(isMissed) && ON_REQUEST.filter((name) => all[name] !== undefined).every(isMissed)
    )
  })
  const isTotal = silent.length === count
  must(
    !isSilent || isTotal,
    `the provider sent something in ${count - silent.length} of ${count} rounds`,
  )
  if (isTotal && !isSilent) {
    throw new Unchecked(
      `the provider sent nothing in ${count} rounds, which the service calls critical once it has seen them all`,
    )
  }
}

/** Hits and possible hits of a round, none where it has no duty; undefined without evidence. */
function countsOf(
  round: Round,
  voter: string,
  { isAnchor, chainId }: { readonly isAnchor: boolean; readonly chainId: number },
): readonly [number, number] | undefined {
  const place = round.policy.members.findIndex((member) => member.voter === voter)
  if (place < 0) return undefined
  if (isAnchor) return anchorsOf(round, place)
  if (round.requests.length === 0) return [0, 0]
  const all = judge(round, place, chainId)
  const votes = [all['bitVote'], all['fdcSignature']]
  return votes.includes(undefined) ? undefined : [votes.every((vote) => vote === null) ? 1 : 0, 1]
}

/** Shares of the cases that the protocol requires over a reward epoch. */
const MINIMUMS = { 'mc-anchor': 0.8, 'mc-fdc': 0.6 } as const

/** The expected first round of the reward epoch after another. */
async function expectedEnd(protocol: Protocol, epoch: number): Promise<number> {
  const manager = await protocol.contract('FlareSystemsManager')
  const { first, length } = await protocol.clock()
  const read = async (selector: string) => numberOf((await protocol.view(manager, selector))?.[0])
  const start = await read(VIEWS.firstEpochAt)
  return (start + (epoch + 1) * (await read(VIEWS.epochSeconds)) - first) / length
}

/** Too many misses in a reward epoch so far. Its rounds are read a few at a time. */
export const rate: Check<'rate'> = async (protocol, claim, alert) => {
  const { round: last, rewardEpoch: epoch, provider: voter, condition } = claim
  await mustBeOf(protocol, epoch, last)
  const newest = await mustBeJudged(protocol, last, alert)
  if (newest - last > GAP_MAX) throw new Unchecked(`${newest - last} rounds were completed at once`)
  const first = await protocol.startOf(epoch)
  if (first === undefined) throw new Unchecked(`the start of reward epoch ${epoch} is not known`)
  const judged = { isAnchor: condition === 'mc-anchor', chainId: alert.chainId }
  let [done, possible, counted] = [0, 0, 0]
  for (let from = first; from <= last; from += ROUNDS_AT_ONCE) {
    const to = Math.min(last, from + ROUNDS_AT_ONCE - 1)
    const { rounds } = await collectRounds(protocol, { epoch, from, to, isPartial: true }, voter)
    for (const round of rounds) {
      const counts = countsOf(round, voter, judged)
      if (counts === undefined) continue
      counted += 1
      done += counts[0]
      possible += counts[1]
    }
  }
  const length = (await expectedEnd(protocol, epoch)) - first
  const used = (possible - done) / ((1 - MINIMUMS[condition]) * (possible / counted) * length)
  const found = `${done} of ${possible} over ${counted} rounds up to ${last} are ${used} of the error budget`
  if (counted !== claim.rounds || done !== claim.done || possible !== claim.possible) {
    throw new Unchecked(`${found}: the service left out rounds that it was not sure of, or lies`)
  }
  must(used === claim.used, found)
  return found
}
