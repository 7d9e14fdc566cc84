import type { EpochDaemon } from './epoch-daemon.ts'
import { fastUpdates } from './fast-updates.ts'
import type { ScheduledTransactions } from './round.ts'
import { type ProtocolTiming, roundAt, roundStart } from './timing.ts'
import type { BlockWriter, UnsignedTx } from './writer.ts'

/** Sequence of rounds, in the time of the chain. */
export interface RoundSchedule {
  /** The next round to begin. */
  readonly round: number
  /** Time of the next action, in epoch seconds. */
  nextAt(): number
  /**
   * Runs the next action.
   *
   * @param isLive sends into the next block, instead of creating one at the action's time
   */
  step(isLive: boolean): Promise<void>
  /** Price updates for the block after the writer's head, once for each block. */
  updates(): readonly UnsignedTx[]
  /** Drops overdue actions and continues with the next round. */
  resume(now: number): void
}

export interface RoundScheduleOptions {
  readonly timing: ProtocolTiming
  readonly writer: BlockWriter
  readonly epochDaemon: EpochDaemon
  /** Actions of a round. */
  plan(round: number): readonly ScheduledTransactions[]
}

/**
 * Creates a sequence of rounds that begins with the first after the writer's head. Long because its steps
 * share the current round and its remaining acts.
 */
export function createRoundSchedule({
  timing,
  writer,
  epochDaemon,
  plan,
}: RoundScheduleOptions): RoundSchedule {
  let round = roundAt(timing, writer.head.timestamp) + 1
  let acts: ScheduledTransactions[] = []
  /** The last block with price updates. */
  let updated = 0

  const opensAt = () => roundStart(timing, round)

  async function open(): Promise<void> {
    await epochDaemon.tick(opensAt() + 1)
    const more = plan(round)
    round += 1
    acts = [...acts, ...more].toSorted((a, b) => a.atSeconds - b.atSeconds)
  }

  async function act(
    { atSeconds, transactions }: ScheduledTransactions,
    isLive: boolean,
  ): Promise<void> {
    if (isLive) {
      await writer.send(transactions)
      return
    }
    await writer.block(Math.max(atSeconds, writer.head.timestamp + 1), [
      ...transactions,
      ...updates(),
    ])
  }

  function updates(): readonly UnsignedTx[] {
    const block = writer.head.number + 1
    const policy = epochDaemon.policies.find(({ epoch }) => epoch === epochDaemon.epoch)
    if (policy === undefined || block <= updated) return []
    updated = block
    return fastUpdates(policy, block)
  }

  return {
    get round() {
      return round
    },
    nextAt: () => Math.min(opensAt(), acts[0]?.atSeconds ?? Number.POSITIVE_INFINITY),
    step: async (isLive) => {
      const [first] = acts
      if (first === undefined || opensAt() <= first.atSeconds) {
        await open()
        return
      }
      const { atSeconds } = first
      const transactions = acts
        .filter((act) => act.atSeconds === atSeconds)
        .flatMap((act) => act.transactions)
      await act({ atSeconds, transactions }, isLive)
      acts = acts.filter((act) => act.atSeconds > atSeconds)
    },
    updates,
    resume: (now) => {
      acts = []
      round = roundAt(timing, now) + 1
    },
  }
}
