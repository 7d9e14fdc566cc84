/** When the alerts of one message began and ended: the same times in chats, mails and incidents. Pure. */

import type { Estimate } from '#src/kernel/outage-figures.ts'
import { hasEnded, worstOf } from '../card/wording.ts'
import type { Envelope, EnvelopeMessage, MessageState } from '../envelope.ts'
import { dutiesOf, isAboutDuty } from './duties.ts'
import { failureIn, isHealthy, isStillCaused, itemsOf, openIn, stateIn } from './group.ts'

interface GroupTimes {
  readonly from: Date
  /** End of the outage; undefined until all alerts have recovered. */
  readonly to: Date | undefined
}

/**
 * Start and end of what the heading of a message says: of the common cause while it holds, which begins when the
 * last of its duties failed; of the whole outage once all alerts are over; else of the alert that the heading names.
 */
export function groupTimes(envelope: Envelope, state: MessageState): GroupTimes {
  const items = itemsOf(envelope)
  if (openIn(envelope, state).length === 0 || hasEnded(state)) {
    const ended = isHealthy(items, state) ? dutiesOrAll(items) : recoverableOrAll(items)
    const to = state.closedAt === undefined ? lastEnd(ended, state) : undefined
    return { from: firstStart(ended), to }
  }
  if (!isStillCaused(envelope, state)) {
    return { from: firstStart([namedIn(envelope, state)]), to: undefined }
  }
  const failure = failureIn(envelope, state)
  const failed = failure === undefined ? [] : dutiesOf(failure)
  const duties = items.filter(({ event }) => failed.includes(event))
  return { from: duties.length === 0 ? firstStart(items) : lastStart(duties), to: undefined }
}

/** The alert that a heading names where the alerts have nothing in common: the most severe one that is open. */
export function namedIn(envelope: Envelope, state: MessageState): EnvelopeMessage {
  const open = openIn(envelope, state)
  return worstOf(open.length === 0 ? itemsOf(envelope) : open) ?? envelope.message
}

/** Number of voting rounds lost in the outage, as its recoveries state them; undefined while unknown. */
export function lostRounds(envelope: Envelope, state: MessageState): number | undefined {
  const rounds = dutiesOrAll(itemsOf(envelope)).flatMap(
    (item) => stateIn(state, item).lostRounds ?? [],
  )
  return rounds.length === 0 ? undefined : Math.max(...rounds)
}

/** About how much rewards the rounds of the outage earn, by the recovery that states most; undefined while unknown. */
export function lostRewardsIn(envelope: Envelope, state: MessageState): Estimate | undefined {
  const all = dutiesOrAll(itemsOf(envelope)).flatMap(
    (item) => stateIn(state, item).lostRewards ?? [],
  )
  return all.toSorted((a, b) => (a.units < b.units ? 1 : -1))[0]
}

/** Alerts about duties, or all if there are none: low balances and the like end at other times. */
function dutiesOrAll(items: readonly EnvelopeMessage[]): readonly EnvelopeMessage[] {
  const duties = items.filter(({ event }) => isAboutDuty(event))
  return duties.length > 0 ? duties : items
}

/** Alerts that can recover, and recoveries; all if there are none. */
function recoverableOrAll(items: readonly EnvelopeMessage[]): readonly EnvelopeMessage[] {
  const ended = items.filter(({ isRecovery, canRecover }) => isRecovery || canRecover)
  return ended.length > 0 ? ended : items
}

function firstStart(items: readonly EnvelopeMessage[]): Date {
  return new Date(Math.min(...items.map(startMs)))
}

/** Time from which all duties failed: the latest start. Of several alerts about a duty the last one counts. */
function lastStart(duties: readonly EnvelopeMessage[]): Date {
  const starts = new Map(duties.map((item) => [item.event, startMs(item)]))
  return new Date(Math.max(...starts.values()))
}

function lastEnd(items: readonly EnvelopeMessage[], state: MessageState): Date | undefined {
  const ends = items.flatMap((item) => {
    if (item.isRecovery) return [Date.parse(item.endedAt ?? item.firedAt)]
    return stateIn(state, item).recoveredAt?.getTime() ?? []
  })
  return ends.length === 0 ? state.recoveredAt : new Date(Math.max(...ends))
}

function startMs({ startedAt, firedAt }: EnvelopeMessage): number {
  return Date.parse(startedAt ?? firedAt)
}
