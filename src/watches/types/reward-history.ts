import { MINUTE_MS } from '#src/kernel/durations.ts'
import type { Address } from '#src/kernel/units.ts'
import type { History } from '../history.ts'
import type { ObservedEpoch, ObservedVote, RewardVoteObservation } from './reward-votes.ts'

/** Interval at which votes are observed. */
const STEP_MS = MINUTE_MS
const STEPS_PER_PAGE = 500

/**
 * The votes about the last ended reward epochs as they stood in every minute, from the times at which they
 * were opened, signed and concluded. The weight that had signed at that time is not known.
 */
export const rewardHistory: History<{ provider: Address }, unknown, RewardVoteObservation> = {
  keeps: 'each',
  async *read({ facts, tip }, { target, from, to, signal }) {
    const block = await tip(signal)
    const [votes] = await facts.votes([target.provider], block, signal)
    const [oldest] = votes?.epochs ?? []
    if (votes === undefined || oldest === undefined) {
      yield { observations: [], gaps: ['no_data'] }
      return
    }
    const epochs: readonly ObservedEpoch[] = votes.epochs
    if (epochs.some(({ uptime, rewards }) => isEndUnknown(uptime) || isEndUnknown(rewards))) {
      yield { observations: [], gaps: ['vote_end_unknown'] }
    }
    const startMs = Math.max(from.getTime(), oldest.endedAt.getTime())
    let position = 0
    let page: RewardVoteObservation[] = []
    for (let ms = startMs; ms <= to.getTime(); ms += STEP_MS) {
      position += 1
      const at = new Date(ms)
      const ended = epochs.filter(({ endedAt }) => endedAt <= at)
      const rewardEpochId = (ended.at(-1)?.rewardEpochId ?? oldest.rewardEpochId) + 1
      const past = ended.map((epoch) => epochAt(epoch, at))
      page.push({ position, at, provider: target.provider, rewardEpochId, epochs: past })
      if (page.length < STEPS_PER_PAGE) continue
      yield { observations: page }
      page = []
    }
    yield { observations: page }
  },
}

/** The votes of an epoch as they stood at a time. */
function epochAt(
  { publishedAt, uptime, rewards, ...epoch }: ObservedEpoch,
  at: Date,
): ObservedEpoch {
  return {
    ...epoch,
    publishedAt: nullIfAfter(publishedAt, at),
    uptime: voteAt(uptime, at),
    rewards: voteAt(rewards, at),
  }
}

/**
 * A vote as it stood at a time. Until the vote is concluded, a signature of any result counts. `isKnown` is false if
 * the vote is concluded now and the time of its conclusion is not known.
 */
function voteAt(vote: ObservedVote, at: Date): ObservedVote {
  const concludedAt = nullIfAfter(vote.concludedAt, at)
  const isConcluded = concludedAt !== null
  return {
    openedAt: nullIfAfter(vote.openedAt, at),
    concludedAt,
    isConcluded,
    signedAt: nullIfAfter(isConcluded ? vote.signedAt : vote.firstSignedAt, at),
    firstSignedAt: nullIfAfter(vote.firstSignedAt, at),
    signedOther: vote.signedOther && isConcluded,
    isKnown: vote.isKnown && !isEndUnknown(vote),
    weightSigned: null,
  }
}

/** The time; null if it is after `at`. */
function nullIfAfter(time: Date | null, at: Date): Date | null {
  return time !== null && time <= at ? time : null
}

function isEndUnknown({ isConcluded, concludedAt }: ObservedVote): boolean {
  return isConcluded && concludedAt === null
}
