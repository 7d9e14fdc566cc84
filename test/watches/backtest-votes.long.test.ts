import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BlockRef } from '#src/chain/chain.ts'
import type {
  EpochVotes,
  SigningProtocol,
  VoteKind,
  VoteSignature,
} from '#src/fsp/reader/signing-protocol.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '#src/kernel/durations.ts'
import type { Address, Hash } from '#src/kernel/units.ts'
import { type FreshDatabase, freshDatabase } from '../support/database.ts'
import { runs } from '../support/runs.ts'
import { secondOf, startPast, timeOf } from './past-chain.ts'

/**
 * The same random votes about a reward epoch twice: once while a watch of them runs, once as a backtest over the
 * contract's answers and the stored signatures. Both give the same alerts within a minute.
 */

const RUNS = runs(3, 30)
const EPOCH = 452
const OWN: Address = '0x0Be579444595e122Bc9B236bEFCb598B1CB7F1cE'
/** Concludes the votes. */
const HEAVY: Address = '0x2cA6571Daa15ce734Bbd0Bf27D5C9D16787fc33f'
/** Opens the vote on rewards. */
const STRANGER: Address = '0x18b9306737eaf6E8FC8e737F488a1AE077b18053'
const WINNING: Hash = `0x${'11'.repeat(32)}`
const OTHER: Hash = `0x${'22'.repeat(32)}`
const MINUTE = 60
const SPAN_SECONDS = 20 * HOUR_SECONDS

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

/**
 * A time between two numbers of hours, in seconds. Different times are two minutes apart: what happens between two looks
 * is one state for a watch.
 */
const time = (from: number, to: number) =>
  fc.integer({ min: from * 30, max: to * 30 }).map((steps) => steps * 2 * MINUTE)
/** One vote, in seconds after the end of the reward epoch, and after its opening. */
const ballot = fc.record({
  opensAfter: time(0.2, 4),
  signsAfter: fc.option(time(0.1, 14)),
  signsOther: fc.boolean(),
  concludesAfter: fc.option(time(0.1, 14)),
})
const history = fc.record({
  endsAt: fc.integer({ min: 10 * MINUTE, max: HOUR_SECONDS }),
  uptime: ballot,
  rewards: ballot,
  isRecoveryNotified: fc.boolean(),
  /** Hours at which the jobs look though nothing happened. */
  idle: fc.array(fc.integer({ min: 1, max: 19 }), { maxLength: 4 }),
})
/** Fires an alert for certain, which few random histories may not: the provider signs no vote in time. */
const SURE = {
  endsAt: 10 * MINUTE,
  uptime: { opensAfter: HOUR_SECONDS, signsAfter: null, signsOther: false, concludesAfter: null },
  rewards: { opensAfter: HOUR_SECONDS, signsAfter: null, signsOther: false, concludesAfter: null },
  isRecoveryNotified: true,
  idle: [],
}
type Ballot = typeof ballot extends fc.Arbitrary<infer One> ? One : never

/** A vote with the seconds of its events; null: never. */
interface Timed {
  readonly opens: number
  readonly signs: number | null
  readonly hash: Hash
  readonly concludes: number | null
}

function timed(endsAt: number, ballot: Ballot): Timed {
  const opens = endsAt + ballot.opensAfter
  const concludes = ballot.concludesAfter === null ? null : opens + ballot.concludesAfter
  const signs = ballot.signsAfter === null ? null : opens + ballot.signsAfter
  return {
    opens,
    concludes,
    // A concluded vote takes no signature.
    signs: signs !== null && concludes !== null && signs >= concludes ? null : signs,
    hash: ballot.signsOther ? OTHER : WINNING,
  }
}

/** The contract's answers at the end of a block. */
function protocolOf(endsAt: number, votes: Readonly<Record<VoteKind, Timed>>) {
  const isPast = (at: number | null, { at: now }: BlockRef): at is number =>
    at !== null && at <= secondOf(now)
  const stateOf = (kind: VoteKind, block: BlockRef): EpochVotes[VoteKind] => {
    const { opens, concludes } = votes[kind]
    const isOpen = isPast(opens, block)
    const isOver = isPast(concludes, block)
    return {
      openedAt: isOpen ? timeOf(opens) : null,
      openedIn: isOpen ? opens : null,
      hash: isOver ? WINNING : null,
      // The contract does not give the end of the uptime vote.
      concludedAt: isOver && kind === 'rewards' ? timeOf(concludes) : null,
    }
  }
  const signed: VoteSignature[] = (['uptime', 'rewards'] as const).flatMap((kind) => {
    const { signs, hash, concludes, opens } = votes[kind]
    const vote = (voter: Address, at: number | null, of: Hash, isLast: boolean) =>
      at === null ? [] : [{ kind, voter, hash: of, at: timeOf(at), isLast }]
    // The first signature opens the vote on rewards.
    const opening = kind === 'rewards' ? vote(STRANGER, opens, WINNING, false) : []
    return [...opening, ...vote(OWN, signs, hash, false), ...vote(HEAVY, concludes, WINNING, true)]
  })
  return {
    rewardEpoch: async (block) => (isPast(endsAt, block) ? EPOCH + 1 : EPOCH),
    weights: async () =>
      new Map([
        [OWN, 100],
        [HEAVY, 900],
        [STRANGER, 50],
      ]),
    votes: async (epoch, block) =>
      epoch !== EPOCH || !isPast(endsAt, block)
        ? undefined
        : {
            endedAt: timeOf(endsAt),
            uptime: stateOf('uptime', block),
            rewards: stateOf('rewards', block),
          },
    signings: async (_epoch, kind, voters) =>
      voters.map((voter) => {
        const own = signed.find(
          (signature) =>
            signature.kind === kind && signature.voter === voter && signature.hash === WINNING,
        )
        return own?.at ?? null
      }),
    signatures: async (_epoch, { from, to }) => ({
      votes: signed.filter(({ at }) => secondOf(at) >= from && secondOf(at) <= to),
      upTo: to,
    }),
  } satisfies Partial<SigningProtocol>
}

/** Seconds of the looks: every minute in which something happens or becomes due, and some more. */
function looksOf(endsAt: number, votes: readonly Timed[], idle: readonly number[]): number[] {
  const events = votes.flatMap(({ opens, signs, concludes }) => [opens, signs, concludes])
  const known = [endsAt, ...events].filter((at) => at !== null)
  const due = known.flatMap((at) => [2, 10, 12].map((hours) => at + hours * HOUR_SECONDS))
  const all = [...known, ...due].flatMap((at) => {
    const minute = Math.ceil(at / MINUTE) * MINUTE
    // Events left for the next look follow a minute later.
    return [minute, minute + MINUTE, minute + 2 * MINUTE]
  })
  const looks = [...all, ...idle.map((hour) => hour * HOUR_SECONDS)]
  return [...new Set(looks)].filter((at) => at > 0 && at < SPAN_SECONDS).toSorted((a, b) => a - b)
}

test('a backtest gives the alerts of a watch of votes that ran meanwhile', async () => {
  const property = fc.asyncProperty(history, async (played) => {
    const { endsAt, isRecoveryNotified } = played
    const votes = { uptime: timed(endsAt, played.uptime), rewards: timed(endsAt, played.rewards) }
    const past = await startPast(database, protocolOf(endsAt, votes))
    const watch = {
      type: 'reward-signing',
      provider: OWN,
      cooldownSeconds: 0,
      isRecoveryNotified,
    }
    await past.watch('votes', 'reward-signing', watch)
    await past.look(0)
    for (const at of looksOf(endsAt, Object.values(votes), played.idle)) await past.look(at)
    await past.look(SPAN_SECONDS)
    // So the backtest begins with the first look.
    past.wait(DAY_SECONDS)
    const live = past.live('votes')
    const later = (await past.later('reward-signing', watch)).filter(
      ({ firedAt }) => firedAt <= timeOf(SPAN_SECONDS),
    )
    const shown = ({ event, severity, data }: (typeof live)[number]) => ({
      event,
      severity,
      vote: data['vote'],
      epoch: data['rewardEpochId'],
    })
    expect(later.map(shown)).toEqual(live.map(shown))
    for (const [index, { firedAt }] of later.entries()) {
      const apart = firedAt.getTime() - (live[index]?.firedAt.getTime() ?? 0)
      expect(Math.abs(apart)).toBeLessThanOrEqual(MINUTE * 1000)
    }
    alertCount += live.length
  })
  let alertCount = 0
  await fc.assert(property, { numRuns: RUNS + 1, examples: [[SURE]], endOnFailure: true })
  expect(alertCount).toBeGreaterThan(0)
})
