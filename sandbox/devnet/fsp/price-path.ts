import type { Keeper } from './epoch-daemon.ts'
import { fastUpdates } from './fast-updates.ts'
import type { Act } from './round.ts'
import { roundAt, roundStart, type Timing } from './timing.ts'
import type { BlockWriter, Tx } from './writer.ts'

/** The course of rounds, one after the other, in the time of the chain. */
export interface Course {
  /** The round that begins next. */
  readonly round: number
  /** When the next thing happens; seconds since 1970. */
  nextAt(): number
  /**
   * Lets the next thing happen.
   *
   * @param isLive into whatever block comes, instead of one of its own at its own time
   */
  step(isLive: boolean): Promise<void>
  /** The updates of prices that belong into the block after the writer's head, once for each block. */
  updates(): Promise<readonly Tx[]>
  /** Forgets what should have happened by now and begins with the next round. */
  resume(now: number): void
}

export interface CourseOptions {
  readonly timing: Timing
  readonly writer: BlockWriter
  readonly keeper: Keeper
  /** Everything that a round brings. */
  plan(round: number): Promise<readonly Act[]>
  /** A block was made at that time. */
  onTime(seconds: number): void
}

/** A course of rounds that begins with the first after the writer's head. */
export function createCourse({ timing, writer, keeper, plan, onTime }: CourseOptions): Course {
  let round = roundAt(timing, writer.head.timestamp) + 1
  let acts: Act[] = []
  /** The last block with updates of prices. */
  let updated = 0

  const opensAt = () => roundStart(timing, round)

  async function open(): Promise<void> {
    await keeper.tick(opensAt() + 1)
    const more = await plan(round)
    round += 1
    acts = [...acts, ...more].toSorted((a, b) => a.at - b.at)
  }

  async function act({ at, transactions }: Act, isLive: boolean): Promise<void> {
    if (isLive) {
      await writer.send(transactions)
      return
    }
    await writer.block(Math.max(at, writer.head.timestamp + 1), [
      ...transactions,
      ...(await updates()),
    ])
    onTime(writer.head.timestamp)
  }

  async function updates(): Promise<readonly Tx[]> {
    const block = writer.head.number + 1
    const policy = keeper.policies.find(({ epoch }) => epoch === keeper.epoch)
    if (policy === undefined || block <= updated) return []
    updated = block
    return fastUpdates(policy, block)
  }

  return {
    get round() {
      return round
    },
    nextAt: () => Math.min(opensAt(), acts[0]?.at ?? Number.POSITIVE_INFINITY),
    step: async (isLive) => {
      const [first] = acts
      if (first === undefined || opensAt() <= first.at) {
        await open()
        return
      }
      const { at } = first
      const transactions = acts.filter((one) => one.at === at).flatMap((one) => one.transactions)
      await act({ at, transactions }, isLive)
      acts = acts.filter((one) => one.at > at)
    },
    updates,
    resume: (now) => {
      acts = []
      round = roundAt(timing, now) + 1
    },
  }
}
